"""Tensors that the attention block saves (memory_model.md, sections 3.1 and 3.2)."""

from service.calculator.activations.norms import norm_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import LayerKind, Model
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div, maximum, where

BY_HEADS = ("tensor", "context")
BY_SEQUENCE = ("sequence", "context")


def attention_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, projections and attention core of one layer."""
    return [
        *norm_tensors("attention", model, layout, recipe),
        *_projections(kind, model, layout, recipe),
        *_qk_norm(kind, layout, recipe),
        *_core(kind, layout, recipe),
    ]


def _local_heads(kind: LayerKind, layout: Layout) -> Int:
    return ceil_div(kind.attention.heads, layout.tensor)


def _local_groups(kind: LayerKind, layout: Layout) -> Int:
    """Key/value groups on a rank: one whole group when there are fewer groups than ranks."""
    return maximum(kind.attention.groups // layout.tensor, 1)


def _projections(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Query, key, value and output; V is its own tensor because its layout is no packed one (row 6)."""
    sequence, batch, width = layout.local_sequence, layout.micro_batch, kind.attention.head_dim
    heads, groups = _local_heads(kind, layout), _local_groups(kind, layout)
    query = (sequence, batch, heads, width)
    key = (sequence, batch, groups, width)
    rows = [
        saved("attention.query", query, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 4"),
        saved("attention.key", key, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 5"),
        saved("attention.value", key, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 6"),
        saved("attention.output", query, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 7"),
    ]
    if recipe.attention == "flash" and recipe.transformer_impl == "transformer_engine":
        source = "Megatron-LM CI golden values @ d98e8a64"
        copy = saved("attention.output_copy", query, recipe.compute, BY_HEADS, source)
        rows.append(copy.times(_output_copies(layout)))
    if model.position_embedding != "rope" and not recipe.scores_stored:
        copies = _context_copies(layout)
        copy = saved("attention.context_copy", (2, *key), recipe.compute, BY_HEADS, "memory_model.md 3.6")
        rows.append(copy.times(copies))
    return rows


def _output_copies(layout: Layout) -> Int:
    """1 when flash-attn's output, batch first, is copied into Megatron's sequence-first layout, else 0.

    One sequence needs no transposition, and context parallelism runs its own kernels in Megatron's layout.
    """
    return where(layout.micro_batch - 1, where(layout.context - 1, 0, 1), 0)


def _context_copies(layout: Layout) -> Int:
    """1 when context parallelism makes the kernel copy its own keys and values, else 0."""
    return where(layout.context - 1, 1, 0)


def _qk_norm(kind: LayerKind, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Inputs and statistics of a norm over queries and keys; the norm copies its non-contiguous input."""
    if kind.attention.qk_norm == "none":
        return []
    sequence, batch, width = layout.local_sequence, layout.micro_batch, kind.attention.head_dim
    heads, groups = _local_heads(kind, layout), _local_groups(kind, layout)
    per_head = kind.attention.qk_norm == "per_head"
    statistics = (sequence, batch, heads + groups) if per_head else (sequence, batch, 2)
    source = "memory_model.md 3.2 QK-norm"
    return [
        saved("attention.qk_norm.input", (sequence, batch, heads + groups, width), recipe.compute, BY_HEADS, source),
        saved("attention.qk_norm.statistics", statistics, "fp32", BY_HEADS, source),
    ]


def _core(kind: LayerKind, layout: Layout, recipe: Recipe) -> list[Saved]:
    sequence, batch, heads = layout.local_sequence, layout.micro_batch, _local_heads(kind, layout)
    if not recipe.scores_stored:
        shape = (batch, heads, sequence)
        return [saved("attention.log_sum_exp", shape, "fp32", BY_HEADS, "memory_model.md 3.1 row 8", "core_attn")]
    scores = (batch, heads, sequence, layout.sequence_length)
    source = "memory_model.md 3.2 unfused"
    rows = [saved("attention.probabilities", scores, recipe.compute, BY_HEADS, source, "core_attn")]
    if recipe.softmax_fp32:
        rows.append(saved("attention.softmax", scores, "fp32", BY_HEADS, source, "core_attn"))
    if recipe.attention_dropout > 0:
        rows.append(saved("attention.dropout_mask", scores, "bool", BY_HEADS, source, "core_attn"))
        rows.append(saved("attention.dropped_probabilities", scores, recipe.compute, BY_HEADS, source, "core_attn"))
    return rows
