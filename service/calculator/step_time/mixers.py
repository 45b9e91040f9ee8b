"""Seconds of what mixes tokens in a layer: attention, latent attention, a Mamba-2 mixer, or a gated delta net."""

from collections.abc import Mapping

from service.calculator.layout import Layout
from service.calculator.model import Attention, DeltaNet, LatentAttention, Mamba, Mixer
from service.calculator.recipe import Recipe
from service.calculator.step_time.attention import attention_core
from service.calculator.step_time.collectives import exchange_seconds, gather_seconds, group_of
from service.calculator.step_time.eager import eager_rotary
from service.calculator.step_time.floats import Float, as_float, larger
from service.calculator.step_time.kernels import Cost, passes, product
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

ROTARY_PASSES = {False: (2, 2), True: (9, 9)}
"""Fused: read and write once. As separate operations: two products with sine and cosine, the turned halves negated and
joined, one sum."""

MERGE_PASSES = (5, 5)
"""A partial output is read in 16 bits, the running one read and written in fp32 (memory_model.md 3.6: c partial outputs
and an fp32 accumulator); the backward adds up gradients the same way."""

DELTA_CHUNK = 64
"""Tokens of one chunk of a delta rule (flash-linear-attention @ bc3b101d, gated_delta_rule/chunk.py)."""

SCAN_CHUNK = 128
"""Tokens that a Mamba-2 scan treats as one block (megatron/core/ssm/mamba_mixer.py, chunk_size)."""


def mixer_parts(mixer: Mixer | None, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Costs of a layer's mixer by part, its norm and its tensor-parallel traffic aside."""
    if isinstance(mixer, Attention):
        return _attention(mixer, hidden, layout, recipe, rates)
    if isinstance(mixer, LatentAttention):
        return _latent(mixer, hidden, layout, recipe, rates)
    if isinstance(mixer, Mamba):
        return _mamba(mixer, hidden, layout, recipe, rates)
    if isinstance(mixer, DeltaNet):
        return _delta_net(mixer, hidden, layout, recipe, rates)
    return {}


def _attention(attention: Attention, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    width, tokens, tensor = BYTES[recipe.compute], as_float(layout.tokens), as_float(layout.tensor)
    query, key = attention.query_width / tensor, attention.key_width / tensor
    core = attention_core(
        attention.heads, attention.head_dim, attention.head_dim, attention.window, layout, recipe, rates
    )
    gate = attention.gate_width / tensor
    return {
        "inputs": product(tokens, hidden, query + gate + 2.0 * key, recipe, rates),
        "output": product(tokens, query, hidden, recipe, rates),
        **({"gate": passes(tokens * gate, 3, 5, width, rates)} if attention.output_gate else {}),
        "rotary": passes(tokens * (query + key), *ROTARY_PASSES[eager_rotary(recipe)], width, rates),
        "core": _over_context(core, query, 2.0 * key, layout, recipe, rates),
    }


def _latent(latent: LatentAttention, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """The projections down are whole on every rank, for its own tokens; those up are split by heads."""
    width, tokens, tensor = BYTES[recipe.compute], as_float(layout.tokens), as_float(layout.tensor)
    own = tokens / as_float(layout.sequence_shards)
    heads = latent.heads / tensor
    per_key = latent.nope_dim + latent.rope_dim
    query, value = heads * per_key, heads * latent.value_dim

    def linear(rows: Float, inner: Float, columns: Float) -> Cost:
        return product(rows, inner, columns, recipe, rates)

    down = linear(own, hidden, float(latent.latent_rank + latent.rope_dim))
    up = linear(tokens, float(latent.latent_rank), heads * latent.nope_dim + value)
    if latent.query_rank:
        down = down + linear(own, hidden, float(latent.query_rank))
        up = up + linear(tokens, float(latent.query_rank), query)
    else:
        up = up + linear(tokens, hidden, query)
    core = attention_core(latent.heads, per_key, latent.value_dim, None, layout, recipe, rates)
    return {
        "inputs": down,
        "up_projections": up,
        "output": linear(tokens, value, hidden),
        "rotary": passes(tokens * heads * 2.0 * latent.rope_dim, *ROTARY_PASSES[eager_rotary(recipe)], width, rates),
        "core": _over_context(core, query, query + value, layout, recipe, rates),
    }


def _mamba(mamba: Mamba, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Projections, convolution, and the scan: products inside a block of tokens, and with the state between blocks.

    Source of the scan's count: Dao and Gu 2024 (arXiv 2405.21060), section 6.
    """
    width, tokens, tensor = BYTES[recipe.compute], as_float(layout.tokens), as_float(layout.tensor)
    inner, state = mamba.inner_width / tensor, mamba.state_width / tensor
    columns = 2.0 * inner + state + mamba.heads / tensor
    inside = tokens * SCAN_CHUNK * (state / 2.0 + inner)
    between = 2.0 * tokens * inner * mamba.state
    once = 2.0 * (inside + between) / rates.product + rates.kernel_seconds
    return {
        "inputs": product(tokens, hidden, columns, recipe, rates),
        "output": product(tokens, inner, hidden, recipe, rates),
        "convolution": passes(tokens * (inner + state), 2, 3, width, rates),
        "scan": Cost(once, 2.0 * once),
    }


def _delta_net(delta: DeltaNet, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Projections, convolution, gated norm, and the delta rule: products inside a chunk of tokens and with the state.

    Inside a chunk keys meet keys and queries, and the solved matrix keys and values; the state is read by keys and
    queries and written by keys. Source of the count: flash-linear-attention @ bc3b101d, gated_delta_rule/chunk.py.
    """
    width, tokens, tensor = BYTES[recipe.compute], as_float(layout.tokens), as_float(layout.tensor)
    convolved, values = delta.convolved / tensor, delta.value_width / tensor
    heads = delta.value_heads / tensor
    keys = heads * delta.key_dim
    inside = tokens * DELTA_CHUNK * (3.0 * keys + 2.0 * values)
    between = 3.0 * tokens * keys * delta.value_dim
    once = 2.0 * (inside + between) / rates.product + rates.kernel_seconds
    return {
        "inputs": product(tokens, hidden, convolved + values + 2.0 * heads, recipe, rates),
        "output": product(tokens, values, hidden, recipe, rates),
        "convolution": passes(tokens * convolved, 2, 3, width, rates),
        "gated_norm": passes(tokens * values, 3, 5, width, rates),
        "scan": Cost(once, 2.0 * once),
    }


def _over_context(core: Cost, query: Float, pair: Float, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Attention, and what of its context-parallel traffic it cannot hide; widths of a rank's queries, and keys+values.

    A ring passes keys and values on while it computes on the last ones, one kernel and one merge of partial outputs for
    each rank; gathering them, or exchanging heads for sequence, comes before and after (memory_model.md 10).
    """
    if isinstance(layout.context, int) and layout.context == 1:
        return core
    width, tokens, context = BYTES[recipe.compute], as_float(layout.tokens), as_float(layout.context)
    group = group_of(layout.context, layout.tensor, rates.fabric)
    gathered = gather_seconds(group, tokens * pair * width * context, rates.fabric)
    if layout.context_method == "p2p":
        merge = passes(tokens * query, *MERGE_PASSES, width, rates)
        steps = Cost(rates.kernel_seconds, rates.kernel_seconds) + merge
        hidden = Cost(larger(core.forward, gathered), larger(core.backward, 2.0 * gathered))
        return hidden + steps.times(context - 1.0)
    if layout.context_method == "all_gather":
        return core + Cost(gathered, gathered)
    exchanged = exchange_seconds(group, tokens * (pair + 2.0 * query) * width, rates.fabric)
    return core + Cost(exchanged, exchanged)
