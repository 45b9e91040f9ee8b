"""Seconds of a model's two ends: the embedding, and the head with its loss and depths of prediction."""

from collections.abc import Mapping

from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.step_time.collectives import all_reduce_seconds, fixed_seconds, gather_seconds, group_of
from service.calculator.step_time.eager import eager_norm
from service.calculator.step_time.floats import as_float, choose
from service.calculator.step_time.kernels import Cost, passes, product
from service.calculator.step_time.layers import NORM_PASSES
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

LOSS_BYTES = {
    "megatron": (38, 14),
    "megatron_fused": (34, 8),
    "torch": (6, 8),
    "torch_float": (18, 22),
    "hf": (18, 22),
}
"""Bytes that a loss reads and writes per logit, forward and backward, operation by operation.

Megatron: cast to fp32, maximum, difference, exponential, sum, quotient; product with the gradient, cast back
(tensor_parallel/cross_entropy.py). Compiled: difference and exponential in one. torch: log-softmax, and its backward;
on fp32 copies with both casts.
"""

FUSED_LOSS_BYTES = (6, 2)
"""A fused loss reads the logits twice and writes their gradient, which the backward scales (Transformer Engine
2.11, pytorch/triton/cross_entropy.py)."""

LOSS_REDUCTIONS = 3
"""All-reduces of one number per token: maximum, predicted logit, sum (megatron/core/tensor_parallel)."""


def embedding_cost(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Lookup of the vocabulary shard, then the sum over the tensor group."""
    width, hidden = BYTES[recipe.compute], float(model.hidden_size)
    tokens = as_float(layout.tokens)
    group = group_of(layout.tensor, 1, rates.fabric)
    size = tokens * hidden * width
    gathered = gather_seconds(group, size, rates.fabric)
    reduced = all_reduce_seconds(group, size, rates.fabric)
    sequence = layout.sequence_parallel == 1
    traffic = Cost(choose(sequence, gathered, reduced), choose(sequence, gathered, gathered * 0.0))
    return passes(tokens * hidden, 2, 2, width, rates) + traffic


def head_cost(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Final norm, output head over the padded vocabulary, and loss."""
    width, hidden = BYTES[recipe.compute], float(model.hidden_size)
    tokens, tensor = as_float(layout.tokens), as_float(layout.tensor)
    vocabulary = as_float(padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)) / tensor
    group = group_of(layout.tensor, 1, rates.fabric)
    residual = tokens * hidden / as_float(layout.sequence_shards)
    size = tokens * hidden * width
    gathered = gather_seconds(group, size, rates.fabric)
    reduced = all_reduce_seconds(group, size, rates.fabric)
    sequence = layout.sequence_parallel == 1
    traffic = Cost(choose(sequence, gathered, gathered * 0.0), choose(sequence, gathered, reduced))
    forward, backward = LOSS_BYTES.get(recipe.loss.name, FUSED_LOSS_BYTES)
    loss = passes(tokens * vocabulary, forward, backward, 1, rates)
    agreed = Cost(LOSS_REDUCTIONS * fixed_seconds(group, rates.fabric.all_reduce), 0.0)
    norm = passes(residual, *NORM_PASSES[eager_norm(recipe, model.normalization)], width, rates)
    return norm + product(tokens, hidden, vocabulary, recipe, rates, plain=True) + traffic + loss + agreed


def prediction_cost(
    model: Model, layers: Mapping[int, Cost], head: Cost, layout: Layout, recipe: Recipe, rates: Rates
) -> Cost:
    """Multi-token prediction: for each depth a projection from 2h to h, a layer, the head again."""
    if model.prediction is None:
        return Cost()
    hidden, tensor = float(model.hidden_size), as_float(layout.tensor)
    joined = product(as_float(layout.tokens), 2.0 * hidden, hidden / tensor, recipe, rates)
    return (joined + layers[model.prediction.kind] + head).times(model.prediction.depths)
