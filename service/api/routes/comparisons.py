"""Plans and jobs on targets, side by side, stored under a link."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import requires
from service.api.catalogue import (
    COMPARISON_NOT_FOUND,
    INVALID_CURSOR,
    INVALID_REQUEST,
    PLAN_NOT_FOUND,
    STORE_BUSY,
    STORE_UNAVAILABLE,
    UNKNOWN_DEVICE,
)
from service.api.keyed import REPLAY_HEADER, ClaimOf, KeyedRoute
from service.api.openapi import BODY_PROBLEMS, KEY_PROBLEMS, Documented, problems
from service.api.paging import LINK, PageQuery, next_link
from service.api.replies import comparison_reply
from service.api.schemas.comparison import ComparisonAnswer, ComparisonList
from service.api.schemas.comparison_request import ComparisonRequest
from service.api.schemas.examples import COMPARISONS
from service.api.services import DevicesOf, ServicesOf, StoreOf
from service.api.tags import CONDITIONAL, ETAG, IF_NONE_MATCH, tagged
from service.usecases import comparisons

router = APIRouter(tags=["comparison"], route_class=KeyedRoute)

_STORE = (STORE_BUSY, STORE_UNAVAILABLE)
_HEADERS = {
    "Location": {"description": "Where the comparison is.", "schema": {"type": "string"}},
    **ETAG,
    **REPLAY_HEADER,
}
_CREATED: Documented = {
    200: {"description": "The same question was answered before", "model": ComparisonAnswer, "headers": _HEADERS},
    201: {"description": "The comparison was made and stored", "headers": _HEADERS},
}

ComparisonId = Annotated[
    str, Path(description="Id of the comparison.", examples=["cmp_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
]


@router.post(
    "/comparisons",
    dependencies=[requires("plan:write")],
    status_code=201,
    response_model=ComparisonAnswer,
    responses={**_CREATED, **problems(*BODY_PROBLEMS, *KEY_PROBLEMS, PLAN_NOT_FOUND, UNKNOWN_DEVICE, *_STORE)},
)
def create_comparison(
    question: Annotated[ComparisonRequest, Body(openapi_examples=COMPARISONS)],
    services: ServicesOf,
    devices: DevicesOf,
    claim: ClaimOf,
) -> Response:
    """Put plans and jobs on targets side by side: verdicts, what differs and with which effect, and the winners.

    A job that is incomplete or invalid is `unknown` in the matrix, and the others are compared all the same.
    """
    evidence = services.calibrations.evidence_for(use_observations=question.use_observations)
    made, is_new = comparisons.compare(services.store, services.claims, question.question(evidence), claim, devices)
    return comparison_reply(made, "created" if is_new else "found")


@router.get(
    "/comparisons",
    dependencies=[requires("plan:read")],
    responses={200: {"headers": LINK}, **problems(INVALID_REQUEST, INVALID_CURSOR, *_STORE)},
)
def list_comparisons(
    query: Annotated[PageQuery, Query()], store: StoreOf, request: Request, response: Response
) -> ComparisonList:
    """List the stored comparisons, newest first, without their matrices."""
    page = comparisons.list_comparisons(store, query.limit, query.cursor)
    response.headers.update(next_link(request, page.next_cursor))
    return ComparisonList.of(page)


@router.get(
    "/comparisons/{comparison_id}",
    dependencies=[requires("plan:read")],
    response_model=ComparisonAnswer,
    responses={
        **CONDITIONAL,
        **problems(INVALID_REQUEST, COMPARISON_NOT_FOUND, *_STORE),
    },
)
def get_comparison(
    comparison_id: ComparisonId, store: StoreOf, if_none_match: Annotated[str, IF_NONE_MATCH] = ""
) -> Response:
    """Return a stored comparison."""
    return tagged(ComparisonAnswer.of(comparisons.get_comparison(store, comparison_id)), if_none_match)
