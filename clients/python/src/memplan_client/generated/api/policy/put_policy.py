from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.policy_answer import PolicyAnswer
from ...models.policy_request import PolicyRequest
from ...models.problem import Problem
from ...types import Response, Unset


def _get_kwargs(
    queue: str,
    *,
    body: PolicyRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/policies/{queue}".format(
            queue=quote(str(queue), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PolicyAnswer | Problem:
    if response.status_code == 200:
        response_200 = PolicyAnswer.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = PolicyAnswer.from_dict(response.json())

        return response_201

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

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
) -> Response[PolicyAnswer | Problem]:
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
    body: PolicyRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> Response[PolicyAnswer | Problem]:
    """Put Policy

     State the policy of a queue; that of the queue `default` holds for queues without one.

    Verdicts that name the queue have it applied from now on, on other processes within seconds.

    Args:
        queue (str): Name of the queue.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (PolicyRequest): The rules of a queue, and what is done when one is broken.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PolicyAnswer | Problem]
    """

    kwargs = _get_kwargs(
        queue=queue,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    queue: str,
    *,
    client: AuthenticatedClient,
    body: PolicyRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> PolicyAnswer | Problem | None:
    """Put Policy

     State the policy of a queue; that of the queue `default` holds for queues without one.

    Verdicts that name the queue have it applied from now on, on other processes within seconds.

    Args:
        queue (str): Name of the queue.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (PolicyRequest): The rules of a queue, and what is done when one is broken.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PolicyAnswer | Problem
    """

    return sync_detailed(
        queue=queue,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed


async def asyncio_detailed(
    queue: str,
    *,
    client: AuthenticatedClient,
    body: PolicyRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> Response[PolicyAnswer | Problem]:
    """Put Policy

     State the policy of a queue; that of the queue `default` holds for queues without one.

    Verdicts that name the queue have it applied from now on, on other processes within seconds.

    Args:
        queue (str): Name of the queue.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (PolicyRequest): The rules of a queue, and what is done when one is broken.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PolicyAnswer | Problem]
    """

    kwargs = _get_kwargs(
        queue=queue,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    queue: str,
    *,
    client: AuthenticatedClient,
    body: PolicyRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> PolicyAnswer | Problem | None:
    """Put Policy

     State the policy of a queue; that of the queue `default` holds for queues without one.

    Verdicts that name the queue have it applied from now on, on other processes within seconds.

    Args:
        queue (str): Name of the queue.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (PolicyRequest): The rules of a queue, and what is done when one is broken.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PolicyAnswer | Problem
    """

    return (
        await asyncio_detailed(
            queue=queue,
            client=client,
            body=body,
            if_match=if_match,
            if_none_match=if_none_match,
        )
    ).parsed
