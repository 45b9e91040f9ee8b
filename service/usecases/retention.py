"""Retention: what is stored is forgotten when its time has come, a little at a time."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from service.logs import logger
from service.settings import Settings
from service.store import retention
from service.store.errors import StoreError
from service.store.retention import Kind
from service.store.session import Store, WriteSession
from service.usecases.idempotency import KEPT

BATCH: Final = 200
"""Rows that are forgotten in one transaction."""

EVERY_SECONDS: Final = 60.0
"""How often a process looks for what is to be forgotten."""

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long each kind is kept, and how long the counts of rulings; what is not there is kept for good."""

    kinds: Mapping[Kind, timedelta]
    counts: timedelta | None = None


def retention_of(settings: Settings) -> Retention:
    """Return what the settings say; 0 days stand for ever."""
    days: Mapping[Kind, int] = {
        "plan": settings.plan_retention_days,
        "comparison": settings.comparison_retention_days,
        "operation": settings.operation_retention_days,
        "refusal": settings.record_retention_days,
    }
    kinds = {kind: timedelta(days=each) for kind, each in days.items() if each}
    record = settings.record_retention_days
    return Retention({**kinds, "idempotency_key": KEPT}, timedelta(days=record) if record else None)


def purge(store: Store, kept: Retention, now: datetime | None = None, batches: int | None = None) -> Counter[str]:
    """Forget what is older than it is kept; return how many of each kind. Raises StoreBusy and StoreUnavailable.

    At most so many transactions are made (None: as many as it takes).
    """
    at = now or datetime.now(UTC)
    found: Counter[str] = Counter()
    for kind, forget in _steps(kept, at):
        full = True
        while full and (batches is None or batches > 0):
            with store.write() as session:
                count = forget(session)
            found[kind] += count
            full = count >= BATCH
            # A look that finds nothing is no work.
            batches = None if batches is None else batches - (count > 0)
    return +found


class Purger:
    """What a serving process forgets on its own: a batch a second while there is anything, else a look each minute."""

    def __init__(self, store: Store, kept: Retention) -> None:
        self._store = store
        self._kept = kept
        self._next = time.monotonic()

    def purge(self) -> None:
        """Forget one batch, if it is time to look."""
        if time.monotonic() < self._next:
            return
        try:
            found = purge(self._store, self._kept, batches=1)
        except StoreError as error:
            _log.warning("nothing could be forgotten", error=str(error))
            found = Counter[str]()
        if found:
            _log.info("forgotten", **found)
        else:
            self._next = time.monotonic() + EVERY_SECONDS


def _steps(kept: Retention, now: datetime) -> list[tuple[str, Callable[[WriteSession], int]]]:
    def older(kind: Kind, age: timedelta) -> Callable[[WriteSession], int]:
        return lambda session: retention.forget(session, kind, now - age, BATCH)

    steps: list[tuple[str, Callable[[WriteSession], int]]] = [
        ("plan", lambda session: retention.forget_expired_plans(session, now, BATCH)),
        *((kind, older(kind, age)) for kind, age in kept.kinds.items()),
    ]
    if kept.counts is not None:
        before = now - kept.counts
        steps.append(("count", lambda session: min(retention.forget_counts(session, before), BATCH - 1)))
    return steps
