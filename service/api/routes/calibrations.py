"""How far predictions are from what runs measured."""

from typing import Annotated

from fastapi import APIRouter, Query

from service.api.access import GuardedRoute, requires
from service.api.catalogue import INVALID_REQUEST, STORE_BUSY, STORE_UNAVAILABLE
from service.api.openapi import problems
from service.api.schemas.calibration import CalibrationAnswer, CalibrationList, CalibrationQuery
from service.api.services import ServicesOf

router = APIRouter(tags=["observation"], route_class=GuardedRoute)


@router.get(
    "/calibrations",
    dependencies=[requires("plan:read")],
    responses=problems(INVALID_REQUEST, STORE_BUSY, STORE_UNAVAILABLE),
)
def list_calibrations(query: Annotated[CalibrationQuery, Query()], services: ServicesOf) -> CalibrationList:
    """Say for each framework, implementation and device what observed runs have shown, and how answers use it."""
    found = services.calibrations.report()
    return CalibrationList(items=[CalibrationAnswer.of(each) for each in found if query.shows(each)])
