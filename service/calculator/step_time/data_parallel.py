"""Seconds of data-parallel traffic: gradients summed, weights gathered, and what of it no computation hides."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.states.stage import StageParameters
from service.calculator.step_time.collectives import Group, all_reduce_seconds, gather_seconds, group_of
from service.calculator.step_time.floats import Float, as_float, choose, larger
from service.calculator.step_time.kernels import Cost
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES, Int, maximum

WHOLE, GRADIENTS, WEIGHTS = 1, 2, 3
"""Sharding stages: from 2 on gradients, and from 3 on weights, travel in every micro-batch."""


BUCKET, BUCKET_PER_RANK = 40e6, 1e6
"""Elements of one message: 40 million, or a million for each data-parallel rank, so that messages of large groups stay
long (megatron/core/distributed/distributed_data_parallel.py, the default bucket size)."""

DDP_BUCKET_BYTES = 25e6
"""Bytes of one message of torch's DistributedDataParallel (bucket_cap_mb)."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Seconds that one stage's traffic takes: once a step, and in every micro-batch."""

    reduce: Float
    gather: Float
    every_forward: Float
    every_backward: Float


@dataclass(frozen=True, slots=True)
class _Replicas:
    """Parameters with the same replicas: they are split over `shards`, and the shards copied in `copies` groups.

    `units` are gathered one by one where weights are sharded.
    """

    elements: Float
    units: float
    everyone: Group
    shards: Group
    copies: Group


def traffic_of(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, rates: Rates) -> Traffic:
    """The data-parallel traffic of a stage, dense parameters and experts one after the other."""
    groups = [_dense(parameters, layout, rates)]
    if any(each.parameter.is_expert for each in parameters):
        groups.append(_expert(parameters, layout, rates))
    found = [_traffic(each, layout, recipe, rates) for each in groups]
    total = found[0]
    for more in found[1:]:
        total = Traffic(
            total.reduce + more.reduce,
            total.gather + more.gather,
            total.every_forward + more.every_forward,
            total.every_backward + more.every_backward,
        )
    return total


def exposed_in_step(traffic: Traffic, work: Cost, layout: Layout, recipe: Recipe) -> Float:
    """What shows of the traffic of a step.

    Where it overlaps, gradients are summed behind the last micro-batch's backward, weights gathered behind the first
    one's forward.
    """
    hides = recipe.habits.step_traffic_hidden or recipe.sharding.overlap
    reduce, gather = traffic.reduce, traffic.gather
    if layout.overlap_grad_reduce or hides:
        reduce = larger(reduce - work.backward, 0.0)
    if layout.overlap_param_gather or hides:
        gather = larger(gather - work.forward, 0.0)
    return reduce + gather


def exposed_in_micro_batch(traffic: Traffic, work: Cost, recipe: Recipe) -> Cost:
    """What shows of the traffic of every micro-batch: what exceeds the computation it runs beside."""
    if recipe.habits.all_traffic_hidden or recipe.sharding.overlap:
        return Cost(
            larger(traffic.every_forward - work.forward, 0.0), larger(traffic.every_backward - work.backward, 0.0)
        )
    return Cost(traffic.every_forward, traffic.every_backward)


def tied_embedding_seconds(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Float:
    """Sum of the embedding's gradient over the first and the last stage, which hold a copy each.

    Where the way through the stages comes back to the first, that one holds both ends.
    """
    if not model.tied_embeddings or layout.pipeline == 1 or layout.placement.path == "v":
        return 0.0
    vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
    size = as_float(vocabulary) * model.hidden_size / as_float(layout.tensor) * _gradient_bytes(recipe)
    apart = layout.tensor * layout.context * layout.data * (layout.pipeline - 1)
    return all_reduce_seconds(group_of(2, apart, rates.fabric), size, rates.fabric)


def _dense(parameters: Sequence[StageParameters], layout: Layout, rates: Rates) -> _Replicas:
    mine = [each for each in parameters if not each.parameter.is_expert]
    return _replicas(mine, layout.data * layout.context, layout.shards, layout.tensor, rates)


def _expert(parameters: Sequence[StageParameters], layout: Layout, rates: Rates) -> _Replicas:
    mine = [each for each in parameters if each.parameter.is_expert]
    grid = layout.expert * layout.expert_tensor
    ranks = maximum(layout.tensor * layout.context * layout.data // grid, 1)
    return _replicas(mine, ranks, layout.expert_shards, grid, rates)


def _replicas(mine: Sequence[StageParameters], ranks: Int, shards: Int, stride: Int, rates: Rates) -> _Replicas:
    """Ranks `stride` apart hold the same; stage 0 has no shards."""
    copies = maximum(ranks // shards, 1)
    return _Replicas(
        _trained_elements(mine),
        float(sum({each.unit: each.count for each in mine}.values())),
        group_of(ranks, stride, rates.fabric),
        group_of(shards, stride, rates.fabric),
        group_of(copies, stride * shards, rates.fabric),
    )


def _traffic(held: _Replicas, layout: Layout, recipe: Recipe, rates: Rates) -> Traffic:
    stage, fabric = layout.sharding_stage, rates.fabric
    gradients = held.elements * _gradient_bytes(recipe)
    weights = held.elements * BYTES[recipe.compute if recipe.habits.step_traffic_hidden else recipe.parameters]
    messages = _messages(held, recipe)
    whole = all_reduce_seconds(held.everyone, gradients, fabric, messages)
    scattered = gather_seconds(held.shards, gradients, fabric, messages)
    copied = all_reduce_seconds(held.copies, gradients / held.shards.size, fabric, messages)
    gather = gather_seconds(held.shards, weights, fabric, messages)
    unit = gather_seconds(held.shards, weights, fabric, held.units)
    none = gather * 0.0
    fully = stage >= WEIGHTS
    again = none if recipe.sharding.reshard == "never" else unit
    each_backward = choose(fully, again, none) + choose(stage >= GRADIENTS, scattered, none)
    return Traffic(
        reduce=choose(stage >= GRADIENTS, copied, choose(stage >= WHOLE, scattered + copied, whole)),
        gather=choose((stage >= WHOLE) & (stage < WEIGHTS), gather, none),
        every_forward=choose(fully, unit, none),
        every_backward=each_backward,
    )


def _messages(held: _Replicas, recipe: Recipe) -> Float:
    """Messages that a framework cuts gradients into: FSDP's units, DeepSpeed's and DDP's buckets, Megatron's."""
    if recipe.habits.reduced_by_unit:
        return held.units
    if recipe.habits.reduced_by_bucket:
        bucket: Float = DDP_BUCKET_BYTES / _gradient_bytes(recipe)
    elif recipe.sharding.reduce:
        bucket = float(recipe.sharding.reduce)
    else:
        bucket = larger(BUCKET, BUCKET_PER_RANK * held.everyone.size)
    return larger(held.elements / bucket, 1.0)


def _trained_elements(parameters: Sequence[StageParameters]) -> Float:
    total: Float = 0.0
    for each in parameters:
        if each.trained:
            total = total + as_float(each.elements)
    return total


def _gradient_bytes(recipe: Recipe) -> int:
    return BYTES[recipe.gradients if recipe.habits.reduced_in_buffer else recipe.reduce]
