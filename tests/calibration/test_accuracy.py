"""Errors of predictions, and verdicts against labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calibration.accuracy import Compared, accuracy, confusion, share_below

SIZES = st.integers(1, 2**50)


def at(measured: int, predicted: int = 100) -> Compared:
    return Compared(predicted, measured, low=90, high=120)


def test_errors_are_shares_of_what_was_measured() -> None:
    found = accuracy([at(100), at(80), at(125), at(200)])
    assert (found.rows, found.predictions) == (4, 1)
    assert found.median == pytest.approx((0.2 + 0.25) / 2)
    assert found.worst == pytest.approx(0.5)
    assert found.bias == pytest.approx(-0.1)


def test_coverage_counts_measurements_inside_their_interval() -> None:
    found = accuracy([at(90), at(120), at(121), at(89)])
    assert (found.coverage, found.width) == (0.5, 0.3)


def test_a_share_is_the_value_that_it_does_not_exceed() -> None:
    assert share_below([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.9) == 9
    assert share_below([5], 0.9) == 5


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=50))
def test_the_median_is_at_most_the_worst(pairs: list[tuple[int, int]]) -> None:
    found = accuracy([Compared(predicted, measured, predicted, predicted) for predicted, measured in pairs])
    assert found.median <= found.worst
    assert found.p90 <= found.worst
    assert abs(found.bias) <= found.worst


def test_labels_are_right_on_the_side_of_the_estimate() -> None:
    found = confusion([("fits", "fits"), ("fits", "tight"), ("fits", "does_not_fit"), ("oom", "does_not_fit")])
    assert (found.rows, found.right, found.wrong_fits) == (4, 0.75, 0.0)


def test_a_warning_is_wrong_and_yet_no_wrong_fits() -> None:
    found = confusion([("oom", "tight"), ("oom", "fits")])
    assert (found.right, found.wrong_fits) == (0.0, 0.5)


def test_labels_of_one_kind_alone_are_counted() -> None:
    found = confusion([("fits", "fits")])
    assert (found.right, found.wrong_fits) == (1.0, 0.0)
