"""A plan's layout in a framework's own form."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.catalogue import (
    CANDIDATE_NOT_FOUND,
    INVALID_REQUEST,
    PLAN_NOT_FOUND,
    STORE_BUSY,
    STORE_UNAVAILABLE,
)
from service.api.openapi import Documented, problems
from service.api.routes.plans import PlanId
from service.api.services import DevicesOf, StoreOf
from service.formats.writers.export import MEDIA_TYPES, ExportFormat
from service.usecases import exports

router = APIRouter(tags=["plan"], route_class=StrictRoute)

_UNSAID: dict[str, Any] = {
    "Memplan-Unsaid": {
        "description": "JSON Pointers of values of the job that this form has no words for, joined by commas.",
        "schema": {"type": "string"},
    }
}
_EXPORTED: Documented = {
    200: {
        "description": "The layout in the form that was asked for",
        "content": {
            each: {"schema": {"type": "object" if each.endswith(("json", "yaml")) else "string"}}
            for each in MEDIA_TYPES
        },
        "headers": _UNSAID,
    }
}
_PROBLEMS = (INVALID_REQUEST, PLAN_NOT_FOUND, CANDIDATE_NOT_FOUND, STORE_BUSY, STORE_UNAVAILABLE)

Format = Annotated[ExportFormat, Path(alias="format", description="Form of the answer.", examples=["megatron"])]
Rank = Annotated[int, Query(ge=0, le=1000, description="Which candidate of the plan; 0 is the first.", examples=[0])]


@router.get(
    "/plans/{plan_id}/exports/{format}",  # noqa: FAST003  (the alias of `form`)
    dependencies=[requires("plan:read")],
    response_class=Response,
    responses={**_EXPORTED, **problems(*_PROBLEMS)},
)
def export_plan(plan_id: PlanId, form: Format, store: StoreOf, devices: DevicesOf, candidate: Rank = 0) -> Response:
    """Return a candidate of a stored plan as flags, config file or batch script, to be pasted or saved."""
    found = exports.export_candidate(store, plan_id, form, candidate, devices)
    headers = {
        "Content-Disposition": f'inline; filename="{found.file_name}"',
        "Memplan-Unsaid": ", ".join(found.unsaid),
    }
    return Response(found.text, media_type=found.media_type, headers=headers)
