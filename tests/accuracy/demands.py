"""What the calculator is asked to reach on the measured runs, and what it reaches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from service.calibration.accuracy import share_below
from service.calibration.conformal import left_out, reached
from service.calibration.interval import load_calibration
from service.calibration.residuals import load_residuals
from service.usecases.accuracy import summary
from service.usecases.validation import Comparison
from tests.accuracy.runs import LABELS, MEASURED, MEGATRON_CI, NANOTRON, compared

Selects = Callable[[Comparison], bool]
Sizes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Demand:
    """One figure of a set of rows (a share), and the bound that it is asked to keep."""

    rows: str
    figure: str
    bound: float
    found: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the bound is kept."""
        return self.found >= self.bound if self.at_least else self.found <= self.bound


def demands() -> list[Demand]:
    """Every figure, in the order of the accuracy page."""
    return [*_megatron(), *_measured(), *_labels(), *_nanotron(), *_intervals()]


def with_bytes(name: str, selects: Selects = lambda _: True) -> list[Comparison]:
    """The priced rows of a file that have bytes."""
    return [each for each in compared(name) if each.compared is not None and selects(each)]


def states_its_attention(found: Comparison) -> bool:
    """Whether the job names an attention kernel."""
    return found.run is not None and found.run.job.kernels.attention not in {None, "auto"}


def of_family(name: str) -> Selects:
    """Rows of one source."""
    return lambda found: found.run is not None and found.run.family == name


def is_torchtitan_reserved_a(found: Comparison) -> bool:
    """Rows of torchtitan that print reserved bytes and leave nothing to infer."""
    return (
        of_family("torchtitan")(found) and found.kind == "reserved" and found.run is not None and found.run.grade == "A"
    )


def errors(found: Sequence[Comparison]) -> list[float]:
    """Absolute relative errors, the smallest first."""
    return sorted(abs(each.error) for each in found)


def _megatron() -> list[Demand]:
    stated = errors(with_bytes(MEGATRON_CI, states_its_attention))
    every = errors(with_bytes(MEGATRON_CI))
    return [
        *_middle_and_tail("Megatron CI, stated attention", stated, 0.007, (0.95, 0.03)),
        *_middle_and_tail("Megatron CI, all", every, 0.02, (0.9, 0.08)),
    ]


def _measured() -> list[Demand]:
    simumax = errors(with_bytes(MEASURED, of_family("simumax")))
    titan = errors(with_bytes(MEASURED, is_torchtitan_reserved_a))
    every = errors(with_bytes(MEASURED))
    return [
        Demand("SimuMax, each rank", "worst", 0.01, simumax[-1]),
        *(_middle_and_tail("torchtitan reserved, grade A", titan, 0.04, (0.9, 0.1)) if titan else []),
        *_middle_and_tail("measured runs, all", every, 0.04, (0.9, 0.12)),
    ]


def _labels() -> list[Demand]:
    labels = summary("labels", [*compared(LABELS), *compared(MEASURED)]).labels
    if labels is None:
        return []
    return [
        Demand("fits and out-of-memory labels", "right", 0.96, labels.right, at_least=True),
        Demand("fits and out-of-memory labels", "out of memory called fits", 0.01, labels.wrong_fits),
    ]


def _nanotron() -> list[Demand]:
    found = with_bytes(NANOTRON)
    ranks = [each.correlation for each in rank_correlations(found)]
    return [
        Demand("nanotron sweep", "median", 0.08, median(errors(found))),
        Demand("nanotron sweep", "lowest rank correlation", 0.95, min(ranks), at_least=True),
    ]


def _intervals() -> list[Demand]:
    trials = left_out(load_residuals(), load_calibration().levels)
    covered, rows = reached(trials), "90 % intervals, one family left out"
    return [
        Demand(rows, "covered, at least", 0.85, covered, at_least=True),
        Demand(rows, "covered, at most", 0.95, covered),
        Demand(rows, "median width", 0.15, median(each.high - each.low for each in trials)),
    ]


def _middle_and_tail(rows: str, found: Sequence[float], middle: float, tail: tuple[float, float]) -> list[Demand]:
    share, bound = tail
    return [
        Demand(rows, "median", middle, median(found)),
        Demand(rows, f"{share:.0%} of rows", bound, share_below(found, share)),
    ]


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Whether predictions order the layouts of one model on one number of GPUs as measurements do.

    `repeated` is what a second sweep would reach: measurements against themselves, moved apart as repeated runs are.
    """

    group: str
    rows: int
    correlation: float
    repeated: float


SWEEPS = 200
"""Second sweeps that are drawn; their median moves by less than 0.01 between seeds."""


def rank_correlations(found: Sequence[Comparison]) -> list[RankCorrelation]:
    """Spearman's correlation inside each model and world size."""
    groups: dict[str, list[Comparison]] = {}
    for each in found:
        if each.run is not None:
            job = each.run.job
            groups.setdefault(f"{job.model.hidden_size} wide, {job.world_size} GPUs", []).append(each)
    apart = repeats(found)
    return [_ranked(name, rows, apart) for name, rows in groups.items()]


def repeats(found: Sequence[Comparison]) -> list[float]:
    """The larger over the smaller figure of runs that are recorded twice with the same job."""
    figures: dict[str, list[int]] = {}
    for each in found:
        if each.run is not None and each.measured_bytes is not None:
            figures.setdefault(each.run.job.model_dump_json(), []).append(each.measured_bytes)
    return [max(each) / min(each) for each in figures.values() if len(each) > 1]


def _ranked(name: str, rows: Sequence[Comparison], apart: Sequence[float]) -> RankCorrelation:
    predicted = np.array([each.predicted_bytes for each in rows], float)
    measured = np.array([each.measured_bytes for each in rows], float)
    draw = np.random.default_rng(0)
    signs, ratios = draw.choice((-1, 1), (SWEEPS, len(rows))), draw.choice(apart or [1.0], (SWEEPS, len(rows)))
    again = median(_spearman(measured, each) for each in measured * ratios**signs)
    return RankCorrelation(name, len(rows), _spearman(predicted, measured), again)


def _spearman(one: Sizes, other: Sizes) -> float:
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Sizes) -> Sizes:
    """Ranks from 0; equal values share the mean of theirs."""
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") - 1) / 2
