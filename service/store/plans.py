"""Stored plans. A plan never changes, and the same question (the same digest) has one plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, defer, selectinload

from service.store.errors import NotFound
from service.store.ids import id_text, new_id, parse_id
from service.store.paging import Key, Page, page_of, page_statement
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPlan(_PlanFacts):
    """A plan to be stored: the facts it is listed by, and question and answer as JSON documents.

    `digest` is `sha256:…` of the canonical question and the method's version; `schema_version` is that of the two
    documents; `verdict`, `best_step_seconds` and `peak_device_bytes` are those of the best candidate.
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
    """Which plans a list shows; None and an empty mapping admit all."""

    model: str | None = None
    device: str | None = None
    verdict: Verdict | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


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
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        # On PostgreSQL another transaction may have stored the same digest since we looked.
        stored = get_by_digest(session, plan.digest)
        if stored is None:
            raise
        return stored, False
    return _stored(row), True


def get(session: Session, plan_id: str) -> StoredPlan:
    """Return the plan of this id (as clients see it). Raises NotFound."""
    row = session.scalar(_whole().where(PlanRow.id == parse_plan_id(plan_id)))
    if row is None:
        raise NotFound("plan", plan_id)
    return _stored(row)


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


def list_page(session: Session, where: PlanFilter, limit: int, cursor: str | None = None) -> Page[StoredPlanSummary]:
    """Return up to `limit` plans that the filter admits, newest first, from the cursor on. Raises InvalidCursor."""
    statement = select(PlanRow).options(
        defer(PlanRow.request, raiseload=True), defer(PlanRow.answer, raiseload=True), selectinload(PlanRow.labels)
    )
    if where.model is not None:
        statement = statement.where(PlanRow.model == where.model)
    if where.device is not None:
        statement = statement.where(PlanRow.device == where.device)
    if where.verdict is not None:
        statement = statement.where(PlanRow.verdict == where.verdict)
    for key, value in where.labels.items():
        statement = statement.where(
            select(PlanLabelRow.plan_id)
            .where(PlanLabelRow.plan_id == PlanRow.id, PlanLabelRow.key == key, PlanLabelRow.value == value)
            .exists()
        )
    rows = session.scalars(page_statement(statement, PlanRow.created_at, PlanRow.id, limit, cursor)).all()
    return page_of(rows, limit, lambda row: Key(row.created_at, row.id), _summary)


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
        labels={key: PlanLabelRow(key=key, value=value) for key, value in plan.labels.items()},
        request=dict(plan.request),
        answer=dict(plan.answer),
        schema_version=plan.schema_version,
        method_version=plan.method_version,
    )


def _summary(row: PlanRow) -> StoredPlanSummary:
    return StoredPlanSummary(**_facts(row))


def _stored(row: PlanRow) -> StoredPlan:
    return StoredPlan(**_facts(row), request=row.request, answer=row.answer)


def _facts(row: PlanRow) -> dict[str, Any]:
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
        "labels": {key: row.labels[key].value for key in sorted(row.labels)},
        "schema_version": row.schema_version,
        "method_version": row.method_version,
    }
