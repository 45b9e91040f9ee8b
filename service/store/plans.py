"""Stored plans. A plan never changes, and the same question (the same digest) has one plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, and_, select
from sqlalchemy.orm import Session, aliased, selectinload

from service.store.errors import NotFound
from service.store.ids import id_text, new_id, parse_id
from service.store.kept import Kept
from service.store.once import add_or_find
from service.store.paging import Order, Page, cut, shown_of
from service.store.session import WriteSession
from service.store.tables import PlanLabelRow, PlanRow

Verdict = Literal["fits", "tight", "does_not_fit", "unknown"]

PREFIX = "pln"


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanFacts:
    digest: str
    model: str
    device: str
    world_size: int
    verdict: Verdict
    best_step_seconds: float | None
    peak_device_bytes: int | None
    labels: Mapping[str, str]
    schema_version: int
    method_version: str
    expires_at: datetime | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPlan(_PlanFacts):
    """A plan to be stored: the facts it is listed by, and question and answer as JSON documents.

    `digest` is `sha256:…` of the canonical question and the method's version; `schema_version` is that of the two
    documents; `verdict`, `best_step_seconds` and `peak_device_bytes` are those of the best candidate. It is removed
    after `expires_at`, or (None) as the service's settings say; one that is `pinned` is not.
    """

    request: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPlanSummary(_PlanFacts):
    """A stored plan as lists show it, without its documents."""

    id: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPlan(StoredPlanSummary):
    """A stored plan with its documents."""

    request: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFilter:
    """Which plans a list shows: those that have every one of these; None and no labels admit all."""

    model: str | None = None
    device: str | None = None
    verdict: Verdict | None = None
    labels: Sequence[tuple[str, str]] = ()


def plan_id_text(plan_id: UUID) -> str:
    """Return a plan's id as clients see it."""
    return id_text(PREFIX, plan_id)


def parse_plan_id(text: str) -> UUID:
    """Return the UUID of a plan's id as clients see it. Raises NotFound when no plan can have this id."""
    found = parse_id(PREFIX, text)
    if found is None:
        raise NotFound("plan", text)
    return found


def create(session: WriteSession, plan: NewPlan, at: datetime | None = None) -> tuple[StoredPlan, bool]:
    """Store a plan made at this moment (default: now); return it and True, or the one of the same digest and False."""
    stored = get_by_digest(session, plan.digest)
    if stored is not None:
        return stored, False
    row = _new_row(plan, at or datetime.now(UTC))
    stored = add_or_find(session, row, lambda: get_by_digest(session, plan.digest))
    if stored is not None:
        return stored, False
    return _stored(row), True


def get(session: Session, plan_id: str, *, for_update: bool = False) -> StoredPlan:
    """Return the plan of this id (as clients see it); `for_update` keeps others from changing it. Raises NotFound."""
    return _stored(_row(session, plan_id, for_update=for_update))


def get_by_digest(session: Session, digest: str) -> StoredPlan | None:
    """Return the plan of this digest, or None when the question is new."""
    row = session.scalar(_whole().where(PlanRow.digest == digest))
    return None if row is None else _stored(row)


def delete(session: WriteSession, plan_id: str) -> None:
    """Remove the plan of this id (as clients see it). Raises NotFound."""
    row = session.get(PlanRow, parse_plan_id(plan_id))
    if row is None:
        raise NotFound("plan", plan_id)
    session.delete(row)


def keep(session: WriteSession, plan_id: str, kept: Kept) -> StoredPlan:
    """Say how long the plan of this id is kept. Raises NotFound."""
    row = _row(session, plan_id, for_update=True)
    row.expires_at, row.pinned = kept.expires_at, kept.pinned
    session.flush()
    return _stored(row)


def list_page(session: Session, where: PlanFilter, limit: int, cursor: str | None = None) -> Page[StoredPlanSummary]:
    """Return up to `limit` plans that the filter admits, newest first, from the cursor on. Raises InvalidCursor."""
    statement, order = listed(where)
    rows, next_cursor = shown_of(session.execute(cut(statement, order, limit, cursor)).all(), limit)
    labels = _labels_of(session, [row.id for row in rows])
    return Page(tuple(_summary(row, labels.get(row.id, {})) for row in rows), next_cursor)


# Columns instead of a PlanRow, of which a page of fifty with their labels took the processor more than twice as long.
_LISTED = (
    PlanRow.id,
    PlanRow.digest,
    PlanRow.created_at,
    PlanRow.model,
    PlanRow.device,
    PlanRow.world_size,
    PlanRow.verdict,
    PlanRow.best_step_seconds,
    PlanRow.peak_device_bytes,
    PlanRow.schema_version,
    PlanRow.method_version,
    PlanRow.expires_at,
    PlanRow.pinned,
)


def listed(where: PlanFilter) -> tuple[Select[Any], Order]:
    """Return the statement of the plans that a filter admits, without their documents, and the order of its list."""
    statement: Select[Any] = select(*_LISTED)  # type: ignore[assignment]  # of columns, whose types are these
    order = Order(PlanRow.created_at, PlanRow.id)
    if where.labels:
        # The first label leads: its rows are in order, however few there are and however old.
        (key, value), *others = where.labels
        leading = and_(PlanLabelRow.plan_id == PlanRow.id, PlanLabelRow.key == key, PlanLabelRow.value == value)
        statement = statement.join(PlanLabelRow, leading).where(*(_has_label(*each) for each in others))
        order = Order(PlanLabelRow.created_at, PlanLabelRow.plan_id)
    for name in ("model", "device", "verdict"):
        wanted = getattr(where, name)
        if wanted is not None:
            statement = statement.where(getattr(PlanRow, name) == wanted)
    return statement, order


def _labels_of(session: Session, plans: Sequence[UUID]) -> dict[UUID, dict[str, str]]:
    found: dict[UUID, dict[str, str]] = {}
    if plans:
        label = PlanLabelRow
        statement = select(label.plan_id, label.key, label.value).where(label.plan_id.in_(plans))
        for plan_id, key, value in sorted(session.execute(statement), key=itemgetter(1)):
            found.setdefault(plan_id, {})[key] = value
    return found


def _has_label(key: str, value: str) -> ColumnElement[bool]:
    other = aliased(PlanLabelRow)
    return select(other).where(other.plan_id == PlanRow.id, other.key == key, other.value == value).exists()


def _row(session: Session, plan_id: str, *, for_update: bool) -> PlanRow:
    statement = _whole().where(PlanRow.id == parse_plan_id(plan_id))
    row = session.scalar(statement.with_for_update() if for_update else statement)
    if row is None:
        raise NotFound("plan", plan_id)
    return row


def _whole() -> Select[PlanRow]:
    return select(PlanRow).options(selectinload(PlanRow.labels))


def _new_row(plan: NewPlan, at: datetime) -> PlanRow:
    return PlanRow(
        id=new_id(at),
        digest=plan.digest,
        created_at=at,
        model=plan.model,
        device=plan.device,
        world_size=plan.world_size,
        verdict=plan.verdict,
        best_step_seconds=plan.best_step_seconds,
        peak_device_bytes=plan.peak_device_bytes,
        labels={key: PlanLabelRow(key=key, value=value, created_at=at) for key, value in plan.labels.items()},
        request=dict(plan.request),
        answer=dict(plan.answer),
        schema_version=plan.schema_version,
        method_version=plan.method_version,
        expires_at=plan.expires_at,
        pinned=plan.pinned,
    )


def _summary(row: Row[Any], labels: Mapping[str, str]) -> StoredPlanSummary:
    return StoredPlanSummary(**_facts(row, labels))


def _stored(row: PlanRow) -> StoredPlan:
    labels = {key: row.labels[key].value for key in sorted(row.labels)}
    return StoredPlan(**_facts(row, labels), request=row.request, answer=row.answer)


def _facts(row: PlanRow | Row[Any], labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": plan_id_text(row.id),
        "created_at": row.created_at,
        "digest": row.digest,
        "model": row.model,
        "device": row.device,
        "world_size": row.world_size,
        "verdict": row.verdict,
        "best_step_seconds": row.best_step_seconds,
        "peak_device_bytes": row.peak_device_bytes,
        "labels": labels,
        "schema_version": row.schema_version,
        "method_version": row.method_version,
        "expires_at": row.expires_at,
        "pinned": row.pinned,
    }
