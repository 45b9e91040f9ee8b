"""Operations: work that takes longer than its request."""

from datetime import datetime
from typing import Self

from pydantic import Field

from service.api.schemas.base import Answer, Count, Fraction
from service.store.operations import StoredOperation

_ROUTES = {"plan": "/v1/plans"}


class OperationProgress(Answer):
    """How far the work is."""

    done: Count = Field(examples=[131072])
    """Layouts that were looked at."""
    total: Count | None = Field(examples=[1048576])
    """Layouts in all; null until they are counted."""
    fraction: Fraction | None = Field(examples=[0.125])
    """Share that is done (0 to 1); null until the layouts are counted."""


class OperationError(Answer):
    """Why an operation has no result."""

    code: str = Field(examples=["interrupted"])
    """Stable name: `interrupted` (its process ended), `service_stopping`, `store_busy`, `store_unavailable` or
    `internal_error`."""
    detail: str = Field(examples=["The process that worked on it ended; send the question again."])
    """What happened, for people."""


class OperationAnswer(Answer):
    """Work that takes longer than its request, and how far it is."""

    id: str = Field(examples=["op_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
    """Id of the operation."""
    kind: str = Field(examples=["plan"])
    """What is being made."""
    state: str = Field(examples=["running"])
    """`waiting` (for its turn) or `running`, then for good `succeeded`, `failed` or `cancelled`."""
    progress: OperationProgress
    """How far it is."""
    cancel_requested: bool = Field(examples=[False])
    """Whether it was asked to end; a search ends after the block of layouts that it is at."""
    result: str | None = Field(examples=["/v1/plans/pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
    """Where the result is, once it succeeded."""
    error: OperationError | None
    """Why it has no result; null unless it failed, or was cancelled because the service was stopped."""
    digest: str = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])
    """SHA-256 of the question; the result has the same."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stored (UTC)."""
    updated_at: datetime = Field(examples=["2026-11-29T19:00:12Z"])
    """When its progress was last reported (UTC)."""
    finished_at: datetime | None = Field(examples=["2026-11-29T19:00:15Z"])
    """When it ended (UTC); null before."""

    @classmethod
    def of(cls, stored: StoredOperation) -> Self:
        """Return the wire form of an operation."""
        counted = stored.total is not None
        return cls(
            id=stored.id,
            kind=stored.kind,
            state=stored.state,
            progress=OperationProgress(
                done=stored.done,
                total=stored.total,
                fraction=stored.done / max(stored.total or 0, 1) if counted else None,
            ),
            cancel_requested=stored.cancel_requested,
            result=None if stored.result is None else f"{_ROUTES[stored.kind]}/{stored.result}",
            error=_error(stored),
            digest=stored.digest,
            created_at=stored.created_at,
            updated_at=stored.updated_at,
            finished_at=stored.finished_at,
        )


def _error(stored: StoredOperation) -> OperationError | None:
    if stored.error_code is None:
        return None
    return OperationError(code=stored.error_code, detail=stored.error_detail or "")
