"""The order of candidates: what fits safely first, then by step time with near-equal times as ties.

Predictions within 5 % are ties: that is the noise between repeated runs of the measured sets (time_model.md, section
6). A tie goes to the larger margin, in steps of what estimates can tell apart, then to fewer changes, then to the
faster. Layouts that differ in checkpointing
alone are one candidate, the fastest that fits best: recomputation that is not needed never wins by the memory that it
leaves. Rows arrive in blocks; only those that can still be among the best are kept, so that memory does not grow with
the space.
"""

from dataclasses import dataclass, fields
from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

TIE = 1.05
"""Step times up to this ratio apart are ties."""

STEPS = 32
"""Steps of the usable memory in which margins are compared: 3 % of it is what estimates are off by."""

CROWDED = 1 << 14
"""Rows beyond which near-ties are thinned out one by one."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Evaluated layouts, one per row; `group` and `index` say which.

    `filled` are the `STEPS` that a peak reaches into, and as many more where states are on the host. Rows of one
    pipeline with the same `base` differ in checkpointing alone; `changes` are the keys that differ from the caller's
    job.
    """

    verdict: NDArray[np.int64]
    step_seconds: NDArray[np.float64]
    peak_bytes: NDArray[np.int64]
    filled: NDArray[np.int64]
    changes: NDArray[np.int64]
    base: NDArray[np.int64]
    group: NDArray[np.int64]
    index: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.verdict)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "Rows":
        """Some of the rows, by index or mask, in the order given."""
        return Rows(*(getattr(self, each.name)[rows] for each in fields(self)))

    def with_more(self, more: "Rows") -> "Rows":
        """These rows and then others."""
        return Rows(*(np.concatenate((getattr(self, each.name), getattr(more, each.name))) for each in fields(self)))


def no_rows() -> Rows:
    """Nothing evaluated yet."""
    ints, floats = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float64)
    return Rows(ints, floats, ints, ints, ints, ints, ints, ints)


def ranked(rows: Rows, top: int) -> Rows:
    """The best rows, best first; the order depends on the rows alone, not on the order in which they came."""
    ties = np.zeros(len(rows), dtype=np.int64)
    for verdict in np.unique(rows.verdict):
        mask = rows.verdict == verdict
        ties[mask] = _ties(rows.step_seconds[mask])
    keys = (rows.index, rows.group, rows.step_seconds, rows.changes, rows.filled, ties, rows.verdict)
    return rows.take(np.lexsort(keys)[:top])


def least_checkpointing(rows: Rows) -> Rows:
    """Of rows that differ in checkpointing alone the one that fits best, and of those the fastest."""
    order = np.lexsort((rows.index, rows.group, rows.peak_bytes, rows.step_seconds, rows.verdict, rows.base))
    firsts = np.ones(len(order), dtype=np.bool_)
    firsts[1:] = np.diff(rows.base[order]) != 0
    return rows.take(order[firsts])


def contenders(rows: Rows, top: int) -> Rows:
    """The rows that can still be among the best `top` whatever rows come later."""
    kept = no_rows()
    for verdict in np.unique(rows.verdict):
        if len(kept) >= top:
            break
        kept = kept.with_more(_contenders(rows.take(rows.verdict == verdict), top))
    return kept


def _contenders(rows: Rows, top: int) -> Rows:
    """A row slower than a tie with the top-th fastest has that many rows before it, in every later order too."""
    if len(rows) <= top:
        return rows
    limit = np.partition(rows.step_seconds, top - 1)[top - 1] * TIE
    near = rows.take(rows.step_seconds <= limit)
    return near if len(near) <= CROWDED else _thinned(near, top)


def _thinned(rows: Rows, top: int) -> Rows:
    """Drop every row that at least `top` others precede in every later order.

    A row precedes another that is no faster if its margin is larger, or as large with fewer changes.
    """
    keys = (rows.index, rows.group, rows.changes, rows.filled, rows.step_seconds)
    order = np.lexsort(keys)
    best: list[tuple[int, int]] = []  # a heap of the `top` least keys so far, negated: the greatest is on top
    kept = []
    for row, filled, changes in zip(
        order.tolist(), rows.filled[order].tolist(), rows.changes[order].tolist(), strict=True
    ):
        key = (-filled, -changes)
        if len(best) < top:
            heappush(best, key)
            kept.append(row)
        elif key > best[0]:
            heappushpop(best, key)
            kept.append(row)
    return rows.take(np.array(kept, dtype=np.intp))


def _ties(step_seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number of the tie that each row belongs to; a tie starts at its fastest row."""
    order = np.argsort(step_seconds, kind="stable")
    times = step_seconds[order]
    ties = np.zeros(len(times), dtype=np.int64)
    start, number = 0, 0
    while start < len(times):
        stop = int(np.searchsorted(times, times[start] * TIE, side="right"))
        ties[order[start:stop]] = number
        start, number = stop, number + 1
    return ties
