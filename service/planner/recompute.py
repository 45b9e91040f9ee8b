"""The least activation checkpointing with which a layout fits."""

from dataclasses import replace

import numpy as np

from service.calculator.layout import Checkpointing, Layout
from service.planner.problem import Problem


def least_recomputation(problem: Problem, layout: Layout, budget_bytes: int) -> Layout | None:
    """The layout with the fewest recomputed layers whose peak is within the budget; None when even full is not.

    In order: none, block over 1, 2, … layers of each chunk, every layer, then longer uniform segments, which repeat as
    much and store less. All depths of one kind are evaluated at once.
    """
    chunk = max(len(layers) for stage in layout.placement.chunks for layers in stage)
    kinds = (
        (Checkpointing(), range(1, 2)),
        (Checkpointing("full", "block"), range(1, chunk)),
        (Checkpointing("full", "uniform"), range(1, chunk + 1)),
    )
    for kind, depths in kinds:
        depth = _first_within(problem, replace(layout, checkpointing=kind), depths, budget_bytes)
        if depth is not None:
            return replace(layout, checkpointing=replace(kind, num_layers=depth))
    return None


def _first_within(problem: Problem, layout: Layout, depths: range, budget_bytes: int) -> int | None:
    tried = np.array(depths, dtype=np.int64)
    if len(tried) == 0:
        return None
    peaks = problem.peaks(replace(layout, checkpointing=replace(layout.checkpointing, num_layers=tried)))
    fitting = np.flatnonzero(np.broadcast_to(peaks, tried.shape) <= budget_bytes)
    return int(tried[fitting[0]]) if len(fitting) else None
