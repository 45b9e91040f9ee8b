"""Widths of data types, powers of 1024, and the few operations that formulas use on ints and int64 arrays alike."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Int: TypeAlias = int | NDArray[np.int64]
"""A Python int (one layout) or an int64 array (many layouts at once)."""

Condition: TypeAlias = Int | NDArray[np.bool_]
"""A comparison of `Int`s, or a flag kept as 0 or 1."""

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

BYTES: Mapping[str, int] = MappingProxyType(
    {
        "fp64": 8,
        "fp32": 4,
        "bf16": 2,
        "fp16": 2,
        "fp8": 1,
        "int64": 8,
        "int32": 4,
        "int16": 2,
        "int8": 1,
        "uint8": 1,
        "bool": 1,
    }
)
"""Bytes of one element of each data type."""


def ceil_div(dividend: Int, divisor: Int) -> Int:
    """The quotient rounded up; exact on integers of any size."""
    return -(-dividend // divisor)


def round_up(value: Int, multiple: Int) -> Int:
    """The next multiple at or above the value."""
    return ceil_div(value, multiple) * multiple


def minimum(left: Int, right: Int) -> Int:
    """The smaller of two, elementwise on arrays; stays a Python int on ints."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return np.minimum(left, right)


def maximum(left: Int, right: Int) -> Int:
    """The larger of two, elementwise on arrays; stays a Python int on ints."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return np.maximum(left, right)


def where(condition: Condition, then: Int, otherwise: Int) -> Int:
    """`then` where the condition holds (is not 0), else `otherwise`; one of the two itself on a scalar condition."""
    if isinstance(condition, int):
        return then if condition else otherwise
    return np.where(condition, then, otherwise)


def power_of_two(value: Int) -> Int:
    """The next power of two at or above a positive value below 2**40."""
    found: Int = 1
    for _ in range(40):
        found = where(found < value, found * 2, found)
    return found


def lcm(left: Int, right: Int) -> Int:
    """Least common multiple, elementwise on arrays."""
    if isinstance(left, int) and isinstance(right, int):
        return math.lcm(left, right)
    return np.lcm(left, right)
