"""What policies refused, or would have, and how often they came to which ruling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.orm import Session

from service.store.ids import id_text, new_id
from service.store.paging import Order, Page, page
from service.store.session import WriteSession
from service.store.tables import RefusalRow, RulingCountRow

PREFIX = "rfs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A job that a policy refuses, or would refuse if it were enforced; what is refused again is counted."""

    queue: str
    fingerprint: str
    mode: str
    rules: str
    reason: str
    reference: str | None
    device: str
    world_size: int | None
    verdict: str
    peak_bytes: int | None
    usable_bytes: int | None
    digest: str | None
    count: int
    created_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRefusal(Refusal):
    """A refusal as it is stored."""

    id: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Which ruling a policy came to on a day, and by which rule (empty: none was broken)."""

    queue: str
    day: date
    mode: str
    ruling: str
    rule: str


def note(session: WriteSession, refusals: Sequence[Refusal], counts: Mapping[Counted, int]) -> None:
    """Store refusals and counts, adding to what is there of the same."""
    insert = postgres_insert if session.get_bind().dialect.name == "postgresql" else sqlite_insert
    # In one order everywhere, so that two processes cannot wait for each other.
    for refusal in sorted(refusals, key=lambda each: each.fingerprint):
        facts = {name: getattr(refusal, name) for name in Refusal.__dataclass_fields__}
        new = insert(RefusalRow).values(id=new_id(refusal.created_at), **facts)
        again = {"count": RefusalRow.count + new.excluded.count, "last_at": new.excluded.last_at}
        session.execute(new.on_conflict_do_update(index_elements=["fingerprint"], set_=again))
    for counted, count in sorted(counts.items(), key=lambda each: _order(each[0])):
        key = {name: getattr(counted, name) for name in Counted.__dataclass_fields__}
        row = insert(RulingCountRow).values(**key, count=count)
        more = {"count": RulingCountRow.count + row.excluded.count}
        session.execute(row.on_conflict_do_update(index_elements=list(key), set_=more))


def list_page(session: Session, queue: str, limit: int, cursor: str | None = None) -> Page[StoredRefusal]:
    """Return up to `limit` refusals of a queue, newest first, from the cursor on. Raises InvalidCursor."""
    statement = select(RefusalRow).where(RefusalRow.queue == queue)
    return page(session, statement, Order(RefusalRow.created_at, RefusalRow.id), limit, cursor, _stored)


def counts(session: Session, queue: str, since: date) -> dict[Counted, int]:
    """Return how often the policy of a queue came to which ruling, on each day from this one on."""
    statement = select(RulingCountRow).where(RulingCountRow.queue == queue, RulingCountRow.day >= since)
    return {
        Counted(row.queue, row.day, row.mode, row.ruling, row.rule): row.count for row in session.scalars(statement)
    }


def _order(counted: Counted) -> tuple[Any, ...]:
    return (counted.queue, counted.day, counted.mode, counted.ruling, counted.rule)


def _stored(row: RefusalRow) -> StoredRefusal:
    facts = {name: getattr(row, name) for name in Refusal.__dataclass_fields__}
    return StoredRefusal(id=id_text(PREFIX, row.id), **facts)
