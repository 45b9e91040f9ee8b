"""Measured against predicted: the peaks that Megatron-LM's CI recorded for dense models."""

from statistics import median, quantiles

import pytest

from service.calibration.residuals import Residual, load_residuals
from tests.accuracy.residuals import measured_rows, residual


@pytest.fixture(scope="module")
def found() -> list[tuple[str, Residual]]:
    return [(row["id"], residual(row)) for row in measured_rows()]


def errors(found: list[tuple[str, Residual]], group: str = "") -> list[float]:
    """Absolute relative errors of the prediction."""
    return sorted(abs(1 / each.ratio - 1) for _, each in found if group in each.group)


def test_rows_that_state_their_attention_backend(found: list[tuple[str, Residual]]) -> None:
    stated = errors(found, "stated attention")
    assert len(stated) >= 100
    assert median(stated) <= 0.007
    assert quantiles(stated, n=20)[-1] <= 0.03


def test_rows_of_every_backend(found: list[tuple[str, Residual]]) -> None:
    """Automatic attention of the older container stored its scores in some runs, which no key of the job tells."""
    assert median(errors(found)) <= 0.02


def test_seven_billion_parameters_at_eight_thousand_tokens(found: list[tuple[str, Residual]]) -> None:
    large = [each for name, each in found if "7b-tp4-pp1-memory-speed" in name]
    assert len(large) >= 3
    assert max(errors([("", each) for each in large])) <= 0.001


def test_the_shipped_residuals_are_those_of_this_calculator(found: list[tuple[str, Residual]]) -> None:
    """Run `make residuals` when the calculator changes."""
    assert list(load_residuals()) == [each for _, each in found]
