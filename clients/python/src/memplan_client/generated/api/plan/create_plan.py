from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.job_plan_request import JobPlanRequest
from ...models.operation_answer import OperationAnswer
from ...models.plan_answer import PlanAnswer
from ...models.problem import Problem
from ...models.source_plan_request import SourcePlanRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: JobPlanRequest | SourcePlanRequest,
    wait: str | Unset = "10.0",
    idempotency_key: str | Unset = "",
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["wait"] = wait

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/plans",
        "params": params,
    }

    if isinstance(body, JobPlanRequest):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> OperationAnswer | PlanAnswer | Problem:
    if response.status_code == 200:
        response_200 = PlanAnswer.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = PlanAnswer.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = OperationAnswer.from_dict(response.json())

        return response_202

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
) -> Response[OperationAnswer | PlanAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: JobPlanRequest | SourcePlanRequest,
    wait: str | Unset = "10.0",
    idempotency_key: str | Unset = "",
) -> Response[OperationAnswer | PlanAnswer | Problem]:
    """Create Plan

     Search every layout of a job on a cluster, rank those that fit, and store the answer.

    What the job states is fixed, what it leaves open is searched. The same question finds the same plan
    again. A search
    that takes longer than `wait` goes on as an operation: 202, and `Location` says where to follow it.

    Args:
        wait (str | Unset):  Default: '10.0'.
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobPlanRequest | SourcePlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[OperationAnswer | PlanAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        wait=wait,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: JobPlanRequest | SourcePlanRequest,
    wait: str | Unset = "10.0",
    idempotency_key: str | Unset = "",
) -> OperationAnswer | PlanAnswer | Problem | None:
    """Create Plan

     Search every layout of a job on a cluster, rank those that fit, and store the answer.

    What the job states is fixed, what it leaves open is searched. The same question finds the same plan
    again. A search
    that takes longer than `wait` goes on as an operation: 202, and `Location` says where to follow it.

    Args:
        wait (str | Unset):  Default: '10.0'.
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobPlanRequest | SourcePlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        OperationAnswer | PlanAnswer | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        wait=wait,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: JobPlanRequest | SourcePlanRequest,
    wait: str | Unset = "10.0",
    idempotency_key: str | Unset = "",
) -> Response[OperationAnswer | PlanAnswer | Problem]:
    """Create Plan

     Search every layout of a job on a cluster, rank those that fit, and store the answer.

    What the job states is fixed, what it leaves open is searched. The same question finds the same plan
    again. A search
    that takes longer than `wait` goes on as an operation: 202, and `Location` says where to follow it.

    Args:
        wait (str | Unset):  Default: '10.0'.
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobPlanRequest | SourcePlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[OperationAnswer | PlanAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        wait=wait,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: JobPlanRequest | SourcePlanRequest,
    wait: str | Unset = "10.0",
    idempotency_key: str | Unset = "",
) -> OperationAnswer | PlanAnswer | Problem | None:
    """Create Plan

     Search every layout of a job on a cluster, rank those that fit, and store the answer.

    What the job states is fixed, what it leaves open is searched. The same question finds the same plan
    again. A search
    that takes longer than `wait` goes on as an operation: 202, and `Location` says where to follow it.

    Args:
        wait (str | Unset):  Default: '10.0'.
        idempotency_key (str | Unset): Any text of the caller's that makes the request safe to
            repeat within 24 hours: the same key with the same body gives the same answer, with the
            header Idempotency-Replayed. Default: ''.
        body (JobPlanRequest | SourcePlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        OperationAnswer | PlanAnswer | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            wait=wait,
            idempotency_key=idempotency_key,
        )
    ).parsed
