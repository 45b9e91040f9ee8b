"""Times are floats: one for one layout, or float64 arrays for many. The operations that both share."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.calculator.units import Int

Float: TypeAlias = float | NDArray[np.floating[Any]]
"""Seconds, rates or shares of one layout, or of many at once."""


def as_float(value: Int) -> Float:
    """Counts as floats, so that products of large counts cannot overflow."""
    return float(value) if isinstance(value, int) else value.astype(np.float64)


def larger(left: Float, right: Float) -> Float:
    """The larger of two, elementwise on arrays."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.maximum(left, right)
    return max(left, right)


def smaller(left: Float, right: Float) -> Float:
    """The smaller of two, elementwise on arrays."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.minimum(left, right)
    return min(left, right)


def choose(condition: Any, then: Float, otherwise: Float) -> Float:
    """`then` where the condition holds, else `otherwise`."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, then, otherwise)
    return then if condition else otherwise
