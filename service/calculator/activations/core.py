"""What the attention core saves: one number per query, or its whole matrix of scores (memory_model.md, section 3.2)."""

from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div, where

BY_HEADS = ("tensor", "context")


def core_tensors(heads: int, layout: Layout, recipe: Recipe) -> list[Saved]:
    """What the attention core of `heads` query heads keeps beside its inputs and its output."""
    sequence, batch, local = layout.local_sequence, layout.micro_batch, ceil_div(heads, layout.tensor)
    if not recipe.scores_stored:
        shape = (batch, local, sequence)
        return [saved("attention.log_sum_exp", shape, "fp32", BY_HEADS, "memory_model.md 3.1 row 8", "core_attn")]
    scores = (batch, local, sequence, layout.sequence_length)
    source = "memory_model.md 3.2 unfused"
    rows = [saved("attention.probabilities", scores, recipe.compute, BY_HEADS, source, "core_attn")]
    if recipe.softmax_fp32:
        rows.append(saved("attention.softmax", scores, "fp32", BY_HEADS, source, "core_attn"))
    if recipe.attention_dropout > 0:
        rows.append(saved("attention.dropout_mask", scores, "bool", BY_HEADS, source, "core_attn"))
        rows.append(saved("attention.dropped_probabilities", scores, recipe.compute, BY_HEADS, source, "core_attn"))
    return rows


def output_copy(shape: tuple[Int, ...], layout: Layout, recipe: Recipe, *, equal_heads: bool = True) -> list[Saved]:
    """The attention's output kept a second time by Transformer Engine.

    flash-attn's output, batch first, is copied into Megatron's sequence-first layout; one sequence needs no
    transposition, context parallelism runs its own kernels in Megatron's layout, and heads of which the value has
    another width than the key run in cuDNN's (dot_product_attention/utils.py). Exchanging heads for sequence
    keeps the output before the exchange for attention, and the one after it for the projection.
    """
    flash, exchanged = recipe.attention == "flash" and equal_heads, int(layout.context_method == "a2a")
    if not recipe.runs_engine or recipe.scores_stored or not (flash or exchanged):
        return []
    transposed = where(layout.micro_batch - 1, 1, 0) if flash else 0
    source = "Megatron-LM CI golden values @ d98e8a64; TransformerEngine context_parallel.py"
    copy = saved("attention.output_copy", shape, recipe.compute, BY_HEADS, source)
    return [copy.times(where(layout.context - 1, exchanged, transposed))]
