from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.list_plans_verdict import ListPlansVerdict
from ...models.plan_list import PlanList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    model: str | Unset = UNSET,
    device: str | Unset = UNSET,
    verdict: ListPlansVerdict | Unset = UNSET,
    label: list[str] | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["model"] = model

    params["device"] = device

    json_verdict: str | Unset = UNSET
    if not isinstance(verdict, Unset):
        json_verdict = verdict

    params["verdict"] = json_verdict

    json_label: list[str] | Unset = UNSET
    if not isinstance(label, Unset):
        json_label = label

    params["label"] = json_label

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/plans",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PlanList | Problem:
    if response.status_code == 200:
        response_200 = PlanList.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[PlanList | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    model: str | Unset = UNSET,
    device: str | Unset = UNSET,
    verdict: ListPlansVerdict | Unset = UNSET,
    label: list[str] | Unset = UNSET,
) -> Response[PlanList | Problem]:
    """List Plans

     List the stored plans, newest first, without their candidates.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        model (str | Unset): Only plans of this model.
        device (str | Unset): Only plans for this device, by any of its names.
        verdict (ListPlansVerdict | Unset): Only plans with this verdict.
        label (list[str] | Unset): Only plans with this label, as key=value; repeat it to ask for
            several at once.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlanList | Problem]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        model=model,
        device=device,
        verdict=verdict,
        label=label,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    model: str | Unset = UNSET,
    device: str | Unset = UNSET,
    verdict: ListPlansVerdict | Unset = UNSET,
    label: list[str] | Unset = UNSET,
) -> PlanList | Problem | None:
    """List Plans

     List the stored plans, newest first, without their candidates.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        model (str | Unset): Only plans of this model.
        device (str | Unset): Only plans for this device, by any of its names.
        verdict (ListPlansVerdict | Unset): Only plans with this verdict.
        label (list[str] | Unset): Only plans with this label, as key=value; repeat it to ask for
            several at once.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlanList | Problem
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        model=model,
        device=device,
        verdict=verdict,
        label=label,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    model: str | Unset = UNSET,
    device: str | Unset = UNSET,
    verdict: ListPlansVerdict | Unset = UNSET,
    label: list[str] | Unset = UNSET,
) -> Response[PlanList | Problem]:
    """List Plans

     List the stored plans, newest first, without their candidates.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        model (str | Unset): Only plans of this model.
        device (str | Unset): Only plans for this device, by any of its names.
        verdict (ListPlansVerdict | Unset): Only plans with this verdict.
        label (list[str] | Unset): Only plans with this label, as key=value; repeat it to ask for
            several at once.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlanList | Problem]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        model=model,
        device=device,
        verdict=verdict,
        label=label,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    model: str | Unset = UNSET,
    device: str | Unset = UNSET,
    verdict: ListPlansVerdict | Unset = UNSET,
    label: list[str] | Unset = UNSET,
) -> PlanList | Problem | None:
    """List Plans

     List the stored plans, newest first, without their candidates.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        model (str | Unset): Only plans of this model.
        device (str | Unset): Only plans for this device, by any of its names.
        verdict (ListPlansVerdict | Unset): Only plans with this verdict.
        label (list[str] | Unset): Only plans with this label, as key=value; repeat it to ask for
            several at once.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlanList | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            model=model,
            device=device,
            verdict=verdict,
            label=label,
        )
    ).parsed
