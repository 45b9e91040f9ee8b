"""Whether a peak fits: the edges of the three verdicts, for one and for many, and the sentence that explains one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calculator.units import GIB
from service.planner.verdict import VERDICTS, judge, reason, verdict_codes
from tests.builders import A100

GPU = replace(A100, total_bytes=100 * GIB, usable_bytes=95 * GIB)


@pytest.mark.parametrize(
    ("device_bytes", "high_bytes", "verdict"),
    [
        (88 * GIB, 95 * GIB, "fits"),
        (88 * GIB + 1, 90 * GIB, "tight"),
        (60 * GIB, 95 * GIB + 1, "tight"),
        (95 * GIB, 95 * GIB, "tight"),
        (95 * GIB + 1, 96 * GIB, "does_not_fit"),
        (95 * GIB + 1, 0, "does_not_fit"),
    ],
)
def test_the_edges_of_each_verdict(device_bytes: int, high_bytes: int, verdict: str) -> None:
    assert judge(device_bytes, high_bytes, GPU) == verdict


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1, max_size=20))
def test_many_verdicts_equal_each_alone(pairs: list[tuple[int, int]]) -> None:
    device, high = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    codes = np.asarray(verdict_codes(device, high, GPU))
    assert [VERDICTS[code] for code in codes.tolist()] == [judge(*pair, GPU) for pair in pairs]


@pytest.mark.parametrize(
    ("device_bytes", "high_bytes", "sentence"),
    [
        (61 * GIB, 70 * GIB, "stage 3 peaks at 61.0 of 95.0 GiB usable"),
        (61 * GIB, 96 * GIB, "stage 3 peaks at 61.0 of 95.0 GiB usable; the upper end of the estimate is 96.0 GiB"),
        (90 * GIB, 92 * GIB, "stage 3 peaks at 90.0 of 95.0 GiB usable: above 88 % of the GPU, where runs slow down"),
        (120 * GIB, 130 * GIB, "stage 3 needs 120.0 GiB, usable 95.0 GiB; short by 25.0 GiB"),
    ],
)
def test_the_reason_gives_the_numbers_behind_the_verdict(device_bytes: int, high_bytes: int, sentence: str) -> None:
    assert reason(3, device_bytes, high_bytes, GPU) == sentence


@given(st.integers(0, 9999), st.integers(0, 2**53), st.integers(0, 2**53))
def test_the_reason_is_short_enough_for_a_scheduler(stage: int, device_bytes: int, high_bytes: int) -> None:
    assert len(reason(stage, device_bytes, high_bytes, GPU)) <= 120
