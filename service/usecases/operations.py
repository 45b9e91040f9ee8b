"""Operations as callers see them: looked up, cancelled, and ended when the process that did the work is gone."""

from datetime import UTC, datetime, timedelta
from typing import Final

from service.store import operations
from service.store.operations import Report, StoredOperation
from service.store.session import Store
from service.usecases.errors import RejectedQuestion

REPORT_SECONDS: Final = 1.0
"""How often a process says how far its operations are."""

STALE: Final = timedelta(seconds=15)
"""An operation that nobody has reported on for so long is nobody's any more."""

INTERRUPTED: Final = Report(
    state="failed",
    error_code="interrupted",
    error_detail="The process that worked on it ended; send the question again.",
)


class OperationFinished(RejectedQuestion):
    """The operation has ended, so it cannot be cancelled."""


def get_operation(store: Store, operation_id: str) -> StoredOperation:
    """Return the operation of this id, as failed when its process is gone. Raises NotFound."""
    with store.read() as session:
        found = operations.get(session, operation_id)
    limit = datetime.now(UTC) - STALE
    if not found.is_active or found.updated_at > limit:
        return found
    with store.write() as session:
        operations.interrupt(session, limit, INTERRUPTED, operation_id)
        return operations.get(session, operation_id)


def request_cancel(store: Store, operation_id: str) -> StoredOperation:
    """Ask for an operation to end. Raises NotFound, and OperationFinished when it has ended in another way."""
    with store.write() as session:
        found = operations.request_cancel(session, operation_id)
    if found.state in {"succeeded", "failed"}:
        raise OperationFinished(f"the operation {operation_id} has already {found.state}")
    return found


def end_interrupted(store: Store) -> None:
    """End what a process left behind: on SQLite everything, as this process is the only one; else what is stale."""
    limit = datetime.now(UTC) - (timedelta() if store.is_sole else STALE)
    with store.write() as session:
        operations.interrupt(session, limit, INTERRUPTED)
