"""The estimate: the ledger of every stage, its moments, and its peak.

`estimate` answers for one layout in Python ints; `peak_device_bytes` evaluates the same lines on int64 arrays for a
search over many layouts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.calculator.activations.layer import layer_tensors
from service.calculator.activations.saved import Saved
from service.calculator.break_even import break_even_imbalance
from service.calculator.buffers import dummy_gradient_lines, global_buffer_lines
from service.calculator.checkpointing import offloaded_lines, recompute_lines, stored_lines
from service.calculator.communicators import communicator_lines
from service.calculator.device import Accelerator
from service.calculator.dispatch_buffers import dispatch_buffer_lines
from service.calculator.head import EndCounts, embedding_lines, head_lines
from service.calculator.layout import Layout
from service.calculator.ledger import LOADING, Line, Moment, Scope, alive_at, moment_totals, total_bytes
from service.calculator.model import Model
from service.calculator.moments import first_iteration_bytes, grows_gradients, occurring
from service.calculator.overhead import driver_lines, workspace_lines
from service.calculator.pools import peak, pool_lines
from service.calculator.prediction import depth_lines, depth_recompute_lines, prediction_loss_lines
from service.calculator.recipe import Recipe
from service.calculator.schedules import InFlight, Schedule, in_flight, peak_counts
from service.calculator.split_backward import awaiting_weight_lines
from service.calculator.states import host_lines, parameter_count, stage_parameters, state_lines
from service.calculator.transients import backward_lines, forward_lines, last_backward_lines, pipeline_lines
from service.calculator.units import Condition, Int, maximum, where

METHOD_VERSION = "1"
"""Changes whenever the same job can get another answer."""

SPLIT_BACKWARD = {"zb_h1", "zb_h2", "interleaved_zb"}
"""Schedules whose count of micro-batches that wait for their weight gradients is known."""

_FALLING = {"gpipe", "1f1b", "interleaved"}
"""Schedules whose in-flight count never rises from one rank to the next."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Bytes of one GPU of a stage at a moment, as the three kinds of meter see them."""

    stage: int
    moment: Moment
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One pipeline rank: its peak moment in a step, the totals there, and all lines of its ledger (bytes).

    `loading` is the worst moment before the first step; None where the framework's way of loading is not known.
    """

    stage: int
    layers: tuple[int, ...]
    parameters: int
    in_flight_microbatches: float
    moment: Moment
    moments: Mapping[Moment, int]
    lines: tuple[Line, ...]
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    host_bytes: int
    loading: Reading | None

    @property
    def ledger(self) -> list[Line]:
        """The lines alive at the peak; they sum to `device_bytes`."""
        return alive_at(self.lines, self.moment)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Every stage of one job; `host_bytes_per_node` is what offload keeps in the memory of the fullest node.

    `break_even_imbalance` is how many times a balanced share of rows the fullest expert-parallel rank may receive
    before the peak fills the usable memory; None where routing cannot fill it, and where balanced routing overfills it.
    """

    stages: tuple[StageEstimate, ...]
    host_bytes_per_node: int
    break_even_imbalance: float | None = None

    @property
    def worst_stage(self) -> StageEstimate:
        """The stage that needs most device memory in a step."""
        return max(self.stages, key=lambda each: each.device_bytes)

    @property
    def peak(self) -> Reading:
        """The worst moment of the worst stage: of a step, or of loading where that needs more than any step."""
        worst = self.worst_stage
        step = Reading(worst.stage, worst.moment, worst.allocated_bytes, worst.reserved_bytes, worst.device_bytes)
        return max((step, *(each.loading for each in self.stages if each.loading)), key=lambda each: each.device_bytes)


def estimate(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> Estimate:
    """Itemised memory of every stage of one layout (Python ints)."""
    recipe = recipe.on(accelerator)
    saved = _saved_by_kind(model, layout, recipe)
    stages = tuple(_stage(model, layout, recipe, accelerator, stage, saved) for stage in range(layout.pipeline))
    return Estimate(
        stages,
        fullest_node([each.host_bytes for each in stages], layout, accelerator.gpus_per_node),
        break_even_imbalance(
            model, layout, accelerator.usable_bytes, lambda each: peak_device_bytes(model, each, recipe, accelerator)
        ),
    )


def fullest_node(host_bytes: Sequence[int], layout: Layout, ranks_per_node: int) -> int:
    """Host bytes of the node that keeps most; ranks are in Megatron's order, a stage's ranks next to one another."""
    if not any(host_bytes):
        return 0
    ranks = int(layout.world_size) // layout.pipeline
    nodes = range(0, int(layout.world_size), ranks_per_node)
    return max(
        sum(host_bytes[rank // ranks] for rank in range(first, min(first + ranks_per_node, int(layout.world_size))))
        for first in nodes
    )


def stage_lines(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator, stage: int) -> list[Line]:
    """All lines of a stage's ledger, at every moment, on ints or int64 arrays."""
    recipe = recipe.on(accelerator)
    lines = _allocated_lines(model, layout, recipe, accelerator, stage, _saved_by_kind(model, layout, recipe))
    return lines + _beside(lines, occurring(layout, recipe, stage), model, layout, recipe, accelerator)


def stage_moments(
    model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator, stage: int
) -> dict[Moment, Int]:
    """Device bytes of a stage at each moment that occurs on it."""
    lines = stage_lines(model, layout, recipe, accelerator, stage)
    return moment_totals(lines, occurring(layout, recipe, stage))


def peak_device_bytes(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> Int:
    """Device bytes at the worst moment of the worst stage; the function of the search."""
    recipe = recipe.on(accelerator)
    saved = _saved_by_kind(model, layout, recipe)
    worst: Int = 0
    for stage in distinct_stages(model, layout):
        lines = _allocated_lines(model, layout, recipe, accelerator, stage, saved)
        moments = occurring(layout, recipe, stage)
        beside = _beside(lines, moments, model, layout, recipe, accelerator)
        worst = maximum(worst, peak(lines, moments) + total_bytes(beside))
    return worst


def distinct_stages(model: Model, layout: Layout) -> list[int]:
    """The ranks that can be the worst: the first of all ranks that hold the same layers and ends.

    Where in-flight counts never rise along the pipeline, a later rank with the same contents cannot hold more.
    """
    if layout.schedule not in _FALLING:
        return list(range(layout.pipeline))
    seen: dict[object, int] = {}
    for stage in range(layout.pipeline):
        chunks = tuple(tuple(sorted(model.kinds_of(chunk).items())) for chunk in layout.placement.chunks[stage])
        predicts = model.prediction is not None and layout.placement.predicts(stage)
        ends = (layout.placement.embedding_chunk(stage), layout.placement.head_chunk(stage))
        seen.setdefault((ends, predicts, chunks), stage)
    return list(seen.values())


def _saved_by_kind(model: Model, layout: Layout, recipe: Recipe) -> dict[int, list[Saved]]:
    return {index: layer_tensors(kind, model, layout, recipe) for index, kind in enumerate(model.kinds)}


def _in_flight(model: Model, layout: Layout, stage: int, saved: Mapping[int, Sequence[Saved]]) -> InFlight:
    """Micro-batches in flight of each chunk of a rank, at the moment when they hold most.

    Under interleaving the mix rotates: with unequal chunks it matters which of them has one micro-batch more.
    """
    schedule = Schedule(layout.schedule, layout.pipeline, layout.virtual, layout.micro_batches, layout.group)
    contents = [model.kinds_of(chunk) for chunk in layout.placement.chunks[stage]]
    if all(each == contents[0] for each in contents):
        return in_flight(schedule, stage)
    sizes = [_saved_bytes(chunk, saved) for chunk in contents]
    best, *others = peak_counts(schedule, stage)
    most = _weighed(best.chunks, sizes)
    for mix in others:
        size = _weighed(mix.chunks, sizes)
        best = InFlight(
            _chosen(size > most, mix.awaiting_backward, best.awaiting_backward),
            _chosen(size > most, mix.awaiting_weight_gradient, best.awaiting_weight_gradient),
        )
        most = maximum(most, size)
    return best


def _chosen(better: Condition, new: Sequence[Int], old: Sequence[Int]) -> tuple[Int, ...]:
    return tuple(where(better, each, kept) for each, kept in zip(new, old, strict=True))


def _saved_bytes(kinds: Mapping[int, int], saved: Mapping[int, Sequence[Saved]]) -> Int:
    total: Int = 0
    for kind, layers in kinds.items():
        for each in saved[kind]:
            total = total + each.tensor.bytes * each.copies * layers
    return total


def _weighed(counts: Sequence[Int], sizes: Sequence[Int]) -> Int:
    total: Int = 0
    for count, size in zip(counts, sizes, strict=True):
        total = total + count * size
    return total


def _allocated_lines(
    model: Model,
    layout: Layout,
    recipe: Recipe,
    accelerator: Accelerator,
    stage: int,
    saved: Mapping[int, Sequence[Saved]],
) -> list[Line]:
    counts = _in_flight(model, layout, stage, saved).chunks
    first, last = layout.placement.embedding_chunk(stage), layout.placement.head_chunk(stage)
    lines = state_lines(model, layout, recipe, stage)
    if first is not None:
        lines += embedding_lines(model, layout, recipe, counts[first])
    lines += _layer_lines(model, layout, recipe, stage, saved)
    lines += global_buffer_lines(model, layout, recipe, _kinds(model, layout, stage), head=last is not None)
    lines += dummy_gradient_lines(stage_parameters(model, layout, recipe, stage), recipe)
    if last is not None:
        losses = layout.micro_batches if layout.schedule in {"gpipe", "looped_bfs"} else 1
        lines += head_lines(model, layout, recipe, EndCounts(counts[last], losses))
        if model.prediction is not None:
            lines += prediction_loss_lines(model.prediction, model, layout, recipe, losses)
    lines += pipeline_lines(model, layout, recipe, sum(counts[1:], counts[0]), stage)
    return lines + workspace_lines(recipe, accelerator, experts=model.has_experts)


def _kinds(model: Model, layout: Layout, stage: int) -> list[int]:
    """Kinds of the layers of a stage in order of their first layer; the depths of prediction run last."""
    kinds = list(model.kinds_of(layout.placement.layers_of(stage)))
    if model.prediction is not None and layout.placement.predicts(stage):
        kinds.append(model.prediction.kind)
    return list(dict.fromkeys(kinds))


def _last_kind(model: Model, layout: Layout, stage: int) -> int | None:
    """Kind of the layer that runs last on a stage."""
    if model.prediction is not None and layout.placement.predicts(stage):
        return model.prediction.kind
    layers = layout.placement.layers_of(stage)
    return model.pattern[layers[-1]] if layers else None


def _layer_lines(
    model: Model, layout: Layout, recipe: Recipe, stage: int, saved: Mapping[int, Sequence[Saved]]
) -> list[Line]:
    """What the layers of a stage store, the passes of its last layer, and its heaviest recomputation."""
    mix, chunks = _in_flight(model, layout, stage, saved), layout.placement.chunks[stage]
    lines: list[Line] = []
    recomputed: dict[int, list[Line]] = {}
    for kind in model.kinds_of(layout.placement.layers_of(stage)):
        layers = [model.kinds_of(chunk).get(kind, 0) for chunk in chunks]
        lines += stored_lines(saved[kind], layout, layers, mix.awaiting_backward)
        if layout.schedule in SPLIT_BACKWARD:
            waiting = _weighed(mix.awaiting_weight_gradient, layers)
            lines += awaiting_weight_lines(model.kinds[kind], model, layout, recipe, saved[kind], waiting)
        recomputed[kind] = recompute_lines(saved[kind], layout, layers)
    if model.prediction is not None and layout.placement.predicts(stage):
        kind = model.prediction.kind
        lines += depth_lines(model.prediction, model, layout, recipe, saved[kind], mix.chunks[-1])
        recomputed.setdefault(kind, depth_recompute_lines(model.prediction, layout, saved[kind]))
    last = _last_kind(model, layout, stage)
    if last is not None:
        has_head = layout.placement.head_chunk(stage) is not None
        moment = Moment.LAYER_BACKWARD if has_head else Moment.FIRST_BACKWARD
        lines += forward_lines(model.kinds[last], model, layout, recipe, (Moment.WARMUP_FORWARD,))
        lines += backward_lines(model.kinds[last], model, layout, recipe, saved[last], (moment,))
    if grows_gradients(recipe) and layout.placement.layers_of(stage):
        kind = model.pattern[layout.placement.layers_of(stage)[0]]
        lines += last_backward_lines(model.kinds[kind], model, layout, recipe, saved[kind])
    recomputations = [
        group
        for kind, again in recomputed.items()
        if again
        for group in _recomputations(again, model, layout, recipe, kind, saved[kind])
    ]
    return lines + heaviest(recomputations)


def _recomputations(
    again: list[Line], model: Model, layout: Layout, recipe: Recipe, kind: int, saved: Sequence[Saved]
) -> list[list[Line]]:
    """What a layer's recomputation holds in its two passes: the forward that runs again, and the backward after it."""
    alive = (Moment.RECOMPUTE,)
    groups = [again + backward_lines(model.kinds[kind], model, layout, recipe, saved, alive)]
    if layout.checkpointing.granularity == "full" or "moe" in layout.checkpointing.modules:
        forward = forward_lines(model.kinds[kind], model, layout, recipe, alive)
        groups += [again + forward] if forward else []
    return groups


def _host_lines(
    model: Model, layout: Layout, recipe: Recipe, stage: int, saved: Mapping[int, Sequence[Saved]]
) -> list[Line]:
    """What one rank of a stage keeps in its node's memory: states, and activations that were moved there."""
    lines = host_lines(model, layout, recipe, stage)
    if layout.checkpointing.offload:
        counts, chunks = _in_flight(model, layout, stage, saved).chunks, layout.placement.chunks[stage]
        for kind in model.kinds_of(layout.placement.layers_of(stage)):
            layers = [model.kinds_of(chunk).get(kind, 0) for chunk in chunks]
            lines += offloaded_lines(saved[kind], layout, layers, counts)
    return lines


def heaviest(groups: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines of the group with most bytes; on arrays the others stay with a count of 0 where they are lighter."""
    if len(groups) < 2:  # noqa: PLR2004  (one group has no rival)
        return [line for group in groups for line in group]
    sizes = [total_bytes(group) for group in groups]
    lines: list[Line] = []
    for index, group in enumerate(groups):
        wins: Int = 1
        for other, size in enumerate(sizes):
            beaten = sizes[index] > size if other < index else sizes[index] >= size
            wins = where(beaten, wins, 0)
        lines += [replace(line, count=line.count * wins) for line in group]
    return lines


def _beside(
    lines: Sequence[Line],
    moments: Sequence[Moment],
    model: Model,
    layout: Layout,
    recipe: Recipe,
    accelerator: Accelerator,
) -> list[Line]:
    """What is there during the whole run beside the tensors of `lines`."""
    allocated = peak(lines, moments)
    return [
        *driver_lines(recipe, allocated),
        *communicator_lines(model, layout, recipe, accelerator),
        *(pool_lines(lines, moments, allocated) if recipe.sharding.own_streams else ()),
        *dispatch_buffer_lines(model, layout, recipe),
    ]


def _stage(
    model: Model,
    layout: Layout,
    recipe: Recipe,
    accelerator: Accelerator,
    stage: int,
    saved: Mapping[int, Sequence[Saved]],
) -> StageEstimate:
    lines = _allocated_lines(model, layout, recipe, accelerator, stage, saved)
    happening = occurring(layout, recipe, stage)
    lines += _beside(lines, happening, model, layout, recipe, accelerator)
    lines = [line for line in lines if line.bytes]
    moments = {moment: int(total) for moment, total in moment_totals(lines, happening).items()}
    moments[Moment.FIRST_ITERATION] = first_iteration_bytes(lines, happening)
    worst = max((each for each in moments if each not in LOADING), key=lambda each: moments[each])
    reading = _reading(lines, stage, worst)
    loading = [_reading(lines, stage, each) for each in moments if each in LOADING]
    counts = _in_flight(model, layout, stage, saved).chunks
    return StageEstimate(
        stage=stage,
        layers=layout.placement.layers_of(stage),
        parameters=int(parameter_count(stage_parameters(model, layout, recipe, stage))),
        in_flight_microbatches=float(sum(int(each) for each in counts)) / layout.virtual,
        moment=worst,
        moments=moments,
        lines=tuple(lines),
        allocated_bytes=reading.allocated_bytes,
        reserved_bytes=reading.reserved_bytes,
        device_bytes=reading.device_bytes,
        host_bytes=int(total_bytes(_host_lines(model, layout, recipe, stage, saved))),
        loading=max(loading, key=lambda each: each.device_bytes, default=None),
    )


def _reading(lines: Sequence[Line], stage: int, moment: Moment) -> Reading:
    sizes = dict.fromkeys(Scope, 0)
    for line in alive_at(lines, moment):
        sizes[line.scope] += int(line.bytes)
    allocated, reserved = sizes[Scope.ALLOCATED], sizes[Scope.ALLOCATED] + sizes[Scope.RESERVED]
    return Reading(stage, moment, allocated, reserved, reserved + sizes[Scope.DEVICE])
