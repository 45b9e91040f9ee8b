"""The shipped residuals and the coverage that intervals from them reach."""

import pytest

from service.calibration.interval import load_calibration
from service.calibration.residuals import Residual, load_residuals
from tests.accuracy.residuals import calibration, residuals

STALE = "the calculator's answers changed: run `make accuracy` and commit what it writes"


@pytest.fixture(scope="module")
def now() -> list[Residual]:
    return residuals()


def test_the_shipped_residuals_are_those_of_this_calculator(now: list[Residual]) -> None:
    assert list(load_residuals()) == now, STALE


def test_the_shipped_level_is_that_of_these_residuals(now: list[Residual]) -> None:
    assert load_calibration() == calibration(now), STALE
