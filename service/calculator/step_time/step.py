"""Seconds of one optimizer step, from the work of the slowest stage (memory_model.md, section 10).

step = (m / (1 - bubble)) · (forward + backward of the slowest stage) + exposed data-parallel traffic + optimizer
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.calculator.checkpointing import recomputed_layers
from service.calculator.device import Accelerator
from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.schedules import Schedule, bubble_fraction
from service.calculator.states import parameter_count, stage_parameters
from service.calculator.step_time.collectives import all_reduce_seconds, gather_seconds, group_of, send_seconds
from service.calculator.step_time.floats import Float, as_float, choose, larger
from service.calculator.step_time.kernels import Cost
from service.calculator.step_time.layers import (
    embedding_cost,
    head_cost,
    layer_parts,
    prediction_cost,
    selective_recompute,
    whole,
)
from service.calculator.step_time.rates import Rates, rates_of
from service.calculator.units import BYTES


@dataclass(frozen=True, slots=True)
class StepTime:
    """One optimizer step of a layout, or of many.

    `bubble_fraction` is the part of the pipeline's time in which a stage waits; `recompute_fraction` the part of the
    slowest stage's work that repeats a forward; both 0 … 1. The three seconds add up to the step.
    """

    step_seconds: Float
    tokens_per_second_per_gpu: Float
    bubble_fraction: Float
    recompute_fraction: Float
    pipeline_seconds: Float
    data_parallel_seconds: Float
    optimizer_seconds: Float


@dataclass(frozen=True, slots=True)
class _Stage:
    """Work of one stage on one micro-batch, of which `recompute` is repeated; `parameters` it holds."""

    work: Cost
    recompute: Float
    parameters: Float


def step_time(
    model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator, rates: Rates | None = None
) -> StepTime:
    """Time of one step on ints or int64 arrays; `rates` replaces what the device is taken to achieve.

    Raises ValueError when no peak is known for the device.
    """
    settled = recipe.on(accelerator)
    rates = rates or rates_of(accelerator, settled.compute)
    stages = _stages(model, layout, settled, rates)
    seconds, recompute = stages[0].work.both, stages[0].recompute
    traffic: Float = 0.0
    optimizer: Float = 0.0
    for stage in stages:
        recompute = choose(stage.work.both > seconds, stage.recompute, recompute)
        seconds = larger(seconds, stage.work.both)
        traffic = larger(traffic, _data_parallel(stage, layout, settled, rates))
        optimizer = larger(optimizer, _optimizer(stage.parameters, layout, settled, rates))
    schedule = Schedule(layout.schedule, layout.pipeline, layout.virtual, layout.micro_batches, layout.group)
    bubble = bubble_fraction(schedule)
    pipeline = as_float(layout.micro_batches) / (1.0 - bubble) * seconds
    step = pipeline + traffic + optimizer
    tokens = as_float(layout.tokens) * as_float(layout.micro_batches) / as_float(layout.tensor) / layout.pipeline
    return StepTime(step, tokens / step, bubble, recompute / seconds, pipeline, traffic, optimizer)


def _stages(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> list[_Stage]:
    """One stage of each composition: ranks that hold the same layers and ends do the same work."""
    parts = {index: layer_parts(kind, model, layout, recipe, rates) for index, kind in enumerate(model.kinds)}
    layers = {kind: whole(each) for kind, each in parts.items()}
    again = {kind: selective_recompute(each, layout.checkpointing.modules) for kind, each in parts.items()}
    sends = _sends(model, layout, recipe, rates)
    found: dict[object, _Stage] = {}
    for rank in range(layout.pipeline):
        chunks = [model.kinds_of(chunk) for chunk in layout.placement.chunks[rank]]
        first, last = rank == 0, rank == layout.pipeline - 1
        key = (first, last, tuple(tuple(sorted(chunk.items())) for chunk in chunks))
        if key not in found:
            work, recompute = sends, _sum(_repeated(chunk, layers, again, layout) for chunk in chunks)
            for chunk in chunks:
                work = work + _layers(chunk, layers)
            if first:
                work = work + embedding_cost(model, layout, recipe, rates)
            if last:
                head = head_cost(model, layout, recipe, rates)
                work = work + head + prediction_cost(model, layers, head, layout, recipe, rates)
            parameters = as_float(parameter_count(stage_parameters(model, layout, recipe, rank)))
            found[key] = _Stage(work + Cost(0.0, recompute), recompute, parameters)
    return list(found.values())


def _layers(chunk: Mapping[int, int], layers: Mapping[int, Cost]) -> Cost:
    total = Cost()
    for kind, count in chunk.items():
        total = total + layers[kind].times(count)
    return total


def _sum(values: Iterable[Float]) -> Float:
    total: Float = 0.0
    for each in values:
        total = total + each
    return total


def _repeated(
    chunk: Mapping[int, int], layers: Mapping[int, Cost], again: Mapping[int, Float], layout: Layout
) -> Float:
    """Forward seconds that a chunk runs again; checkpointed layers are taken from its kinds in proportion."""
    total: Float = 0.0
    held = sum(chunk.values())
    if layout.checkpointing.granularity == "none" or held == 0:
        return total
    share = as_float(recomputed_layers(layout.checkpointing, held)) / held
    for kind, count in chunk.items():
        once = layers[kind].forward * share if layout.checkpointing.granularity == "full" else again[kind]
        total = total + once * count
    return total


def _sends(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Activations to the next stage and gradients to the one before, for each chunk.

    Interleaving sends behind the next chunk's work (Megatron's default), so that only the fixed cost shows.
    """
    if layout.pipeline == 1:
        return Cost()
    width = BYTES[recipe.compute]
    shards = as_float(layout.sequence_shards)
    size = as_float(layout.tokens) * model.hidden_size * width / shards
    stride = layout.tensor * layout.context * layout.data
    group = group_of(layout.pipeline, stride, rates)
    shown = size if layout.virtual == 1 else size * 0.0
    once = send_seconds(group, shown, rates) * layout.virtual
    return Cost(once, once)


def _data_parallel(stage: _Stage, layout: Layout, recipe: Recipe, rates: Rates) -> Float:
    """Reduction of gradients and gathering of weights that no computation hides.

    Without overlap all of it shows. With overlap Megatron reduces behind the last micro-batch's backward and gathers
    behind the first one's forward.
    """
    group = group_of(layout.data * layout.context, layout.tensor, rates)
    gradients = stage.parameters * BYTES[recipe.gradients]
    scattered = gather_seconds(group, gradients, rates)
    reduce = choose(layout.sharding_stage > 0, scattered, all_reduce_seconds(group, gradients, rates))
    gather = gather_seconds(group, stage.parameters * BYTES[recipe.parameters], rates)
    if layout.overlap_grad_reduce:
        reduce = larger(reduce - stage.work.backward, 0.0)
    if layout.overlap_param_gather:
        gather = larger(gather - stage.work.forward, 0.0)
    return reduce + choose(layout.sharding_stage > 0, gather, gather * 0.0)


def _optimizer(parameters: Float, layout: Layout, recipe: Recipe, rates: Rates) -> Float:
    """Memory traffic of the step: the gradient buffer is cleared; each shard reads gradients and updates its states."""
    states = sum(BYTES[each] for each in recipe.moments) + (BYTES[recipe.master] if recipe.master else 0)
    weights = BYTES[recipe.parameters] * (1 if recipe.master else 2)
    touched = BYTES[recipe.gradients] + 2 * states + weights
    shard = parameters / as_float(layout.shards)
    return (shard * touched + parameters * BYTES[recipe.gradients]) / rates.memory
