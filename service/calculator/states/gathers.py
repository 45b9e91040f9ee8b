"""Weights that ZeRO stage 3 gathers while modules run (memory_model.md, section 2.2).

A module's weights are gathered just before it runs and released after it, unless they are small, or the trace of the
step uses them again within the reuse distance: so the last modules of the forward stay until the backward needs them.
Source: deepspeed/runtime/zero/partitioned_param_coordinator.py and partition_parameters.py @ edaa7221.
"""

from collections.abc import Sequence

from service.calculator.ledger import ALWAYS, FROM_START, Category, Line, Moment, Tensor
from service.calculator.recipe import Recipe
from service.calculator.states.stage import StageParameters, largest_parameter, largest_unit, parameter_count
from service.calculator.units import Int, maximum, minimum, where

SOURCE = "memory_model.md 2.2"
REUSE_DISTANCE = 1_000_000_000
"""Elements of the trace within which a weight is kept for its next use (zero/config.py, max_reuse_distance)."""

AROUND_THE_LOSS = (Moment.WARMUP_FORWARD, Moment.LOSS, Moment.FIRST_BACKWARD, Moment.HEAD_BACKWARD)
IN_THE_BACKWARD = (Moment.LAYER_BACKWARD, Moment.RECOMPUTE, Moment.LAST_BACKWARD, Moment.EMBEDDING_BACKWARD)


def gather_lines(parameters: Sequence[StageParameters], recipe: Recipe, count: Int) -> list[Line]:
    """Whole weights beside their partitions; `count` is 1 where weights are partitioned, else 0.

    A gather first fills a flat buffer and copies each weight out of it.
    """
    small = small_elements(parameters, recipe.sharding.persistence)
    layer, whole = largest_unit(parameters), parameter_count(parameters)
    running = minimum(layer + recipe.sharding.prefetch, whole)
    kept = minimum(maximum(running, REUSE_DISTANCE // 2), whole)
    cap = maximum(recipe.sharding.live, layer)
    buffer = minimum(maximum(recipe.sharding.prefetch, largest_parameter(parameters)), whole)
    moments = tuple(each for each in ALWAYS if each is not Moment.OPTIMIZER_STEP)
    return [
        _line("weights.small", Category.WEIGHTS, small, count, recipe.parameters, FROM_START),
        _line("gathered.around_the_loss", Category.WEIGHTS, minimum(kept, cap), count, recipe.compute, AROUND_THE_LOSS),
        _line("gathered.running", Category.WEIGHTS, minimum(running, cap), count, recipe.compute, IN_THE_BACKWARD),
        _line("all_gather.buffer", Category.COMMUNICATION, buffer, count, recipe.compute, moments),
    ]


def small_elements(parameters: Sequence[StageParameters], threshold: int) -> Int:
    """Elements of parameters that are never partitioned."""
    small: Int = 0
    for each in parameters:
        is_small = where(maximum(each.parameter.elements - threshold, 0), 0, 1)
        small = small + each.elements * is_small
    return small


def _line(name: str, category: Category, elements: Int, count: Int, dtype: str, alive: tuple[Moment, ...]) -> Line:
    return Line(Tensor(name, category, (elements,), dtype, ("tensor", "pipeline"), SOURCE), count, alive)
