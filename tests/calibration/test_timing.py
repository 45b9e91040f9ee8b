"""Errors and rankings of step times: each measure on groups small enough to work out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calibration.timing import Timed, errors, ranking, without_stalled


def group(*speeds: tuple[float, float], name: str = "a") -> list[Timed]:
    """Runs of (predicted, measured) speed; seconds are their inverse."""
    return [Timed(name, predicted, measured, 1 / predicted, 1 / measured) for predicted, measured in speeds]


def test_errors_are_of_step_times() -> None:
    found = errors(
        [Timed("a", 1.0, 1.0, 11.0, 10.0), Timed("a", 1.0, 1.0, 6.0, 10.0), Timed("a", 1.0, 1.0, 10.2, 10.0)]
    )
    assert found is not None
    assert (found.rows, found.worst) == (3, pytest.approx(-0.4))
    assert found.mean == pytest.approx(0.52 / 3)
    assert found.bias == pytest.approx(0.02)


def test_a_speed_without_a_unit_has_no_error_and_is_ranked() -> None:
    relative = [Timed("a", speed, speed * 7, 1 / speed, None) for speed in (1.0, 2.0, 3.0)]
    assert errors(relative) is None
    found = ranking(relative)
    assert found is not None
    assert found.correlation == pytest.approx(1.0)


def test_pairs_closer_than_three_percent_are_not_asked_for() -> None:
    found = ranking(group((1.0, 1.0), (0.9, 1.02), (2.0, 1.5)))
    assert found is not None
    assert (found.pairs, found.pair_accuracy) == (2, 1.0)


def test_a_pair_that_is_predicted_equal_is_half_right() -> None:
    found = ranking(group((1.0, 1.0), (1.0, 2.0), (3.0, 3.0)))
    assert found is not None
    assert found.pair_accuracy == pytest.approx(2.5 / 3)


def test_losses_are_of_the_predicted_best_and_of_the_best_of_three() -> None:
    found = ranking(group((9.0, 4.0), (8.0, 5.0), (7.0, 2.0), (6.0, 6.0)))
    assert found is not None
    assert found.best_loss == pytest.approx(0.5)
    assert found.best_of_loss == pytest.approx(0.2)


def test_groups_are_ranked_on_their_own() -> None:
    """The second group is faster in both; nothing is asked about pairs across groups."""
    found = ranking(group((1, 1), (2, 2), (3, 3)) + group((13, 31), (12, 32), (11, 33), name="b"))
    assert found is not None
    assert (found.groups, found.pairs) == (2, 6)
    assert found.correlation == pytest.approx(0.0)
    assert found.pair_accuracy == 0.5


def test_two_runs_are_no_ranking() -> None:
    assert ranking(group((1, 1), (2, 2))) is None


def test_runs_slower_than_a_third_of_the_best_are_stalls() -> None:
    kept = without_stalled(group((1, 3.0), (1, 1.0), (1, 0.99)) + group((1, 0.5), name="b"))
    assert [each.measured_speed for each in kept] == [3.0, 1.0, 0.5]


@given(st.lists(st.floats(0.5, 2.0), min_size=3, max_size=12, unique=True))
def test_a_right_order_loses_nothing_whatever_the_scale(speeds: list[float]) -> None:
    found = ranking(group(*((speed**3, speed) for speed in speeds)))
    assert found is not None
    assert found.correlation == pytest.approx(1.0)
    assert (found.pair_accuracy, found.best_loss, found.best_of_loss) == (1.0, 0.0, 0.0)
