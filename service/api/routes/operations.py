"""Work that takes longer than its request: how far it is, and its end."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from service.api.access import requires
from service.api.bodies import StrictRoute
from service.api.catalogue import (
    INVALID_REQUEST,
    OPERATION_FINISHED,
    OPERATION_NOT_FOUND,
    STORE_BUSY,
    STORE_UNAVAILABLE,
)
from service.api.following import Followed, StreamEnded
from service.api.openapi import RETRY_AFTER, problems
from service.api.schemas.operation import OperationAnswer
from service.api.services import ServicesOf, StoreOf
from service.usecases import operations

router = APIRouter(tags=["operation"], route_class=StrictRoute)

OperationId = Annotated[str, Path(description="Id of the operation.", examples=["op_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])]
LastEventId = Annotated[
    str,
    Header(
        alias="Last-Event-ID",
        max_length=100,
        description="Id of the last event that the caller has seen; what came after it is sent.",
        examples=["7"],
    ),
]

_PROBLEMS = (OPERATION_NOT_FOUND, STORE_BUSY, STORE_UNAVAILABLE)


@router.get(
    "/operations/{operation_id}",
    dependencies=[requires("plan:read")],
    responses={200: {"headers": RETRY_AFTER}, **problems(*_PROBLEMS)},
)
def get_operation(operation_id: OperationId, store: StoreOf, response: Response) -> OperationAnswer:
    """Return how far an operation is; ask again after the seconds in `Retry-After`, until there is no such header."""
    found = operations.get_operation(store, operation_id)
    if found.is_active:
        response.headers["Retry-After"] = "1"
    return OperationAnswer.of(found)


async def _followed(operation_id: OperationId, store: StoreOf, last_event_id: LastEventId = "") -> Followed:
    """Return the operation whose events are to be sent. Raises NotFound and StreamEnded."""
    operation = await run_in_threadpool(operations.get_operation, store, operation_id)
    seen = int(last_event_id) if last_event_id.isascii() and last_event_id.isdigit() else 0
    if seen == operation.version and not operation.is_active:
        raise StreamEnded
    return Followed(store, operation, seen if seen <= operation.version else 0)


@router.get(
    "/operations/{operation_id}/events",
    dependencies=[requires("plan:read")],
    response_class=EventSourceResponse,
    responses={204: {"description": "The caller has seen the last event"}, **problems(INVALID_REQUEST, *_PROBLEMS)},
)
async def follow_operation(followed: Annotated[Followed, Depends(_followed)]) -> AsyncIterator[ServerSentEvent]:
    """Send each change of an operation as an event, until it ends.

    The data of an event is the whole operation. Events are called `progress`, the last one `succeeded`, `failed` or
    `cancelled`. With the header `Last-Event-ID` the stream goes on after that event. A comment every 15 seconds keeps
    proxies from closing it. Whoever cannot read streams polls `GET /v1/operations/{id}` and misses nothing.
    """
    async for event in followed.events():
        yield event


@router.post(
    "/operations/{operation_id}/cancel",
    dependencies=[requires("plan:write")],
    responses=problems(*_PROBLEMS, OPERATION_FINISHED),
)
def cancel_operation(operation_id: OperationId, services: ServicesOf) -> OperationAnswer:
    """Ask for an operation to end; a search that runs ends after the block of layouts that it is at.

    To cancel again what was cancelled is no error.
    """
    return OperationAnswer.of(services.searches.cancel(operation_id))
