"""Which layouts of a job fit a cluster, stored under a link."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import CallerOf, requires
from service.api.catalogue import (
    INCOMPLETE_DEVICE,
    INCOMPLETE_JOB,
    INVALID_CURSOR,
    INVALID_JOB,
    INVALID_REQUEST,
    PLAN_NOT_FOUND,
    PRECONDITION_FAILED,
    SEARCH_TOO_LARGE,
    SEARCHES_FULL,
    SERVICE_STOPPING,
    STORE_BUSY,
    STORE_UNAVAILABLE,
    TOO_MANY_SEARCHES,
    UNKNOWN_DEVICE,
)
from service.api.durations import Wait
from service.api.following import searched
from service.api.keyed import REPLAY_HEADER, ClaimOf, KeyedRoute
from service.api.openapi import BODY_PROBLEMS, KEY_PROBLEMS, RETRY_AFTER, Documented, problems
from service.api.paging import LINK, next_link
from service.api.replies import operation_reply, plan_reply
from service.api.schemas.examples import KEEPING, PLANS
from service.api.schemas.operation import OperationAnswer
from service.api.schemas.plan import PlanAnswer, PlanList
from service.api.schemas.plan_keep import KeepRequest
from service.api.schemas.plan_query import PlanQuery
from service.api.schemas.plan_request import PlanRequest
from service.api.services import DevicesOf, ServicesOf, StoreOf
from service.api.tags import CONDITIONAL, ETAG, IF_MATCH, IF_NONE_MATCH, precondition, tagged, written
from service.usecases import plans, searches
from service.usecases.search_queue import Made

router = APIRouter(tags=["plan"], route_class=KeyedRoute)

_STORE = (STORE_BUSY, STORE_UNAVAILABLE)
_QUESTION = (INVALID_JOB, INCOMPLETE_JOB, UNKNOWN_DEVICE, INCOMPLETE_DEVICE, SEARCH_TOO_LARGE)
_QUEUE = (TOO_MANY_SEARCHES, SEARCHES_FULL, SERVICE_STOPPING)
_CREATED_HEADERS = {
    "Location": {"description": "Where the plan is.", "schema": {"type": "string"}},
    **ETAG,
    **REPLAY_HEADER,
}
_CREATED: Documented = {
    200: {"description": "The same question was answered before", "model": PlanAnswer, "headers": _CREATED_HEADERS},
    201: {
        "description": "The plan was made and stored",
        "headers": _CREATED_HEADERS,
        "links": {
            name: {"operationId": name, "parameters": {"plan_id": "$response.body#/id"}}
            for name in ("get_plan", "keep_plan", "delete_plan")
        },
    },
    202: {
        "description": "The search takes longer, and goes on as an operation",
        "model": OperationAnswer,
        "headers": {
            "Location": {"description": "Where the operation is.", "schema": {"type": "string"}},
            **RETRY_AFTER,
            **REPLAY_HEADER,
        },
        "links": {
            name: {"operationId": name, "parameters": {"operation_id": "$response.body#/id"}}
            for name in ("get_operation", "follow_operation", "cancel_operation")
        },
    },
}

PlanId = Annotated[str, Path(description="Id of the plan.", examples=["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])]


@router.post(
    "/plans",
    dependencies=[requires("plan:write")],
    status_code=201,
    response_model=PlanAnswer,
    responses={
        **_CREATED,
        **problems(*BODY_PROBLEMS, *KEY_PROBLEMS, *_QUESTION, *_QUEUE, *_STORE),
    },
)
async def create_plan(
    question: Annotated[PlanRequest, Body(openapi_examples=PLANS)],
    services: ServicesOf,
    devices: DevicesOf,
    claim: ClaimOf,
    caller: CallerOf,
    wait: Wait = 10.0,
) -> Response:
    """Search every layout of a job on a cluster, rank those that fit, and store the answer.

    What the job states is fixed, what it leaves open is searched. The same question finds the same plan again. A search
    that takes longer than `wait` goes on as an operation: 202, and `Location` says where to follow it.
    """
    evidence = services.calibrations.evidence_for(use_observations=question.use_observations)
    most = services.settings.search_max_layouts
    asked = await run_in_threadpool(searches.prepare, question.question(), most, devices, evidence)
    found = await searched(services.searches, asked, wait, claim, caller.name)
    if isinstance(found, Made):
        kept = await run_in_threadpool(plans.keep_at_least, services.store, found.plan, asked.question.kept)
        return plan_reply(kept, "created" if found.is_new else "found")
    return operation_reply(found)


@router.get(
    "/plans",
    dependencies=[requires("plan:read")],
    responses={200: {"headers": LINK}, **problems(INVALID_REQUEST, INVALID_CURSOR, *_STORE)},
)
def list_plans(
    query: Annotated[PlanQuery, Query()], store: StoreOf, devices: DevicesOf, request: Request, response: Response
) -> PlanList:
    """List the stored plans, newest first, without their candidates."""
    page = plans.list_plans(store, query.where(devices), query.limit, query.cursor)
    response.headers.update(next_link(request, page.next_cursor))
    return PlanList.of(page)


@router.get(
    "/plans/{plan_id}",
    dependencies=[requires("plan:read")],
    response_model=PlanAnswer,
    responses={
        **CONDITIONAL,
        **problems(INVALID_REQUEST, PLAN_NOT_FOUND, *_STORE),
    },
)
def get_plan(plan_id: PlanId, store: StoreOf, if_none_match: Annotated[str, IF_NONE_MATCH] = "") -> Response:
    """Return a stored plan with its candidates."""
    return tagged(PlanAnswer.of(plans.get_plan(store, plan_id)), if_none_match)


@router.patch(
    "/plans/{plan_id}",
    dependencies=[requires("plan:write")],
    response_model=PlanAnswer,
    responses={200: {"headers": ETAG}, **problems(*BODY_PROBLEMS, PLAN_NOT_FOUND, PRECONDITION_FAILED, *_STORE)},
)
def keep_plan(
    plan_id: PlanId,
    said: Annotated[KeepRequest, Body(openapi_examples=KEEPING)],
    store: StoreOf,
    if_match: Annotated[str, IF_MATCH] = "",
) -> Response:
    """Change how long a stored plan is kept; nothing else of a plan ever changes."""
    return written(PlanAnswer.of(plans.keep_plan(store, plan_id, said.changed, precondition(PlanAnswer.of, if_match))))


@router.delete(
    "/plans/{plan_id}",
    dependencies=[requires("plan:write")],
    status_code=204,
    responses=problems(INVALID_REQUEST, PLAN_NOT_FOUND, PRECONDITION_FAILED, *_STORE),
)
def delete_plan(plan_id: PlanId, store: StoreOf, if_match: Annotated[str, IF_MATCH] = "") -> None:
    """Remove a stored plan; the same question makes it again, under another id."""
    plans.delete_plan(store, plan_id, precondition(PlanAnswer.of, if_match) if if_match else None)
