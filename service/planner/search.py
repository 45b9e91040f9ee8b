"""The exhaustive search: every layout of a space through the functions of the single estimate, in bounded blocks."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.calculator.estimate import Estimate
from service.calculator.layout import Layout
from service.calculator.step_time import StepTime
from service.planner.frontier import pareto
from service.planner.grid import Group, parts
from service.planner.problem import Column, Problem, Truths
from service.planner.ranking import Rows, contenders, no_rows, ranked
from service.planner.reach import largest_micro_batch, longest_sequence, smallest_world_size
from service.planner.recompute import least_recomputation
from service.planner.space import SearchSpace
from service.planner.verdict import DOES_NOT_FIT, VERDICTS, Verdict, judge, reason

FEW = 256
"""Layouts up to which all stages are asked at once: so few cost no more than one."""

Progress = Callable[[int, int], None]
"""Called with the layouts done and the layouts in all."""


class SearchCancelled(Exception):
    """The caller asked for the search to stop."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A layout with its itemised estimate, verdict and step time."""

    layout: Layout
    estimate: Estimate
    verdict: Verdict
    reason: str
    time: StepTime

    @property
    def peak_bytes(self) -> tuple[int, ...]:
        """Device bytes of each stage at its worst moment."""
        return tuple(stage.device_bytes for stage in self.estimate.stages)


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A layout that no other beats in both peak memory and step time."""

    layout: Layout
    device_bytes: int
    step_seconds: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    `searched` counts every layout of the space; `rejected` those that a rule refused or that do not fit, each under
    its first reason. `largest_micro_batch` and `longest_sequence` (tokens) are those at the first candidate.
    """

    candidates: tuple[Candidate, ...]
    frontier: tuple[FrontierPoint, ...]
    searched: int
    rejected: Mapping[str, int]
    smallest_world_size: int | None
    largest_micro_batch: int | None
    longest_sequence: int | None
    least_recomputation: tuple[int, ...] | None


def search(
    problem: Problem,
    space: SearchSpace,
    *,
    top: int = 10,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SearchResult:
    """Every layout of the space: which fit, the best `top` of them, and the frontier of memory against time.

    Raises `SearchCancelled` when `cancelled` answers true between two blocks.
    """

    def checkpoint() -> None:
        if cancelled is not None and cancelled():
            raise SearchCancelled

    groups, rejected = _promising(problem, space)
    best, edge, done = no_rows(), no_rows(), rejected.total()
    total = done + sum(map(len, groups))
    for number, group in enumerate(groups):
        for indexes in group.blocks():
            checkpoint()
            rows = _evaluate(problem, group, number, indexes)
            rejected["does_not_fit"] += len(indexes) - len(rows)
            best = contenders(best.with_more(rows), top)
            edge = edge.with_more(rows)
            edge = edge.take(pareto(edge.peak_bytes, edge.step_seconds))
            done += len(indexes)
            if progress is not None:
                progress(done, total)
    found = [candidate(problem, layout) for layout in _layouts(ranked(best, top), groups)]
    winner = found[0].layout if found else None
    return SearchResult(
        candidates=tuple(found),
        frontier=tuple(_frontier(edge, groups)),
        searched=total,
        rejected=dict(sorted((+rejected).items())),
        smallest_world_size=smallest_world_size(problem, space, checkpoint),
        largest_micro_batch=largest_micro_batch(problem, winner) if winner else None,
        longest_sequence=longest_sequence(problem, winner) if winner else None,
        least_recomputation=least_recomputation(problem, winner) if winner else None,
    )


def candidate(problem: Problem, layout: Layout) -> Candidate:
    """One layout with everything that an answer says about it."""
    estimate = problem.estimate(layout)
    peak = np.array([estimate.peak.device_bytes], dtype=np.int64)
    expected, high = int(problem.expected(peak)[0]), int(problem.upper_end(peak)[0])
    return Candidate(
        layout=layout,
        estimate=estimate,
        verdict=judge(expected, high, problem.accelerator),
        reason=reason(estimate.peak.stage, expected, high, problem.accelerator),
        time=problem.time(layout),
    )


def _promising(problem: Problem, space: SearchSpace) -> tuple[list[Group], Counter[str]]:
    """The groups of a space without what cannot fit whatever is recomputed, and how many were refused by which rule."""
    groups: list[Group] = []
    rejected = Counter[str]()
    for part in parts(problem.model, space):
        rejected += part.rejected
        hopeless: dict[int, Truths] = {}
        for group in part.groups:
            rows = id(group.degrees)
            if rows not in hopeless:
                least = np.broadcast_to(problem.least_bytes(group.shallowest()), len(group.degrees))
                hopeless[rows] = problem.verdicts(least) == DOES_NOT_FIT
            kept = group.without(hopeless[rows])
            rejected["does_not_fit"] += len(group) - len(kept)
            if len(kept):
                groups.append(kept)
    return groups, rejected


def _evaluate(problem: Problem, group: Group, number: int, indexes: Column) -> Rows:
    """The layouts of a block that fit; the other stages are asked only of those whose first fits, time of the rest."""
    if group.pipeline > 1 and len(indexes) > FEW:
        indexes = indexes[problem.verdicts(problem.stage_peaks(group.layouts(indexes), 0)) != DOES_NOT_FIT]
    if len(indexes) == 0:
        return no_rows()
    peaks = problem.peaks(group.layouts(indexes))
    verdicts = problem.verdicts(peaks)
    fits = verdicts != DOES_NOT_FIT
    kept = indexes[fits]
    if len(kept) == 0:
        return no_rows()
    time = problem.time(group.layouts(kept))
    return Rows(
        verdict=verdicts[fits],
        step_seconds=np.asarray(time.step_seconds, dtype=np.float64),
        recompute=np.broadcast_to(np.asarray(time.recompute_fraction, dtype=np.float64), kept.shape),
        peak_bytes=peaks[fits],
        group=np.full(kept.shape, number, dtype=np.int64),
        index=kept,
    )


def _layouts(rows: Rows, groups: Sequence[Group]) -> Iterator[Layout]:
    for group, index in zip(rows.group.tolist(), rows.index.tolist(), strict=True):
        yield groups[group].layout(index)


def _frontier(edge: Rows, groups: Sequence[Group]) -> Iterator[FrontierPoint]:
    for row, layout in enumerate(_layouts(edge, groups)):
        yield FrontierPoint(
            layout=layout,
            device_bytes=int(edge.peak_bytes[row]),
            step_seconds=float(edge.step_seconds[row]),
            verdict=VERDICTS[int(edge.verdict[row])],
        )
