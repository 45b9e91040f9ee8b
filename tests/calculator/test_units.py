"""Widths of data types and the integer operations that formulas share between one layout and many."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calculator.units import BYTES, GIB, KIB, MIB, Int, ceil_div, lcm, maximum, minimum, round_up, where

BOUND = 2**31
values = st.integers(0, BOUND)
positives = st.integers(1, BOUND)
Operation = Callable[[Int, Int], Int]


def test_binary_units_are_powers_of_1024() -> None:
    assert (KIB, MIB, GIB) == (1024, 1024**2, 1024**3)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("fp64", np.float64),
        ("fp32", np.float32),
        ("fp16", np.float16),
        ("int64", np.int64),
        ("int32", np.int32),
        ("int16", np.int16),
        ("int8", np.int8),
        ("uint8", np.uint8),
        ("bool", np.bool_),
    ],
)
def test_widths_are_those_of_numpy_where_numpy_has_the_type(name: str, dtype: type[np.generic]) -> None:
    assert BYTES[name] == np.dtype(dtype).itemsize


def test_widths_of_the_types_that_numpy_lacks() -> None:
    assert BYTES["bf16"] * 8 == 16
    assert BYTES["fp8"] * 8 == 8


def test_widths_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        BYTES["fp32"] = 2  # type: ignore[index]


@given(values, positives)
def test_ceil_div_is_the_smallest_number_of_parts_that_hold_the_dividend(dividend: int, divisor: int) -> None:
    parts = ceil_div(dividend, divisor)
    assert (parts - 1) * divisor < dividend <= parts * divisor


@given(values, positives)
def test_round_up_is_the_nearest_multiple_at_or_above(value: int, multiple: int) -> None:
    rounded = round_up(value, multiple)
    assert rounded % multiple == 0
    assert 0 <= rounded - value < multiple


def test_ints_stay_exact_beyond_the_range_of_int64() -> None:
    huge = 2**70 + 1
    assert ceil_div(huge, 2) == 2**69 + 1
    assert round_up(huge, 2) == 2**70 + 2
    assert minimum(huge, huge + 1) == huge
    assert maximum(huge, huge + 1) == huge + 1


@pytest.mark.parametrize("operation", [ceil_div, round_up, minimum, maximum, lcm])
@given(pairs=st.lists(st.tuples(values, positives), min_size=1, max_size=8))
def test_one_operation_gives_the_same_on_ints_and_on_arrays(operation: Operation, pairs: list[tuple[int, int]]) -> None:
    lefts, rights = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    one_by_one = [operation(left, right) for left, right in pairs]
    assert all(isinstance(result, int) for result in one_by_one)
    at_once = operation(lefts, rights)
    assert isinstance(at_once, np.ndarray)
    assert at_once.dtype == np.int64
    assert at_once.tolist() == one_by_one


def test_where_selects_by_a_flag_or_by_a_mask() -> None:
    assert where(1, 7, 5) == 7
    assert where(False, 7, 5) == 5
    mask = np.array([1, 2, 3], dtype=np.int64) > 1
    assert np.asarray(where(mask, 7, np.array([10, 20, 30], dtype=np.int64))).tolist() == [10, 7, 7]
    flags = np.array([0, 1], dtype=np.int64)
    assert np.asarray(where(flags, 7, 5)).tolist() == [5, 7]
