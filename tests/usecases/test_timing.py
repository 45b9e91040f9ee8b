"""Timed runs beside predictions: what is read, what is compared, and what is skipped with a reason."""

import io
from typing import Any

import pytest

from service.usecases.measured_runs import BadLine
from service.usecases.timed_runs import TimedRun, read_timed_runs
from service.usecases.timing import TimeComparison, compare_times, grouped_times, skipped_times
from tests.usecases.measured import lines
from tests.usecases.timed import timed, with_pipeline


def read(*rows: object) -> list[TimedRun | BadLine]:
    return read_timed_runs(io.BytesIO(lines(*rows)))


def compare(*rows: object) -> list[TimeComparison]:
    return compare_times(read(*rows))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"measured": {"seconds": 1}}, "measured.seconds: Extra inputs are not permitted"),
        ({"measured": {"step_seconds": 0}}, "measured.step_seconds: Input should be greater than 0"),
        ({"measured": {"step_seconds": None}}, "a run has a speed, or it ran out of memory"),
        ({"oom": True}, "a run has a speed, or it ran out of memory"),
        ({"group": ""}, "group: String should have at least 1 character"),
        ({"gpus_per_node": 0}, "gpus_per_node: Input should be greater than or equal to 1"),
    ],
)
def test_a_bad_line_is_reported_with_its_number(changes: dict[str, Any], reason: str) -> None:
    [_, bad] = read(timed(), timed(id="bad", **changes))
    assert isinstance(bad, BadLine)
    assert (bad.id, bad.line) == ("bad", 2)
    assert bad.reason.startswith("line 2: ")
    assert reason in bad.reason


def test_a_step_and_its_tokens_a_second_are_the_same_measurement() -> None:
    """Eight sequences of 2048 tokens on four GPUs in half a second."""
    one, other = compare(timed(), timed(measured={"tokens_per_second_per_gpu": 8 * 2048 / 4 / 0.5}))
    assert one.timed is not None
    assert other.timed is not None
    assert other.timed.measured_seconds == pytest.approx(0.5)
    assert one.timed.measured_speed == pytest.approx(other.timed.measured_speed)
    assert one.timed.error == pytest.approx(other.timed.error)


def test_a_relative_speed_ranks_and_has_no_error() -> None:
    [found] = compare(timed(measured={"relative_speed": 122}))
    assert found.timed is not None
    assert (found.timed.measured_speed, found.timed.error) == (122, None)


def test_a_run_out_of_memory_is_predicted_and_not_compared() -> None:
    [found] = compare(timed(measured={"step_seconds": None}, oom=True))
    assert found.predicted_step_seconds is not None
    assert (found.timed, found.skipped) == (None, None)


def test_more_gpus_in_a_node_make_no_step_slower() -> None:
    many, few = compare(timed(gpus_per_node=4), timed(gpus_per_node=1))
    assert many.predicted_step_seconds is not None
    assert few.predicted_step_seconds is not None
    assert many.predicted_step_seconds < few.predicted_step_seconds


def test_what_cannot_be_predicted_says_why() -> None:
    rows = [
        timed(id="device", device="abacus"),
        timed(id="grid", job=with_pipeline(3)),
        timed(id="links", device="tpu-v5p"),
    ]
    reasons = {each.id: each.skipped for each in compare(*rows)}
    assert reasons["device"] == "there is no device 'abacus'"
    assert "world" in str(reasons["grid"])
    assert reasons["links"] == "the catalogue has no link bandwidths of tpu-v5p"
    assert [count for _, count in skipped_times(compare(*rows))] == [1, 1, 1]


def test_rows_are_grouped_and_ranked_inside_their_groups() -> None:
    rows = [timed(id=str(pipeline), job=with_pipeline(pipeline)) for pipeline in (1, 2, 4)]
    [family] = grouped_times(compare(*rows, timed(id="far", group="example/other")), "family")
    assert (family.name, family.rows, family.skipped) == ("example", 4, 0)
    assert family.ranking is not None
    assert (family.ranking.groups, family.ranking.pairs) == (1, 0)
    assert [each.name for each in grouped_times(compare(*rows), "group")] == ["example/small"]
