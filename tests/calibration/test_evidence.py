"""Evidence: which groups have a say, by which kind of bytes, and what timed steps say."""

from dataclasses import replace

import numpy as np
import pytest

from service.calibration.evidence import NO_EVIDENCE, Evidence, Seen, Step
from service.calibration.few_shot import LINKS, NOTHING_FITTED, PRODUCTS, Times
from service.calibration.interval import DRIVER_BYTES, band, interval_by
from service.calibration.observed import FEWEST, Group
from service.calibration.residuals import Kind, Likeness

LIKENESS = Likeness("megatron-core", "transformer_engine", "other", "stated", "device")
H100 = "h100-sxm-80gb"
GROUP = Group("megatron-core", "transformer_engine", H100)


def seen(number: int, ratio: float = 1.1, kind: Kind = "reserved", **changes: object) -> Seen:
    found = Seen(f"bytes {number}", (number + 1) << 30, f"job {number}", {kind: ratio}, None, 8, None)
    return replace(found, **changes)  # type: ignore[arg-type]


def evidence(runs: list[Seen]) -> Evidence:
    return Evidence({GROUP: runs})


def dead(number: int, least_ratio: float) -> Seen:
    return seen(number, ratios={}, least_ratio=least_ratio)


def test_without_runs_the_shipped_interval_holds() -> None:
    assert NO_EVIDENCE.band(LIKENESS, H100) == band(LIKENESS)


@pytest.mark.parametrize("count", range(FEWEST))
def test_few_runs_move_nothing(count: int) -> None:
    found = evidence([seen(each, 2.0) for each in range(count)])
    assert found.band(LIKENESS, H100) == band(LIKENESS)
    assert found.said([H100]) == {}


def test_a_groups_runs_are_its_own() -> None:
    found = evidence([seen(each) for each in range(20)])
    assert found.band(LIKENESS, H100).center > 1
    for other in (replace(LIKENESS, framework="fsdp2"), replace(LIKENESS, implementation="local")):
        assert found.band(other, H100) == band(other)
    assert found.band(LIKENESS, "h200-sxm-141gb") == band(LIKENESS)
    assert found.said(["h200-sxm-141gb"]) == {}
    assert list(found.said([])) == list(found.said([H100])) == [GROUP.name]


def test_the_answer_names_the_runs_behind_it() -> None:
    found = evidence([seen(each) for each in range(20)] + [dead(90, 1.5), dead(91, 1.6)]).band(LIKENESS, H100)
    assert found.observed is not None
    assert (found.observed.group, found.observed.runs, found.observed.ooms) == (GROUP.name, 22, 2)
    assert found.group == f"{GROUP.name}, reserved bytes, observed, and the range of the driver"
    assert found.runs == 22


def test_bytes_of_the_device_are_asked_first() -> None:
    mixed = [seen(each, 1.4) for each in range(20)] + [seen(each, 1.1, "device") for each in range(30, 50)]
    found = evidence(mixed).band(LIKENESS, H100)
    assert 1.05 < found.center < 1.15
    assert (found.less_bytes, found.more_bytes) == (0, 0)


def test_other_bytes_have_the_range_of_what_they_do_not_show() -> None:
    found = evidence([seen(each) for each in range(20)]).band(LIKENESS, H100)
    assert (found.less_bytes, found.more_bytes) == DRIVER_BYTES


def test_runs_of_another_job_or_unit_are_not_looked_at() -> None:
    in_kib = [seen(each, 1.1 / 1024) for each in range(20)]
    assert evidence(in_kib).band(LIKENESS, H100) == band(LIKENESS)


def test_a_job_that_died_does_not_fit_safely_any_more() -> None:
    """Predicted at half of the device, it must have needed twice of that."""
    usable = 80 << 30
    found = evidence([seen(each, 1.0) for each in range(10)] + [dead(90, (usable + 1) / (usable // 2))] * 2)
    assert interval_by(found.band(LIKENESS, H100), usable // 2).high_bytes > usable


def test_of_a_job_that_was_observed_itself_its_own_middle_is_expected() -> None:
    others = [seen(each, 1.0) for each in range(20)]
    found = evidence([*others, *(seen(40, ratio) for ratio in (1.3, 1.31, 0.5))]).band(LIKENESS, H100)
    own, elsewhere = interval_by(found, 41 << 30), interval_by(found, 42 << 30)
    assert own.expected_bytes == round(1.3 * (41 << 30))
    assert own.low_bytes <= own.expected_bytes <= own.high_bytes
    assert elsewhere.expected_bytes == pytest.approx(42 << 30, rel=0.02)
    assert own.observed is not None
    assert elsewhere.observed is not None
    assert (own.observed.same_job, elsewhere.observed.same_job) == (3, 0)


def test_two_runs_of_a_job_do_not_speak_for_it_alone() -> None:
    found = evidence([seen(each, 1.0) for each in range(20)] + [seen(40, 1.3)] * 2).band(LIKENESS, H100)
    assert interval_by(found, 41 << 30).expected_bytes < 1.05 * (41 << 30)


def test_a_job_that_died_three_times_is_not_expected_to_fit() -> None:
    usable = 80 << 30
    died = [seen(39, ratios={}, least_ratio=(usable + 1) / (40 << 30))] * 3
    found = evidence([seen(each, 1.0) for each in range(10)] + died).band(LIKENESS, H100)
    assert interval_by(found, 40 << 30).expected_bytes > usable


def test_many_expectations_are_those_of_each_prediction() -> None:
    found = evidence([*(seen(each) for each in range(20)), *[seen(4, 1.4)] * 3]).band(LIKENESS, H100)
    peaks = np.array([1 << 30, 5 << 30, 61 << 30, 79 << 30], dtype=np.int64)
    assert found.expected(peaks).tolist() == [interval_by(found, int(each)).expected_bytes for each in peaks]
    assert found.upper_ends(peaks).tolist() == pytest.approx(
        [interval_by(found, int(each)).high_bytes for each in peaks]
    )


def test_what_is_said_changes_with_the_runs() -> None:
    some = [seen(each) for each in range(20)]
    assert evidence(some).said([H100]) == evidence(list(some)).said([H100])
    assert evidence(some).said([H100]) != evidence([*some, seen(20, 1.3)]).said([H100])


class TestSteps:
    """Timed steps of a cluster."""

    @staticmethod
    def timed(job: str, scale: float, compute: float = 8.0, nodes: int = 8) -> Seen:
        grid: Times = compute / PRODUCTS[None, :] + (10 - compute) / LINKS[:, None]
        predicted = float(grid[int(np.abs(LINKS - 1).argmin()), int(np.abs(PRODUCTS - 1).argmin())])
        return Seen(job, 1 << 30, job, {}, None, nodes, Step(grid.ravel().tolist(), scale * predicted))

    def test_one_layout_alone_says_nothing(self) -> None:
        found = evidence([self.timed("one", 1.5)] * 10)
        assert found.fitted(GROUP, 8) is None

    def test_two_layouts_are_fitted(self) -> None:
        found = evidence([self.timed("one", 1.3), self.timed("other", 1.3, 5.0), self.timed("other", 1.3, 5.0)])
        fitted = found.fitted(GROUP, 8)
        assert fitted is not None
        assert (fitted.steps, fitted.layouts) == (3, 2)
        assert fitted.tuning.scale / fitted.tuning.product == pytest.approx(1.3, rel=0.08)
        assert found.said([H100])

    def test_a_layout_counts_with_the_middle_of_its_times(self) -> None:
        usual = [self.timed("one", 1.0), self.timed("other", 1.0, 5.0)]
        stalled = [self.timed("one", scale) for scale in (1.0, 6.0, 1.0)]
        fitted = evidence(usual + stalled).fitted(GROUP, 8)
        assert fitted is not None
        assert fitted.tuning == NOTHING_FITTED

    def test_other_nodes_are_another_cluster(self) -> None:
        found = evidence([self.timed("one", 1.3), self.timed("other", 1.3, 5.0)])
        assert found.fitted(GROUP, 4) is None

    def test_a_time_says_nothing_of_bytes(self) -> None:
        found = evidence([self.timed(f"job {each}", 1.3) for each in range(10)])
        assert found.band(LIKENESS, H100) == band(LIKENESS)
