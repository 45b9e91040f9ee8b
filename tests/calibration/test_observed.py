"""Observed runs: what few may not do, what many do, what one alone may not do, and what running out of memory says."""

import random
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calibration.conformal import Nested
from service.calibration.interval import load_calibration
from service.calibration.observed import FEWEST, Run, Shipped, pooled
from service.calibration.residuals import Residual, load_residuals

RATIOS = np.linspace(0.8, 1.25, 46)
SHIPPED = Shipped(RATIOS, np.full(46, 1 / 46), 0.82, 1.22)
"""Measured runs of other places, spread around 1."""


def runs(ratios: Sequence[float], oom: Sequence[float] = ()) -> list[Run]:
    """Runs of a different job each; those out of memory have the least ratio that they can have."""
    lived = [Run(ratio, oom=False, prediction=f"job {each}") for each, ratio in enumerate(ratios)]
    return lived + [Run(ratio, oom=True, prediction=f"dead {each}") for each, ratio in enumerate(oom)]


def around(center: float, count: int) -> list[float]:
    return [center * (1 + 0.02 * ((each * 7) % count / count - 0.5)) for each in range(count)]


def test_the_middle_goes_from_the_prediction_to_the_runs_as_they_become_many() -> None:
    centers = [pooled(runs([1.2] * count), SHIPPED).center for count in (FEWEST, 20, 200)]
    assert 1.05 < centers[0] < centers[1] < centers[2] <= 1.2
    assert centers[2] == pytest.approx(1.2, rel=0.01)


def test_many_runs_narrow_the_interval_to_their_own_spread() -> None:
    found = pooled(runs(around(1.1, 200)), SHIPPED)
    assert 1.08 < found.low < found.center < found.high < 1.12
    assert found.reached >= 0.85


@pytest.mark.parametrize("count", [FEWEST, 8, 13])
def test_few_runs_never_narrow_it(count: int) -> None:
    found = pooled(runs(around(1.0, count)), SHIPPED)
    assert found.low <= SHIPPED.low
    assert found.high >= SHIPPED.high


def test_runs_of_one_prediction_weigh_less_than_as_many_of_different_ones() -> None:
    repeated = [Run(1.2, oom=False, prediction="one job")] * 25
    assert pooled(repeated, SHIPPED).center == pytest.approx(pooled(runs([1.2] * 5), SHIPPED).center)


@pytest.mark.parametrize("ratio", [0.4, 1.6, 3.9])
@pytest.mark.parametrize("count", [FEWEST, 20, 50])
def test_one_run_far_from_all_others_moves_nothing_far(ratio: float, count: int) -> None:
    usual = around(1.0, count)
    without, found = pooled(runs(usual), SHIPPED), pooled(runs([*usual, ratio]), SHIPPED)
    assert found.outliers == 1
    assert found.center == pytest.approx(without.center, abs=0.01)
    assert (found.low, found.high) == (pytest.approx(without.low, abs=0.06), pytest.approx(without.high, abs=0.06))


def test_a_second_one_as_far_counts() -> None:
    found = pooled(runs([*around(1.0, 20), 1.6, 1.65]), SHIPPED)
    assert found.outliers == 0
    assert found.high >= 1.6


def test_runs_out_of_memory_raise_the_upper_end_past_where_they_died() -> None:
    usual = runs(around(1.0, 20))
    found = pooled(usual + runs([], oom=[1.4, 1.41]), SHIPPED)
    assert found.high >= 1.4
    assert found.low <= pooled(usual, SHIPPED).low + 0.01


def test_one_run_out_of_memory_alone_does_not() -> None:
    usual = around(1.0, 20)
    assert pooled(runs(usual, oom=[1.4]), SHIPPED).high == pytest.approx(pooled(runs(usual), SHIPPED).high, abs=0.03)


def test_a_run_that_died_as_predicted_says_little() -> None:
    """It was predicted not to fit, so that its ratio can be anything above some value below 1."""
    usual = around(1.0, 20)
    found, without = pooled(runs(usual, oom=[0.7] * 3), SHIPPED), pooled(runs(usual), SHIPPED)
    assert found.center == pytest.approx(without.center, abs=0.01)
    assert found.high == pytest.approx(without.high, abs=0.05)


def test_where_all_run_out_of_memory_more_is_expected() -> None:
    found = pooled(runs([], oom=[1.3] * 10), SHIPPED)
    assert found.center > 1.15
    assert found.high >= 1.3


@given(st.lists(st.floats(0.25, 4.0), min_size=FEWEST, max_size=40), st.lists(st.floats(0.25, 4.0), max_size=5))
def test_the_interval_holds_its_middle(ratios: list[float], oom: list[float]) -> None:
    found = pooled(runs(ratios, oom), SHIPPED)
    assert 0 < found.low <= found.center <= found.high
    assert 0 <= found.reached <= 1
    assert np.isfinite(found.high)


@given(st.lists(st.floats(0.5, 2.0), min_size=FEWEST, max_size=30), st.randoms())
def test_the_order_of_runs_does_not_matter(ratios: list[float], order: random.Random) -> None:
    shuffled = runs(ratios)
    order.shuffle(shuffled)
    one, other = pooled(runs(ratios), SHIPPED), pooled(shuffled, SHIPPED)
    assert (one.center, one.low, one.high) == (other.center, other.low, other.high)


@pytest.mark.parametrize("count", [5, 10, 20, 40])
def test_the_claimed_coverage_is_reached_on_measured_runs_of_a_place_that_was_left_out(count: int) -> None:
    """Each family of the shipped runs in turn as the observed one: some of its runs are shown, the others are asked."""
    families: dict[tuple[str, ...], list[Residual]] = defaultdict(list)
    for each in load_residuals():
        kept = each.likeness
        families[each.family, kept.framework, kept.implementation, kept.kind].append(each)
    held = [_held(found, count) for found in families.values() if len(found) >= count + 4]
    assert len(held) >= 3
    assert fmean(held) >= 0.9


def _held(family: Sequence[Residual], count: int) -> float:
    """Share of a family's other runs in the interval, over several draws."""
    likeness = family[0].likeness
    others = Nested([each for each in load_residuals() if each.family != family[0].family])
    ends = others.factors(likeness, load_calibration().levels[likeness.version])
    shipped = Shipped(np.array(others.ratios), np.array(others.weights(likeness)), *ends)
    shares = []
    for draw in range(15):
        shown = set(random.Random(draw).sample(range(len(family)), count))  # noqa: S311  (which are shown is no secret)
        found = pooled(
            [Run(family[each].ratio, oom=False, prediction=family[each].predicted_bytes) for each in shown], shipped
        )
        asked = [each.ratio for index, each in enumerate(family) if index not in shown]
        shares.append(sum(found.low <= each <= found.high for each in asked) / len(asked))
    return fmean(shares)
