"""Weights on one GPU: whole or sharded, and quantised where an adapter's base is."""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.ledger import FROM_START, Category, Line, Moment, Tensor
from service.calculator.recipe import Adapters, Recipe
from service.calculator.states.stage import StageParameters
from service.calculator.units import Int, ceil_div

NF4_BLOCK = 64
"""Elements that share one scale in bitsandbytes' 4-bit types (functional.py, quantize_4bit)."""

SCALE_BLOCK = 256
"""Scales that share one scale of their own when they are quantised again (bitsandbytes functional.py)."""


def weight_lines(
    parameters: Sequence[StageParameters],
    recipe: Recipe,
    shards: Int = 1,
    expert_shards: Int = 1,
    alive: tuple[Moment, ...] = FROM_START,
) -> list[Line]:
    """One line for each parameter; over `shards` ranks its first dimension is rounded up (FSDP2 `_fsdp_param.py`)."""
    lines: list[Line] = []
    for each in parameters:
        over = expert_shards if each.parameter.is_expert else shards
        if recipe.adapters and recipe.adapters.quantization and is_quantised(each, recipe.adapters):
            lines += _quantised(each, recipe.adapters.quantization, over, alive)
            continue
        lines.append(_line(each, sharded_shape(each, over), each.dtype or recipe.parameters, alive))
    return lines


def is_quantised(each: StageParameters, adapters: Adapters) -> bool:
    """Whether an adapters' base is quantised here: the frozen weights of linear modules.

    Stacked experts, and the router beside them, are no linear modules and stay as they are (transformers 5.24.0,
    integrations/bitsandbytes.py, replace_with_bnb_linear).
    """
    no_module = adapters.experts_stacked and (each.parameter.is_expert or "router" in each.parameter.name)
    return adapters.quantization is not None and each.is_linear and not each.trained and not no_module


def sharded_shape(each: StageParameters, shards: Int) -> tuple[Int, ...]:
    """Local shape of a parameter whose first dimension is split; vectors are split as one row of numbers."""
    if isinstance(shards, int) and shards == 1:
        return each.parameter.shape
    if each.is_matrix:
        rows, *rest = each.parameter.shape
        return (ceil_div(rows, shards), *rest)
    return (ceil_div(each.parameter.elements, shards),)


def _line(
    each: StageParameters, shape: tuple[Int, ...], dtype: str, alive: tuple[Moment, ...], suffix: str = ""
) -> Line:
    weight = each.parameter
    tensor = Tensor(weight.name + suffix, Category.WEIGHTS, shape, dtype, weight.sharded_by, weight.source)
    return Line(tensor, each.count * weight.copies, alive)


def _quantised(each: StageParameters, kind: str, shards: Int, alive: tuple[Moment, ...]) -> list[Line]:
    """A frozen weight in 4 or 8 bits with its scales (memory_model.md 2.5, QLoRA; bitsandbytes functional.py)."""
    elements = ceil_div(each.parameter.elements, shards)
    if kind == "int8":
        rows = ceil_div(each.parameter.shape[0], shards)
        found = [("", (elements,), "int8"), (".scales", (rows,), "fp32")]
    else:
        scales = ceil_div(elements, NF4_BLOCK)
        found = [("", (ceil_div(elements, 2),), "uint8")]
        if kind == "nf4":
            found.append((".scales", (scales,), "fp32"))
        else:
            found += [(".scales", (scales,), "uint8"), (".scales_of_scales", (ceil_div(scales, SCALE_BLOCK),), "fp32")]
    return [
        _resourced(_line(each, shape, dtype, alive, suffix), "memory_model.md 2.5 QLoRA")
        for suffix, shape, dtype in found
    ]


def _resourced(line: Line, source: str) -> Line:
    return replace(line, tensor=replace(line.tensor, source=source))
