"""The lines of every pipeline rank of one job, on ints or int64 arrays.

What depends on the micro-batches in flight is made for each rank; the rest once for ranks that hold the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.calculator.activations.layer import layer_tensors
from service.calculator.buffers import dummy_gradient_lines, global_buffer_lines
from service.calculator.checkpointing import offloaded_lines, recompute_lines, stored_lines
from service.calculator.communicators import communicator_lines
from service.calculator.device import Accelerator
from service.calculator.dispatch_buffers import dispatch_buffer_lines
from service.calculator.head import EndCounts, embedding_lines, head_lines
from service.calculator.layout import Layout
from service.calculator.ledger import Line, Moment, Totals, total_bytes
from service.calculator.mix import heaviest_mix, weighed
from service.calculator.model import Model, Moe
from service.calculator.moments import grows_gradients, occurring
from service.calculator.overhead import driver_lines, workspace_lines
from service.calculator.pools import pool_lines
from service.calculator.prediction import depth_lines, depth_recompute_lines, prediction_loss_lines
from service.calculator.recipe import Recipe
from service.calculator.run_ahead import awaited_lines
from service.calculator.schedules import InFlight
from service.calculator.split_backward import awaiting_weight_lines
from service.calculator.stage import Stage, distinct_ranks, stage_of
from service.calculator.states import StageParameters, held_parameters, host_lines, state_lines
from service.calculator.transients import backward_lines, forward_lines, last_backward_lines, pipeline_lines
from service.calculator.units import Int, maximum, where

SPLIT_BACKWARD = frozenset({"zb_h1", "zb_h2", "interleaved_zb"})
"""Schedules whose count of micro-batches that wait for their weight gradients is known."""

_LOSSES_LAST = frozenset({"gpipe", "looped_bfs"})
"""Schedules that run every loss before the first backward."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of a stage that neither micro-batches in flight nor routing change, and the moments that occur on it."""

    parameters: Sequence[StageParameters]
    moments: Sequence[Moment]
    states: Sequence[Line]
    buffers: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Ledger:
    """All lines of one rank at every moment that occurs on it, and their totals."""

    stage: Stage
    parameters: Sequence[StageParameters]
    mix: InFlight
    moments: Sequence[Moment]
    lines: Sequence[Line]
    totals: Totals

    @property
    def peak(self) -> Int:
        """Device bytes at the worst moment."""
        return self.totals.peak(self.moments)


class Ledgers:
    """The ledgers of one job's ranks; what they have in common is made once."""

    def __init__(self, model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> None:
        recipe = recipe.on(accelerator)
        self._model, self._layout, self._recipe = model, layout, recipe
        self._saved = {index: layer_tensors(kind, model, layout, recipe) for index, kind in enumerate(model.kinds)}
        self._workspace = workspace_lines(recipe, accelerator, experts=model.has_experts)
        self._outside = [
            *communicator_lines(model, layout, recipe, accelerator),
            *dispatch_buffer_lines(model, layout, recipe),
        ]
        self._stages = [stage_of(model, layout, rank) for rank in range(layout.pipeline)]
        self._parts: dict[Stage, _Part] = {}
        self._passing: dict[Stage, Sequence[Line]] = {}

    def route(self, imbalance_permille: Int) -> None:
        """Answer for another imbalance of routing from now on; what routing does not touch is not made again."""
        routing = replace(self._layout.routing, imbalance_permille=imbalance_permille)
        self._layout = replace(self._layout, routing=routing)
        experts = {index: kind for index, kind in enumerate(self._model.kinds) if isinstance(kind.mlp, Moe)}
        self._saved = self._saved | {
            index: layer_tensors(kind, self._model, self._layout, self._recipe) for index, kind in experts.items()
        }
        self._passing = {}

    def of(self, rank: int) -> Ledger:
        """The ledger of a pipeline rank."""
        stage = self._stages[rank]
        mix = heaviest_mix(stage, self._layout, rank, self._saved)
        part = self._part(stage)
        lines = [
            *part.states,
            *self._embedding(stage, mix),
            *self._stored(stage, mix),
            *self._passes(stage),
            *part.buffers,
            *self._head(stage, mix),
            *pipeline_lines(stage, self._model, self._layout, self._recipe, mix.total),
            *self._workspace,
        ]
        totals = Totals(lines)
        beside = self._beside(lines, part.moments, totals)
        totals.add(beside)
        return Ledger(stage, part.parameters, mix, part.moments, lines + beside, totals)

    def peaks(self) -> Mapping[int, Int]:
        """Device bytes at the worst moment of every rank that can be the worst."""
        return {rank: self.of(rank).peak for rank in self.worst_ranks()}

    def worst_ranks(self) -> Sequence[int]:
        """The ranks that can be the worst: one of all that hold the same."""
        return distinct_ranks(self._stages, self._layout.schedule)

    def host(self, ledger: Ledger) -> list[Line]:
        """What a rank keeps in its node's memory: states, and activations that were moved there."""
        lines = host_lines(ledger.parameters, self._layout, self._recipe)
        if self._layout.checkpointing.offload:
            for kind in ledger.stage.kinds:
                layers = ledger.stage.per_chunk(kind)
                lines += offloaded_lines(self._saved[kind], self._layout, layers, ledger.mix.chunks)
        return lines

    def _part(self, stage: Stage) -> _Part:
        if stage not in self._parts:
            self._parts[stage] = self._made(stage)
        return self._parts[stage]

    def _made(self, stage: Stage) -> _Part:
        model, layout, recipe = self._model, self._layout, self._recipe
        held = held_parameters(stage, model, layout, recipe)
        kinds = dict.fromkeys(stage.kinds)
        if model.prediction is not None and stage.predicts:
            kinds[model.prediction.kind] = None
        head = stage.head is not None
        return _Part(
            parameters=held,
            moments=occurring(stage, layout, recipe),
            states=state_lines(held, stage, model, layout, recipe),
            buffers=[
                *global_buffer_lines(model, layout, recipe, kinds, head=head),
                *dummy_gradient_lines(held, recipe),
                *awaited_lines(stage, model, layout, recipe),
            ],
        )

    def _embedding(self, stage: Stage, mix: InFlight) -> list[Line]:
        if stage.embedding is None:
            return []
        return embedding_lines(self._model, self._layout, self._recipe, mix.chunks[stage.embedding])

    def _stored(self, stage: Stage, mix: InFlight) -> list[Line]:
        """What the layers of a stage store for their backward."""
        model, layout, recipe = self._model, self._layout, self._recipe
        lines: list[Line] = []
        for kind in stage.kinds:
            saved, layers = self._saved[kind], stage.per_chunk(kind)
            lines += stored_lines(saved, layout, layers, mix.awaiting_backward)
            if layout.schedule in SPLIT_BACKWARD:
                waiting = weighed(mix.awaiting_weight_gradient, layers)
                lines += awaiting_weight_lines(model.kinds[kind], model, layout, recipe, saved, waiting)
        if model.prediction is not None and stage.predicts:
            saved = self._saved[model.prediction.kind]
            lines += depth_lines(model.prediction, model, layout, recipe, saved, mix.chunks[-1])
        return lines

    def _passes(self, stage: Stage) -> Sequence[Line]:
        if stage not in self._passing:
            self._passing[stage] = self._passes_of(stage)
        return self._passing[stage]

    def _passes_of(self, stage: Stage) -> list[Line]:
        """What the passes of a stage's last layer hold, the backward of its first, and its heaviest recomputation."""
        model, layout, recipe = self._model, self._layout, self._recipe
        lines: list[Line] = []
        if stage.last is not None:
            kind, saved = model.kinds[stage.last], self._saved[stage.last]
            moment = Moment.FIRST_BACKWARD if stage.head is None else Moment.LAYER_BACKWARD
            lines += forward_lines(kind, model, layout, recipe, (Moment.WARMUP_FORWARD,))
            lines += backward_lines(kind, model, layout, recipe, saved, (moment,))
        if grows_gradients(recipe) and stage.first is not None:
            lines += last_backward_lines(model.kinds[stage.first], model, layout, recipe, self._saved[stage.first])
        again = {each: recompute_lines(self._saved[each], layout, stage.per_chunk(each)) for each in stage.kinds}
        if model.prediction is not None and stage.predicts:
            depth = model.prediction.kind
            again.setdefault(depth, depth_recompute_lines(model.prediction, layout, self._saved[depth]))
        return lines + heaviest([each for index, group in again.items() for each in self._recomputations(index, group)])

    def _recomputations(self, kind: int, again: list[Line]) -> list[list[Line]]:
        """What a layer's recomputation holds in its two passes: the forward that runs again, and the backward after."""
        if not again:
            return []
        model, layout, recipe, alive = self._model, self._layout, self._recipe, (Moment.RECOMPUTE,)
        groups = [again + backward_lines(model.kinds[kind], model, layout, recipe, self._saved[kind], alive)]
        if layout.checkpointing.granularity == "full" or "moe" in layout.checkpointing.modules:
            forward = forward_lines(model.kinds[kind], model, layout, recipe, alive)
            groups += [again + forward] if forward else []
        return groups

    def _head(self, stage: Stage, mix: InFlight) -> list[Line]:
        """What the head and the losses hold, those of the depths of prediction too.

        The loss has a micro-batch in the head's chunk also where most is held with none in that chunk.
        """
        if stage.head is None:
            return []
        model, layout, recipe = self._model, self._layout, self._recipe
        losses = layout.micro_batches if layout.schedule in _LOSSES_LAST else 1
        in_flight = maximum(mix.chunks[stage.head], 1)
        lines = head_lines(model, layout, recipe, EndCounts(in_flight, losses))
        if model.prediction is not None:
            lines += prediction_loss_lines(model.prediction, model, layout, recipe, losses)
        return lines

    def _beside(self, lines: Sequence[Line], moments: Sequence[Moment], totals: Totals) -> list[Line]:
        """What is there during the whole run beside the tensors of `lines`, which `totals` has added up."""
        allocated, resting = totals.peak(moments), totals.resting(moments)
        pools = pool_lines(lines, moments, allocated) if self._recipe.sharding.own_streams else []
        return [*driver_lines(self._recipe, allocated, resting), *pools, *self._outside]


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
