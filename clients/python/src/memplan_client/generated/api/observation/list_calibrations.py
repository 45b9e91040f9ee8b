from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.calibration_list import CalibrationList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["framework"] = framework

    params["device"] = device

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/calibrations",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CalibrationList | Problem:
    if response.status_code == 200:
        response_200 = CalibrationList.from_dict(response.json())

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
) -> Response[CalibrationList | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
) -> Response[CalibrationList | Problem]:
    """List Calibrations

     Say for each framework, implementation and device what observed runs have shown, and how answers use
    it.

    Args:
        framework (str | Unset): Only groups of this framework.
        device (str | Unset): Only groups of this device, by its id.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalibrationList | Problem]
    """

    kwargs = _get_kwargs(
        framework=framework,
        device=device,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
) -> CalibrationList | Problem | None:
    """List Calibrations

     Say for each framework, implementation and device what observed runs have shown, and how answers use
    it.

    Args:
        framework (str | Unset): Only groups of this framework.
        device (str | Unset): Only groups of this device, by its id.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalibrationList | Problem
    """

    return sync_detailed(
        client=client,
        framework=framework,
        device=device,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
) -> Response[CalibrationList | Problem]:
    """List Calibrations

     Say for each framework, implementation and device what observed runs have shown, and how answers use
    it.

    Args:
        framework (str | Unset): Only groups of this framework.
        device (str | Unset): Only groups of this device, by its id.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalibrationList | Problem]
    """

    kwargs = _get_kwargs(
        framework=framework,
        device=device,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    framework: str | Unset = UNSET,
    device: str | Unset = UNSET,
) -> CalibrationList | Problem | None:
    """List Calibrations

     Say for each framework, implementation and device what observed runs have shown, and how answers use
    it.

    Args:
        framework (str | Unset): Only groups of this framework.
        device (str | Unset): Only groups of this device, by its id.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalibrationList | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            framework=framework,
            device=device,
        )
    ).parsed
