from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.export_plan_format import ExportPlanFormat
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    plan_id: str,
    format_: ExportPlanFormat,
    *,
    candidate: int | Unset = 0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["candidate"] = candidate

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/plans/{plan_id}/exports/{format_}".format(
            plan_id=quote(str(plan_id), safe=""),
            format_=quote(str(format_), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | str:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
) -> Response[Problem | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    plan_id: str,
    format_: ExportPlanFormat,
    *,
    client: AuthenticatedClient,
    candidate: int | Unset = 0,
) -> Response[Problem | str]:
    """Export Plan

     Return a candidate of a stored plan as flags, config file or batch script, to be pasted or saved.

    Args:
        plan_id (str): Id of the plan.
        format_ (ExportPlanFormat): Form of the answer.
        candidate (int | Unset): Which candidate of the plan; 0 is the first. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | str]
    """

    kwargs = _get_kwargs(
        plan_id=plan_id,
        format_=format_,
        candidate=candidate,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    plan_id: str,
    format_: ExportPlanFormat,
    *,
    client: AuthenticatedClient,
    candidate: int | Unset = 0,
) -> Problem | str | None:
    """Export Plan

     Return a candidate of a stored plan as flags, config file or batch script, to be pasted or saved.

    Args:
        plan_id (str): Id of the plan.
        format_ (ExportPlanFormat): Form of the answer.
        candidate (int | Unset): Which candidate of the plan; 0 is the first. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | str
    """

    return sync_detailed(
        plan_id=plan_id,
        format_=format_,
        client=client,
        candidate=candidate,
    ).parsed


async def asyncio_detailed(
    plan_id: str,
    format_: ExportPlanFormat,
    *,
    client: AuthenticatedClient,
    candidate: int | Unset = 0,
) -> Response[Problem | str]:
    """Export Plan

     Return a candidate of a stored plan as flags, config file or batch script, to be pasted or saved.

    Args:
        plan_id (str): Id of the plan.
        format_ (ExportPlanFormat): Form of the answer.
        candidate (int | Unset): Which candidate of the plan; 0 is the first. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | str]
    """

    kwargs = _get_kwargs(
        plan_id=plan_id,
        format_=format_,
        candidate=candidate,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    plan_id: str,
    format_: ExportPlanFormat,
    *,
    client: AuthenticatedClient,
    candidate: int | Unset = 0,
) -> Problem | str | None:
    """Export Plan

     Return a candidate of a stored plan as flags, config file or batch script, to be pasted or saved.

    Args:
        plan_id (str): Id of the plan.
        format_ (ExportPlanFormat): Form of the answer.
        candidate (int | Unset): Which candidate of the plan; 0 is the first. Default: 0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | str
    """

    return (
        await asyncio_detailed(
            plan_id=plan_id,
            format_=format_,
            client=client,
            candidate=candidate,
        )
    ).parsed
