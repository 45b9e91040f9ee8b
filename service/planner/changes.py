"""Which keys of a job differ between two layouts: what a change touches, and how many it takes."""

from typing import Any

import numpy as np

from service.calculator.layout import Layout
from service.planner.problem import Column, Truths

KEYS = (
    "/parallelism/tensor",
    "/parallelism/sequence",
    "/parallelism/pipeline",
    "/parallelism/virtual_pipeline",
    "/schedule",
    "/parallelism/context",
    "/parallelism/expert",
    "/parallelism/expert_tensor",
    "/batch/micro",
    "/sharding/stage",
    "/checkpointing/granularity",
    "/checkpointing/method",
    "/checkpointing/num_layers",
    "/checkpointing/modules",
)
"""Keys of a job that a change may touch, as JSON Pointers; data-parallel degree and accumulation follow from them."""

AXES = (0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9)
"""Which axis each of `KEYS` belongs to: a schedule goes with its chunks, and checkpointing is one axis."""

_FOLLOWS = {1: "1f1b"}
"""The schedule that a number of chunks implies; others imply `interleaved`."""


def changed(before: Layout, after: Layout) -> tuple[bool | Truths, ...]:
    """Whether each of `KEYS` differs; a value that follows from another key is no change."""
    old, new = before.checkpointing, after.checkpointing
    full = new.granularity == "full"
    follows = _FOLLOWS.get(after.virtual, "interleaved")
    inherits = (before.expert_tensor == before.tensor) & (after.expert_tensor == after.tensor)
    return (
        after.tensor != before.tensor,
        after.sequence_parallel != before.sequence_parallel,
        after.pipeline != before.pipeline,
        after.virtual != before.virtual,
        after.schedule not in {before.schedule, follows},
        after.context != before.context,
        after.expert != before.expert,
        (after.expert_tensor != before.expert_tensor) & np.logical_not(inherits),
        after.micro_batch != before.micro_batch,
        after.sharding_stage != before.sharding_stage,
        new.granularity != old.granularity,
        full and new.method != old.method,
        (full and new.granularity != old.granularity) | ((new.num_layers != old.num_layers) & full),
        new.granularity == "selective" and (new.modules, new.op, new.every) != (old.modules, old.op, old.every),
    )


def number_of_changes(before: Layout, after: Layout, count: int) -> Column:
    """How many of `KEYS` differ in each of `count` layouts."""
    total = np.zeros(count, dtype=np.int64)
    for each in changed(before, after):
        total += np.broadcast_to(np.asarray(each, dtype=np.int64), count)
    return total


def values_of(layout: Layout) -> dict[str, Any]:
    """The values of `KEYS` in one layout."""
    checkpointing = layout.checkpointing
    full = checkpointing.granularity == "full"
    values = (
        int(layout.tensor),
        bool(layout.sequence_parallel),
        layout.pipeline,
        layout.virtual,
        layout.schedule,
        int(layout.context),
        int(layout.expert),
        int(layout.expert_tensor),
        int(layout.micro_batch),
        int(layout.sharding_stage),
        checkpointing.granularity,
        checkpointing.method if full else None,
        int(checkpointing.num_layers) if full else None,
        list(checkpointing.modules),
    )
    return dict(zip(KEYS, values, strict=True))
