"""Shards of fully sharded data parallelism at rest, on the GPU or in host memory (memory_model.md, section 2.3)."""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, FROM_START, GROWN, Category, Line, Moment, Stream, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.gradients import several_micro_batches
from service.calculator.states.optimizers import Owned, optimizer_lines, optimizer_states
from service.calculator.states.stage import HEAD, StageParameters, trained
from service.calculator.states.units import SHARDED, SOURCE, graded, unit_lines
from service.calculator.states.weights import sharded_shape, weight_lines
from service.calculator.units import Int

MASTER_SOURCE = "InternLM/InternEvo @ 77766933: solver/optimizer/fsdp_optimizer.py"


def fsdp_lines(
    parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, *, tied: bool, last: bool
) -> list[Line]:
    """Everything that a stage keeps beside activations. `tied`: embedding and head are one unit."""
    learned = trained(parameters)
    lines = unit_lines(parameters, layout, recipe, tied=tied, last=last)
    if not recipe.optimizer.parameters_on_host:
        lines += weight_lines(parameters, recipe, layout.shards, layout.expert_shards)
        lines += _sharded_gradients(graded(parameters, recipe), layout, recipe)
        lines += optimizer_lines(owned_shards(learned, layout, recipe), recipe, SHARDED)
        lines += _master(learned, layout, recipe)
    return lines


def _master(learned: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """Wider copies of 16-bit shards that the optimizer updates, and the gradients' copies that its step needs."""
    if recipe.master is None:
        return []
    total = _total(owned_shards(learned, layout, recipe))
    master = Tensor("optimizer.master", Category.OPTIMIZER, (total,), recipe.master, SHARDED, MASTER_SOURCE)
    lines = [Line(master, 1, FROM_START)]
    if recipe.gradients != "fp32":
        cast = Tensor("gradients.in_fp32", Category.GRADIENTS, (total,), "fp32", SHARDED, MASTER_SOURCE)
        lines.append(Line(cast, 1, (Moment.OPTIMIZER_STEP,)))
    return lines


def fsdp_host_lines(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """Shards of weights, gradients and states that live in host memory (CPUOffloadPolicy)."""
    if not recipe.optimizer.parameters_on_host:
        return []
    learned = trained(parameters)
    total = _total(owned_shards(learned, layout, recipe))
    gradients = Tensor("host.gradients", Category.GRADIENTS, (total,), recipe.gradients, SHARDED, SOURCE)
    states = [
        Tensor(f"host.{name}", Category.OPTIMIZER, (elements,), dtype, SHARDED, SOURCE)
        for name, elements, dtype in optimizer_states(owned_shards(learned, layout, recipe), recipe)
    ]
    lines = [Line(each, 1, ALWAYS) for each in (gradients, *states)]
    return weight_lines(parameters, recipe, layout.shards, layout.expert_shards, ALWAYS) + lines


def owned_shards(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Owned]:
    """The shards that this rank's optimizer updates."""
    owned = []
    for each in parameters:
        shape = sharded_shape(each, layout.expert_shards if each.parameter.is_expert else layout.shards)
        elements: Int = 1
        for side in shape:
            elements = elements * side
        dtype = each.dtype or ("fp32" if recipe.master is not None else recipe.parameters)
        count = each.count * each.parameter.copies
        owned.append(Owned(elements, count, dtype, shape[0], matrix=each.is_matrix, inner=each.is_linear))
    return owned


def _total(owned: Sequence[Owned]) -> Int:
    total: Int = 0
    for each in owned:
        total = total + each.total
    return total


def _sharded_gradients(learned: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> list[Line]:
    """With several micro-batches those of earlier ones are always there, unless they wait unsharded.

    Those that wait unsharded outside a pipeline give way to their shards layer by layer.
    """
    if recipe.optimizer.in_backward:
        return []
    waits = layout.pipeline > 1 or recipe.sharding.no_sync
    several = 0 if waits else several_micro_batches(layout)
    turned = several_micro_batches(layout) if recipe.sharding.no_sync and layout.pipeline == 1 else 0
    lines = []
    head = [each for each in learned if each.unit == HEAD]
    for name, part, count, alive in (
        ("kept", learned, several, ALWAYS),
        ("head", head, 0 if waits else 1 - several, (Moment.LAYER_BACKWARD, Moment.RECOMPUTE)),
        ("shards", learned, 1 - several - turned, GROWN),
        ("shards", learned, turned, (Moment.OPTIMIZER_STEP,)),
    ):
        total = _total(owned_shards(part, layout, recipe))
        tensor = Tensor(f"gradients.{name}", Category.GRADIENTS, (total,), recipe.gradients, SHARDED, SOURCE)
        lines.append(Line(tensor, count, alive, stream=Stream.REDUCE))
    return lines
