"""Whether the service runs, and whether it can answer."""

from fastapi import APIRouter

from service.api.catalogue import STORE_BUSY, STORE_UNAVAILABLE
from service.api.openapi import problems
from service.api.schemas.health import Liveness, Readiness
from service.api.services import DevicesOf, StoreOf
from service.calculator.estimate import METHOD_VERSION
from service.catalog.models import load_models
from service.usecases.release import RELEASE

router = APIRouter(tags=["service"])


@router.get("/livez", responses=problems())
async def get_liveness() -> Liveness:
    """Say that the process answers; looks at nothing else."""
    return Liveness()


@router.get("/readyz", responses=problems(STORE_BUSY, STORE_UNAVAILABLE))
def get_readiness(store: StoreOf, devices: DevicesOf) -> Readiness:
    """Say that the database answers and the catalogue is loaded, or answer a problem of status 503."""
    store.ping()
    return Readiness(version=RELEASE, method_version=METHOD_VERSION, devices=len(devices), models=len(load_models()))
