"""Nested groups of residuals: what a thin group borrows, and the coverage on families left out."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calibration.conformal import COVERAGE, LEVELS, Nested, calibrated_levels, left_out, reached
from service.calibration.residuals import EVERY_RUN, Likeness, Residual

ONE = Likeness("one", "its own", "own", "stated", "allocated")
OTHER = Likeness("other", "its own", "own", "stated", "allocated")
FOREIGN = Likeness("one", "its own", "other", "stated", "allocated")
NEW = Likeness("new", "its own", "own", "stated", "allocated")

RATIOS = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=40)


def runs(ratios: list[float], likeness: Likeness = ONE, family: str = "", weight: float = 1.0) -> list[Residual]:
    """Residuals, each of a family of its own unless one is named."""
    named = [family or f"family {each}" for each in range(len(ratios))]
    return [Residual(likeness, named[each], each, ratio, weight) for each, ratio in enumerate(ratios)]


def spread(center: float, half: float, count: int = 100) -> list[float]:
    return [center - half + 2 * half * (each + 0.5) / count for each in range(count)]


def test_a_large_group_keeps_to_its_own_spread() -> None:
    """Of 100 runs the group keeps 100/104 at its own level, and as much again at those around it."""
    nested = Nested(runs(spread(1.0, 0.01)) + runs(spread(1.0, 0.5), OTHER))
    low, high = nested.factors(ONE, 0.9)
    assert 0.99 <= low < 1.0 < high <= 1.01


def test_a_thin_group_borrows_from_the_runs_around_it() -> None:
    wide = runs(spread(1.0, 0.5), OTHER)
    borrowed = Nested(wide + runs([1.0])).factors(ONE, 0.9)
    alone = Nested(wide + runs([1.0] * 500)).factors(ONE, 0.9)
    assert borrowed[0] < 0.65
    assert borrowed[1] > 1.35
    assert alone == (1.0, 1.0)


def test_a_group_without_runs_has_the_spread_of_every_run() -> None:
    nested = Nested(runs(spread(1.0, 0.1)) + runs(spread(1.0, 0.1), OTHER))
    assert nested.runs(NEW.levels[-1]) == 0
    low, high = nested.factors(NEW, 0.9)
    assert (low, high) == (pytest.approx(0.91, abs=0.003), pytest.approx(1.09, abs=0.003))


def test_repeated_predictions_count_once() -> None:
    repeated = runs([1.3] * 100, weight=0.01)
    nested = Nested(runs(spread(1.0, 0.1)) + repeated)
    assert nested.runs(EVERY_RUN) == 200
    assert nested.predictions(EVERY_RUN) == pytest.approx(101)
    assert nested.factors(ONE, 0.9)[1] < 1.11


def test_a_large_family_weighs_less_than_as_many_families() -> None:
    """A family of 64 predictions weighs 8 of 24 against 16 families of one, where its runs would weigh 64 of 80."""
    one_large = Nested(runs([1.5] * 64, family="large") + runs([1.0] * 16))
    assert one_large.factors(ONE, 0.3) == (1.0, 1.0)
    many = Nested(runs([1.5] * 64) + runs([1.0] * 16))
    assert many.factors(ONE, 0.3) == (1.0, 1.5)


@given(RATIOS, st.sampled_from(LEVELS))
def test_ends_are_around_the_prediction(ratios: list[float], level: float) -> None:
    low, high = Nested(runs(ratios)).factors(ONE, level)
    assert low <= 1.0 <= high
    assert {low, high} <= {*ratios, 1.0}


@given(RATIOS)
def test_a_higher_level_is_never_narrower(ratios: list[float]) -> None:
    nested = Nested(runs(ratios))
    found = [nested.factors(ONE, level) for level in LEVELS]
    assert all(wide[0] <= narrow[0] and wide[1] >= narrow[1] for narrow, wide in pairwise(found))


def test_a_run_is_tried_on_the_other_families() -> None:
    trials = left_out([*runs([1.0] * 20, family="usual"), *runs([1.5], family="odd")], {"own": 0.9})
    assert [each.covered for each in trials if each.residual.family == "odd"] == [False]
    assert all(each.covered for each in trials if each.residual.family == "usual")


def test_coverage_counts_different_predictions() -> None:
    trials = left_out([*runs([1.0] * 10, weight=0.1), *runs([2.0], family="odd")], {"own": 0.9})
    assert reached(trials) == pytest.approx(0.5)


@pytest.mark.parametrize("half", [0.02, 0.2])
def test_a_level_reaches_the_claimed_coverage_on_families_left_out(half: float) -> None:
    found = runs(spread(1.0, half), FOREIGN)
    levels = calibrated_levels(found)
    assert levels.keys() == {"other"}
    assert reached(left_out(found, levels)) >= COVERAGE
    below = {"other": LEVELS[LEVELS.index(levels["other"]) - 1]}
    assert levels["other"] == LEVELS[0] or reached(left_out(found, below)) < COVERAGE


def test_families_that_disagree_get_the_widest_level() -> None:
    apart = [each for at in (0.5, 1.0, 1.5, 2.0) for each in runs([at] * 3, FOREIGN, family=f"at {at}")]
    assert calibrated_levels(apart) == {"other": LEVELS[-1]}


def test_a_version_of_one_family_is_calibrated_on_predictions_left_out() -> None:
    found = runs(spread(1.0, 0.1), family="the only one") + runs([1.0, 1.5], FOREIGN)
    levels = calibrated_levels(found)
    trials = left_out(found, {"own": levels["own"]}, lambda each: each.fold)
    assert reached(trials) >= COVERAGE
    assert len(trials) == 100
