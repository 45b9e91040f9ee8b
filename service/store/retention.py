"""What is forgotten when its time has come: a few rows at a time, so that no request waits long for its turn."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, cast

from sqlalchemy import ColumnElement, CursorResult, and_, delete, select

from service.store.operations import ACTIVE
from service.store.session import WriteSession
from service.store.tables import ComparisonRow, KeyRow, OperationRow, PlanRow, RefusalRow, RulingCountRow

Kind = Literal["plan", "comparison", "operation", "refusal", "idempotency_key"]

_TABLES: Final[Mapping[Kind, type[PlanRow | ComparisonRow | OperationRow | RefusalRow | KeyRow]]] = {
    "plan": PlanRow,
    "comparison": ComparisonRow,
    "operation": OperationRow,
    "refusal": RefusalRow,
    "idempotency_key": KeyRow,
}


def forget_expired_plans(session: WriteSession, now: datetime, most: int) -> int:
    """Remove up to so many plans whose own time has come; return how many."""
    return _forget(session, "plan", and_(PlanRow.expires_at <= now, PlanRow.pinned.is_(False)), most)


def forget(session: WriteSession, kind: Kind, before: datetime, most: int) -> int:
    """Remove up to so many of a kind that are older than a moment; return how many.

    Plans with a time of their own, pinned plans and operations that have not ended stay.
    """
    old: Mapping[Kind, ColumnElement[bool]] = {
        "plan": and_(PlanRow.created_at < before, PlanRow.expires_at.is_(None), PlanRow.pinned.is_(False)),
        "comparison": ComparisonRow.created_at < before,
        "operation": and_(OperationRow.state.not_in(ACTIVE), OperationRow.updated_at < before),
        "refusal": RefusalRow.last_at < before,
        "idempotency_key": and_(KeyRow.created_at < before, KeyRow.expires_at < before),
    }
    return _forget(session, kind, old[kind], most)


def forget_counts(session: WriteSession, before: datetime) -> int:
    """Remove the counts of rulings of days before the one of a moment; return how many."""
    statement = delete(RulingCountRow).where(RulingCountRow.day < before.date())
    return cast("CursorResult[tuple[()]]", session.execute(statement)).rowcount


def _forget(session: WriteSession, kind: Kind, where: ColumnElement[bool], most: int) -> int:
    row = _TABLES[kind]
    key = KeyRow.claim if kind == "idempotency_key" else row.id  # type: ignore[union-attr]  # the others have an id
    # Two processes that forget at the same time each take rows that the other has not.
    chosen = select(key).where(where).limit(most).with_for_update(skip_locked=True)
    found = session.scalars(chosen).all()
    if found:
        session.execute(delete(row).where(key.in_(found)))
    return len(found)
