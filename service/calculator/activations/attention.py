"""Tensors that the attention block saves (memory_model.md, sections 3.1 and 3.2)."""

from service.calculator.activations.core import BY_HEADS, core_tensors, output_copy
from service.calculator.activations.norms import norm_tensors
from service.calculator.activations.rotary import rotary_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import Attention, Model
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div, maximum, where

OUTPUT_GATE = "megatron/core/transformer/attention.py, _apply_output_gate"
NANOTRON_ROW_LINEAR = "huggingface/nanotron @ 67c5ebb6 parallel/tensor_parallel/functional.py"


def attention_tensors(attention: Attention, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, projections and attention core of one layer."""
    rows = [
        *norm_tensors("attention", model, layout, recipe),
        *_projections(attention, model, layout, recipe),
        *_qk_norm(attention, layout, recipe),
        *core_tensors(attention.heads, layout, recipe),
    ]
    if model.position_embedding == "rope":
        rows += rotary_tensors(attention.head_dim, layout, recipe)
    return rows


def _local_heads(attention: Attention, layout: Layout) -> Int:
    return ceil_div(attention.heads, layout.tensor)


def _local_groups(attention: Attention, layout: Layout) -> Int:
    """Key/value groups on a rank: one whole group when there are fewer groups than ranks."""
    return maximum(attention.groups // layout.tensor, 1)


def _projections(attention: Attention, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Query, key, value and output; V is its own tensor because its layout is no packed one (row 6)."""
    sequence, batch, width = layout.local_sequence, layout.micro_batch, attention.head_dim
    heads, groups = _local_heads(attention, layout), _local_groups(attention, layout)
    output = (sequence, batch, heads, width)
    query = (sequence, batch, 3 * heads if _query_pins(attention, recipe) else heads, width)
    key = (sequence, batch, groups, width)
    pins = _value_pins(attention, model, layout, recipe)
    # A gate keeps the packed projection anyway.
    value = (sequence, batch, heads + 2 * groups if pins and not attention.output_gate else groups, width)
    rows = [
        saved("attention.query", query, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 4"),
        saved("attention.key", key, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 5"),
        saved("attention.value", value, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 6").times(
            int(not (pins and attention.output_gate))
        ),
        saved("attention.output", output, recipe.compute, BY_HEADS, "memory_model.md 3.1 row 7"),
    ]
    rows += output_copy(output, layout, recipe) + _folded_output(output, layout, recipe)
    if attention.output_gate:
        rows += _gate(attention, output, layout, recipe)
    if model.position_embedding != "rope" and not recipe.scores_stored and layout.context_method != "a2a":
        copies = _context_copies(layout)
        copy = saved("attention.context_copy", (2, *key), recipe.compute, BY_HEADS, "memory_model.md 3.6")
        rows.append(copy.times(copies))
    return rows


def _gate(attention: Attention, output: tuple[Int, ...], layout: Layout, recipe: Recipe) -> list[Saved]:
    """The gate, a view that keeps the whole packed projection, and its product with the output, which is projected.

    Source: megatron attention.py @ d98e8a64, _apply_output_gate, compiled: it computes the sigmoid again.
    """
    sequence, batch, *_ = output
    packed = 2 * _local_heads(attention, layout) + 2 * _local_groups(attention, layout)
    shape = (sequence, batch, packed, attention.head_dim)
    return [
        saved("attention.packed_projection", shape, recipe.compute, BY_HEADS, OUTPUT_GATE),
        saved("attention.gated_output", output, recipe.compute, BY_HEADS, OUTPUT_GATE),
    ]


def _value_pins(attention: Attention, model: Model, layout: Layout, recipe: Recipe) -> bool:
    """Whether the value keeps the whole packed projection: where it is saved as a view, and queries and keys are not.

    Local layers save views. Transformer Engine copies the value out, but recomputing its attention saves the view that
    goes in: Megatron-Bridge's Qwen3-30B holds 2(q + k) bytes a token and layer more with `core_attn` (PR 3880).
    """
    turned = model.position_embedding == "rope" or attention.qk_norm != "none"
    checkpointing = layout.checkpointing
    again = checkpointing.granularity == "selective" and "core_attn" in checkpointing.modules
    return turned and (recipe.transformer_impl == "local" or again)


def _query_pins(attention: Attention, recipe: Recipe) -> bool:
    """Whether the query keeps queries, keys and values: nanotron turns it inside one tensor of all three.

    Keys and values are joined into another tensor before they are turned. With fewer groups than heads each of the
    three is copied out. Source: huggingface/nanotron @ 67c5ebb6 models/llama.py; flash-attn layers/rotary.py.
    """
    return recipe.habits.queries_pin_all and attention.groups == attention.heads


def _folded_output(shape: tuple[Int, ...], layout: Layout, recipe: Recipe) -> list[Saved]:
    """The attention's output again, sequence first, where nanotron's output projection is torch's own product.

    It is that without sequence parallelism; one sequence needs no copy. Source: torch Linear.cpp; nanotron
    @ 67c5ebb6 parallel/tensor_parallel/functional.py, row_linear.
    """
    if recipe.habits.output_copied:
        return [saved("attention.output_copy", shape, recipe.compute, BY_HEADS, "memory_model.md 3.2")]
    if not recipe.habits.outputs_folded:
        return []
    split = where(layout.tensor - 1, 1 - layout.sequence_parallel, 0)
    copy = saved("attention.output_copy", shape, recipe.compute, BY_HEADS, NANOTRON_ROW_LINEAR)
    return [copy.times(where(layout.micro_batch - 1, split, 0))]


def _context_copies(layout: Layout) -> Int:
    """1 when context parallelism makes the kernel copy its own keys and values, else 0."""
    return where(layout.context - 1, 1, 0)


def _qk_norm(attention: Attention, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Inputs and statistics of a norm over queries and keys; the norm copies its non-contiguous input."""
    if attention.qk_norm == "none":
        return []
    sequence, batch, width = layout.local_sequence, layout.micro_batch, attention.head_dim
    heads, groups = _local_heads(attention, layout), _local_groups(attention, layout)
    per_head = attention.qk_norm == "per_head"
    statistics = (sequence, batch, heads + groups) if per_head else (sequence, batch, 2)
    source = "memory_model.md 3.2 QK-norm"
    return [
        saved("attention.qk_norm.input", (sequence, batch, heads + groups, width), recipe.compute, BY_HEADS, source),
        saved("attention.qk_norm.statistics", statistics, "fp32", BY_HEADS, source),
    ]
