from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.observation_list import ObservationList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    run_id: str | Unset = UNSET,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
    plan: str | Unset = UNSET,
    oom: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["run_id"] = run_id

    params["framework"] = framework

    params["device"] = device

    params["plan"] = plan

    params["oom"] = oom

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/observations",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ObservationList | Problem:
    if response.status_code == 200:
        response_200 = ObservationList.from_dict(response.json())

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
) -> Response[ObservationList | Problem]:
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
    run_id: str | Unset = UNSET,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
    plan: str | Unset = UNSET,
    oom: bool | Unset = UNSET,
) -> Response[ObservationList | Problem]:
    """List Observations

     List the stored observations, newest first, without their jobs.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        run_id (str | Unset): Only that of this run.
        framework (str | Unset): Only runs of this framework.
        device (str | Unset): Only runs on this device, by any of its names.
        plan (str | Unset): Only runs of this plan.
        oom (bool | Unset): Only runs that ended out of memory, or only those that did not.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ObservationList | Problem]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        run_id=run_id,
        framework=framework,
        device=device,
        plan=plan,
        oom=oom,
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
    run_id: str | Unset = UNSET,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
    plan: str | Unset = UNSET,
    oom: bool | Unset = UNSET,
) -> ObservationList | Problem | None:
    """List Observations

     List the stored observations, newest first, without their jobs.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        run_id (str | Unset): Only that of this run.
        framework (str | Unset): Only runs of this framework.
        device (str | Unset): Only runs on this device, by any of its names.
        plan (str | Unset): Only runs of this plan.
        oom (bool | Unset): Only runs that ended out of memory, or only those that did not.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ObservationList | Problem
    """

    return sync_detailed(
        client=client,
        limit=limit,
        cursor=cursor,
        run_id=run_id,
        framework=framework,
        device=device,
        plan=plan,
        oom=oom,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    run_id: str | Unset = UNSET,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
    plan: str | Unset = UNSET,
    oom: bool | Unset = UNSET,
) -> Response[ObservationList | Problem]:
    """List Observations

     List the stored observations, newest first, without their jobs.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        run_id (str | Unset): Only that of this run.
        framework (str | Unset): Only runs of this framework.
        device (str | Unset): Only runs on this device, by any of its names.
        plan (str | Unset): Only runs of this plan.
        oom (bool | Unset): Only runs that ended out of memory, or only those that did not.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ObservationList | Problem]
    """

    kwargs = _get_kwargs(
        limit=limit,
        cursor=cursor,
        run_id=run_id,
        framework=framework,
        device=device,
        plan=plan,
        oom=oom,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
    run_id: str | Unset = UNSET,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
    plan: str | Unset = UNSET,
    oom: bool | Unset = UNSET,
) -> ObservationList | Problem | None:
    """List Observations

     List the stored observations, newest first, without their jobs.

    Args:
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.
        run_id (str | Unset): Only that of this run.
        framework (str | Unset): Only runs of this framework.
        device (str | Unset): Only runs on this device, by any of its names.
        plan (str | Unset): Only runs of this plan.
        oom (bool | Unset): Only runs that ended out of memory, or only those that did not.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ObservationList | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            cursor=cursor,
            run_id=run_id,
            framework=framework,
            device=device,
            plan=plan,
            oom=oom,
        )
    ).parsed
