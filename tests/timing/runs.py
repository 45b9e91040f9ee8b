"""The timed runs under tests/data, beside what is predicted for them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from service.calculator.schedules import bubble_fraction
from service.calculator.step_time.pipeline import schedule_of
from service.calibration.timing import Timed, without_stalled
from service.usecases.time_calibration import CalibratedFamily, calibrated_families
from service.usecases.timed_runs import read_timed_runs
from service.usecases.timing import TimeComparison, compare_times, timed_job

RUNS = Path(__file__).parents[1] / "data" / "jobs_timed.jsonl"

LARGE = ("hagemann", "vtrain-multi", "zero-bubble", "simumax-b200")
"""Families of large dense models on few nodes, of which a ranking is demanded."""

REPEATED = 4 / 3
"""Operations with every layer computed again, against none (Narayanan et al. 2021, arXiv 2104.04473)."""


@cache
def compared() -> tuple[TimeComparison, ...]:
    """Every row."""
    with RUNS.open("rb") as stream:
        return tuple(compare_times(read_timed_runs(stream)))


def of(families: Sequence[str]) -> list[TimeComparison]:
    """The rows of some families."""
    return [each for each in compared() if each.run is not None and each.run.family in families]


def ranked(found: Sequence[TimeComparison]) -> list[Timed]:
    """Runs that are asked for a ranking: those that were timed and did not stall."""
    return without_stalled([each.timed for each in found if each.timed is not None])


def by_operations_alone(found: Sequence[TimeComparison]) -> list[Timed]:
    """The same runs as a formula of constant utilisation predicts them: operations, recomputation and bubble."""
    plain = []
    for each in found:
        if each.run is not None and each.timed is not None:
            layout = timed_job(each.run).resolved.layout
            repeated = REPEATED if layout.checkpointing.granularity == "full" else 1.0
            speed = (1.0 - float(bubble_fraction(schedule_of(layout)))) / repeated
            plain.append(replace(each.timed, predicted_speed=speed))
    return without_stalled(plain)


@cache
def calibrated(steps: int) -> tuple[CalibratedFamily, ...]:
    """Families after some of their steps were measured."""
    return tuple(calibrated_families(compared(), steps))
