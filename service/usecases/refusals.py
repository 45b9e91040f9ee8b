"""The record of what policies refused, or would have: kept in memory, and stored every second.

A verdict never waits for the database. A process that is killed loses the rulings of its last second.
"""

import hashlib
import threading
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from service.logs import logger
from service.store import refusals
from service.store.errors import StoreError
from service.store.paging import Page
from service.store.refusals import Counted, Refusal, StoredRefusal
from service.store.session import Store
from service.usecases.policies import Policies, Ruled, Ruling, applied
from service.usecases.verdicts import Board, Item, Place, VerdictAnswer

MOST_WAITING: Final = 10_000
"""Refusals that wait for being stored; more are only counted."""

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a queue's policy came to: how often each ruling, would it be enforced, by rule and by day."""

    queue: str
    since: date
    rulings: Counter[Ruling]
    rules: Counter[str]
    days: dict[date, Counter[Ruling]]


@dataclass(frozen=True, slots=True)
class RuledVerdict:
    """The answer at a place of a board, and what a policy makes of it (None: there is none)."""

    place: Place
    answer: VerdictAnswer
    ruled: Ruled | None = None


class Record:
    """The rulings of this process that are not stored yet; shared by all threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = threading.Lock()
        self._refusals: dict[str, Refusal] = {}
        self._counts: Counter[Counted] = Counter()

    def keep(self, queue: str, item: Item, answer: VerdictAnswer, ruled: Ruled) -> None:
        """Count a ruling, and keep what was refused or would have been."""
        if ruled.mode == "off":
            return
        now = datetime.now(UTC)
        first = ruled.first
        counted = Counted(queue, now.date(), ruled.mode, ruled.enforced, "" if first is None else first.rule)
        refusal = None if ruled.enforced != "refuse" else _refusal(queue, item, answer, ruled, now)
        with self._turn:
            self._counts[counted] += 1
            if refusal is None:
                return
            before = self._refusals.get(refusal.fingerprint)
            if before is not None:
                self._refusals[refusal.fingerprint] = replace(before, count=before.count + 1, last_at=now)
            elif len(self._refusals) < MOST_WAITING:
                self._refusals[refusal.fingerprint] = refusal

    def store(self) -> None:
        """Store what is kept; what cannot be stored now is stored later."""
        with self._turn:
            kept, counts = self._refusals, self._counts
            self._refusals, self._counts = {}, Counter()
        if not counts:
            return
        try:
            with self._store.write() as session:
                refusals.note(session, list(kept.values()), counts)
        except StoreError as error:
            _log.warning("rulings could not be stored", error=str(error))
            with self._turn:
                self._counts += counts
                for fingerprint, each in kept.items():
                    newer = self._refusals.get(fingerprint)
                    if newer is not None:
                        self._refusals[fingerprint] = replace(
                            each, count=each.count + newer.count, last_at=newer.last_at
                        )
                    elif len(self._refusals) < MOST_WAITING:
                        self._refusals[fingerprint] = each


def ruled(board: Board, queue: str | None, policies: Policies, record: Record) -> list[RuledVerdict]:
    """Return the answers of a board with what the policy of a queue makes of each, and keep that on record."""
    stated = None if queue is None else policies.of(queue)
    if queue is None or stated is None:
        return [RuledVerdict(place, answer) for place, answer in board.found()]
    found = []
    for place, answer in board.found():
        shown, ruling = applied(stated, board.devices, answer)
        record.keep(queue, board.items[place[0]], answer, ruling)
        found.append(RuledVerdict(place, shown, ruling))
    return found


def list_refusals(store: Store, queue: str, limit: int, cursor: str | None) -> Page[StoredRefusal]:
    """Return up to `limit` refusals of a queue, newest first, from the cursor on. Raises InvalidCursor."""
    with store.read() as session:
        return refusals.list_page(session, queue, limit, cursor)


def summary_of(store: Store, queue: str, days: int) -> Summary:
    """Return what the policy of a queue came to in the last days, today included."""
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    found = Summary(queue, since, Counter(), Counter(), {})
    with store.read() as session:
        counted = refusals.counts(session, queue, since)
    for each, count in sorted(counted.items(), key=lambda one: one[0].day):
        ruling: Ruling = each.ruling  # type: ignore[assignment]  # written by `keep`
        found.rulings[ruling] += count
        found.days.setdefault(each.day, Counter())[ruling] += count
        if each.rule:
            found.rules[each.rule] += count
    return found


def _refusal(queue: str, item: Item, answer: VerdictAnswer, ruled: Ruled, now: datetime) -> Refusal:
    need, first = answer.need, ruled.first
    rules = " ".join(each.rule for each in ruled.broken if each.ruling == "refuse")
    # A job that could not be read has no digest; it is told from others by what was sent.
    job = answer.digest or hashlib.sha256(item.given.model_dump_json(by_alias=True).encode()).hexdigest()
    parts = (queue, ruled.mode, rules, item.reference, answer.target.device, answer.target.world_size, job)
    return Refusal(
        queue=queue,
        fingerprint=hashlib.sha256(repr(parts).encode()).hexdigest(),
        mode=ruled.mode,
        rules=rules,
        reason="" if first is None else first.message,
        reference=item.reference,
        device=answer.target.device,
        world_size=answer.target.world_size,
        verdict=answer.verdict,
        peak_bytes=None if need is None else need.expected_bytes,
        usable_bytes=None if need is None else need.usable_bytes,
        digest=answer.digest,
        count=1,
        created_at=now,
        last_at=now,
    )
