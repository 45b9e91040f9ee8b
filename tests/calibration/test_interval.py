"""The interval around a prediction: what it is made of, and what widens it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calibration.interval import ALLOCATOR, DRIVER_BYTES, band, interval, load_calibration
from service.calibration.residuals import EVERY_RUN, Likeness, load_residuals

KNOWN = Likeness("megatron-core", "transformer_engine", "own", "stated", "allocated")


def width(likeness: Likeness) -> float:
    return band(likeness).high - band(likeness).low


def test_a_known_group_uses_its_own_runs() -> None:
    found = band(KNOWN)
    own = [each.ratio for each in load_residuals() if each.likeness == KNOWN]
    assert (found.group, found.runs) == (KNOWN.levels[-1], len(own))
    inside = sum(found.low <= ratio <= found.high for ratio in own)
    assert inside / len(own) >= found.coverage


def test_a_framework_without_runs_borrows_every_run() -> None:
    found = band(Likeness("unmeasured", "torch", "other", "stated", "allocated"))
    assert (found.group, found.runs) == (EVERY_RUN, len(load_residuals()))
    assert found.reached == load_calibration().reached[EVERY_RUN]


def test_a_kernel_left_to_the_framework_widens_the_interval() -> None:
    assert width(replace(KNOWN, attention="automatic")) > width(KNOWN)


def test_a_version_that_was_not_read_widens_the_interval() -> None:
    assert width(replace(KNOWN, version="other")) > width(KNOWN)


def test_bytes_of_the_device_have_the_range_of_what_allocated_bytes_do_not_show() -> None:
    tensors, device = band(KNOWN), band(replace(KNOWN, kind="device"))
    assert device.low <= tensors.low * ALLOCATOR[0] or device.less_bytes == DRIVER_BYTES[0]
    assert device.more_bytes == DRIVER_BYTES[1]
    assert device.group.endswith("the driver")


@given(st.integers(0, 2**50), st.sampled_from(["allocated", "reserved", "device"]))
def test_an_interval_holds_its_estimate(peak: int, kind: str) -> None:
    found = interval(Likeness("megatron-core", "local", "other", "stated", kind), peak)  # type: ignore[arg-type]
    assert 0 <= found.low_bytes <= peak <= found.high_bytes


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=20))
def test_many_upper_ends_are_those_of_each_prediction(peaks: list[int]) -> None:
    device = replace(KNOWN, kind="device")
    ends = band(device).upper_ends(np.array(peaks, np.int64))
    assert [interval(device, peak).high_bytes for peak in peaks] == pytest.approx(ends.tolist())
