"""Every call as a series of steps, written once: the clients carry the steps out, with and without blocking."""

import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from memplan_client.failures import OperationCancelled, OperationError, OperationFailed, OperationUnfinished
from memplan_client.generated.api.comparison import create_comparison
from memplan_client.generated.api.estimate import create_estimate
from memplan_client.generated.api.import_ import create_import
from memplan_client.generated.api.observation import create_observation
from memplan_client.generated.api.operation import get_operation
from memplan_client.generated.api.plan import create_plan, get_plan
from memplan_client.generated.api.verdict import create_verdicts
from memplan_client.generated.models.comparison_answer import ComparisonAnswer
from memplan_client.generated.models.estimate_answer import EstimateAnswer
from memplan_client.generated.models.import_answer import ImportAnswer
from memplan_client.generated.models.observation_answer import ObservationAnswer
from memplan_client.generated.models.operation_answer import OperationAnswer
from memplan_client.generated.models.operation_progress import OperationProgress
from memplan_client.generated.models.plan_answer import PlanAnswer
from memplan_client.generated.models.verdict_result import VerdictResult
from memplan_client.questions import Document, Given, Measured, Place, Run, Source, question, target

if TYPE_CHECKING:
    from memplan_client.generated.models.verdict_list import VerdictList

T = TypeVar("T")

Progress = Callable[[OperationProgress], None]
"""Is told how far a search is: `done` of `total` layouts."""


@dataclass(frozen=True, slots=True)
class Call:
    """A generated function, and what it is called with."""

    endpoint: ModuleType
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing to do for a time (seconds)."""

    seconds: float


Steps = Generator[Call | Pause, Any, T]
"""Steps to the answer; each call is answered by what it returned."""


@dataclass(frozen=True, slots=True)
class Body:
    """A body as the caller wrote it: the service judges it, so that a misspelt key is refused and not dropped."""

    document: Document

    def to_dict(self) -> Document:
        """Return the body."""
        return self.document


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """What a plan is asked for with."""

    given: Given
    cluster: Document
    search: Mapping[str, Any] | None
    top: int
    labels: Mapping[str, str]

    def body(self) -> Body:
        """Return the question as the service takes it."""
        asked = {**question(self.given), "cluster": self.cluster, "top": self.top, "labels": dict(self.labels)}
        return Body(asked if self.search is None else {**asked, "search": dict(self.search)})


def call(endpoint: ModuleType, **arguments: Any) -> Call:
    """Return a call of a generated function."""
    return Call(endpoint, arguments)


def estimate(given: Given, device: str) -> Steps[EstimateAnswer]:
    """Ask for the memory of a job on a device."""
    answer: EstimateAnswer = yield call(create_estimate, body=Body({**question(given), "device": device}))
    return answer


def verdicts(
    jobs: Sequence[Given], targets: Sequence[Place], deadline: float | None, queue: str | None
) -> Steps[list[VerdictResult]]:
    """Ask whether jobs fit targets, within `deadline` seconds, and what a queue's policy makes of it."""
    places = [target(each) for each in targets]
    items = [{**question(each), "targets": places} for each in jobs]
    body = Body({"items": items, "queue": queue} if queue is not None else {"items": items})
    given = {} if deadline is None else {"timeout": f"{deadline:g}"}
    answer: VerdictList = yield call(create_verdicts, body=body, **given)
    return answer.results


def verdict(given: Given, place: Place, deadline: float | None, queue: str | None) -> Steps[VerdictResult]:
    """Ask whether a job fits a target, within `deadline` seconds, and what a queue's policy makes of it."""
    (found,) = yield from verdicts([given], [place], deadline, queue)
    return found


def import_config(given: Given, more: Mapping[str, Any]) -> Steps[ImportAnswer]:
    """Ask what is understood of a config; `more` is what a file is read with."""
    whole = Source.read(given, **more) if more and isinstance(given, str | PathLike) else given
    answer: ImportAnswer = yield call(create_import, body=Body(question(whole)))
    return answer


def compare(jobs: Mapping[str, Given], plans: Sequence[str], targets: Sequence[Place]) -> Steps[ComparisonAnswer]:
    """Ask for jobs and plans on targets, side by side."""
    items = [{"label": label, **question(each)} for label, each in jobs.items()]
    body = Body({"plans": list(plans), "items": items, "targets": [target(each) for each in targets]})
    answer: ComparisonAnswer = yield call(create_comparison, body=body, idempotency_key=_key())
    return answer


def observe(run: Run, measured: Measured) -> Steps[ObservationAnswer]:
    """Tell what a run measured."""
    body = Body({**run.to_dict(), "measured": measured.to_dict()})
    answer: ObservationAnswer = yield call(create_observation, body=body, idempotency_key=_key())
    return answer


def plan(
    asked: PlanQuestion, wait_seconds: float, progress: Progress | None, patience: float | None
) -> Steps[PlanAnswer]:
    """Ask for a plan, and wait until it is there.

    The request itself waits `wait_seconds`; the search is given up on after `patience` seconds, and goes on.
    """
    # Who wants to see progress asks more often.
    wait = f"{wait_seconds if progress is None else 0:g}"
    answer = yield call(create_plan, body=asked.body(), wait=wait, idempotency_key=_key())
    if isinstance(answer, OperationAnswer):
        return (yield from finished(answer, progress, patience))
    made: PlanAnswer = answer
    return made


def finished(operation: OperationAnswer, progress: Progress | None, patience: float | None) -> Steps[PlanAnswer]:
    """Wait for the end of a search. Raises OperationError when there is no plan at the end."""
    until = None if patience is None else time.monotonic() + patience
    pause = 0.1
    while operation.state in {"waiting", "running"}:
        _tell(progress, operation)
        if until is not None and time.monotonic() > until:
            raise OperationUnfinished(f"operation {operation.id} has not ended after {patience:g} s", operation)
        yield Pause(pause)
        pause = min(pause * 2, 1.0)
        operation = yield call(get_operation, operation_id=operation.id)
    _tell(progress, operation)
    if operation.state != "succeeded" or operation.result is None:
        raise _ended(operation)
    made: PlanAnswer = yield call(get_plan, plan_id=operation.result.rpartition("/")[2])
    return made


def plan_filters(
    model: str | None, device: str | None, verdict: str | None, labels: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the arguments that a list of plans is limited with."""
    named = {"model": model, "device": device, "verdict": verdict}
    where: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    return {**where, "label": [f"{key}={value}" for key, value in labels.items()]} if labels else where


def from_cursor(cursor: str | None) -> dict[str, str]:
    """Return the argument that says where a page begins."""
    return {} if cursor is None else {"cursor": cursor}


def _tell(progress: Progress | None, operation: OperationAnswer) -> None:
    if progress is not None:
        progress(operation.progress)


def _ended(operation: OperationAnswer) -> OperationError:
    kind = OperationCancelled if operation.state == "cancelled" else OperationFailed
    why = f": {operation.error.code}: {operation.error.detail}" if operation.error else ""
    return kind(f"operation {operation.id} {operation.state}{why}", operation)


def _key() -> str:
    return uuid.uuid4().hex
