"""What the jobs of a queue may do, and what would have been refused."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.catalogue import (
    DEFINITIONS_FULL,
    INVALID_CURSOR,
    INVALID_REQUEST,
    POLICY_NOT_FOUND,
    PRECONDITION_FAILED,
    STORE_BUSY,
    STORE_UNAVAILABLE,
    UNKNOWN_DEVICE,
)
from service.api.openapi import BODY_PROBLEMS, Documented, problems
from service.api.paging import LINK, PageQuery, next_link
from service.api.schemas.examples import POLICIES
from service.api.schemas.policy import PolicyAnswer, PolicyList, PolicySummary, RefusalList
from service.api.schemas.policy_request import QUEUE, PolicyRequest
from service.api.services import DevicesOf, ServicesOf, StoreOf
from service.api.tags import CONDITIONAL, ETAG, IF_MATCH, IF_NEW, IF_NONE_MATCH, precondition, tagged, written
from service.usecases import refusals

router = APIRouter(tags=["policy"], route_class=StrictRoute)

_STORE = (STORE_BUSY, STORE_UNAVAILABLE)
_WRITTEN: Documented = {
    200: {"description": "The policy that there was is replaced", "headers": ETAG},
    201: {
        "description": "The queue had no policy",
        "model": PolicyAnswer,
        "headers": {**ETAG, "Location": {"description": "Where the policy is.", "schema": {"type": "string"}}},
    },
}

Queue = Annotated[str, Path(max_length=100, pattern=QUEUE, description="Name of the queue.", examples=["prod"])]
IfMatch = Annotated[str, IF_MATCH]
Days = Annotated[int, Field(ge=1, le=366), Query(description="Days to count, today included.", examples=[7])]


@router.get("/policies", dependencies=[requires("plan:read")], responses=problems())
def list_policies(services: ServicesOf) -> PolicyList:
    """List the policies of all queues."""
    found = services.policies.now.by_queue
    return PolicyList(items=[PolicyAnswer.of(found[queue]) for queue in sorted(found)])


@router.get(
    "/policies/{queue}",
    dependencies=[requires("plan:read")],
    response_model=PolicyAnswer,
    responses={
        **CONDITIONAL,
        **problems(INVALID_REQUEST, POLICY_NOT_FOUND),
    },
)
def get_policy(queue: Queue, services: ServicesOf, if_none_match: Annotated[str, IF_NONE_MATCH] = "") -> Response:
    """Return the policy that is stated for a queue."""
    return tagged(PolicyAnswer.of(services.policies.now.find(queue)), if_none_match)


@router.put(
    "/policies/{queue}",
    dependencies=[requires("admin")],
    response_model=PolicyAnswer,
    responses={
        **_WRITTEN,
        **problems(*BODY_PROBLEMS, UNKNOWN_DEVICE, DEFINITIONS_FULL, PRECONDITION_FAILED, *_STORE),
    },
)
def put_policy(
    queue: Queue,
    said: Annotated[PolicyRequest, Body(openapi_examples=POLICIES)],
    services: ServicesOf,
    devices: DevicesOf,
    if_match: IfMatch = "",
    if_none_match: Annotated[str, IF_NEW] = "",
) -> Response:
    """State the policy of a queue; that of the queue `default` holds for queues without one.

    Verdicts that name the queue have it applied from now on, on other processes within seconds.
    """
    expected = precondition(PolicyAnswer.of, if_match, if_none_match)
    found, is_new = services.policies.put(queue, said.policy(devices), expected)
    return written(PolicyAnswer.of(found), 201 if is_new else 200, f"/v1/policies/{queue}" if is_new else None)


@router.delete(
    "/policies/{queue}",
    dependencies=[requires("admin")],
    status_code=204,
    responses=problems(INVALID_REQUEST, POLICY_NOT_FOUND, PRECONDITION_FAILED, *_STORE),
)
def delete_policy(queue: Queue, services: ServicesOf, if_match: IfMatch = "") -> None:
    """Take the policy of a queue back; the record of what it refused stays."""
    services.policies.remove(queue, precondition(PolicyAnswer.of, if_match))


@router.get(
    "/policies/{queue}/refusals",
    dependencies=[requires("plan:read")],
    responses={200: {"headers": LINK}, **problems(INVALID_REQUEST, INVALID_CURSOR, *_STORE)},
)
def list_refusals(
    queue: Queue, query: Annotated[PageQuery, Query()], store: StoreOf, request: Request, response: Response
) -> RefusalList:
    """List the jobs that the policy refused, or would have refused if it were enforced, newest first.

    The same job asked again is the same entry, with its `count`.
    """
    page = refusals.list_refusals(store, queue, query.limit, query.cursor)
    response.headers.update(next_link(request, page.next_cursor))
    return RefusalList.of(page)


@router.get(
    "/policies/{queue}/summary",
    dependencies=[requires("plan:read")],
    responses=problems(INVALID_REQUEST, *_STORE),
)
def get_policy_summary(queue: Queue, store: StoreOf, days: Days = 7) -> PolicySummary:
    """Count what the policy came to in the last days, would it be enforced: what to look at before it is."""
    return PolicySummary.of(refusals.summary_of(store, queue, days))
