"""Measured against predicted: mixtures of experts, latent attention and prediction depths on Megatron-Core."""

from statistics import median

from service.calibration.accuracy import share_below
from tests.accuracy.demands import errors, of_family, with_bytes
from tests.accuracy.runs import MEASURED, MEGATRON_CI, compared


def test_mixtures_of_experts_of_megatrons_ci() -> None:
    """Both dispatchers, grouped or not, with and without a split of experts, on three GPUs; routing as it happened."""
    found = errors(
        [each for each in compared(MEGATRON_CI) if each.compared is not None and each.id.startswith("mlm-ci-moe-te")]
    )
    local = errors(
        [each for each in compared(MEGATRON_CI) if each.compared is not None and each.id.startswith("mlm-ci-moe-tp2")]
    )
    assert len(found) >= 15
    assert median(found) <= 0.015
    assert len(local) >= 40
    assert median(local) <= 0.007
    assert share_below(local, 0.95) <= 0.012


def test_every_stage_of_simumax() -> None:
    """DeepSeek-V2's experts padded to a capacity, and Llama 3 over tensor and context ranks, on B200."""
    found = errors(with_bytes(MEASURED, of_family("simumax")))
    assert len(found) >= 6
    assert found[-1] <= 0.003
