from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.refusal_list import RefusalList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    queue: str,
    *,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/policies/{queue}/refusals".format(
            queue=quote(str(queue), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | RefusalList:
    if response.status_code == 200:
        response_200 = RefusalList.from_dict(response.json())

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
) -> Response[Problem | RefusalList]:
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
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Response[Problem | RefusalList]:
    """List Refusals

     List the jobs that the policy refused, or would have refused if it were enforced, newest first.

    The same job asked again is the same entry, with its `count`.

    Args:
        queue (str): Name of the queue.
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | RefusalList]
    """

    kwargs = _get_kwargs(
        queue=queue,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    queue: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Problem | RefusalList | None:
    """List Refusals

     List the jobs that the policy refused, or would have refused if it were enforced, newest first.

    The same job asked again is the same entry, with its `count`.

    Args:
        queue (str): Name of the queue.
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | RefusalList
    """

    return sync_detailed(
        queue=queue,
        client=client,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Response[Problem | RefusalList]:
    """List Refusals

     List the jobs that the policy refused, or would have refused if it were enforced, newest first.

    The same job asked again is the same entry, with its `count`.

    Args:
        queue (str): Name of the queue.
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | RefusalList]
    """

    kwargs = _get_kwargs(
        queue=queue,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    queue: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Problem | RefusalList | None:
    """List Refusals

     List the jobs that the policy refused, or would have refused if it were enforced, newest first.

    The same job asked again is the same entry, with its `count`.

    Args:
        queue (str): Name of the queue.
        limit (int | Unset): Most items on one page. Default: 50.
        cursor (str | Unset): Where the page begins: `next_cursor` of the page before.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | RefusalList
    """

    return (
        await asyncio_detailed(
            queue=queue,
            client=client,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
