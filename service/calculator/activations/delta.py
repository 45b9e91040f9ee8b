"""Tensors that a gated delta net saves in Megatron.

Source: megatron/core/ssm/gated_delta_net/ (gdn.py, common.py) @ d98e8a64, over the kernels of flash-linear-attention
@ bc3b101d (ops/gated_delta_rule/chunk.py, modules/conv, modules/l2norm.py). Read, not measured.
"""

from service.calculator.activations.norms import norm_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import DeltaNet, Model
from service.calculator.recipe import Recipe
from service.calculator.units import ceil_div

BY_HEADS = ("tensor", "context")
CHUNK = 64
"""Tokens of one chunk; the kernel keeps a matrix of so many columns for each head."""

SOURCE = "megatron gated_delta_net/gdn.py; flash-linear-attention gated_delta_rule/chunk.py"
NORM_OUTPUT = "gdn_norm_out"
"""Megatron's module that recomputes the gated norm."""


def delta_net_tensors(delta: DeltaNet, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, projection, convolution, delta rule and gated norm of one layer.

    The convolution keeps a view of the whole projection. Queries and keys are normalised in one tensor and then copied
    to the heads of the values; the kernel keeps those copies, the values, both gates and one solved matrix a chunk.
    Every width is split over the tensor group, and over the context group, which exchanges sequence for heads.
    """
    sequence, batch = layout.local_sequence, layout.micro_batch
    heads, key_heads = ceil_div(delta.value_heads, layout.tensor), ceil_div(delta.key_heads, layout.tensor)
    projected = ceil_div(delta.convolved + delta.value_width, layout.tensor) + 2 * heads
    values = (batch, sequence, heads, delta.value_dim)
    keys = (batch, sequence, heads, delta.key_dim)
    compute = recipe.compute
    return [
        *norm_tensors("delta", model, layout, recipe),
        saved("delta.in.output", (batch, sequence, projected), compute, BY_HEADS, SOURCE),
        saved("delta.normalised", (batch, sequence, 2 * key_heads, delta.key_dim), compute, BY_HEADS, SOURCE),
        saved("delta.normalised.statistics", (batch, sequence, 2 * key_heads), "fp32", BY_HEADS, SOURCE),
        saved("delta.query", keys, compute, BY_HEADS, SOURCE),
        saved("delta.key", keys, compute, BY_HEADS, SOURCE),
        saved("delta.value", values, compute, BY_HEADS, SOURCE),
        saved("delta.decay", (batch, sequence, heads), "fp32", BY_HEADS, SOURCE),
        saved("delta.step", (batch, sequence, heads), compute, BY_HEADS, SOURCE),
        saved("delta.solved", (batch, sequence, heads, CHUNK), compute, BY_HEADS, SOURCE),
        saved("delta.gate", values, compute, BY_HEADS, SOURCE),
        saved("delta.output", values, compute, BY_HEADS, SOURCE),
        saved("delta.gated_norm.statistics", (batch, sequence, heads), "fp32", BY_HEADS, SOURCE, NORM_OUTPUT),
        saved("delta.gated_norm.output", values, compute, BY_HEADS, SOURCE, NORM_OUTPUT),
        saved("delta.out.input", (sequence, batch, heads * delta.value_dim), compute, BY_HEADS, SOURCE, NORM_OUTPUT),
    ]
