"""Seconds of kernels on one GPU: matrix products, and passes that only move memory."""

from dataclasses import dataclass

import numpy as np

from service.calculator.recipe import Recipe
from service.calculator.step_time.floats import Float, larger, smaller
from service.calculator.step_time.rates import MOST_SPLITS, SPLIT_DEPTH, TILE_COLUMNS, TILE_ROWS, Rates
from service.calculator.units import BYTES

ACCUMULATED = 8
"""Bytes an element that a weight gradient reads and writes in an fp32 accumulator."""

CAST_BYTES = 4
"""Bytes an element to turn a 16-bit operand into 8 bits, and its transpose for the backward: read 2, write 1 + 1."""


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


def product(
    rows: Float, inner: Float, columns: Float, recipe: Recipe, rates: Rates, *, plain: bool = False, copies: Float = 1.0
) -> Cost:
    """A linear layer of `rows` tokens, `inner` inputs and `columns` outputs, `copies` times side by side.

    Its backward is two products: the gradient of the inputs, and that of the weight, added to an fp32 accumulator;
    frozen weights have none. `plain` products stay in 16 bits: heads and routers.
    """
    width = BYTES[recipe.compute]
    eight_bit = recipe.fp8 is not None and not plain
    rate, operand = (rates.product_8bit, 1) if eight_bit else (rates.product, width)
    fixed = rates.kernel_seconds
    moved = operand * (rows * inner + inner * columns) + width * rows * columns
    forward = _roofline(rows, columns, inner, copies, rate, moved, rates) + fixed
    backward = _roofline(rows, inner, columns, copies, rate, moved, rates) + fixed
    if recipe.adapters is None:
        gathered = operand * (rows * inner + rows * columns) + ACCUMULATED * inner * columns
        slower = rate * rates.weight_gradient
        backward = backward + _roofline(inner, columns, rows, copies, slower, gathered, rates) + fixed
    cast = Cost()
    if eight_bit:
        cast = Cost(copies * rows * inner, copies * rows * columns).times(CAST_BYTES / rates.memory)
    return Cost(forward, backward) + cast


def passes(elements: Float, forward: float, backward: float, width: int, rates: Rates) -> Cost:
    """A kernel that reads or writes `elements` so many times, forward and backward."""
    once = elements * width / rates.memory
    return Cost(once * forward + rates.kernel_seconds, once * backward + rates.kernel_seconds)


def _roofline(
    rows: Float, columns: Float, inner: Float, copies: Float, rate: Float, moved: Float, rates: Rates
) -> Float:
    """The slower of computing `copies` products and moving their operands once.

    A product is computed in tiles, as many at a time as there are multiprocessors; the last wave takes as long as the
    others, unless the inner dimension is long enough to be split. A device without tiles computes what there is.
    """
    compute: Float
    if rates.processors:
        tiles: Float = copies * np.ceil(rows / TILE_ROWS) * np.ceil(columns / TILE_COLUMNS)
        splits = np.floor(smaller(larger(inner / SPLIT_DEPTH, 1.0), float(MOST_SPLITS)))
        waves = np.ceil(tiles * splits / rates.processors) / splits
        compute = 2.0 * waves * rates.processors * TILE_ROWS * TILE_COLUMNS * inner / rate
    else:
        compute = 2.0 * copies * rows * columns * inner / rate
    return larger(compute, copies * moved / rates.memory)
