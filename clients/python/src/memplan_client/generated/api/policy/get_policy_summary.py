from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.policy_summary import PolicySummary
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    queue: str,
    *,
    days: int | Unset = 7,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["days"] = days

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/policies/{queue}/summary".format(
            queue=quote(str(queue), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PolicySummary | Problem:
    if response.status_code == 200:
        response_200 = PolicySummary.from_dict(response.json())

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
) -> Response[PolicySummary | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
    days: int | Unset = 7,
) -> Response[PolicySummary | Problem]:
    """Get Policy Summary

     Count what the policy came to in the last days, would it be enforced: what to look at before it is.

    Args:
        queue (str): Name of the queue.
        days (int | Unset): Days to count, today included. Default: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PolicySummary | Problem]
    """

    kwargs = _get_kwargs(
        queue=queue,
        days=days,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    queue: str,
    *,
    client: AuthenticatedClient,
    days: int | Unset = 7,
) -> PolicySummary | Problem | None:
    """Get Policy Summary

     Count what the policy came to in the last days, would it be enforced: what to look at before it is.

    Args:
        queue (str): Name of the queue.
        days (int | Unset): Days to count, today included. Default: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PolicySummary | Problem
    """

    return sync_detailed(
        queue=queue,
        client=client,
        days=days,
    ).parsed


async def asyncio_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
    days: int | Unset = 7,
) -> Response[PolicySummary | Problem]:
    """Get Policy Summary

     Count what the policy came to in the last days, would it be enforced: what to look at before it is.

    Args:
        queue (str): Name of the queue.
        days (int | Unset): Days to count, today included. Default: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PolicySummary | Problem]
    """

    kwargs = _get_kwargs(
        queue=queue,
        days=days,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    queue: str,
    *,
    client: AuthenticatedClient,
    days: int | Unset = 7,
) -> PolicySummary | Problem | None:
    """Get Policy Summary

     Count what the policy came to in the last days, would it be enforced: what to look at before it is.

    Args:
        queue (str): Name of the queue.
        days (int | Unset): Days to count, today included. Default: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PolicySummary | Problem
    """

    return (
        await asyncio_detailed(
            queue=queue,
            client=client,
            days=days,
        )
    ).parsed
