"""Intervals: coverage by construction, and what a thin group borrows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calibration.interval import COVERAGE, band, interval, quantile
from service.calibration.residuals import group_of, load_residuals

KNOWN = group_of("megatron-core", "flash")


def test_a_known_group_uses_its_own_runs() -> None:
    found = band(KNOWN)
    own = [each.ratio for each in load_residuals() if each.group == KNOWN]
    assert (found.group, found.runs) == (KNOWN, len(own))
    inside = sum(found.low <= ratio <= found.high for ratio in own)
    assert inside / len(own) >= COVERAGE


def test_an_unknown_group_borrows_every_run() -> None:
    found = band("fsdp2, stated attention")
    assert (found.group, found.runs) == ("every measured run", len(load_residuals()))


def test_an_unknown_kernel_widens_the_interval() -> None:
    stated, automatic = band(KNOWN), band(group_of("megatron-core", "auto"))
    assert automatic.high - automatic.low > stated.high - stated.low


@given(st.integers(0, 2**50))
def test_an_interval_holds_its_estimate(peak: int) -> None:
    found = interval(KNOWN, peak)
    assert found.low_bytes <= peak <= found.high_bytes


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=200), st.sampled_from([0.05, 0.5, 0.95]))
def test_a_quantile_is_one_of_the_values(values: list[float], level: float) -> None:
    assert quantile(values, level) in values


def test_the_upper_quantile_is_the_conformal_rank() -> None:
    assert quantile([float(each) for each in range(1, 101)], 0.95) == pytest.approx(96.0)
