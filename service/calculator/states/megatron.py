"""Weights, gradients and optimizer states of one stage (memory_model.md, section 2.1: Megatron-Core).

Megatron keeps gradients (and, with the distributed optimizer, weights and states) in flat buffers: every parameter
starts on a 64-element boundary and every bucket ends on a multiple of lcm(N, 128), N ranks of the sharding group.
"""

from collections.abc import Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, Category, Line, Moment, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.states.stage import StageParameters, parameter_count, stage_parameters
from service.calculator.units import Int, ceil_div, lcm, round_up, where

BUCKET_BOUNDARY = 128
SHARDED = ("tensor", "data", "context")


def buffer_elements(parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe) -> Int:
    """Length of the flat buffer that holds one element for each parameter of a stage, padding included.

    The boundary of the last bucket is exact; boundaries of earlier buckets (only with overlapped reduction on the
    first stage) are left out: they add less than lcm(N, 128) elements each, and nothing when sizes divide by it.
    Source: megatron/core/optimizer/param_layout.py.
    """
    aligned: Int = 0
    for each in parameters:
        size = round_up(each.parameter.elements, recipe.buffer_alignment)
        aligned = aligned + size * (each.parameter.copies * each.count)
    padded = round_up(aligned, lcm(layout.shards, BUCKET_BOUNDARY))
    return where(layout.sharding_stage, padded, parameter_count(parameters))


def state_lines(model: Model, layout: Layout, recipe: Recipe, stage: int) -> list[Line]:
    """Lines of weights, gradients and optimizer states, alive during the whole step."""
    parameters = stage_parameters(model, layout, recipe, stage)
    length = buffer_elements(parameters, layout, recipe)
    padding = length - parameter_count(parameters)
    return [
        *_weights(parameters, padding, recipe),
        _buffer(Category.GRADIENTS, "gradients.buffer", length, recipe.gradients, ("tensor", "pipeline")),
        *_optimizer(length, layout, recipe),
    ]


def _weights(parameters: Sequence[StageParameters], padding: Int, recipe: Recipe) -> list[Line]:
    lines = []
    for each in parameters:
        weight = each.parameter
        tensor = Tensor(
            weight.name, Category.WEIGHTS, weight.shape, recipe.parameters, weight.sharded_by, weight.source
        )
        lines.append(Line(tensor, each.count * weight.copies, ALWAYS))
    lines.append(_buffer(Category.WEIGHTS, "weights.buffer_padding", padding, recipe.parameters, ()))
    return lines


def _buffer(category: Category, name: str, length: Int, dtype: str, sharded_by: tuple[str, ...]) -> Line:
    tensor = Tensor(name, category, (length,), dtype, sharded_by, "memory_model.md 2.1")
    return Line(tensor, 1, ALWAYS)


def _optimizer(length: Int, layout: Layout, recipe: Recipe) -> list[Line]:
    """Master weights and moments of this rank's shard; fp32 copies of 16-bit gradients live during the step."""
    shard = ceil_div(length, layout.shards)
    lines = []
    if recipe.master is not None:
        lines.append(_buffer(Category.OPTIMIZER, "optimizer.master", shard, recipe.master, SHARDED))
    for name, dtype in zip(("first_moment", "second_moment"), recipe.moments, strict=False):
        lines.append(_buffer(Category.OPTIMIZER, f"optimizer.{name}", shard, dtype, SHARDED))
    if recipe.master == "fp32" and recipe.gradients != "fp32":
        copy = Tensor(
            "optimizer.gradient_copy", Category.OPTIMIZER, (shard,), "fp32", SHARDED, "memory_model.md 2.1 row 3"
        )
        lines.append(Line(copy, 1, (Moment.OPTIMIZER_STEP,) if not recipe.gradient_copy_kept else ALWAYS))
    return lines
