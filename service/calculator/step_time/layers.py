"""Seconds of one decoder layer and of the model's two ends, for one micro-batch on one GPU."""

from collections.abc import Mapping

from service.calculator.layout import Layout
from service.calculator.model import LayerKind, Mlp, Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.step_time.collectives import all_reduce_seconds, gather_seconds, group_of
from service.calculator.step_time.feedforward import feedforward_parts
from service.calculator.step_time.floats import Float, as_float, choose
from service.calculator.step_time.kernels import Cost, passes, product
from service.calculator.step_time.mixers import mixer_parts
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

NORM_PASSES = {True: (2, 3), False: (18, 40)}
"""Full-width passes of a norm, forward and backward: fused, and as separate fp32 operations (PyTorch's own kernels
counted one by one; time_model.md 5 has 4 to 5 against 50 to 75 for both passes)."""

RESIDUAL_PASSES = (3, 2)
"""Read two and write one; the gradient is read once and written once."""

LOSS_BYTES = 16
"""Bytes moved per logit: read bf16, write fp32; then read fp32, write fp32 and bf16 (memory_model.md 4, Megatron)."""

LOSS_REDUCTIONS = 3
"""All-reduces of one number per token: maximum, predicted logit, sum (megatron/core/tensor_parallel)."""

RECOMPUTED = {
    "core_attn": ("core",),
    "layernorm": ("norms",),
    "mlp": ("mlp", "activation", "mlp_traffic"),
    "moe": ("router", "mlp", "activation", "permute", "expert_traffic"),
    "moe_act": ("activation",),
    "mla_up_proj": ("up_projections", "rotary"),
    "shared_experts": ("shared_experts",),
}
"""Parts of a layer whose forward runs again, by selective module (memory_model.md 6)."""


def layer_parts(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Costs of a layer by part; together they are the layer."""
    width, hidden = BYTES[recipe.compute], model.hidden_size
    tokens = as_float(layout.tokens)
    residual = tokens * hidden / as_float(layout.sequence_shards)
    halves = sum(each is not None for each in (kind.attention, kind.mlp))
    traffic = _tensor_traffic(tokens * hidden * width, layout, rates)
    parts = {
        "norms": passes(residual, *NORM_PASSES[recipe.norm_fused], width, rates).times(kind.norms),
        "residuals": passes(residual, *RESIDUAL_PASSES, width, rates).times(halves),
        **mixer_parts(kind.attention, hidden, layout, recipe, rates),
        **feedforward_parts(kind.mlp, hidden, layout, recipe, rates),
    }
    if kind.attention is not None:
        parts["mixer_traffic"] = traffic
    if isinstance(kind.mlp, Mlp):
        parts["mlp_traffic"] = traffic
    return parts


def whole(parts: Mapping[str, Cost]) -> Cost:
    """The layer, all parts together."""
    total = Cost()
    for each in parts.values():
        total = total + each
    return total


def selective_recompute(parts: Mapping[str, Cost], modules: tuple[str, ...]) -> Float:
    """Seconds of the forwards that selective checkpointing runs again in one layer."""
    names = {name for module in modules for name in RECOMPUTED.get(module, ()) if name in parts}
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
    once = tokens * vocabulary * (LOSS_BYTES / 2) / rates.memory
    loss = Cost(once + LOSS_REDUCTIONS * group.fixed_seconds, once)
    norm = passes(residual, *NORM_PASSES[recipe.norm_fused], width, rates)
    return norm + product(tokens, hidden, vocabulary, width, rates) + traffic + loss


def prediction_cost(
    model: Model, layers: Mapping[int, Cost], head: Cost, layout: Layout, recipe: Recipe, rates: Rates
) -> Cost:
    """Multi-token prediction on the last stage: for each depth a projection from 2h to h, a layer, the head again."""
    if model.prediction is None:
        return Cost()
    hidden, tensor = float(model.hidden_size), as_float(layout.tensor)
    joined = product(as_float(layout.tokens), 2.0 * hidden, hidden / tensor, BYTES[recipe.compute], rates)
    return (joined + layers[model.prediction.kind] + head).times(model.prediction.depths)


def _tensor_traffic(size_bytes: Float, layout: Layout, rates: Rates) -> Cost:
    """One half's tensor-parallel traffic: an all-reduce each way, or a gather and a scatter each way.

    With sequence parallelism the backward also gathers the norm's output again; Megatron and Transformer Engine start
    that gather before the input-gradient product and wait for it after (tensor_parallel/layers.py), so it is hidden.
    """
    group = group_of(layout.tensor, 1, rates)
    once = choose(
        layout.sequence_parallel == 1,
        2.0 * gather_seconds(group, size_bytes, rates),
        all_reduce_seconds(group, size_bytes, rates),
    )
    return Cost(once, once)
