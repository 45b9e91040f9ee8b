"""Seconds of one optimizer step, from the work of its stages (memory_model.md, section 10).

step = m · slowest stage + waiting · other stages + exposed data-parallel traffic + optimizer
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.calculator.checkpointing import checkpointed_layers
from service.calculator.device import Accelerator
from service.calculator.layout import Checkpointing, Layout
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage, stage_of
from service.calculator.states import StageParameters, held_parameters, parameter_count
from service.calculator.states.stage import trained
from service.calculator.step_time.data_parallel import (
    Traffic,
    exposed_in_micro_batch,
    exposed_in_step,
    tied_embedding_seconds,
    traffic_of,
)
from service.calculator.step_time.ends import embedding_cost, head_cost, prediction_cost
from service.calculator.step_time.floats import Float, as_float, choose, larger
from service.calculator.step_time.kernels import Cost
from service.calculator.step_time.layers import layer_parts, repeated_forward, whole
from service.calculator.step_time.optimizer import optimizer_seconds
from service.calculator.step_time.pipeline import pipeline_seconds, sends, waiting_fraction
from service.calculator.step_time.rates import Rates, rates_of


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
class _Layers:
    """Costs of each kind of layer, and the forward seconds that checkpointing repeats in one that is checkpointed."""

    costs: Mapping[int, Cost]
    again: Mapping[int, Float]


@dataclass(frozen=True, slots=True)
class _StageWork:
    """Work of `ranks` ranks on one micro-batch, of which `recompute` is repeated, and their data-parallel traffic."""

    work: Cost
    recompute: Float
    traffic: Traffic
    optimizer: Float
    ranks: int


def step_time(
    model: Model,
    layout: Layout,
    recipe: Recipe,
    accelerator: Accelerator,
    rates: Rates | None = None,
    recomputed: Sequence[int] | None = None,
) -> StepTime:
    """Time of one step on ints or int64 arrays; `rates` replaces what the device is taken to achieve.

    `recomputed` are layers of a chunk that each rank computes again, in place of the layout's own checkpointing.
    Raises ValueError when no peak is known for the device.
    """
    settled = recipe.on(accelerator)
    rates = rates or rates_of(accelerator, settled)
    stages = _stages(model, layout, settled, rates, accelerator.gpus_per_node, recomputed)
    slowest, recompute = stages[0].work.both, stages[0].recompute
    together: Float = 0.0
    traffic: Float = 0.0
    optimizer: Float = 0.0
    for stage in stages:
        seconds = stage.work.both
        recompute = choose(seconds > slowest, stage.recompute, recompute)
        slowest = larger(slowest, seconds)
        together = together + seconds * stage.ranks
        traffic = larger(traffic, exposed_in_step(stage.traffic, stage.work, layout, settled))
        optimizer = larger(optimizer, stage.optimizer)
    others = (together - slowest) / max(layout.pipeline - 1, 1)
    pipeline = pipeline_seconds(layout, slowest, others)
    traffic = traffic + tied_embedding_seconds(model, layout, settled, rates)
    step = pipeline + traffic + optimizer
    tokens = as_float(layout.tokens) * as_float(layout.micro_batches) / as_float(layout.tensor) / layout.pipeline
    bubble = waiting_fraction(layout)
    return StepTime(step, tokens / step, bubble, recompute / slowest, pipeline, traffic, optimizer)


def _stages(
    model: Model,
    layout: Layout,
    recipe: Recipe,
    rates: Rates,
    gpus_per_node: int,
    recomputed: Sequence[int] | None = None,
) -> list[_StageWork]:
    """One stage of each composition: ranks that hold the same do the same work."""
    depths = [0] * layout.pipeline if recomputed is None else recomputed
    own = [layout if recomputed is None else _recomputing(layout, depth) for depth in depths]
    layers = _layers(model, own[0], recipe, rates)
    alike = Counter((stage_of(model, layout, rank), depth) for rank, depth in enumerate(depths))
    message = sends(model, layout, recipe, rates)
    found = []
    for (stage, depth), ranks in alike.items():
        work, recompute = _work(stage, model, own[depths.index(depth)], recipe, rates, layers)
        parameters = held_parameters(stage, model, layout, recipe)
        traffic = traffic_of(parameters, layout, recipe, rates)
        work = work + exposed_in_micro_batch(traffic, work, recipe) + message
        optimizer = optimizer_seconds(_trained(parameters), layout, recipe, rates, gpus_per_node)
        found.append(_StageWork(work, recompute, traffic, optimizer, ranks))
    return found


def _recomputing(layout: Layout, depth: int) -> Layout:
    """The layout with so many layers of each chunk computed again."""
    return replace(layout, checkpointing=Checkpointing("full", "block", depth))


def _layers(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> _Layers:
    costs: dict[int, Cost] = {}
    again: dict[int, Float] = {}
    for index, kind in enumerate(model.kinds):
        parts = layer_parts(kind, model, layout, recipe, rates)
        costs[index] = whole(parts)
        again[index] = repeated_forward(parts, layout.checkpointing)
    return _Layers(costs, again)


def _work(
    stage: Stage, model: Model, layout: Layout, recipe: Recipe, rates: Rates, layers: _Layers
) -> tuple[Cost, Float]:
    """A rank's forward and backward of one micro-batch, recomputation included, and the seconds that are repeated.

    A pass takes no less than the host needs to issue it. Where both directions run, a micro-batch passes one of the
    rank's two chunks.
    """
    work = Cost()
    recompute: Float = 0.0
    depth, repeats = 0, as_float(0)
    for chunk in stage.chunks:
        held = sum(count for _, count in chunk)
        share = _repeated_share(layout, held)
        for kind, count in chunk:
            work = work + layers.costs[kind].times(count)
            recompute = recompute + layers.again[kind] * (share * count)
        depth, repeats = depth + held, repeats + share * held
    forward = larger(work.forward, rates.host_seconds * depth)
    total = Cost(forward, larger(work.backward + recompute, rates.host_seconds * (depth + repeats)))
    if stage.embedding is not None:
        total = total + embedding_cost(model, layout, recipe, rates)
    head = head_cost(model, layout, recipe, rates)
    if stage.head is not None:
        total = total + head
    if model.prediction is not None and stage.predicts:
        total = total + prediction_cost(model, layers.costs, head, layout, recipe, rates)
    if layout.placement.path == "both_ways":
        return total.times(0.5), recompute * 0.5
    return total, recompute


def _repeated_share(layout: Layout, held: int) -> Float:
    """Share of a chunk's layers in which something is computed again; its kinds are taken in proportion."""
    if layout.checkpointing.granularity == "none" or held == 0:
        return 0.0
    if layout.checkpointing.modules and layout.checkpointing.granularity == "selective":
        return 1.0
    return as_float(checkpointed_layers(layout.checkpointing, [held])[0]) / held


def _trained(parameters: list[StageParameters]) -> Float:
    return as_float(parameter_count(trained(parameters)))
