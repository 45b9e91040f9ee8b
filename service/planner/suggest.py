"""The smallest changes with which a job fits: fewest keys first, then least time.

The layouts near a job's own are searched through the functions of the single estimate: those that differ on one axis,
then on two, then on any, until enough was found. For every set of keys the fastest layout that fits is kept, so that a
depth of checkpointing is the least that does. A set that only adds keys to one that was named already is left out.
Global batch and sequence length never change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from service.calculator.layout import Layout
from service.calculator.placement import Split
from service.calculator.recipe import Recipe
from service.planner.changes import AXES, KEYS, changed, values_of
from service.planner.grid import Group, parts
from service.planner.problem import Column, Problem
from service.planner.ranking import TIE
from service.planner.search import Candidate, candidate
from service.planner.space import Choice, SearchSpace
from service.planner.verdict import DOES_NOT_FIT

GROWTH = (1, 2, 4, 8)
"""Factors by which a degree is raised, and a micro-batch cut; degrees are also halved once."""

WIDER = (1, 2, max(AXES) + 1)
"""Axes that may differ at once, one round after the other."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A change beside the layout: keys of the job with their new values, and the recipe that they give."""

    changes: Mapping[str, Any]
    recipe: Recipe


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change with which a job fits: keys with their new values (None: left out), and what comes of it.

    `saved_bytes` is what the worst GPU holds less; `step_ratio` the new step time over that of the job as it was.
    """

    changes: Mapping[str, Any]
    candidate: Candidate
    saved_bytes: int
    step_ratio: float


@dataclass(frozen=True, slots=True)
class _Found:
    """The fastest layout of one set of changed keys."""

    keys: frozenset[str]
    verdict: int
    step_seconds: float
    problem: Problem
    layout: Layout
    split: Split
    changes: Mapping[str, Any]


def suggest(
    problem: Problem, layout: Layout, space: SearchSpace, *, variants: Sequence[Variant] = (), most: int = 3
) -> list[Suggestion]:
    """The smallest changes of a layout with which it fits better than now; none when it fits already.

    `space` says what is allowed, as in a search of the same job; `variants` are further changes to combine with.
    """
    now = candidate(problem, layout)
    current = int(problem.verdicts(np.array([now.estimate.peak.device_bytes], dtype=np.int64))[0])
    if current == 0:
        return []
    neighbours, chosen = near(space, layout), list[_Found]()
    fewer = 0
    for most_axes in WIDER:
        for variant in (Variant({}, problem.recipe), *variants):
            tried = replace(problem, recipe=variant.recipe)
            chosen += _fastest(tried, layout, neighbours, variant, current, range(fewer, most_axes + 1))
        chosen, fewer = _fewest_keys(chosen), most_axes + 1
        if len(chosen) >= most:
            break
    return [_suggestion(each, now) for each in chosen[:most]]


def near(space: SearchSpace, layout: Layout) -> SearchSpace:
    """The part of a space in which a layout's neighbours are: its own values and a few steps from them."""

    def grown(allowed: tuple[int, ...], value: Any, halved: bool = True) -> tuple[int, ...]:
        wanted = {int(value) * factor for factor in GROWTH} | ({int(value) // 2} if halved else set())
        return tuple(each for each in allowed if each in wanted) or (int(value),)

    cut = {int(layout.micro_batch) // factor for factor in GROWTH} | {1}
    chunks = tuple(sorted({layout.virtual, 1})) if space.virtual is None else space.virtual
    shards, ranks = int(layout.shards), int(layout.data * layout.context)
    schedules = tuple(dict.fromkeys((layout.schedule, "1f1b", "interleaved")))
    return replace(
        space,
        tensor=grown(space.tensor, layout.tensor),
        pipeline=grown(space.pipeline, layout.pipeline),
        context=grown(space.context, layout.context, halved=False),
        expert=grown(space.expert, layout.expert),
        micro=tuple(each for each in space.micro if each in cut) or (int(layout.micro_batch),),
        sequence=tuple(sorted({*space.sequence, int(layout.sequence_parallel)})),
        virtual=chunks,
        group=(int(layout.group),) if layout.virtual > 1 and layout.group != layout.pipeline else (0,),
        sharding_degree=(0,) if shards in {1, ranks} else (shards, 0),
        schedules=tuple(each for each in schedules if each in {*space.schedules, layout.schedule}),
        sharding_stage=tuple(each for each in space.sharding_stage if each >= int(layout.sharding_stage)),
        checkpointing=(_own(layout), *(each for each in space.checkpointing if each != _own(layout))),
        offload=layout.checkpointing.offload,
        offload_layers=layout.checkpointing.offload_layers,
        routing=layout.routing,
    )


def _own(layout: Layout) -> Choice:
    stated = layout.checkpointing
    return Choice(
        stated.granularity,
        stated.method,
        stated.modules,
        (int(stated.num_layers),) if stated.granularity == "full" else None,
        distribute_saved=stated.distribute_saved,
        op=stated.op,
        every=stated.every,
        budget_permille=stated.budget_permille,
    )


def _fastest(
    problem: Problem, layout: Layout, space: SearchSpace, variant: Variant, current: int, axes: range
) -> Iterator[_Found]:
    """The fastest layout of every set of changed keys, on so many axes, that fits better than now."""
    best: dict[int, tuple[int, float, Group, int]] = {}
    for part in parts(problem.model, space):
        for group in part.groups:
            for indexes in group.blocks():
                for code, row in _evaluated(problem, layout, group, indexes, current, axes):
                    if code not in best or row[:2] < best[code][:2]:
                        best[code] = row
    for code, (verdict, seconds, group, index) in best.items():
        other = group.layout(index)
        keys = frozenset(key for bit, key in enumerate(KEYS) if code >> bit & 1) | frozenset(variant.changes)
        changes = {key: value for key, value in values_of(other).items() if key in keys} | dict(variant.changes)
        yield _Found(keys, verdict, seconds, problem, other, group.split, MappingProxyType(changes))


def _evaluated(
    problem: Problem, layout: Layout, group: Group, indexes: Column, current: int, axes: range
) -> Iterator[tuple[int, tuple[int, float, Group, int]]]:
    """For every set of keys in a block: its fastest layout that fits better than now."""
    codes, differing = _codes(layout, group.layouts(indexes), len(indexes))
    wanted = (differing >= axes.start) & (differing < axes.stop)
    indexes, codes = indexes[wanted], codes[wanted]
    if len(indexes) == 0:
        return
    verdicts = np.broadcast_to(problem.verdicts(problem.peaks(group.layouts(indexes))), indexes.shape)
    fitting = verdicts < min(current, DOES_NOT_FIT)
    indexes, codes, verdicts = indexes[fitting], codes[fitting], verdicts[fitting]
    if len(indexes) == 0:
        return
    times = problem.time(group.layouts(indexes)).step_seconds
    seconds = np.broadcast_to(np.asarray(times, dtype=np.float64), indexes.shape)
    order = np.lexsort((indexes, seconds, verdicts, codes))
    for row in order[np.unique(codes[order], return_index=True)[1]].tolist():
        yield int(codes[row]), (int(verdicts[row]), float(seconds[row]), group, int(indexes[row]))


def _codes(layout: Layout, many: Layout, count: int) -> tuple[Column, Column]:
    """The set of changed keys of each layout, one bit for each of `KEYS`, and the number of axes they are on."""
    code = np.zeros(count, dtype=np.int64)
    touched = np.zeros(count, dtype=np.int64)
    for bit, differs in enumerate(changed(layout, many)):
        column = np.broadcast_to(np.asarray(differs, dtype=np.int64), count)
        code |= column << bit
        touched |= column << AXES[bit]
    axes = np.zeros(count, dtype=np.int64)
    for axis in range(max(AXES) + 1):
        axes += touched >> axis & 1
    return code, axes


def _fewest_keys(found: Sequence[_Found]) -> list[_Found]:
    """What fits first, then fewest keys, then least time; no set that another one of the list makes superfluous."""
    chosen: list[_Found] = []
    for each in sorted(found, key=lambda one: (one.verdict, len(one.keys), one.step_seconds, sorted(one.keys))):
        smaller = [other for other in chosen if other.keys < each.keys and other.verdict <= each.verdict]
        if all(each.step_seconds * TIE < other.step_seconds for other in smaller):
            chosen.append(each)
    return chosen


def _suggestion(found: _Found, now: Candidate) -> Suggestion:
    then = candidate(found.problem, found.layout, found.split)
    return Suggestion(
        changes=found.changes,
        candidate=then,
        saved_bytes=now.estimate.peak.device_bytes - then.estimate.peak.device_bytes,
        step_ratio=float(then.time.step_seconds) / float(now.time.step_seconds),
    )
