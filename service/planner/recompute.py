"""The least activation checkpointing of each stage with which a layout fits as well as it does."""

from dataclasses import replace

import numpy as np

from service.calculator.layout import Checkpointing, Layout
from service.planner.problem import Problem
from service.planner.verdict import DOES_NOT_FIT


def least_recomputation(problem: Problem, layout: Layout) -> tuple[int, ...] | None:
    """For each stage the fewest layers of a chunk that must be recomputed, each stage on its own.

    A stage's memory depends on its own layers and falls with every one that is recomputed, so stages that hold fewer
    micro-batches need less. None when a stage does not fit even with all of them recomputed.
    """
    allowed = min(int(problem.verdicts(problem.peaks(layout))[0]), DOES_NOT_FIT - 1)
    least = [_least(problem, layout, stage, allowed) for stage in range(layout.pipeline)]
    found = tuple(depth for depth in least if depth is not None)
    return found if len(found) == layout.pipeline else None


def _least(problem: Problem, layout: Layout, stage: int, allowed: int) -> int | None:
    """All depths of a stage are evaluated at once; the first whose verdict is no worse than allowed is the least."""
    deepest = max(len(layers) for layers in layout.placement.chunks[stage])
    depths = np.arange(deepest + 1, dtype=np.int64)
    tried = replace(layout, checkpointing=Checkpointing("full", "block", depths))
    verdicts = np.broadcast_to(problem.verdicts(problem.stage_peaks(tried, stage)), depths.shape)
    fitting = np.flatnonzero(verdicts <= allowed)
    return int(fitting[0]) if len(fitting) else None
