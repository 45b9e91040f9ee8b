from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.keep_request import KeepRequest
from ...models.plan_answer import PlanAnswer
from ...models.problem import Problem
from ...types import Response, Unset


def _get_kwargs(
    plan_id: str,
    *,
    body: KeepRequest,
    if_match: str | Unset = "",
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/plans/{plan_id}".format(
            plan_id=quote(str(plan_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PlanAnswer | Problem:
    if response.status_code == 200:
        response_200 = PlanAnswer.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

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
) -> Response[PlanAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    plan_id: str,
    *,
    client: AuthenticatedClient,
    body: KeepRequest,
    if_match: str | Unset = "",
) -> Response[PlanAnswer | Problem]:
    """Keep Plan

     Change how long a stored plan is kept; nothing else of a plan ever changes.

    Args:
        plan_id (str): Id of the plan.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        body (KeepRequest): How long a plan is kept; what is left out stays as it is.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlanAnswer | Problem]
    """

    kwargs = _get_kwargs(
        plan_id=plan_id,
        body=body,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    plan_id: str,
    *,
    client: AuthenticatedClient,
    body: KeepRequest,
    if_match: str | Unset = "",
) -> PlanAnswer | Problem | None:
    """Keep Plan

     Change how long a stored plan is kept; nothing else of a plan ever changes.

    Args:
        plan_id (str): Id of the plan.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        body (KeepRequest): How long a plan is kept; what is left out stays as it is.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlanAnswer | Problem
    """

    return sync_detailed(
        plan_id=plan_id,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    plan_id: str,
    *,
    client: AuthenticatedClient,
    body: KeepRequest,
    if_match: str | Unset = "",
) -> Response[PlanAnswer | Problem]:
    """Keep Plan

     Change how long a stored plan is kept; nothing else of a plan ever changes.

    Args:
        plan_id (str): Id of the plan.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        body (KeepRequest): How long a plan is kept; what is left out stays as it is.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlanAnswer | Problem]
    """

    kwargs = _get_kwargs(
        plan_id=plan_id,
        body=body,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    plan_id: str,
    *,
    client: AuthenticatedClient,
    body: KeepRequest,
    if_match: str | Unset = "",
) -> PlanAnswer | Problem | None:
    """Keep Plan

     Change how long a stored plan is kept; nothing else of a plan ever changes.

    Args:
        plan_id (str): Id of the plan.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        body (KeepRequest): How long a plan is kept; what is left out stays as it is.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlanAnswer | Problem
    """

    return (
        await asyncio_detailed(
            plan_id=plan_id,
            client=client,
            body=body,
            if_match=if_match,
        )
    ).parsed
