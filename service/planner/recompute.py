"""The least activation checkpointing of each stage with which a layout fits as well as it does, and what it costs."""

from dataclasses import dataclass, replace

import numpy as np

from service.calculator.layout import Checkpointing, Layout
from service.planner.problem import Problem
from service.planner.verdict import DOES_NOT_FIT


@dataclass(frozen=True, slots=True)
class LeastRecomputation:
    """What a layout has to compute again, every stage on its own.

    `layers` are the fewest layers of a chunk that each stage must recompute (None: some stage needs more than that),
    and `step_seconds` the time of a step in which it recomputes just these. `cost_seconds` is what the checkpointing
    that the layout has, the same on all stages, adds to a step without any.
    """

    layers: tuple[int, ...] | None
    step_seconds: float | None
    cost_seconds: float


def least_recomputation(problem: Problem, layout: Layout) -> LeastRecomputation:
    """For each stage the fewest layers of a chunk that must be recomputed, and the time of such a step.

    A stage's memory depends on its own layers and falls with every one that is recomputed, so stages that hold fewer
    micro-batches need less.
    """
    now = float(problem.time(layout).step_seconds)
    plain = float(problem.time(replace(layout, checkpointing=_without(layout.checkpointing))).step_seconds)
    layers = _least_by_stage(problem, layout)
    if layers is None:
        return LeastRecomputation(None, None, now - plain)
    return LeastRecomputation(layers, float(problem.time(layout, layers).step_seconds), now - plain)


def _least_by_stage(problem: Problem, layout: Layout) -> tuple[int, ...] | None:
    verdict = int(problem.verdicts(problem.peaks(layout))[0])
    if layout.checkpointing.granularity == "none" and verdict != DOES_NOT_FIT:
        return (0,) * layout.pipeline
    allowed = min(verdict, DOES_NOT_FIT - 1)
    least = [_least(problem, layout, stage, allowed) for stage in range(layout.pipeline)]
    found = tuple(depth for depth in least if depth is not None)
    return found if len(found) == layout.pipeline else None


def _without(checkpointing: Checkpointing) -> Checkpointing:
    return Checkpointing(offload=checkpointing.offload, offload_layers=checkpointing.offload_layers)


def _least(problem: Problem, layout: Layout, stage: int, allowed: int) -> int | None:
    """All depths of a stage are evaluated at once; the first whose verdict is no worse than allowed is the least."""
    deepest = max(len(layers) for layers in layout.placement.chunks[stage])
    depths = np.arange(deepest + 1, dtype=np.int64)
    tried = replace(
        layout,
        checkpointing=replace(_without(layout.checkpointing), granularity="full", method="block", num_layers=depths),
    )
    verdicts = np.broadcast_to(problem.verdicts(problem.stage_peaks(tried, stage)), depths.shape)
    fitting = np.flatnonzero(verdicts <= allowed)
    return int(fitting[0]) if len(fitting) else None
