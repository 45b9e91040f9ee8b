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


def state_lines(model: Model, layout: Layout, recipe: Recipe, stage: int) -> list[Line]:
    """Lines of weights, gradients and optimizer states, alive during the whole step.

    Routed experts have a buffer of their own, whose states the expert-data-parallel group shards.
    """
    parameters = stage_parameters(model, layout, recipe, stage)
    dense = [each for each in parameters if not each.parameter.is_expert]
    experts = [each for each in parameters if each.parameter.is_expert]
    lines = _group_lines("", dense, layout, recipe, layout.shards)
    return lines + (_group_lines("experts.", experts, layout, recipe, layout.expert_shards) if experts else [])


def _group_lines(
    prefix: str, parameters: Sequence[StageParameters], layout: Layout, recipe: Recipe, shards: Int
) -> list[Line]:
    """Lines of the parameters that share a buffer."""
    length = buffer_elements(parameters, layout, recipe, shards)
    padding = length - parameter_count(parameters)
    split = ("expert", "expert_tensor") if prefix else ("tensor",)
    return [
        *_weights(prefix, parameters, padding, recipe),
        _buffer(Category.GRADIENTS, f"{prefix}gradients.buffer", length, recipe.gradients, (*split, "pipeline")),
        *_optimizer(prefix, ceil_div(length, shards), recipe, (*split, "data", "context")),
    ]


def _weights(prefix: str, parameters: Sequence[StageParameters], padding: Int, recipe: Recipe) -> list[Line]:
    lines = []
    for each in parameters:
        weight = each.parameter
        tensor = Tensor(
            weight.name, Category.WEIGHTS, weight.shape, recipe.parameters, weight.sharded_by, weight.source
        )
        lines.append(Line(tensor, each.count * weight.copies, ALWAYS))
    lines.append(_buffer(Category.WEIGHTS, f"{prefix}weights.buffer_padding", padding, recipe.parameters, ()))
    return lines


def _buffer(category: Category, name: str, length: Int, dtype: str, sharded_by: tuple[str, ...]) -> Line:
    tensor = Tensor(name, category, (length,), dtype, sharded_by, "memory_model.md 2.1")
    return Line(tensor, 1, ALWAYS)


def _optimizer(prefix: str, shard: Int, recipe: Recipe, sharded_by: tuple[str, ...]) -> list[Line]:
    """Master weights and moments of this rank's shard; fp32 copies of 16-bit gradients live during the step."""
    lines = []
    if recipe.master is not None:
        lines.append(_buffer(Category.OPTIMIZER, f"{prefix}optimizer.master", shard, recipe.master, sharded_by))
    for name, dtype in zip(("first_moment", "second_moment"), recipe.moments, strict=False):
        lines.append(_buffer(Category.OPTIMIZER, f"{prefix}optimizer.{name}", shard, dtype, sharded_by))
    if recipe.master == "fp32" and recipe.gradients != "fp32":
        name, source = f"{prefix}optimizer.gradient_copy", "memory_model.md 2.1 row 3"
        copy = Tensor(name, Category.OPTIMIZER, (shard,), "fp32", sharded_by, source)
        lines.append(Line(copy, 1, (Moment.OPTIMIZER_STEP,) if not recipe.gradient_copy_kept else ALWAYS))
    return lines
