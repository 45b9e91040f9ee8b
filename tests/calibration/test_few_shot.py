"""A few measured steps of a cluster: what they fix, what they leave alone, and what a single one may not do."""

import numpy as np
import pytest

from service.calibration.few_shot import LINKS, PRODUCTS, Times, TooFewSteps, Tuning, fit


def step(compute: float, traffic: float) -> Times:
    """A step of some computation and some traffic over links, at every pair of factors."""
    seconds: Times = compute / PRODUCTS[None, :] + traffic / LINKS[:, None]
    return seconds


STEPS = [step(8.0, 2.0), step(5.0, 5.0), step(9.5, 0.5)]


def measured(scale: float, link: float, product: float, steps: list[Times]) -> list[float]:
    at = int(np.abs(LINKS - link).argmin()), int(np.abs(PRODUCTS - product).argmin())
    return [scale * float(each[at]) for each in steps]


def test_what_was_predicted_right_is_left_alone() -> None:
    found = fit(STEPS, measured(1.0, 1.0, 1.0, STEPS))
    assert (found.scale, found.link, found.product) == pytest.approx((1.0, 1.0, 1.0))


def test_a_common_factor_is_found() -> None:
    found = fit(STEPS, measured(1.4, 1.0, 1.0, STEPS))
    assert found.scale / found.product == pytest.approx(1.4, rel=0.05)
    assert found.link == pytest.approx(1.0, rel=0.15)


def test_slow_links_are_found_from_steps_that_use_them_differently() -> None:
    found = fit(STEPS, measured(1.0, 0.6, 1.0, STEPS))
    assert found.link == pytest.approx(0.6, rel=0.2)
    assert found.scale / found.product == pytest.approx(1.0, rel=0.1)


def test_an_outlier_moves_nothing_far() -> None:
    seconds = measured(1.2, 1.0, 1.0, STEPS)
    seconds[1] *= 4
    found = fit(STEPS, seconds)
    assert found.scale / found.product == pytest.approx(1.2, rel=0.15)


def test_the_same_layout_twice_says_nothing_about_links() -> None:
    twice = [STEPS[0], STEPS[0]]
    found = fit(twice, measured(1.3, 1.0, 1.0, twice))
    assert found.link == pytest.approx(1.0, rel=0.25)


def test_one_step_alone_fits_nothing() -> None:
    with pytest.raises(TooFewSteps, match="1 measured step: at least 2"):
        fit(STEPS[:1], [10.0])


def test_nothing_fitted_changes_nothing() -> None:
    assert Tuning() == Tuning(1.0, 1.0, 1.0)
