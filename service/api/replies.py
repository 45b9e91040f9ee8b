"""Answers of creating requests, as they are given the first time and again for the same key."""

from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import Response

from service.api.schemas.comparison import ComparisonAnswer
from service.api.schemas.observation import ObservationAnswer
from service.api.schemas.operation import OperationAnswer
from service.api.schemas.plan import PlanAnswer
from service.api.tags import written
from service.store.keys import Outcome
from service.store.observations import StoredObservation
from service.store.operations import StoredOperation
from service.store.session import Store
from service.usecases.comparisons import Comparison, get_comparison
from service.usecases.idempotency import Ended
from service.usecases.observations import get_observation
from service.usecases.operations import get_operation
from service.usecases.plans import Plan, get_plan

STATUSES: Final[Mapping[Outcome, int]] = {"created": 201, "found": 200, "begun": 202}
OUTCOMES: Final[Mapping[int, Outcome]] = {status: outcome for outcome, status in STATUSES.items()}

_JSON = "application/json"


def plan_reply(plan: Plan, outcome: Outcome) -> Response:
    """Return a plan with its tag, and where it is."""
    return written(PlanAnswer.of(plan), STATUSES[outcome], f"/v1/plans/{plan.summary.id}")


def operation_reply(operation: StoredOperation) -> Response:
    """Return an operation that was begun, and where it is."""
    headers = {"Location": f"/v1/operations/{operation.id}"}
    if operation.is_active:
        headers["Retry-After"] = "1"
    return Response(OperationAnswer.of(operation).model_dump_json(), STATUSES["begun"], headers, _JSON)


def comparison_reply(comparison: Comparison, outcome: Outcome) -> Response:
    """Return a comparison with its tag, and where it is."""
    return written(ComparisonAnswer.of(comparison), STATUSES[outcome], f"/v1/comparisons/{comparison.summary.id}")


def observation_reply(observation: StoredObservation, outcome: Outcome) -> Response:
    """Return an observation, and where it is."""
    headers = {"Location": f"/v1/observations/{observation.id}"}
    return Response(ObservationAnswer.of(observation).model_dump_json(by_alias=True), STATUSES[outcome], headers, _JSON)


def reply_again(store: Store, end: Ended) -> Response:
    """Return the answer of a request that has ended, with what it made as it is now. Raises NotFound."""
    return _REPLIES[end.made.partition("_")[0]](store, end)


def _plan_again(store: Store, end: Ended) -> Response:
    return plan_reply(get_plan(store, end.made), end.outcome)


def _operation_again(store: Store, end: Ended) -> Response:
    return operation_reply(get_operation(store, end.made))


def _comparison_again(store: Store, end: Ended) -> Response:
    return comparison_reply(get_comparison(store, end.made), end.outcome)


def _observation_again(store: Store, end: Ended) -> Response:
    return observation_reply(get_observation(store, end.made), end.outcome)


_REPLIES: Mapping[str, Callable[[Store, Ended], Response]] = {
    "pln": _plan_again,
    "op": _operation_again,
    "cmp": _comparison_again,
    "obs": _observation_again,
}
