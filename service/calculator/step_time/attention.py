"""Seconds of scores, softmax and weighted values, by the kernel that computes them."""

from service.calculator.layout import Layout
from service.calculator.recipe import Recipe
from service.calculator.step_time.floats import Float, as_float, smaller
from service.calculator.step_time.kernels import Cost
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

BACKWARD = 2.5
"""Operations of fused attention's backward in forwards: five products against two (FlashAttention-2, section 3)."""

WIDE_HEAD = 128

SCORE_PASSES = {"unfused": (3.5, 6.0), "eager": (8.0, 9.0)}
"""Times that a stored score is read or written, in 16 bits, forward and backward.

Forward: the first product writes, the softmax reads and writes, the second product reads. Backward: read for the
gradient of the values, that of the probabilities written, the softmax's two reads and one write, read for queries and
for keys. Megatron's fused softmax reads the causal half alone. Without it scale and mask are passes of their own.
"""

DROPOUT_PASSES = (2.5, 2.5)
"""Dropout of the probabilities reads and writes them, and a mask of one byte."""

WIDER_PASSES = (4.0, 5.0)
"""What a softmax in fp32 moves on top, its casts included (`softmax(dtype=float32).to(bfloat16)`)."""

ALIGNED_HEAD = 8
"""Batched products of heads whose width is no multiple of 8 elements, 16 bytes, run without tensor cores (NVIDIA,
Matrix Multiplication Background, section 3); BLOOM's trials with heads 108 wide lost 30 % [time]."""

SCORE_KERNELS = 4
"""Kernels of attention that stores its scores: two products, scaling with the mask, softmax."""


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
        aligned = key_dim % ALIGNED_HEAD == 0 and value_dim % ALIGNED_HEAD == 0
        rate = rates.product if aligned else rates.vector
        return _stored_scores(tokens * sequence, tokens * sequence * per_pair / rate, local_heads, recipe, rates)
    half = sequence / 2.0
    keys = half if window is None else smaller(half, float(window))
    rows, best = tokens * local_heads, rates.attention
    work = tokens * (keys + best.ramp) * per_pair / (best.narrow if key_dim < WIDE_HEAD else 1.0)
    return Cost(
        work / best.forward * (1.0 + best.forward_rows / rows) + rates.kernel_seconds,
        BACKWARD * work / best.backward * (1.0 + best.backward_rows / rows) + rates.kernel_seconds,
    )


def _stored_scores(pairs: Float, products: Float, local_heads: Float, recipe: Recipe, rates: Rates) -> Cost:
    """Attention of so many pairs of tokens whose two products take `products` seconds."""
    forward, backward = SCORE_PASSES[recipe.attention]
    if recipe.attention_dropout:
        forward, backward = forward + DROPOUT_PASSES[0], backward + DROPOUT_PASSES[1]
    if recipe.softmax_fp32 and recipe.attention == "eager":
        forward, backward = forward + WIDER_PASSES[0], backward + WIDER_PASSES[1]
    scores = pairs * local_heads * BYTES[recipe.compute] / rates.memory
    fixed = SCORE_KERNELS * rates.kernel_seconds
    return Cost(products + scores * forward + fixed, 2.0 * products + scores * backward + fixed)
