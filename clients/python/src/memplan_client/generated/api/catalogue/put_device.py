from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.device_answer import DeviceAnswer
from ...models.device_request import DeviceRequest
from ...models.problem import Problem
from ...types import Response, Unset


def _get_kwargs(
    device_id: str,
    *,
    body: DeviceRequest,
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
        "url": "/v1/devices/{device_id}".format(
            device_id=quote(str(device_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeviceAnswer | Problem:
    if response.status_code == 200:
        response_200 = DeviceAnswer.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = DeviceAnswer.from_dict(response.json())

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
) -> Response[DeviceAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    device_id: str,
    *,
    client: AuthenticatedClient,
    body: DeviceRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> Response[DeviceAnswer | Problem]:
    """Put Device

     Say what is so of a device: over the catalogue's figures, or of a device that the catalogue lacks.

    The whole definition is replaced. Answers from now on use it; other processes on the same database
    follow within
    seconds. What is already stored stays as it was computed.

    Args:
        device_id (str): Id of the device.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (DeviceRequest): What is said of a device; what is left out is as in the catalogue's
            device of this id, or of `base`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeviceAnswer | Problem]
    """

    kwargs = _get_kwargs(
        device_id=device_id,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    device_id: str,
    *,
    client: AuthenticatedClient,
    body: DeviceRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> DeviceAnswer | Problem | None:
    """Put Device

     Say what is so of a device: over the catalogue's figures, or of a device that the catalogue lacks.

    The whole definition is replaced. Answers from now on use it; other processes on the same database
    follow within
    seconds. What is already stored stays as it was computed.

    Args:
        device_id (str): Id of the device.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (DeviceRequest): What is said of a device; what is left out is as in the catalogue's
            device of this id, or of `base`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeviceAnswer | Problem
    """

    return sync_detailed(
        device_id=device_id,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed


async def asyncio_detailed(
    device_id: str,
    *,
    client: AuthenticatedClient,
    body: DeviceRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> Response[DeviceAnswer | Problem]:
    """Put Device

     Say what is so of a device: over the catalogue's figures, or of a device that the catalogue lacks.

    The whole definition is replaced. Answers from now on use it; other processes on the same database
    follow within
    seconds. What is already stored stays as it was computed.

    Args:
        device_id (str): Id of the device.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (DeviceRequest): What is said of a device; what is left out is as in the catalogue's
            device of this id, or of `base`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeviceAnswer | Problem]
    """

    kwargs = _get_kwargs(
        device_id=device_id,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    device_id: str,
    *,
    client: AuthenticatedClient,
    body: DeviceRequest,
    if_match: str | Unset = "",
    if_none_match: str | Unset = "",
) -> DeviceAnswer | Problem | None:
    """Put Device

     Say what is so of a device: over the catalogue's figures, or of a device that the catalogue lacks.

    The whole definition is replaced. Answers from now on use it; other processes on the same database
    follow within
    seconds. What is already stored stays as it was computed.

    Args:
        device_id (str): Id of the device.
        if_match (str | Unset): Tag of the answer that the caller has changed; 412 when it is no
            longer current. Default: ''.
        if_none_match (str | Unset): `*`: only what is not there yet; else 412. Default: ''.
        body (DeviceRequest): What is said of a device; what is left out is as in the catalogue's
            device of this id, or of `base`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeviceAnswer | Problem
    """

    return (
        await asyncio_detailed(
            device_id=device_id,
            client=client,
            body=body,
            if_match=if_match,
            if_none_match=if_none_match,
        )
    ).parsed
