"""Weights whose matrix products run in 8 bits: which they are, and the 8-bit forms kept of them (section 2.1, fp8)."""

from collections.abc import Sequence

from service.calculator.ledger import FROM_START, Category, Line, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.stage import Stage
from service.calculator.states.stage import StageParameters, layer_unit, parameter_count
from service.calculator.units import Int, ceil_div

SOURCE = "memory_model.md 2.1 fp8; TransformerEngine @ d0067d0d, pytorch/module/linear.py"
MX_BLOCK = 32
"""Elements that share one 8-bit scale in the MX formats."""

SQUARE_BLOCK = 128 * 128
"""Elements of a weight that share one fp32 scale under blockwise scaling."""


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


def eight_bit_lines(weights: Sequence[StageParameters], recipe: Recipe) -> list[Line]:
    """The 8-bit forms beside 16-bit weights, or the second form of weights that are 8 bits wide themselves.

    Transformer Engine keeps them from one micro-batch to the next.
    """
    if recipe.fp8 is None or not weights:
        return []
    elements = parameter_count(weights)
    copies = recipe.fp8.copies - (1 if recipe.fp8.parameters else 0)
    lines = [_line("weights.eight_bit", elements, "fp8", copies)]
    if recipe.fp8.recipe == "mxfp8":
        lines.append(_line("weights.scales", ceil_div(elements, MX_BLOCK), "uint8", recipe.fp8.copies))
    if recipe.fp8.recipe == "blockwise":
        lines.append(_line("weights.scales", ceil_div(elements, SQUARE_BLOCK), "fp32", recipe.fp8.copies))
    return lines


def _line(name: str, elements: Int, dtype: str, count: int) -> Line:
    return Line(Tensor(name, Category.WEIGHTS, (elements,), dtype, ("tensor", "pipeline"), SOURCE), count, FROM_START)
