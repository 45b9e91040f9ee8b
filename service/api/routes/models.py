"""The model presets of the catalogue."""

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.catalogue import INVALID_REQUEST
from service.api.openapi import problems
from service.api.schemas.model import ModelAnswer, ModelList
from service.api.tags import CONDITIONAL, IF_NONE_MATCH, tagged
from service.usecases import models

router = APIRouter(tags=["catalogue"], route_class=StrictRoute)


@router.get(
    "/models",
    dependencies=[requires("verdict:read")],
    response_model=ModelList,
    responses={**CONDITIONAL, **problems(INVALID_REQUEST)},
)
def list_models(if_none_match: Annotated[str, IF_NONE_MATCH] = "") -> Response:
    """List the models that a job can name as a preset, with their parameter counts."""
    return tagged(ModelList(items=[ModelAnswer.of(each) for each in models.list_models()]), if_none_match)
