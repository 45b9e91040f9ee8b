"""Seconds of one decoder layer and of the model's two ends, for one micro-batch on one GPU."""

from collections.abc import Mapping

from service.calculator.layout import Layout
from service.calculator.model import Attention, LayerKind, Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.step_time.collectives import Group, all_reduce_seconds, gather_seconds, group_of
from service.calculator.step_time.floats import Float, as_float, choose, larger
from service.calculator.step_time.kernels import Cost, attention_core, passes, product
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

NORM_PASSES = {True: (2, 3), False: (18, 40)}
"""Full-width passes of a norm, forward and backward: fused, and as separate fp32 operations (PyTorch's own kernels
counted one by one; time_model.md 5 has 4 to 5 against 50 to 75 for both passes)."""

RESIDUAL_PASSES = (3, 2)
"""Read two and write one; the gradient is read once and written once."""

ROTARY_PASSES = (2, 2)

ACTIVATION_PASSES = {2: (3, 5), 1: (2, 3)}
"""In widths of one branch, by branches: gated reads two and writes one, its backward reads three and writes two."""

MERGE_PASSES = (5, 5)
"""A partial output is read in 16 bits, the running one read and written in fp32 (memory_model.md 3.6: c partial outputs
and an fp32 accumulator); the backward adds up gradients the same way."""

LOSS_BYTES = 16
"""Bytes moved per logit: read bf16, write fp32; then read fp32, write fp32 and bf16 (memory_model.md 4, Megatron)."""

LOSS_REDUCTIONS = 3
"""All-reduces of one number per token: maximum, predicted logit, sum (megatron/core/tensor_parallel)."""

RECOMPUTED = {
    "core_attn": ("core",),
    "layernorm": ("norms",),
    "mlp": ("mlp", "activation", "mlp_traffic"),
    "moe_act": ("activation",),
}
"""Parts of a layer whose forward runs again, by selective module."""


def layer_parts(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Costs of a layer by part; together they are the layer."""
    width, hidden = BYTES[recipe.compute], float(model.hidden_size)
    tokens, tensor = as_float(layout.tokens), as_float(layout.tensor)
    attention, mlp = kind.attention, kind.mlp
    residual = tokens * hidden / as_float(layout.sequence_shards)
    query, key = attention.query_width / tensor, attention.key_width / tensor
    norm, core = (
        passes(residual, *NORM_PASSES[recipe.norm_fused], width, rates),
        _core(attention, layout, recipe, rates),
    )
    traffic = _tensor_traffic(tokens * hidden * width, layout, rates)
    inner = mlp.width / tensor
    up = product(tokens, hidden, mlp.branches * inner, width, rates)
    return {
        "norms": _times(norm, kind.norms),
        "projections": product(tokens, hidden, query + 2.0 * key, width, rates)
        + product(tokens, query, hidden, width, rates),
        "rotary": passes(tokens * (query + key), *ROTARY_PASSES, width, rates),
        "core": core,
        "residuals": _times(passes(residual, *RESIDUAL_PASSES, width, rates), 2),
        "mlp": up + product(tokens, inner, hidden, width, rates),
        "activation": passes(tokens * inner, *ACTIVATION_PASSES[mlp.branches], width, rates),
        "attention_traffic": traffic,
        "mlp_traffic": traffic,
    }


def whole(parts: Mapping[str, Cost]) -> Cost:
    """The layer, all parts together."""
    total = Cost()
    for each in parts.values():
        total = total + each
    return total


def selective_recompute(parts: Mapping[str, Cost], modules: tuple[str, ...]) -> Float:
    """Seconds of the forwards that selective checkpointing runs again in one layer."""
    names = {name for module in modules for name in RECOMPUTED.get(module, ())}
    total: Float = 0.0
    for name in sorted(names):
        total = total + parts[name].forward
    return total


def embedding_cost(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Lookup of the vocabulary shard, then the sum over the tensor group."""
    width, hidden = BYTES[recipe.compute], float(model.hidden_size)
    tokens = as_float(layout.tokens)
    group = group_of(layout.tensor, 1, rates)
    size = tokens * hidden * width
    reduced, gathered = all_reduce_seconds(group, size, rates), gather_seconds(group, size, rates)
    sequence = layout.sequence_parallel == 1
    traffic = Cost(choose(sequence, gathered, reduced), choose(sequence, gathered, gathered * 0.0))
    return passes(tokens * hidden, 2, 2, width, rates) + traffic


def head_cost(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Final norm, output head over the padded vocabulary, and loss."""
    width, hidden = BYTES[recipe.compute], float(model.hidden_size)
    tokens, tensor = as_float(layout.tokens), as_float(layout.tensor)
    vocabulary = as_float(padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)) / tensor
    group = group_of(layout.tensor, 1, rates)
    residual = tokens * hidden / as_float(layout.sequence_shards)
    size = tokens * hidden * width
    reduced, gathered = all_reduce_seconds(group, size, rates), gather_seconds(group, size, rates)
    sequence = layout.sequence_parallel == 1
    traffic = Cost(choose(sequence, gathered, gathered * 0.0), choose(sequence, gathered, reduced))
    loss = Cost(
        tokens * vocabulary * (LOSS_BYTES / 2) / rates.memory + LOSS_REDUCTIONS * group.fixed_seconds,
        tokens * vocabulary * (LOSS_BYTES / 2) / rates.memory,
    )
    norm = passes(residual, *NORM_PASSES[recipe.norm_fused], width, rates)
    return norm + product(tokens, hidden, vocabulary, width, rates) + traffic + loss


def _times(cost: Cost, count: int) -> Cost:
    return Cost(count * cost.forward, count * cost.backward)


def _tensor_traffic(size_bytes: Float, layout: Layout, rates: Rates) -> Cost:
    """Half a layer's tensor-parallel traffic: one all-reduce each way, or a gather and a scatter each way.

    With sequence parallelism the backward also gathers the norm's output again; Megatron and Transformer Engine start
    that gather before the input-gradient product and wait for it after (tensor_parallel/layers.py), so it is hidden.
    """
    group: Group = group_of(layout.tensor, 1, rates)
    once = choose(
        layout.sequence_parallel == 1,
        2.0 * gather_seconds(group, size_bytes, rates),
        all_reduce_seconds(group, size_bytes, rates),
    )
    return Cost(once, once)


def _core(attention: Attention, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Attention, and what of its context-parallel traffic it cannot hide.

    A ring passes keys and values on while it computes on the last ones, one kernel and one merge of partial outputs for
    each rank; gathering them, or exchanging heads for sequence, comes before and after (memory_model.md 10).
    """
    core = attention_core(attention, layout, recipe, rates)
    if isinstance(layout.context, int) and layout.context == 1:
        return core
    width, context = BYTES[recipe.compute], as_float(layout.context)
    tokens, tensor = as_float(layout.tokens), as_float(layout.tensor)
    group = group_of(layout.context, layout.tensor, rates)
    query, key = attention.query_width / tensor, attention.key_width / tensor
    pair = 2.0 * tokens * key * width
    if layout.context_method == "p2p":
        merge = passes(tokens * query, *MERGE_PASSES, width, rates)
        steps = Cost(rates.kernel_seconds, rates.kernel_seconds) + merge
        moved = gather_seconds(group, pair * context, rates)
        ring = Cost((context - 1.0) * steps.forward, (context - 1.0) * steps.backward)
        return Cost(larger(core.forward, moved), larger(core.backward, 2.0 * moved)) + ring
    gathers = layout.context_method == "all_gather"
    exchanged = pair * context if gathers else pair + 2.0 * tokens * query * width
    moved = gather_seconds(group, exchanged, rates)
    return core + Cost(moved, moved)
