"""Step times of a cluster, calibrated with a few of its measured steps; and how far such calibrations are off."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, median

import numpy as np

from service.calculator.device import Accelerator
from service.calculator.step_time import rates_of, step_time
from service.calibration.few_shot import FEWEST, LINKS, PRODUCTS, Times, Tuning, fit, tuned_step_time
from service.calibration.timing import without_stalled
from service.job.resolve import Resolved
from service.usecases.timing import TimeComparison, TimedJob, timed_job

DRAWS = 40
"""Times that steps are drawn from a family; every draw gives another calibration."""


@dataclass(frozen=True, slots=True)
class CalibratedFamily:
    """Errors of a family's other rows after some of its steps were measured: before, and over all draws after."""

    name: str
    rows: int
    steps: int
    before: float
    mean: float
    worst: float
    bias: float


def predictions(resolved: Resolved, accelerator: Accelerator) -> Times:
    """Seconds of a job's step at every pair of `LINKS` and `PRODUCTS`, as a fit takes them."""
    links, products = np.meshgrid(LINKS, PRODUCTS, indexing="ij")
    rates = rates_of(accelerator, resolved.recipe.on(accelerator)).tuned(links, products)
    found = step_time(resolved.model, resolved.layout, resolved.recipe, accelerator, rates).step_seconds
    return np.broadcast_to(np.asarray(found, dtype=np.float64), links.shape)


def calibrated_seconds(job: TimedJob, tuning: Tuning) -> float:
    """Seconds of a job's step on a cluster of which the tuning is known."""
    resolved = job.resolved
    found = tuned_step_time(resolved.model, resolved.layout, resolved.recipe, job.accelerator, tuning)
    return float(found.step_seconds)


def calibrated_families(found: Sequence[TimeComparison], steps: int) -> list[CalibratedFamily]:
    """For each family with more than twice as many timed rows: the errors of the others after `steps` were measured.

    Which steps are measured is drawn, always in the same way; stalled runs are left out. Raises TooFewSteps below
    `FEWEST`.
    """
    members: dict[str, list[TimeComparison]] = defaultdict(list)
    kept = set(map(id, without_stalled([each.timed for each in found if each.timed is not None])))
    for each in found:
        timed = each.timed
        if each.run is not None and timed is not None and timed.measured_seconds is not None and id(timed) in kept:
            members[each.run.family].append(each)
    return [_family(name, rows, steps) for name, rows in sorted(members.items()) if len(rows) > 2 * max(steps, FEWEST)]


def _family(name: str, rows: Sequence[TimeComparison], steps: int) -> CalibratedFamily:
    jobs = [timed_job(each.run) for each in rows if each.run is not None]
    predicted = [predictions(each.resolved, each.accelerator) for each in jobs]
    measured = [each.timed.measured_seconds or 0.0 for each in rows if each.timed is not None]
    before = fmean(abs(each.timed.error or 0.0) for each in rows if each.timed is not None)
    means, biases = [], []
    for draw in range(DRAWS):
        shown = set(Random(draw).sample(range(len(rows)), steps))  # noqa: S311  (which rows are shown is no secret)
        tuning = fit([predicted[row] for row in shown], [measured[row] for row in shown])
        errors = [_error(predicted[row], measured[row], tuning) for row in range(len(rows)) if row not in shown]
        means.append(fmean(map(abs, errors)))
        biases.append(median(errors))
    return CalibratedFamily(name, len(rows), steps, before, fmean(means), max(means), fmean(biases))


def _error(predicted: Times, measured_seconds: float, tuning: Tuning) -> float:
    """Signed relative error; the grid holds the times that were fitted."""
    link, product = int(np.searchsorted(LINKS, tuning.link)), int(np.searchsorted(PRODUCTS, tuning.product))
    return tuning.scale * float(predicted[link, product]) / measured_seconds - 1
