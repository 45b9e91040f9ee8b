"""Comparisons: plans and jobs on targets, side by side; made once for a question and stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import TypeAdapter

from service.calculator.estimate import METHOD_VERSION
from service.calibration.evidence import NO_EVIDENCE, Evidence
from service.catalog.devices import Device, Devices
from service.job.digest import digest
from service.job.resolve import Resolved
from service.store import comparisons
from service.store.comparisons import NewComparison, StoredComparison, StoredComparisonSummary
from service.store.paging import Page
from service.store.session import Store
from service.usecases.devices import device_of
from service.usecases.differences import Difference, Side, differences
from service.usecases.errors import RejectedJob
from service.usecases.estimates import estimate_digest, time_on
from service.usecases.idempotency import Claims, Ended
from service.usecases.imports import Accepted, Given, accept
from service.usecases.plans import get_plan
from service.usecases.targets import Target, need_on, resolved_on, without_observations
from service.usecases.verdicts import VerdictAnswer, clipped, rejected

SCHEMA_VERSION = 1
"""Version of the two stored documents; a reader of an older one comes with the change."""

BILLION_TOKENS_PER_SECOND_HOURS = 1e9 / 3600

Objective = Literal["step_time", "margin", "gpu_hours"]


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """A job to be compared, under a name."""

    label: str
    given: Given


@dataclass(frozen=True, slots=True)
class ComparisonQuestion:
    """What is compared: the first candidates of plans, and jobs, on targets.

    Without targets each plan stands for its own cluster.
    """

    plans: Sequence[str]
    items: Sequence[LabelledItem]
    targets: Sequence[Target]
    evidence: Evidence = NO_EVIDENCE


@dataclass(frozen=True, slots=True)
class Cell:
    """One side on one target; times are None where the job or the device's links are not known.

    `gpu_hours` are those of a billion tokens.
    """

    side: int
    target: int
    answer: VerdictAnswer
    step_seconds: float | None = None
    gpu_hours: float | None = None


@dataclass(frozen=True, slots=True)
class Winner:
    """The best cell by one objective."""

    side: int
    target: int
    value: float


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """The sides by name, the matrix row by row, what differs, and the winners (none where nothing fits)."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    differences: tuple[Difference, ...]
    winners: Mapping[Objective, Winner]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A stored comparison."""

    summary: StoredComparisonSummary
    answer: ComparisonAnswer


_ANSWER = TypeAdapter(ComparisonAnswer)


@dataclass(frozen=True, slots=True)
class _On:
    """A target of a side, and what observed runs say there."""

    device: Device
    world_size: int | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class _Row:
    label: str
    accepted: Accepted | RejectedJob | None
    targets: Sequence[tuple[Device, int | None]]


def compare(
    store: Store,
    claims: Claims,
    question: ComparisonQuestion,
    claim: UUID | None = None,
    devices: Devices | None = None,
) -> tuple[Comparison, bool]:
    """Compare and store; return the comparison and True, or the one that was stored before and False.

    `claim` is the caller's key. Raises NotFound for a plan, and NoSuchDevice.
    """
    document = {**_document(question), **_revisions(store, question, devices)}
    key = digest(document)
    with store.read() as session:
        stored = comparisons.get_by_digest(session, key)
    if stored is not None:
        return _comparison(stored), False
    rows = _rows(store, question, devices)
    answer = _compared(rows, question.evidence)
    new = NewComparison(
        digest=key,
        sides=len(rows),
        targets=max(len(row.targets) for row in rows),
        schema_version=SCHEMA_VERSION,
        method_version=METHOD_VERSION,
        request=document,
        answer=_ANSWER.dump_python(answer, mode="json", by_alias=True),
    )
    with store.write() as session:
        made, is_new = comparisons.create(session, new)
        if claim is not None:
            claims.settle(claim, Ended("created" if is_new else "found", made.id), session)
    return _comparison(made), is_new


def compare_items(question: ComparisonQuestion, devices: Devices | None = None) -> ComparisonAnswer:
    """Compare the items of a question and store nothing; plans are not looked at. Raises NoSuchDevice."""
    return _compared(_item_rows(question, _targets(question, devices)), question.evidence)


def get_comparison(store: Store, comparison_id: str) -> Comparison:
    """Return the comparison of this id. Raises NotFound."""
    with store.read() as session:
        return _comparison(comparisons.get(session, comparison_id))


def list_comparisons(store: Store, limit: int, cursor: str | None) -> Page[StoredComparisonSummary]:
    """Return up to `limit` comparisons, newest first, from the cursor on. Raises InvalidCursor."""
    with store.read() as session:
        return comparisons.list_page(session, limit, cursor)


def _rows(store: Store, question: ComparisonQuestion, devices: Devices | None) -> list[_Row]:
    targets = _targets(question, devices)
    rows = []
    for plan_id in question.plans:
        plan = get_plan(store, plan_id)
        best = plan.answer.candidates[0].job if plan.answer.candidates else None
        own = [(device_of(plan.summary.device, "/plans", devices), None)]
        rows.append(_Row(plan_id, None if best is None else accept(best), targets or own))
    return rows + _item_rows(question, targets)


def _item_rows(question: ComparisonQuestion, targets: Sequence[tuple[Device, int | None]]) -> list[_Row]:
    return [_Row(item.label, _accepted(item.given), targets) for item in question.items]


def _targets(question: ComparisonQuestion, devices: Devices | None) -> list[tuple[Device, int | None]]:
    return [
        (device_of(each.device, f"/targets/{number}/device", devices), each.world_size)
        for number, each in enumerate(question.targets)
    ]


def _accepted(given: Given) -> Accepted | RejectedJob:
    try:
        return accept(given)
    except RejectedJob as error:
        return error


def _compared(rows: Sequence[_Row], evidence: Evidence) -> ComparisonAnswer:
    cells: list[Cell] = []
    sides: list[Side] = []
    for number, row in enumerate(rows):
        resolved: list[Resolved] = []
        for place, (device, world_size) in enumerate(row.targets):
            cells.append(_cell(number, place, row, _On(device, world_size, evidence), resolved))
        stated = row.accepted.job if isinstance(row.accepted, Accepted) else None
        sides.append(Side(stated, resolved[0].job if resolved else None))
    first = next((row for row, side in zip(rows, sides, strict=True) if side.resolved is not None), rows[0])
    return ComparisonAnswer(
        labels=tuple(row.label for row in rows),
        cells=tuple(cells),
        differences=differences(sides, *first.targets[0]),
        winners=_winners(cells),
    )


def _cell(side: int, place: int, row: _Row, target: _On, found: list[Resolved]) -> Cell:
    device = target.device
    asked = Target(device.id, target.world_size)
    if row.accepted is None:
        answer = VerdictAnswer(verdict="does_not_fit", reason="the plan found no layout that fits", target=asked)
        return Cell(side, place, answer)
    try:
        if isinstance(row.accepted, RejectedJob):
            raise row.accepted
        resolved = resolved_on(row.accepted, target.world_size)
    except RejectedJob as error:
        return Cell(side, place, rejected(asked, error))
    found.append(resolved)
    need = need_on(resolved, device, target.evidence)
    answer = VerdictAnswer(
        verdict=need.verdict,
        reason=clipped(need.reason),
        target=Target(device.id, int(resolved.layout.world_size)),
        need=need,
        profile=resolved.recipe.profile,
        digest=estimate_digest(resolved.job, device),
        without=without_observations(resolved, device, need),
    )
    time, _ = time_on(resolved, device, target.evidence)
    if time is None:
        return Cell(side, place, answer)
    hours = BILLION_TOKENS_PER_SECOND_HOURS / float(time.tokens_per_second_per_gpu)
    return Cell(side, place, answer, float(time.step_seconds), hours)


def _winners(cells: Sequence[Cell]) -> dict[Objective, Winner]:
    """The best cells: among those that fit, or else among those that fit tightly."""
    safe = [each for each in cells if each.answer.verdict == "fits"]
    eligible = safe or [each for each in cells if each.answer.verdict == "tight"]
    found: dict[Objective, Winner] = {}
    for objective, value, best in _OBJECTIVES:
        valued = [(number, cell) for cell in eligible if (number := value(cell)) is not None]
        if valued:
            number, cell = best(valued, key=lambda each: each[0])
            found[objective] = Winner(cell.side, cell.target, number)
    return found


def _margin(cell: Cell) -> int | None:
    need = cell.answer.need
    return None if need is None or need.usable_bytes is None else need.usable_bytes - need.expected_bytes


_OBJECTIVES: Sequence[tuple[Objective, Callable[[Cell], float | None], Callable[..., tuple[float, Cell]]]] = (
    ("step_time", lambda cell: cell.step_seconds, min),
    ("margin", _margin, max),
    ("gpu_hours", lambda cell: cell.gpu_hours, min),
)


def _revisions(store: Store, question: ComparisonQuestion, devices: Devices | None) -> dict[str, Any]:
    """Which figures of an operator's the answer depends on: nothing where all are the catalogue's."""
    if devices is None or not devices.stamp:
        return {}
    named = [device for device, _ in _targets(question, devices)]
    if not named:
        named = [device_of(get_plan(store, each).summary.device, "/plans", devices) for each in question.plans]
    found = {device.id: device.revision for device in named if device.revision is not None}
    return {"device_revisions": found} if found else {}


def _document(question: ComparisonQuestion) -> dict[str, Any]:
    """The question in its canonical form, in which the same question is the same text.

    Runs that were observed are part of it once they are enough to change an answer.
    """
    observed = question.evidence.said(each.device for each in question.targets)
    items = [
        {"label": each.label, "given": each.given.model_dump(mode="json", by_alias=True, exclude_none=True)}
        for each in question.items
    ]
    return {
        "plans": list(question.plans),
        "items": items,
        "targets": [{"device": each.device, "world_size": each.world_size} for each in question.targets],
        "method": METHOD_VERSION,
        **({"observations": observed} if observed else {}),
    }


def _comparison(stored: StoredComparison) -> Comparison:
    return Comparison(stored, _ANSWER.validate_python(stored.answer))
