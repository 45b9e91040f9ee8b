"""Inputs of 8-bit matrix products that Transformer Engine keeps (memory_model.md, section 3.5).

A product keeps one 8-bit copy of its input, column-wise, for the weight's gradient (module/linear.py); gathered inputs
keep the row-wise copy instead, which is as large. Inputs of norms, queries, keys, values and the up-projection's output
stay in 16 bits, so that a layer of Llama 3 8B keeps 13 % less, not half.
"""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.activations.saved import Saved
from service.calculator.recipe import Fp8, Recipe
from service.calculator.units import Int, ceil_div

SOURCE = "TransformerEngine @ d0067d0d: pytorch/module/linear.py, layernorm_linear.py, grouped_linear.py"

INPUTS = frozenset(
    {
        "attention.norm.output",
        "attention.query_norm.output",
        "attention.kv_norm.output",
        "mamba.norm.output",
        "mamba.out.input",
        "mlp.norm.output",
        "mlp.activation",
        "experts.input",
        "experts.activation",
        "shared_experts.activation",
    }
)
"""Saved tensors that only a product reads."""

BESIDE_ADAPTERS = frozenset({"attention.norm.output", "mlp.norm.output"})
"""Of those, what frozen products keep: the 8-bit form of what they return for an adapter (layernorm_linear.py)."""

SHARED = {"attention.output": "attention.projection.input"}
"""Saved tensors that something else reads in 16 bits too, and the name of the product's own copy."""

ROUTED = "mlp.norm.output"
"""The norm before a mixture of experts: its router reads it in 16 bits, and so do shared experts' products."""


def eight_bit_inputs(rows: Sequence[Saved], recipe: Recipe) -> list[Saved]:
    """The rows of one layer, with the inputs of its products in 8 bits."""
    fp8 = recipe.fp8
    if fp8 is None or recipe.transformer_impl != "transformer_engine":
        return list(rows)
    routed = any(each.tensor.name.startswith("router.") for each in rows)
    trained = recipe.adapters is None
    inputs = INPUTS if trained else BESIDE_ADAPTERS
    found: list[Saved] = []
    for each in rows:
        name = each.tensor.name
        if name in inputs and not (routed and name == ROUTED):
            found += _quantised(each, name, fp8)
        else:
            found.append(each)
        if name in SHARED and trained:
            found += _quantised(each, SHARED[name], fp8)
    return found


def _quantised(row: Saved, name: str, fp8: Fp8) -> list[Saved]:
    """A tensor's 8-bit copy and the scales of its blocks: one fp32 for 128 elements, or one byte for 32.

    NVFP4 keeps half a byte an element and one byte of scale for 16. Scales for whole tensors are single numbers.
    """
    shape = row.tensor.shape
    if fp8.recipe == "nvfp4":
        return [_as(row, name, (*shape[:-1], ceil_div(shape[-1], 2))), _as(row, f"{name}.scales", _blocks(shape, 16))]
    copy = _as(row, name, shape)
    if fp8.recipe in {"delayed", "current"}:
        return [copy]
    return [copy, _as(row, f"{name}.scales", _blocks(shape, 32))]


def _blocks(shape: tuple[Int, ...], elements: int) -> tuple[Int, ...]:
    """Bytes of scales: rows of the shape times blocks of the last dimension."""
    return (*shape[:-1], ceil_div(shape[-1], elements))


def _as(row: Saved, name: str, shape: tuple[Int, ...]) -> Saved:
    return replace(row, tensor=replace(row.tensor, name=name, shape=shape, dtype="fp8", source=SOURCE))
