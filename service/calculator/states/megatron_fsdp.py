"""Megatron-FSDP: shards of Megatron's buffers, and whole layers while they are gathered and reduced.

Layers are units; embedding, final norm and head belong to none: gathered once, they stay whole. Gathers run ahead by
whole units until `prefetch` elements are there, and gradients wait whole until more than `reduce` elements do; both
bounds are so large by default (half and one milliard elements) that small models are gathered whole. With double
buffers two units of each stay for good instead. At stage 2 the weights are whole. Source: Megatron-LM @ d98e8a64
core/distributed/fsdp/src/megatron_fsdp: param_and_grad_buffer.py (_init_each_parameter_group_buffers,
AllGatherPipeline.all_gather_params, GradReducePipeline.wait_for_previous_grad_reduce), megatron_fsdp.py.
"""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, FROM_START, Category, Line, Moment, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.gradients import in_a_layer
from service.calculator.states.optimizers import Owned, optimizer_lines
from service.calculator.states.stage import StageParameters, parameter_count, trained
from service.calculator.states.units import SHARDED, Units, units_of
from service.calculator.states.weights import weight_lines
from service.calculator.units import Int, ceil_div, maximum, minimum, where

SOURCE = "Megatron-LM @ d98e8a64 megatron_fsdp/param_and_grad_buffer.py"
LEAST_UNIT = 1_000_000_000
"""Elements that gradients may wait in, unless two units are more; gathers run ahead by half (megatron_fsdp.py)."""

WEIGHTS = 3
IN_THE_LAYERS = (*in_a_layer(last=True), Moment.LAST_BACKWARD)


def megatron_fsdp_lines(
    parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, *, tied: bool
) -> list[Line]:
    """Everything that a stage keeps beside activations. `tied`: the head's gradient is the embedding's."""
    third = where(layout.sharding_stage // WEIGHTS, 1, 0)
    learned = trained(parameters)
    lines = weight_lines(parameters, recipe, where(third, layout.shards, 1), where(third, layout.expert_shards, 1))
    whole = _line("weights.whole", Category.WEIGHTS, parameter_count(parameters), recipe.parameters)
    lines.append(_at(whole, (Moment.INITIALIZATION,)))
    lines += _gathered(units_of(parameters), third, recipe)
    lines += _reduced(units_of(learned), recipe, tied=tied)
    for expert, shards in ((False, layout.shards), (True, layout.expert_shards)):
        members = [each for each in learned if each.parameter.is_expert is expert]
        if members:
            lines += _states(ceil_div(parameter_count(members), shards), recipe)
    return lines


def _line(name: str, category: Category, elements: Int, dtype: str, count: Int = 1) -> Line:
    return Line(Tensor(name, category, (elements,), dtype, ("tensor",), SOURCE), count, ALWAYS)


def _at(line: Line, alive: tuple[Moment, ...]) -> Line:
    return Line(line.tensor, line.count, alive)


def _ahead(units: Units, recipe: Recipe) -> tuple[Int, Int]:
    """Elements gathered ahead, in whole units, and elements that gradients may wait in."""
    capacity: Int = recipe.sharding.reduce or maximum(LEAST_UNIT, 2 * units.layer)
    size = maximum(units.layer, 1)
    return ceil_div(recipe.sharding.prefetch or capacity // 2, size) * size, capacity


def _gathered(units: Units, third: Int, recipe: Recipe) -> list[Line]:
    ends = _line("gathered.ends", Category.WEIGHTS, units.embedding + units.head, recipe.parameters, third)
    if recipe.sharding.double_buffer:
        two = _line("gathered.double_buffer", Category.COMMUNICATION, 2 * units.layer, recipe.parameters, third)
        return [ends, two]
    ahead, _ = _ahead(units, recipe)
    running = _line("gathered.layers", Category.WEIGHTS, minimum(units.layer + ahead, units.layers), recipe.parameters)
    passes = (Moment.WARMUP_FORWARD, *IN_THE_LAYERS)
    return [ends, Line(running.tensor, third, passes)]


def _reduced(units: Units, recipe: Recipe, *, tied: bool) -> list[Line]:
    """Whole gradients that wait for their reduction, of the layers as many as the bound lets wait.

    A product that does not write into the buffer leaves a gradient of its own, copied when the product is over.
    """
    category, dtype = Category.GRADIENTS, recipe.reduce
    head = units.embedding if tied else units.head
    embedding = 0 if tied else units.embedding
    fused = (Moment.HEAD_BACKWARD,) if recipe.gradient_accumulation_fusion else ()
    lines = [_at(_line("unreduced.head", category, head, dtype), (*fused, *in_a_layer(last=True)))]
    if recipe.sharding.double_buffer:
        two = _line("unreduced.double_buffer", Category.COMMUNICATION, 2 * units.layer, dtype)
        at_the_end = _at(_line("unreduced.embedding", category, embedding, dtype), (Moment.EMBEDDING_BACKWARD,))
        return [*lines, two, at_the_end]
    _, capacity = _ahead(units, recipe)
    waiting = minimum(head + units.layers, capacity + units.layer)
    last = minimum(head + units.layers + embedding, capacity + maximum(embedding, units.layer))
    return [
        *lines,
        _at(_line("unreduced.layer", category, units.layer, dtype), in_a_layer(last=True)),
        _at(_line("unreduced.layers", category, waiting, dtype), (Moment.LAST_BACKWARD,)),
        _at(_line("unreduced.all", category, last, dtype), (Moment.EMBEDDING_BACKWARD,)),
    ]


def _states(shard: Int, recipe: Recipe) -> list[Line]:
    """This rank's gradients, master weights and moments; gradients of another type are cast for the step."""

    def sharded(name: str, category: Category, dtype: str, alive: tuple[Moment, ...]) -> Line:
        return Line(Tensor(name, category, (shard,), dtype, SHARDED, SOURCE), 1, alive)

    lines = [sharded("gradients.shard", Category.GRADIENTS, recipe.gradients, FROM_START)]
    if recipe.master is not None:
        lines.append(sharded("optimizer.master", Category.OPTIMIZER, recipe.master, FROM_START))
        if recipe.gradients != recipe.master:
            cast = sharded("gradients.in_fp32", Category.GRADIENTS, recipe.master, (Moment.OPTIMIZER_STEP,))
            lines.append(cast)
    return lines + optimizer_lines([Owned(shard, 1, "fp32")], recipe, SHARDED)
