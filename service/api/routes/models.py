"""The model presets of the catalogue."""

from fastapi import APIRouter

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.openapi import problems
from service.api.schemas.model import ModelAnswer, ModelList
from service.usecases import models

router = APIRouter(tags=["catalogue"], route_class=StrictRoute)


@router.get("/models", dependencies=[requires("verdict:read")], responses=problems())
def list_models() -> ModelList:
    """List the models that a job can name as a preset, with their parameter counts."""
    return ModelList(items=[ModelAnswer.of(each) for each in models.list_models()])
