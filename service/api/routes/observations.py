"""What runs measured, so that the next answer is better."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import requires
from service.api.catalogue import (
    CANDIDATE_NOT_FOUND,
    IMPLAUSIBLE_MEASUREMENT,
    INCOMPLETE_JOB,
    INVALID_CURSOR,
    INVALID_JOB,
    INVALID_REQUEST,
    OBSERVATION_NOT_FOUND,
    PLAN_NOT_FOUND,
    PRECONDITION_FAILED,
    RUN_OBSERVED,
    STORE_BUSY,
    STORE_UNAVAILABLE,
    UNKNOWN_DEVICE,
)
from service.api.keyed import REPLAY_HEADER, ClaimOf, KeyedRoute
from service.api.openapi import BODY_PROBLEMS, KEY_PROBLEMS, Documented, problems
from service.api.paging import LINK, next_link
from service.api.replies import observation_reply
from service.api.schemas.examples import OBSERVATIONS
from service.api.schemas.observation import ObservationAnswer, ObservationList
from service.api.schemas.observation_query import ObservationQuery
from service.api.schemas.observation_request import ObservationRequest
from service.api.services import DevicesOf, ServicesOf, StoreOf
from service.api.tags import CONDITIONAL, IF_MATCH, IF_NONE_MATCH, precondition, tagged
from service.usecases import observations

router = APIRouter(tags=["observation"], route_class=KeyedRoute)

_STORE = (STORE_BUSY, STORE_UNAVAILABLE)
_RUN = (PLAN_NOT_FOUND, CANDIDATE_NOT_FOUND, RUN_OBSERVED, INVALID_JOB, INCOMPLETE_JOB, UNKNOWN_DEVICE)
_HEADERS = {"Location": {"description": "Where the observation is.", "schema": {"type": "string"}}, **REPLAY_HEADER}
_CREATED: Documented = {
    200: {"description": "The same was stored before", "model": ObservationAnswer, "headers": _HEADERS},
    201: {"description": "The observation was stored", "headers": _HEADERS},
}

ObservationId = Annotated[
    str, Path(description="Id of the observation.", examples=["obs_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
]


@router.post(
    "/observations",
    dependencies=[requires("observe:write")],
    status_code=201,
    response_model=ObservationAnswer,
    responses={**_CREATED, **problems(*BODY_PROBLEMS, *KEY_PROBLEMS, *_RUN, IMPLAUSIBLE_MEASUREMENT, *_STORE)},
)
def create_observation(
    observed: Annotated[ObservationRequest, Body(openapi_examples=OBSERVATIONS)],
    services: ServicesOf,
    devices: DevicesOf,
    claim: ClaimOf,
) -> Response:
    """Store what a run measured, or that it ran out of memory, beside what was predicted of it.

    A run has one observation: the same body again finds it, another one for the same `run_id` is refused.
    """
    known = services.calibrations
    stored, is_new = observations.observe(services.store, services.claims, known, observed.observed(), claim, devices)
    return observation_reply(stored, "created" if is_new else "found")


@router.get(
    "/observations",
    dependencies=[requires("plan:read")],
    responses={200: {"headers": LINK}, **problems(INVALID_REQUEST, INVALID_CURSOR, *_STORE)},
)
def list_observations(
    query: Annotated[ObservationQuery, Query()],
    store: StoreOf,
    devices: DevicesOf,
    request: Request,
    response: Response,
) -> ObservationList:
    """List the stored observations, newest first, without their jobs."""
    page = observations.list_observations(store, query.where(devices), query.limit, query.cursor)
    response.headers.update(next_link(request, page.next_cursor))
    return ObservationList.of(page)


@router.get(
    "/observations/{observation_id}",
    dependencies=[requires("plan:read")],
    response_model=ObservationAnswer,
    responses={
        **CONDITIONAL,
        **problems(INVALID_REQUEST, OBSERVATION_NOT_FOUND, *_STORE),
    },
)
def get_observation(
    observation_id: ObservationId, store: StoreOf, if_none_match: Annotated[str, IF_NONE_MATCH] = ""
) -> Response:
    """Return a stored observation with its job."""
    return tagged(ObservationAnswer.of(observations.get_observation(store, observation_id)), if_none_match)


@router.delete(
    "/observations/{observation_id}",
    dependencies=[requires("observe:write")],
    status_code=204,
    responses=problems(INVALID_REQUEST, OBSERVATION_NOT_FOUND, PRECONDITION_FAILED, *_STORE),
)
def delete_observation(
    observation_id: ObservationId, services: ServicesOf, if_match: Annotated[str, IF_MATCH] = ""
) -> None:
    """Remove a stored observation, as when it was of another job; the run may then be observed again."""
    expected = precondition(ObservationAnswer.of, if_match) if if_match else None
    observations.delete_observation(services.store, services.calibrations, observation_id, expected)
