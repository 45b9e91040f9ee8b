"""Seconds of kernels on one GPU: matrix products, attention, and passes that only move memory."""

from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.recipe import Recipe
from service.calculator.step_time.floats import Float, as_float, larger, smaller
from service.calculator.step_time.rates import ATTENTION_BACKWARD, Rates
from service.calculator.units import BYTES

SCORE_PASSES = {"unfused": (4, 5), "eager": (5, 7)}
"""Times that stored attention scores are read or written, forward and backward: 9 with a fused softmax, 12 without
(time_model.md 3: 3 to 9 and 11 to 12 passes behave like measured kernels)."""

SCORE_KERNELS = 4
"""Kernels of attention that stores its scores: two products, scaling with the mask, softmax."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one part of the work, forward and backward."""

    forward: Float = 0.0
    backward: Float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.forward + other.forward, self.backward + other.backward)

    def times(self, count: Float) -> "Cost":
        """The same part, so many times."""
        return Cost(self.forward * count, self.backward * count)

    @property
    def both(self) -> Float:
        """Forward and backward together."""
        return self.forward + self.backward


def product(rows: Float, inner: Float, columns: Float, width: int, rates: Rates) -> Cost:
    """A linear layer of `rows` tokens, `inner` inputs and `columns` outputs; its backward is two products of that size.

    Roofline: the slower of computing 2·rows·inner·columns and moving the three operands once.
    """
    compute = 2.0 * rows * inner * columns / rates.matmul
    memory = width * (rows * inner + inner * columns + rows * columns) / rates.memory
    once = larger(compute, memory) + rates.kernel_seconds
    return Cost(once, 2.0 * once)


def passes(elements: Float, forward: float, backward: float, width: int, rates: Rates) -> Cost:
    """A kernel that reads or writes `elements` so many times, forward and backward."""
    once = elements * width / rates.memory
    return Cost(once * forward + rates.kernel_seconds, once * backward + rates.kernel_seconds)


def attention_core(
    heads: int, key_dim: int, value_dim: int, window: int | None, layout: Layout, recipe: Recipe, rates: Rates
) -> Cost:
    """Scores, softmax and weighted values of one layer on one GPU; `key_dim` and `value_dim` are widths of a head.

    Fused kernels skip what is masked: a query meets half of the sequence, or its window. Kernels that store scores
    compute and touch all of them.
    """
    tokens, sequence = as_float(layout.tokens), as_float(layout.sequence_length)
    local_heads = heads / as_float(layout.tensor)
    per_pair = 2.0 * local_heads * (key_dim + value_dim)
    if recipe.scores_stored:
        return _stored_scores(tokens * sequence, per_pair, local_heads, recipe, rates)
    keys = sequence / 2.0 if window is None else smaller(sequence / 2.0, float(window))
    once = tokens * keys * per_pair / rates.attention
    return Cost(once + rates.kernel_seconds, ATTENTION_BACKWARD * once + rates.kernel_seconds)


def _stored_scores(pairs: Float, per_pair: Float, local_heads: Float, recipe: Recipe, rates: Rates) -> Cost:
    forward, backward = SCORE_PASSES[recipe.attention]
    once = pairs * per_pair / rates.matmul
    scores = pairs * local_heads * BYTES[recipe.compute] / rates.memory
    fixed = SCORE_KERNELS * rates.kernel_seconds
    return Cost(once + scores * forward + fixed, 2.0 * once + scores * backward + fixed)
