from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.job_observation_request import JobObservationRequest
from ...models.observation_answer import ObservationAnswer
from ...models.plan_observation_request import PlanObservationRequest
from ...models.problem import Problem
from ...models.source_observation_request import SourceObservationRequest
from ...types import Response, Unset


def _get_kwargs(
    *,
    body: JobObservationRequest | PlanObservationRequest | SourceObservationRequest,
    idempotency_key: str | Unset = "",
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/observations",
    }

    if isinstance(body, PlanObservationRequest):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, JobObservationRequest):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ObservationAnswer | Problem:
    if response.status_code == 200:
        response_200 = ObservationAnswer.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = ObservationAnswer.from_dict(response.json())

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

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

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
) -> Response[ObservationAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: JobObservationRequest | PlanObservationRequest | SourceObservationRequest,
    idempotency_key: str | Unset = "",
) -> Response[ObservationAnswer | Problem]:
    """Create Observation

     Store what a run measured, or that it ran out of memory, beside what was predicted of it.

    A run has one observation: the same body again finds it, another one for the same `run_id` is
    refused.

    Args:
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobObservationRequest | PlanObservationRequest | SourceObservationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ObservationAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: JobObservationRequest | PlanObservationRequest | SourceObservationRequest,
    idempotency_key: str | Unset = "",
) -> ObservationAnswer | Problem | None:
    """Create Observation

     Store what a run measured, or that it ran out of memory, beside what was predicted of it.

    A run has one observation: the same body again finds it, another one for the same `run_id` is
    refused.

    Args:
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobObservationRequest | PlanObservationRequest | SourceObservationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ObservationAnswer | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: JobObservationRequest | PlanObservationRequest | SourceObservationRequest,
    idempotency_key: str | Unset = "",
) -> Response[ObservationAnswer | Problem]:
    """Create Observation

     Store what a run measured, or that it ran out of memory, beside what was predicted of it.

    A run has one observation: the same body again finds it, another one for the same `run_id` is
    refused.

    Args:
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobObservationRequest | PlanObservationRequest | SourceObservationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ObservationAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: JobObservationRequest | PlanObservationRequest | SourceObservationRequest,
    idempotency_key: str | Unset = "",
) -> ObservationAnswer | Problem | None:
    """Create Observation

     Store what a run measured, or that it ran out of memory, beside what was predicted of it.

    A run has one observation: the same body again finds it, another one for the same `run_id` is
    refused.

    Args:
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobObservationRequest | PlanObservationRequest | SourceObservationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ObservationAnswer | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
