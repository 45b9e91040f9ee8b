"""Megatron-Core: flat buffers of gradients, and with the distributed optimizer of weights and states (section 2.1).

In a buffer every parameter starts on a 64-element boundary and every bucket ends on a multiple of lcm(N, 128), N ranks
of the sharding group. Routed experts have a buffer of their own, whose states the expert-data-parallel group shards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, FROM_START, Category, Line, Moment, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.states.fp8 import by_width, narrow_lines
from service.calculator.states.optimizers import Owned, optimizer_lines, optimizer_states, owned_whole
from service.calculator.states.stage import StageParameters, parameter_count, trained
from service.calculator.states.weights import weight_lines
from service.calculator.units import Int, ceil_div, lcm, round_up, where

BUCKET_BOUNDARY = 128
SOURCE = "memory_model.md 2.1"
FLAT = frozenset({"adam", "sgd", "lion", "none"})
"""Optimizers whose states do not depend on the shapes of what they update."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Parameters that share a buffer `length` elements long, of which every rank of the group updates a shard."""

    prefix: str
    parameters: Sequence[StageParameters]
    length: Int
    shards: Int

    @property
    def shard(self) -> Int:
        """Elements that this rank updates."""
        return ceil_div(self.length, self.shards)

    @property
    def split(self) -> tuple[str, ...]:
        """What divides the buffer."""
        return ("expert", "expert_tensor") if self.prefix else ("tensor",)

    def line(self, category: Category, name: str, elements: Int, dtype: str, alive: tuple[Moment, ...]) -> Line:
        """A line of this group's; states are divided over data-parallel ranks too."""
        sharded = category is Category.OPTIMIZER
        by = (*self.split, *(("data", "context") if sharded else ("pipeline",)))
        return Line(Tensor(self.prefix + name, category, (elements,), dtype, by, SOURCE), 1, alive)


def _groups(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[_Group]:
    found = []
    learned = trained(parameters)
    for prefix, expert, shards in (("", False, layout.shards), ("experts.", True, layout.expert_shards)):
        members = [each for each in learned if each.parameter.is_expert is expert]
        if members:
            found.append(_Group(prefix, members, buffer_elements(members, layout, recipe, shards), shards))
    return found


def buffer_elements(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, shards: Int) -> Int:
    """Length of the flat buffer that holds one element for each parameter, padding included; `shards` ranks split it.

    The boundary of the last bucket is exact; boundaries of earlier buckets (only with overlapped reduction on the
    first stage) are left out: they add less than lcm(N, 128) elements each, and nothing when sizes divide by it.
    Source: megatron/core/optimizer/param_layout.py.
    """
    aligned: Int = 0
    for each in parameters:
        size = round_up(each.parameter.elements, recipe.buffer_alignment)
        aligned = aligned + size * (each.parameter.copies * each.count)
    padded = round_up(aligned, lcm(shards, BUCKET_BOUNDARY))
    return where(layout.sharding_stage, padded, parameter_count(parameters))


def megatron_lines(
    parameters: Sequence[StageParameters], stage: Stage, model: Model, layout: Layout, recipe: Recipe
) -> list[Line]:
    """Everything that a stage keeps beside activations, alive during the whole step."""
    lines = _weights(parameters, stage, model, recipe)
    for group in _groups(parameters, layout, recipe):
        lines += _buffers(group, recipe)
        lines += _states(group, recipe)
    # Weights that train are moved into the buffers one by one, after the buffers have been made.
    elements = parameter_count(trained(parameters))
    moved = Tensor("weights.before_remapping", Category.WEIGHTS, (elements,), recipe.parameters, (), SOURCE)
    return [*lines, Line(moved, where(layout.sharding_stage, 1, 0), (Moment.INITIALIZATION,))]


def megatron_host_lines(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """Weights, moments and gradients in fp32 of the parameters that a CPU optimizer updates.

    Source: megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py.
    """
    percent = recipe.optimizer.offload_percent
    lines: list[Line] = []
    for group in _groups(parameters, layout, recipe) if percent else ():
        shard = group.shard * percent // 100
        kept = [("master", shard, "fp32"), ("gradients", shard, "fp32")]
        kept += optimizer_states([Owned(shard, 1, "fp32")], recipe)
        for name, elements, dtype in kept:
            lines.append(group.line(Category.OPTIMIZER, f"host.{name}", elements, dtype, ALWAYS))
    return lines


def _weights(parameters: Sequence[StageParameters], stage: Stage, model: Model, recipe: Recipe) -> list[Line]:
    """Weights as the model holds them, and their narrow forms; those whose primary form is narrow have no other."""
    narrow, wide = by_width(parameters, stage, model, recipe)
    primary = recipe.fp8 is not None and recipe.fp8.parameters
    return weight_lines(wide if primary else parameters, recipe) + narrow_lines(narrow, recipe)


def _buffers(group: _Group, recipe: Recipe) -> list[Line]:
    padding = group.length - parameter_count(group.parameters)
    flat = parameter_count(group.parameters) * recipe.gradients_flattened
    return [
        group.line(Category.COMMUNICATION, "gradients.flattened", flat, recipe.gradients, (Moment.OPTIMIZER_STEP,)),
        group.line(Category.WEIGHTS, "weights.buffer_padding", padding, recipe.parameters, FROM_START),
        group.line(Category.GRADIENTS, "gradients.buffer", group.length, recipe.gradients, FROM_START),
    ]


def _states(group: _Group, recipe: Recipe) -> list[Line]:
    """Master weights and moments of this rank's shard; fp32 copies of 16-bit gradients live during the step."""
    on_device = 100 - recipe.optimizer.offload_percent
    lines = []
    if recipe.master is not None:
        kept, shard = (Moment.CHECKPOINT_RESUME, *ALWAYS), group.shard * on_device // 100
        lines.append(group.line(Category.OPTIMIZER, "optimizer.master", shard, recipe.master, kept))
    by = (*group.split, "data", "context")
    if recipe.optimizer.name in FLAT:
        lines += optimizer_lines([Owned(group.shard, 1, "fp32")], recipe, by, on_device)
    else:
        lines += optimizer_lines(owned_whole(group.parameters, recipe), recipe, by, on_device, group.shards)
    if recipe.master == "fp32" and recipe.gradients != "fp32" and on_device:
        alive = ALWAYS if recipe.gradient_copy_kept else (Moment.OPTIMIZER_STEP,)
        lines.append(group.line(Category.OPTIMIZER, "optimizer.gradient_copy", group.shard, "fp32", alive))
    return lines
