from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.estimate_answer import EstimateAnswer
from ...models.job_estimate_request import JobEstimateRequest
from ...models.problem import Problem
from ...models.source_estimate_request import SourceEstimateRequest
from ...types import Response


def _get_kwargs(
    *,
    body: JobEstimateRequest | SourceEstimateRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/estimates",
    }

    if isinstance(body, JobEstimateRequest):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EstimateAnswer | Problem:
    if response.status_code == 200:
        response_200 = EstimateAnswer.from_dict(response.json())

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
) -> Response[EstimateAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: JobEstimateRequest | SourceEstimateRequest,
) -> Response[EstimateAnswer | Problem]:
    """Create Estimate

     Itemise the memory of one job on one device: every pipeline stage, at its worst moment, tensor by
    tensor.

    A job that does not fit is an answer like any other; nothing is stored.

    Args:
        body (JobEstimateRequest | SourceEstimateRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EstimateAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: JobEstimateRequest | SourceEstimateRequest,
) -> EstimateAnswer | Problem | None:
    """Create Estimate

     Itemise the memory of one job on one device: every pipeline stage, at its worst moment, tensor by
    tensor.

    A job that does not fit is an answer like any other; nothing is stored.

    Args:
        body (JobEstimateRequest | SourceEstimateRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EstimateAnswer | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: JobEstimateRequest | SourceEstimateRequest,
) -> Response[EstimateAnswer | Problem]:
    """Create Estimate

     Itemise the memory of one job on one device: every pipeline stage, at its worst moment, tensor by
    tensor.

    A job that does not fit is an answer like any other; nothing is stored.

    Args:
        body (JobEstimateRequest | SourceEstimateRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EstimateAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: JobEstimateRequest | SourceEstimateRequest,
) -> EstimateAnswer | Problem | None:
    """Create Estimate

     Itemise the memory of one job on one device: every pipeline stage, at its worst moment, tensor by
    tensor.

    A job that does not fit is an answer like any other; nothing is stored.

    Args:
        body (JobEstimateRequest | SourceEstimateRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EstimateAnswer | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
