"""The devices of the catalogue."""

from fastapi import APIRouter

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.openapi import problems
from service.api.schemas.device import DeviceAnswer, DeviceList
from service.usecases import devices

router = APIRouter(tags=["catalogue"], route_class=StrictRoute)


@router.get("/devices", dependencies=[requires("verdict:read")], responses=problems())
def list_devices() -> DeviceList:
    """List the devices that jobs can be planned for, with sizes, rates, links and their sources."""
    return DeviceList(items=[DeviceAnswer.of(each) for each in devices.list_devices()])
