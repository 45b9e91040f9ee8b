from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.verdict_list import VerdictList
from ...models.verdict_request import VerdictRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: VerdictRequest,
    timeout: str | Unset = UNSET,
    x_deadline_ms: int | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_deadline_ms, Unset):
        headers["X-Deadline-Ms"] = str(x_deadline_ms)

    params: dict[str, Any] = {}

    params["timeout"] = timeout

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/verdicts",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | VerdictList:
    if response.status_code == 200:
        response_200 = VerdictList.from_dict(response.json())

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
) -> Response[Problem | VerdictList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: VerdictRequest,
    timeout: str | Unset = UNSET,
    x_deadline_ms: int | Unset = UNSET,
) -> Response[Problem | VerdictList]:
    """Create Verdicts

     Say whether jobs fit targets, in few words and within the caller's time; nothing is stored.

    `timeout` and `X-Deadline-Ms` say how long the caller waits. What is not ready at 90 % of that is
    `unknown`; the
    answer itself comes in time. A job that is incomplete or invalid is `unknown` too, and says why.

    Args:
        timeout (str | Unset): How long the caller waits, as in 2s or 500ms (default 10s).
        x_deadline_ms (int | Unset): How long the caller waits (milliseconds); with `timeout` as
            well, the smaller counts.
        body (VerdictRequest): Jobs and the targets that they are judged for.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | VerdictList]
    """

    kwargs = _get_kwargs(
        body=body,
        timeout=timeout,
        x_deadline_ms=x_deadline_ms,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: VerdictRequest,
    timeout: str | Unset = UNSET,
    x_deadline_ms: int | Unset = UNSET,
) -> Problem | VerdictList | None:
    """Create Verdicts

     Say whether jobs fit targets, in few words and within the caller's time; nothing is stored.

    `timeout` and `X-Deadline-Ms` say how long the caller waits. What is not ready at 90 % of that is
    `unknown`; the
    answer itself comes in time. A job that is incomplete or invalid is `unknown` too, and says why.

    Args:
        timeout (str | Unset): How long the caller waits, as in 2s or 500ms (default 10s).
        x_deadline_ms (int | Unset): How long the caller waits (milliseconds); with `timeout` as
            well, the smaller counts.
        body (VerdictRequest): Jobs and the targets that they are judged for.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | VerdictList
    """

    return sync_detailed(
        client=client,
        body=body,
        timeout=timeout,
        x_deadline_ms=x_deadline_ms,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: VerdictRequest,
    timeout: str | Unset = UNSET,
    x_deadline_ms: int | Unset = UNSET,
) -> Response[Problem | VerdictList]:
    """Create Verdicts

     Say whether jobs fit targets, in few words and within the caller's time; nothing is stored.

    `timeout` and `X-Deadline-Ms` say how long the caller waits. What is not ready at 90 % of that is
    `unknown`; the
    answer itself comes in time. A job that is incomplete or invalid is `unknown` too, and says why.

    Args:
        timeout (str | Unset): How long the caller waits, as in 2s or 500ms (default 10s).
        x_deadline_ms (int | Unset): How long the caller waits (milliseconds); with `timeout` as
            well, the smaller counts.
        body (VerdictRequest): Jobs and the targets that they are judged for.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | VerdictList]
    """

    kwargs = _get_kwargs(
        body=body,
        timeout=timeout,
        x_deadline_ms=x_deadline_ms,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: VerdictRequest,
    timeout: str | Unset = UNSET,
    x_deadline_ms: int | Unset = UNSET,
) -> Problem | VerdictList | None:
    """Create Verdicts

     Say whether jobs fit targets, in few words and within the caller's time; nothing is stored.

    `timeout` and `X-Deadline-Ms` say how long the caller waits. What is not ready at 90 % of that is
    `unknown`; the
    answer itself comes in time. A job that is incomplete or invalid is `unknown` too, and says why.

    Args:
        timeout (str | Unset): How long the caller waits, as in 2s or 500ms (default 10s).
        x_deadline_ms (int | Unset): How long the caller waits (milliseconds); with `timeout` as
            well, the smaller counts.
        body (VerdictRequest): Jobs and the targets that they are judged for.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | VerdictList
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            timeout=timeout,
            x_deadline_ms=x_deadline_ms,
        )
    ).parsed
