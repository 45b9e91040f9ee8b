"""Step times against measured runs: the ranking that is asked for, and the error after a few measured steps."""

import pytest

from service.calibration.timing import errors, ranking
from tests.timing.demands import Demand, demands
from tests.timing.runs import LARGE, by_operations_alone, calibrated, compared, of, ranked

ALL_FAMILIES = sorted({each.run.family for each in compared() if each.run is not None})


@pytest.mark.parametrize("demand", demands(), ids=lambda demand: f"{demand.rows}: {demand.figure}")
def test_what_is_asked_is_reached(demand: Demand) -> None:
    assert demand.met, f"{demand.found:.4f}"


def test_every_row_is_read_and_most_are_predicted() -> None:
    assert [each.id for each in compared() if each.run is None] == []
    skipped = sum(each.skipped is not None for each in compared())
    assert len(compared()) > 800
    assert skipped < 0.1 * len(compared())


@pytest.mark.parametrize("family", LARGE)
def test_every_family_of_large_dense_models_is_ranked_well(family: str) -> None:
    found = ranking(ranked(of([family])))
    assert found is not None
    assert found.pair_accuracy >= 0.88
    assert found.best_loss <= 0.03


@pytest.mark.parametrize(
    ("family", "mean"), [("korthikanti", 0.05), ("megatron-sc21", 0.06), ("zero-bubble", 0.08), ("simumax-b200", 0.10)]
)
def test_step_times_are_met_where_the_sources_describe_the_runs(family: str, mean: float) -> None:
    """Megatron's own papers and single-node runs, of which kernels and layouts are all known; nothing is fitted."""
    found = errors(ranked(of([family])))
    assert found is not None
    assert found.mean < mean


@pytest.mark.parametrize("family", ["hagemann", "vtrain-multi", "vtrain-single", "simumax-b200", "amp-t4"])
def test_counting_operations_ranks_worse(family: str) -> None:
    rows = of([family])
    found, plain = ranking(ranked(rows)), ranking(by_operations_alone(rows))
    assert found is not None
    assert plain is not None
    assert found.pair_accuracy > plain.pair_accuracy
    assert found.correlation > plain.correlation


@pytest.mark.parametrize("name", ["hagemann", "bloom", "amp-t4"])
def test_three_measured_steps_help_a_cluster_that_predictions_are_off_for(name: str) -> None:
    [family] = [each for each in calibrated(3) if each.name == name]
    assert family.mean < 0.7 * family.before
    assert abs(family.bias) < 0.03
