"""What the rules of a framework look at: numbers of one layout, or of many at once."""

from dataclasses import dataclass, replace
from math import gcd
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.calculator.layout import Layout
from service.calculator.model import Attention, DeltaNet, LatentAttention, Model, Moe
from service.calculator.units import Int, maximum

DIRECTIONS = {"dualpipev": 1, "dualpipe": 2}
"""Directions in which micro-batches run, of the schedules that pair a forward with a backward."""

Truth: TypeAlias = bool | NDArray[np.bool_]
"""The answer of one rule: for one layout, or for each of many."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One job as far as it is known; None is unknown, and a rule that needs an unknown fact is skipped.

    `sequence` is 0 or 1 (sequence parallelism), and so is `interleaved` (the schedule); `directions` are those of a
    schedule that pairs forwards with backwards, 0 for others; `virtual` the chunks on each rank; `group` the
    micro-batches that an interleaved schedule runs in a row on one chunk; `shards` the ranks that share one copy of
    what is sharded; `linear_heads` divides key and value heads of linear attention, 0 without any; `extra_layers` how
    many of embedding and loss count as layers when layers are split; `first` and `last` the layers fixed on the end
    ranks (0 for not fixed).
    """

    world_size: Int | None = None
    tensor: Int | None = None
    sequence: Int | None = None
    pipeline: Int | None = None
    virtual: Int | None = None
    context: Int | None = None
    expert: Int | None = None
    expert_tensor: Int | None = None
    data: Int | None = None
    interleaved: Int | None = None
    directions: Int | None = None
    group: Int | None = None
    micro: Int | None = None
    global_batch: Int | None = None
    accumulation: Int | None = None
    sequence_length: Int | None = None
    sharding_stage: Int | None = None
    shards: Int | None = None
    layers: Int | None = None
    hidden: Int | None = None
    heads: Int | None = None
    kv_heads: Int | None = None
    linear_heads: Int | None = None
    experts: Int | None = None
    max_positions: Int | None = None
    extra_layers: Int | None = None
    first: Int | None = None
    last: Int | None = None


def complete(facts: Facts) -> Facts:
    """The facts with what follows from them filled in, where it was not stated.

    Arrays are completed as if every division were exact: another rule marks the layouts where it is not. For one
    layout a degree or count that would need an inexact quotient becomes unknown, so that one mistake is not reported
    twice.
    """
    if facts.expert_tensor is None and facts.tensor is not None:
        facts = replace(facts, expert_tensor=facts.tensor)
    if facts.group is None and facts.pipeline is not None:
        facts = replace(facts, group=facts.pipeline)
    return _with_accumulation(_with_world(facts))


def _with_world(facts: Facts) -> Facts:
    t, p, c = facts.tensor, facts.pipeline, facts.context
    if t is None or p is None or c is None:
        return facts
    if facts.world_size is None:
        return facts if facts.data is None else replace(facts, world_size=t * p * c * facts.data)
    share = _quotient(facts.world_size, t * p * c)
    return replace(facts, data=share) if facts.data is None or share is None else facts


def _with_accumulation(facts: Facts) -> Facts:
    b, data = facts.micro, facts.data
    if b is None or data is None:
        return facts
    if facts.global_batch is None:
        steps = 1 if facts.accumulation is None else facts.accumulation
        return replace(facts, global_batch=b * data * steps, accumulation=steps)
    share = _quotient(facts.global_batch, b * data)
    return replace(facts, accumulation=share) if facts.accumulation is None or share is None else facts


def _quotient(dividend: Int, divisor: Int) -> Int | None:
    if isinstance(dividend, int) and isinstance(divisor, int):
        return dividend // divisor if dividend % divisor == 0 else None
    return maximum(dividend // divisor, 1)


def model_facts(model: Model) -> Facts:
    """What the rules need to know of an architecture; layers are left to whoever splits them."""
    attention = next((kind.attention for kind in model.kinds if isinstance(kind.attention, WithHeads)), None)
    linear = [gcd(each.key_heads, each.value_heads) for each in _delta_nets(model)]
    experts = [kind.mlp.experts for kind in model.kinds if isinstance(kind.mlp, Moe)]
    return Facts(
        hidden=model.hidden_size,
        heads=attention.heads if attention else None,
        kv_heads=attention.groups if attention else None,
        linear_heads=gcd(*linear),
        experts=max(experts, default=0),
        max_positions=positions_limit(model),
    )


WithHeads = (Attention, LatentAttention)


def _delta_nets(model: Model) -> list[DeltaNet]:
    return [kind.attention for kind in model.kinds if isinstance(kind.attention, DeltaNet)]


def facts_of(model: Model, layout: Layout) -> Facts:
    """The facts of a complete layout.

    How layers are split is left out: a layout carries its placement, which `placement.place` has already checked.
    """
    return replace(
        model_facts(model),
        world_size=layout.world_size,
        tensor=layout.tensor,
        sequence=layout.sequence_parallel,
        pipeline=layout.pipeline,
        virtual=layout.virtual,
        context=layout.context,
        expert=layout.expert,
        expert_tensor=layout.expert_tensor,
        data=layout.data,
        interleaved=int(layout.schedule == "interleaved" and layout.virtual > 1),
        directions=DIRECTIONS.get(layout.schedule, 0),
        group=layout.group,
        micro=layout.micro_batch,
        global_batch=layout.micro_batch * layout.data * layout.micro_batches,
        accumulation=layout.micro_batches,
        sequence_length=layout.sequence_length,
        sharding_stage=layout.sharding_stage,
        shards=layout.shards,
    )


def positions_limit(model: Model) -> int | None:
    """Longest sequence that the model's position table has rows for; None when positions are computed."""
    return model.max_positions or None if model.position_embedding == "learned" else None
