"""Measured against predicted: the peaks that Megatron-LM's CI recorded, exact bytes of the last rank."""

from collections.abc import Sequence
from statistics import median

import pytest

from service.calibration.accuracy import share_below
from service.usecases.validation import Comparison
from tests.accuracy.demands import errors, states_its_attention
from tests.accuracy.runs import MEGATRON_CI, compared


@pytest.fixture(scope="module")
def found() -> Sequence[Comparison]:
    return [each for each in compared(MEGATRON_CI) if each.compared is not None]


def test_rows_that_state_their_attention_backend(found: Sequence[Comparison]) -> None:
    stated = errors([each for each in found if states_its_attention(each)])
    assert len(stated) >= 100
    assert median(stated) <= 0.007
    assert share_below(stated, 0.95) <= 0.03


def test_rows_of_every_backend(found: Sequence[Comparison]) -> None:
    """Automatic attention of the older container stored its scores in some runs, which no key of the job tells."""
    every = errors(found)
    assert median(every) <= 0.02
    assert share_below(every, 0.9) <= 0.08


def test_seven_billion_parameters_at_eight_thousand_tokens(found: Sequence[Comparison]) -> None:
    large = [each for each in found if "7b-tp4-pp1-memory-speed" in each.id]
    assert len(large) >= 3
    assert max(errors(large)) <= 0.001
