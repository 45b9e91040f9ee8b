"""Multi-head and grouped-query attention of torch modules."""

from service.calculator.activations.autograd.core import attention_core, masked, stores_scores
from service.calculator.activations.autograd.forward import BY_CONTEXT, Forward, Linear
from service.calculator.activations.autograd.norms import norm
from service.calculator.activations.autograd.tape import Value
from service.calculator.model import Attention
from service.calculator.units import Int, maximum

Heads = tuple[Value, Value, Value]
"""Queries, keys and values, (b, s, heads, width) each."""


def attention(forward: Forward, kind: Attention, value: Value) -> Value:
    """Projections, rotary embedding, core and output projection."""
    query, key, values = _projections(forward, kind, value)
    gate = query
    if kind.qk_norm != "none":
        query, key = _normalised(forward, kind, "query", query), _normalised(forward, kind, "key", key)
    if forward.model.position_embedding == "rope":
        # Rotation keeps its tables, which all layers share, and makes new tensors (measured: + 0).
        query, key = forward.like(query, "attention.query"), forward.like(key, "attention.key")
    if expands_keys(forward, kind):
        key, values = _expanded(forward, "key", key, query), _expanded(forward, "value", values, query)
    output = attention_core(forward, query, key, values, softcap=kind.softcap, sinks=kind.sinks)
    if _output_copied(forward, kind):
        output = forward.like(output, "attention.output_copy")
    if kind.output_gate:
        output = _gated(forward, output, gate)
    return output_projection(forward, output, forward.local(kind.query_width))


def _gated(forward: Forward, output: Value, gate: Value) -> Value:
    """The output times its gate's sigmoid, which is kept; the compiler keeps the gate, a part of the projection."""
    weight = gate if forward.recipe.compiled else forward.like(output, "attention.gate")
    forward.tape.record("pointwise", "attention.gate", (), (output, weight))
    return forward.like(output, "attention.gated_output")


def output_projection(forward: Forward, output: Value, width: Int) -> Value:
    """The row-parallel projection back to the residual stream."""
    linear = Linear("wo", ("o",), width, forward.model.hidden_size, BY_CONTEXT)
    flat = Value(output.name, (*output.shape[:2], width), output.dtype, output.sharded_by, output)
    projected = forward.linear(linear, "attention.projection", flat)
    forward.reduce_scatter("attention")
    return projected


def expands_keys(forward: Forward, kind: Attention) -> bool:
    """Whether keys and values are copied to every query head before the core.

    Batched products need it, and transformers does it for masked input; torchtitan did until it used torch's grouped
    attention (`keys_repeated`).
    """
    if kind.groups == kind.heads:
        return False
    if kind.keys_expanded is not None and forward.recipe.transformer_impl == "hf":
        return kind.keys_expanded
    return stores_scores(forward, softcap=kind.softcap) or forward.recipe.keys_repeated or masked(forward)


def _projections(forward: Forward, kind: Attention, value: Value) -> Heads:
    hidden, width = forward.model.hidden_size, kind.head_dim
    heads, groups = forward.local(kind.heads), maximum(kind.groups // forward.layout.tensor, 1)
    if kind.fused_projection and forward.recipe.transformer_impl == "hf":
        linear = Linear("wqkv", ("q", "k", "v"), hidden, (heads + 2 * groups) * width)
        packed = forward.linear(linear, "attention.qkv", value)
        return (
            forward.tokens("attention.query", heads, width, base=packed),
            forward.tokens("attention.key", groups, width, base=packed),
            forward.tokens("attention.value", groups, width, base=packed),
        )
    found = []
    for name, letter, count in (("query", "q", heads), ("key", "k", groups), ("value", "v", groups)):
        gated = letter == "q" and kind.output_gate
        linear = Linear(f"w{letter}", (letter,), hidden, count * width * (2 if gated else 1))
        projected = forward.linear(linear, f"attention.projected_{name}", value)
        found.append(forward.tokens(f"attention.{name}", count, width, base=projected))
    query, key, values = found
    return query, key, values


def _normalised(forward: Forward, kind: Attention, name: str, heads: Value) -> Value:
    """A norm over each head's width, or over all of them before they are split."""
    label = f"attention.{name}_norm"
    if kind.qk_norm == "per_head":
        return norm(forward, label, heads, forward.like(heads, f"attention.{name}"))
    flat = Value(heads.name, (*heads.shape[:2], heads.shape[2] * heads.shape[3]), heads.dtype, heads.sharded_by, heads)
    norm(forward, label, flat, forward.like(flat, f"attention.{name}"))
    return forward.like(heads, f"attention.{name}")


def _expanded(forward: Forward, name: str, heads: Value, query: Value) -> Value:
    shape = (*query.shape[:-1], heads.shape[-1])
    return Value(f"attention.{name}", shape, forward.recipe.compute, heads.sharded_by)


def _output_copied(forward: Forward, kind: Attention) -> bool:
    """Whether the projection reads a copy of the core's output.

    torch's attention lays its output out like its queries; heads that were rotated by concatenation are contiguous, so
    merging them into one row copies (measured on Phi-3 and GPT-NeoX). Batched products leave the output behind anyway.
    """
    apart = kind.rotary_concatenated and forward.recipe.transformer_impl == "hf"
    return apart and forward.recipe.attention == "sdpa" and not forward.recipe.compiled
