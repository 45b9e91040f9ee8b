"""The exhaustive search: every layout of a space through the functions of the single estimate, in bounded blocks."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.calculator.estimate import Estimate
from service.calculator.layout import Layout
from service.calculator.placement import EVEN, Split
from service.calculator.step_time import StepTime
from service.planner.changes import number_of_changes
from service.planner.frontier import pareto
from service.planner.grid import Group, parts
from service.planner.problem import Column, Problem, Truths
from service.planner.ranking import STEPS, Rows, contenders, least_checkpointing, no_rows, ranked
from service.planner.reach import largest_micro_batch, longest_sequence, smallest_world_size
from service.planner.recompute import LeastRecomputation, least_recomputation
from service.planner.space import SearchSpace
from service.planner.verdict import DOES_NOT_FIT, VERDICTS, Verdict, judge, reason

FEW = 256
"""Layouts up to which all stages are asked at once: so few cost no more than one."""

Progress = Callable[[int, int], None]
"""Called with the layouts done and the layouts in all."""


class SearchCancelled(Exception):
    """The caller asked for the search to stop."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of what is searched: a space, and the problem that its layouts solve.

    `before` is the layout that changes are counted from, and `changes` how many keys beside the layout differ. With
    `offloads` states are on the host: memory that this frees wins no tie.
    """

    problem: Problem
    space: SearchSpace
    before: Layout | None = None
    changes: int = 0
    offloads: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A layout with its itemised estimate, verdict and step time; `region` says where it was found."""

    layout: Layout
    split: Split
    estimate: Estimate
    verdict: Verdict
    reason: str
    time: StepTime
    least: LeastRecomputation | None
    region: int = 0

    @property
    def peak_bytes(self) -> tuple[int, ...]:
        """Device bytes of each stage at its worst moment."""
        return tuple(stage.device_bytes for stage in self.estimate.stages)


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A layout that no other beats in both peak memory and step time."""

    layout: Layout
    split: Split
    device_bytes: int
    step_seconds: float
    verdict: Verdict
    region: int = 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    `candidates` are ranked, best first; of layouts that differ in checkpointing alone only the one with the least that
    fits is among them. `searched` counts every layout; `rejected` those that a rule refused or that do not fit, each
    under its first reason. `largest_micro_batch` and `longest_sequence` (tokens) are those at the first candidate.
    """

    candidates: tuple[Candidate, ...]
    frontier: tuple[FrontierPoint, ...]
    searched: int
    rejected: Mapping[str, int]
    smallest_world_size: int | None
    largest_micro_batch: int | None
    longest_sequence: int | None


def search(
    regions: Sequence[Region],
    *,
    top: int = 10,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SearchResult:
    """Every layout of the regions: which fit, the best `top` of them, and the frontier of memory against time.

    Raises `SearchCancelled` when `cancelled` answers true between two blocks.
    """

    def checkpoint() -> None:
        if cancelled is not None and cancelled():
            raise SearchCancelled

    pipelines, rejected = _promising(regions)
    groups = [group for pipeline in pipelines for group in pipeline]
    best, edge, done, number = no_rows(), no_rows(), rejected.total(), 0
    total = done + sum(len(each.group) for each in groups)
    for pipeline in pipelines:
        least = no_rows()
        for placed in pipeline:
            for indexes in placed.group.blocks():
                checkpoint()
                rows = _evaluate(regions[placed.region], placed.group, number, indexes)
                rejected["does_not_fit"] += len(indexes) - len(rows)
                least = least_checkpointing(least.with_more(rows))
                edge = edge.with_more(rows)
                edge = edge.take(pareto(edge.peak_bytes, edge.step_seconds))
                done += len(indexes)
                if progress is not None:
                    progress(done, total)
            number += 1
        best = contenders(best.with_more(least), top)
    found = [_candidate(regions, *each) for each in _layouts(ranked(best, top), groups)]
    winner = found[0] if found else None
    won = regions[winner.region].problem if winner else None
    return SearchResult(
        candidates=tuple(found),
        frontier=tuple(_frontier(edge, groups)),
        searched=total,
        rejected=dict(sorted((+rejected).items())),
        smallest_world_size=smallest_world_size([(each.problem, each.space) for each in regions], checkpoint),
        largest_micro_batch=largest_micro_batch(won, winner.layout) if won and winner else None,
        longest_sequence=longest_sequence(won, winner.layout) if won and winner else None,
    )


def candidate(problem: Problem, layout: Layout, split: Split = EVEN, region: int = 0) -> Candidate:
    """One layout with everything that an answer says about it."""
    estimate = problem.estimate(layout)
    peak = np.array([estimate.peak.device_bytes], dtype=np.int64)
    expected, high = int(problem.expected(peak)[0]), int(problem.upper_end(peak)[0])
    return Candidate(
        layout=layout,
        split=split,
        estimate=estimate,
        verdict=judge(expected, high, problem.accelerator),
        reason=reason(estimate.peak.stage, expected, high, problem.accelerator),
        time=problem.time(layout),
        least=None,
        region=region,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    """A group, and the region that it is of."""

    region: int
    group: Group


def _candidate(regions: Sequence[Region], placed: _Placed, layout: Layout) -> Candidate:
    problem = regions[placed.region].problem
    found = candidate(problem, layout, placed.group.split, placed.region)
    return replace(found, least=least_recomputation(problem, layout))


def _promising(regions: Sequence[Region]) -> tuple[list[list[_Placed]], Counter[str]]:
    """The groups of every pipeline without what cannot fit whatever is recomputed, and how many each rule refused."""
    pipelines: list[list[_Placed]] = []
    rejected = Counter[str]()
    for number, region in enumerate(regions):
        for part in parts(region.problem.model, region.space):
            rejected += part.rejected
            hopeless: dict[int, Truths] = {}
            pipeline = []
            for group in part.groups:
                rows = id(group.degrees)
                if rows not in hopeless:
                    least = region.problem.least_bytes(group.shallowest())
                    least = np.broadcast_to(least, len(group.degrees))
                    hopeless[rows] = region.problem.verdicts(least) == DOES_NOT_FIT
                kept = group.without(hopeless[rows])
                rejected["does_not_fit"] += len(group) - len(kept)
                if len(kept):
                    pipeline.append(_Placed(number, kept))
            pipelines.append(pipeline)
    return pipelines, rejected


def _evaluate(region: Region, group: Group, number: int, indexes: Column) -> Rows:
    """The layouts of a block that fit; the other stages are asked only of those whose first fits, time of the rest."""
    problem = region.problem
    if group.is_ordered and len(indexes) > FEW:
        indexes = _deep_enough(problem, group, indexes)
    elif group.pipeline > 1 and len(indexes) > FEW:
        indexes = indexes[problem.verdicts(problem.stage_peaks(group.layouts(indexes), 0)) != DOES_NOT_FIT]
    if len(indexes) == 0:
        return no_rows()
    peaks = np.broadcast_to(problem.peaks(group.layouts(indexes)), indexes.shape)
    verdicts = problem.verdicts(peaks)
    fits = verdicts != DOES_NOT_FIT
    kept = indexes[fits]
    if len(kept) == 0:
        return no_rows()
    layouts = group.layouts(kept)
    changes = 0 if region.before is None else number_of_changes(region.before, layouts, len(kept))
    return Rows(
        verdict=verdicts[fits],
        step_seconds=np.broadcast_to(np.asarray(problem.time(layouts).step_seconds, dtype=np.float64), kept.shape),
        peak_bytes=peaks[fits],
        filled=peaks[fits] * STEPS // problem.accelerator.usable_bytes + STEPS * int(region.offloads),
        changes=np.broadcast_to(changes + region.changes + int(group.split != EVEN), kept.shape),
        base=group.degrees.number[group.rows(kept)],
        group=np.full(kept.shape, number, dtype=np.int64),
        index=kept,
    )


def _deep_enough(problem: Problem, group: Group, indexes: Column) -> Column:
    """Those of the indexes with at least the depth at which their row first fits.

    Memory falls with every layer that is recomputed, so the least depth of every row is found by halving what is left,
    all rows at once; shallower ones need not be looked at.
    """
    rows = np.unique(group.rows(indexes))
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), len(group.depths), dtype=np.int64)
    while len(open_rows := np.flatnonzero(low < high)):
        middle = (low[open_rows] + high[open_rows]) // 2
        peaks = problem.peaks(group.layouts(group.at(rows[open_rows], middle)))
        fits = np.broadcast_to(problem.verdicts(peaks) != DOES_NOT_FIT, middle.shape)
        high[open_rows] = np.where(fits, middle, high[open_rows])
        low[open_rows] = np.where(fits, low[open_rows], middle + 1)
    least = low[np.searchsorted(rows, group.rows(indexes))]
    return indexes[group.places(indexes) >= least]


def _layouts(rows: Rows, groups: Sequence[_Placed]) -> Iterator[tuple[_Placed, Layout]]:
    for group, index in zip(rows.group.tolist(), rows.index.tolist(), strict=True):
        yield groups[group], groups[group].group.layout(index)


def _frontier(edge: Rows, groups: Sequence[_Placed]) -> Iterator[FrontierPoint]:
    for row, (placed, layout) in enumerate(_layouts(edge, groups)):
        yield FrontierPoint(
            layout=layout,
            split=placed.group.split,
            device_bytes=int(edge.peak_bytes[row]),
            step_seconds=float(edge.step_seconds[row]),
            verdict=VERDICTS[int(edge.verdict[row])],
            region=placed.region,
        )
