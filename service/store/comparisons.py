"""Stored comparisons. A comparison never changes, and the same question (the same digest) has one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, defer

from service.store.errors import NotFound
from service.store.ids import id_text, new_id, parse_id
from service.store.once import add_or_find
from service.store.paging import Order, Page, page
from service.store.session import WriteSession
from service.store.tables import ComparisonRow

PREFIX = "cmp"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """A comparison to be stored: how large it is, and question and answer as JSON documents of a schema version."""

    digest: str
    sides: int
    targets: int
    schema_version: int
    method_version: str
    request: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredComparisonSummary:
    """A stored comparison as lists show it, without its answer."""

    id: str
    digest: str
    created_at: datetime
    sides: int
    targets: int
    method_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredComparison(StoredComparisonSummary):
    """A stored comparison with its documents."""

    request: Mapping[str, Any]
    answer: Mapping[str, Any]


def create(session: WriteSession, new: NewComparison, at: datetime | None = None) -> tuple[StoredComparison, bool]:
    """Store a comparison made at this moment (default: now); return it and True, or that of its digest and False."""
    stored = get_by_digest(session, new.digest)
    if stored is not None:
        return stored, False
    now = at or datetime.now(UTC)
    facts = {name: getattr(new, name) for name in NewComparison.__dataclass_fields__}
    row = ComparisonRow(id=new_id(now), created_at=now, **facts)
    stored = add_or_find(session, row, lambda: get_by_digest(session, new.digest))
    if stored is not None:
        return stored, False
    return _stored(row), True


def get(session: Session, comparison_id: str) -> StoredComparison:
    """Return the comparison of this id (as clients see it). Raises NotFound."""
    wanted = parse_id(PREFIX, comparison_id)
    row = None if wanted is None else session.get(ComparisonRow, wanted)
    if row is None:
        raise NotFound("comparison", comparison_id)
    return _stored(row)


def get_by_digest(session: Session, digest: str) -> StoredComparison | None:
    """Return the comparison of this digest, or None when the question is new."""
    row = session.scalar(select(ComparisonRow).where(ComparisonRow.digest == digest))
    return None if row is None else _stored(row)


def list_page(session: Session, limit: int, cursor: str | None = None) -> Page[StoredComparisonSummary]:
    """Return up to `limit` comparisons, newest first, from the cursor on. Raises InvalidCursor."""
    statement = select(ComparisonRow).options(
        defer(ComparisonRow.request, raiseload=True), defer(ComparisonRow.answer, raiseload=True)
    )
    return page(session, statement, Order(ComparisonRow.created_at, ComparisonRow.id), limit, cursor, _summary)


def _summary(row: ComparisonRow) -> StoredComparisonSummary:
    return StoredComparisonSummary(**_facts(row))


def _stored(row: ComparisonRow) -> StoredComparison:
    return StoredComparison(**_facts(row), request=row.request, answer=row.answer)


def _facts(row: ComparisonRow) -> dict[str, Any]:
    names = [name for name in StoredComparisonSummary.__dataclass_fields__ if name != "id"]
    return {"id": id_text(PREFIX, row.id), **{name: getattr(row, name) for name in names}}
