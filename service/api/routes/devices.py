"""The devices that jobs can be planned for: those of the catalogue, and what an operator says of devices."""

from typing import Annotated

from fastapi import APIRouter, Body, Path
from starlette.responses import Response

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.catalogue import (
    DEFINITIONS_FULL,
    DEVICE_NAME_TAKEN,
    DEVICE_NOT_FOUND,
    DEVICE_NOT_REMOVABLE,
    INVALID_DEVICE,
    INVALID_REQUEST,
    PRECONDITION_FAILED,
    STORE_BUSY,
    STORE_UNAVAILABLE,
)
from service.api.openapi import BODY_PROBLEMS, Documented, problems
from service.api.schemas.device import DeviceAnswer, DeviceList
from service.api.schemas.device_request import DEVICE_ID, DeviceRequest
from service.api.schemas.examples import DEVICES
from service.api.services import ServicesOf
from service.api.tags import CONDITIONAL, ETAG, IF_MATCH, IF_NEW, IF_NONE_MATCH, precondition, tagged, written

router = APIRouter(tags=["catalogue"], route_class=StrictRoute)

_STORE = (STORE_BUSY, STORE_UNAVAILABLE)
_WRITTEN: Documented = {
    200: {"description": "What was said of the device before is replaced", "headers": ETAG},
    201: {
        "description": "The device is new",
        "model": DeviceAnswer,
        "headers": {**ETAG, "Location": {"description": "Where the device is.", "schema": {"type": "string"}}},
    },
}

DeviceName = Annotated[
    str, Path(max_length=100, description="Id, alias or scheduler label of the device.", examples=["h100-sxm-80gb"])
]
DeviceId = Annotated[
    str, Path(max_length=64, pattern=DEVICE_ID, description="Id of the device.", examples=["h100-sxm-80gb"])
]
IfMatch = Annotated[str, IF_MATCH]


@router.get(
    "/devices",
    dependencies=[requires("verdict:read")],
    response_model=DeviceList,
    responses={**CONDITIONAL, **problems(INVALID_REQUEST)},
)
def list_devices(services: ServicesOf, if_none_match: Annotated[str, IF_NONE_MATCH] = "") -> Response:
    """List the devices that jobs can be planned for, with sizes, rates, links and their sources."""
    devices = services.devices.listing.all()
    return tagged(DeviceList(items=[DeviceAnswer.of(each) for each in devices]), if_none_match)


@router.get(
    "/devices/{device_id}",
    dependencies=[requires("verdict:read")],
    response_model=DeviceAnswer,
    responses={
        **CONDITIONAL,
        **problems(INVALID_REQUEST, DEVICE_NOT_FOUND),
    },
)
def get_device(
    device_id: DeviceName, services: ServicesOf, if_none_match: Annotated[str, IF_NONE_MATCH] = ""
) -> Response:
    """Return a device: its figures, where they are from, and what the operator has said of it."""
    return tagged(DeviceAnswer.of(services.devices.listing.find(device_id)), if_none_match)


@router.put(
    "/devices/{device_id}",
    dependencies=[requires("admin")],
    response_model=DeviceAnswer,
    responses={
        **_WRITTEN,
        **problems(*BODY_PROBLEMS, INVALID_DEVICE, DEVICE_NAME_TAKEN, DEFINITIONS_FULL, PRECONDITION_FAILED, *_STORE),
    },
)
def put_device(
    device_id: DeviceId,
    said: Annotated[DeviceRequest, Body(openapi_examples=DEVICES)],
    services: ServicesOf,
    if_match: IfMatch = "",
    if_none_match: Annotated[str, IF_NEW] = "",
) -> Response:
    """Say what is so of a device: over the catalogue's figures, or of a device that the catalogue lacks.

    The whole definition is replaced. Answers from now on use it; other processes on the same database follow within
    seconds. What is already stored stays as it was computed.
    """
    expected = precondition(DeviceAnswer.of, if_match, if_none_match)
    found, is_new = services.devices.put(device_id, said.definition(), expected)
    return written(DeviceAnswer.of(found), 201 if is_new else 200, f"/v1/devices/{device_id}" if is_new else None)


@router.delete(
    "/devices/{device_id}",
    dependencies=[requires("admin")],
    status_code=204,
    responses=problems(INVALID_REQUEST, DEVICE_NOT_FOUND, DEVICE_NOT_REMOVABLE, PRECONDITION_FAILED, *_STORE),
)
def delete_device(device_id: DeviceId, services: ServicesOf, if_match: IfMatch = "") -> None:
    """Take back what was said of a device: one of the catalogue is as it was there, another one is gone."""
    services.devices.remove(device_id, precondition(DeviceAnswer.of, if_match))
