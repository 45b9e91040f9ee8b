"""Inputs of 8-bit matrix products that Transformer Engine keeps (memory_model.md, section 3.5).

A product keeps one 8-bit copy of its input, column-wise, for the weight's gradient (module/linear.py); gathered inputs
keep the row-wise copy instead, which is as large. Inputs of norms, queries, keys, values and the up-projection's output
stay in 16 bits, so that a layer of Llama 3 8B keeps 13 % less, not half.
"""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.activations.saved import Saved
from service.calculator.narrow import narrow_input
from service.calculator.recipe import Fp8, Recipe

SOURCE = "TransformerEngine @ d0067d0d: pytorch/module/linear.py, layernorm_linear.py, grouped_linear.py"

INPUTS = frozenset(
    {
        "attention.norm.output",
        "attention.query_norm.output",
        "attention.kv_norm.output",
        "attention.gated_output",
        "delta.norm.output",
        "delta.out.input",
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
    # The product of output and gate is the projection's input where there is a gate.
    gated = any(each.tensor.name == "attention.gated_output" for each in rows)
    found: list[Saved] = []
    for each in rows:
        name = each.tensor.name
        if name in inputs and not (routed and name == ROUTED):
            found += _quantised(each, name, fp8)
        else:
            found.append(each)
        if name in SHARED and trained and not gated:
            found += _quantised(each, SHARED[name], fp8)
    return found


def _quantised(row: Saved, name: str, fp8: Fp8) -> list[Saved]:
    """A tensor's narrow form and the scales of its blocks."""
    return [
        replace(row, tensor=replace(row.tensor, name=name + suffix, shape=shape, dtype=dtype, source=SOURCE))
        for suffix, shape, dtype in narrow_input(fp8.recipe, row.tensor.shape)
    ]
