"""Stored operations: long work that callers follow by polling, from whichever process they ask."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from service.store.errors import NotFound
from service.store.ids import id_text, new_id, parse_id
from service.store.session import WriteSession
from service.store.tables import OperationRow

State = Literal["waiting", "running", "succeeded", "failed", "cancelled"]
ACTIVE: tuple[State, ...] = ("waiting", "running")

PREFIX = "op"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How far an operation is: `done` of `total` layouts (None while not counted), its result's id, or its error."""

    state: State
    done: int = 0
    total: int | None = None
    result: str | None = None
    error_code: str | None = None
    error_detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOperation(Report):
    """An operation as it was last reported; `version` grows with every change that callers can see."""

    id: str
    kind: str
    digest: str
    version: int
    cancel_requested: bool
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None

    @property
    def is_active(self) -> bool:
        """Whether it can still change."""
        return self.state in ACTIVE


def create(session: WriteSession, kind: str, digest: str, report: Report, at: datetime | None = None) -> str:
    """Store an operation made at this moment (default: now) and return its id."""
    now = at or datetime.now(UTC)
    row = OperationRow(
        id=new_id(now),
        kind=kind,
        digest=digest,
        version=1,
        cancel_requested=False,
        created_at=now,
        updated_at=now,
        **_facts(report, now),
    )
    session.add(row)
    session.flush()
    return id_text(PREFIX, row.id)


def get(session: Session, operation_id: str) -> StoredOperation:
    """Return the operation of this id (as clients see it). Raises NotFound."""
    return _stored(_row(session, operation_id))


def report(session: WriteSession, operation_id: str, found: Report, at: datetime | None = None) -> StoredOperation:
    """Note how far an operation is and that its process is alive; one that has ended stays as it ended.

    Raises NotFound.
    """
    now = at or datetime.now(UTC)
    row = _row(session, operation_id, for_update=True)
    if row.state in ACTIVE:
        before = _stored(row)
        for name, value in _facts(found, now).items():
            setattr(row, name, value)
        row.updated_at = now
        if any(getattr(before, name) != getattr(found, name) for name in Report.__dataclass_fields__):
            row.version += 1
        session.flush()
    return _stored(row)


def request_cancel(session: WriteSession, operation_id: str) -> StoredOperation:
    """Ask for an operation to end; the process that works on it sees it at its next report. Raises NotFound."""
    row = _row(session, operation_id, for_update=True)
    if row.state in ACTIVE and not row.cancel_requested:
        row.cancel_requested = True
        row.version += 1
        session.flush()
    return _stored(row)


def interrupt(session: WriteSession, unseen_since: datetime, why: Report, operation_id: str | None = None) -> None:
    """End the active operations (or this one) whose process has reported nothing since this moment."""
    statement = update(OperationRow).where(OperationRow.state.in_(ACTIVE), OperationRow.updated_at <= unseen_since)
    if operation_id is not None:
        statement = statement.where(OperationRow.id == _parse(operation_id))
    now = datetime.now(UTC)
    session.execute(
        statement.values(
            state=why.state,
            error_code=why.error_code,
            error_detail=why.error_detail,
            version=OperationRow.version + 1,
            finished_at=now,
        )
    )


def _row(session: Session, operation_id: str, *, for_update: bool = False) -> OperationRow:
    statement = select(OperationRow).where(OperationRow.id == _parse(operation_id))
    row = session.scalar(statement.with_for_update() if for_update else statement)
    if row is None:
        raise NotFound("operation", operation_id)
    return row


def _parse(operation_id: str) -> UUID:
    found = parse_id(PREFIX, operation_id)
    if found is None:
        raise NotFound("operation", operation_id)
    return found


def _facts(found: Report, now: datetime) -> dict[str, object]:
    facts: dict[str, object] = {name: getattr(found, name) for name in Report.__dataclass_fields__}
    return {**facts, "finished_at": None if found.state in ACTIVE else now}


def _stored(row: OperationRow) -> StoredOperation:
    facts = {name: getattr(row, name) for name in StoredOperation.__dataclass_fields__ if name != "id"}
    return StoredOperation(id=id_text(PREFIX, row.id), **facts)
