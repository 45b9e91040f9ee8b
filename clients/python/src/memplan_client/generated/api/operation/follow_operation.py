from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import Response, Unset


def _get_kwargs(
    operation_id: str,
    *,
    last_event_id: str | Unset = "",
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = last_event_id

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/operations/{operation_id}/events".format(
            operation_id=quote(str(operation_id), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Problem:
    if response.status_code == 200:
        response_200 = cast(Any, response.text)
        return response_200

    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

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
) -> Response[Any | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    operation_id: str,
    *,
    client: AuthenticatedClient,
    last_event_id: str | Unset = "",
) -> Response[Any | Problem]:
    """Follow Operation

     Send each change of an operation as an event, until it ends.

    The data of an event is the whole operation. Events are called `progress`, the last one `succeeded`,
    `failed` or
    `cancelled`. With the header `Last-Event-ID` the stream goes on after that event. A comment every 15
    seconds keeps
    proxies from closing it. Whoever cannot read streams polls `GET /v1/operations/{id}` and misses
    nothing.

    Args:
        operation_id (str): Id of the operation.
        last_event_id (str | Unset): Id of the last event that the caller has seen; what came
            after it is sent. Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        operation_id=operation_id,
        last_event_id=last_event_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    operation_id: str,
    *,
    client: AuthenticatedClient,
    last_event_id: str | Unset = "",
) -> Any | Problem | None:
    """Follow Operation

     Send each change of an operation as an event, until it ends.

    The data of an event is the whole operation. Events are called `progress`, the last one `succeeded`,
    `failed` or
    `cancelled`. With the header `Last-Event-ID` the stream goes on after that event. A comment every 15
    seconds keeps
    proxies from closing it. Whoever cannot read streams polls `GET /v1/operations/{id}` and misses
    nothing.

    Args:
        operation_id (str): Id of the operation.
        last_event_id (str | Unset): Id of the last event that the caller has seen; what came
            after it is sent. Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        operation_id=operation_id,
        client=client,
        last_event_id=last_event_id,
    ).parsed


async def asyncio_detailed(
    operation_id: str,
    *,
    client: AuthenticatedClient,
    last_event_id: str | Unset = "",
) -> Response[Any | Problem]:
    """Follow Operation

     Send each change of an operation as an event, until it ends.

    The data of an event is the whole operation. Events are called `progress`, the last one `succeeded`,
    `failed` or
    `cancelled`. With the header `Last-Event-ID` the stream goes on after that event. A comment every 15
    seconds keeps
    proxies from closing it. Whoever cannot read streams polls `GET /v1/operations/{id}` and misses
    nothing.

    Args:
        operation_id (str): Id of the operation.
        last_event_id (str | Unset): Id of the last event that the caller has seen; what came
            after it is sent. Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        operation_id=operation_id,
        last_event_id=last_event_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    operation_id: str,
    *,
    client: AuthenticatedClient,
    last_event_id: str | Unset = "",
) -> Any | Problem | None:
    """Follow Operation

     Send each change of an operation as an event, until it ends.

    The data of an event is the whole operation. Events are called `progress`, the last one `succeeded`,
    `failed` or
    `cancelled`. With the header `Last-Event-ID` the stream goes on after that event. A comment every 15
    seconds keeps
    proxies from closing it. Whoever cannot read streams polls `GET /v1/operations/{id}` and misses
    nothing.

    Args:
        operation_id (str): Id of the operation.
        last_event_id (str | Unset): Id of the last event that the caller has seen; what came
            after it is sent. Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            operation_id=operation_id,
            client=client,
            last_event_id=last_event_id,
        )
    ).parsed
