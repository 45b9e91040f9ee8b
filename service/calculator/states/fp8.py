"""Weights whose matrix products run in 8 or 4 bits: which they are, and the forms kept of them (section 2.1, fp8)."""

from collections.abc import Sequence

from service.calculator.ledger import FROM_START, Category, Line, Tensor
from service.calculator.model import Model
from service.calculator.narrow import narrow_weights
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.states.stage import StageParameters, layer_unit, parameter_count

SOURCE = "memory_model.md 2.1 fp8; TransformerEngine @ d0067d0d, pytorch/module/linear.py"
SPLIT = ("tensor", "pipeline")


def by_width(
    parameters: Sequence[StageParameters], stage: Stage, model: Model, recipe: Recipe
) -> tuple[list[StageParameters], list[StageParameters]]:
    """The linear weights that run in 8 bits, and all that do not: routers, ends, and layers kept out."""
    units = {layer_unit(kind) for kind in stage.kinds if recipe.fp8 and not model.kinds[kind].sixteen_bits}
    narrow: list[StageParameters] = []
    wide: list[StageParameters] = []
    for each in parameters:
        runs = each.unit in units and each.is_linear and "router" not in each.parameter.name
        (narrow if runs else wide).append(each)
    return narrow, wide


def narrow_lines(weights: Sequence[StageParameters], recipe: Recipe) -> list[Line]:
    """The narrow forms of weights that Transformer Engine keeps from one micro-batch to the next.

    They stand beside 16-bit weights, or are the weights themselves.
    """
    fp8 = recipe.fp8
    if fp8 is None or not weights:
        return []
    forms = narrow_weights(fp8.recipe, parameter_count(weights), fp8.copies)
    return [
        Line(Tensor(f"weights.narrow{suffix}", Category.WEIGHTS, shape, dtype, SPLIT, SOURCE), 1, FROM_START)
        for suffix, shape, dtype in forms
    ]
