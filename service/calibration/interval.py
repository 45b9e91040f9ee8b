"""Prediction intervals from measured runs: split-conformal quantiles of measured over predicted.

Source: Lei et al. 2018, Distribution-free predictive inference for regression, section 2.2: the k-th smallest of n
residuals, k = ceil((n + 1)·level), covers a new exchangeable run with at least that probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil

from service.calibration.residuals import load_residuals

COVERAGE = 0.9
FEWEST_RUNS = 20
"""A group with fewer runs than this borrows those of every group."""


@dataclass(frozen=True, slots=True)
class Band:
    """Factors on a predicted peak, with the runs behind them."""

    low: float
    high: float
    group: str
    runs: int
    coverage: float


@dataclass(frozen=True, slots=True)
class Interval:
    """Ends of a predicted peak (bytes), and where they come from."""

    low_bytes: int
    high_bytes: int
    group: str
    runs: int
    coverage: float


@cache
def band(group: str) -> Band:
    """The factors of a group at the claimed coverage; a thin group takes all runs."""
    known = [each.ratio for each in load_residuals() if each.group == group]
    if len(known) < FEWEST_RUNS:
        group, known = "every measured run", [each.ratio for each in load_residuals()]
    tail = (1 - COVERAGE) / 2
    low, high = quantile(known, tail), quantile(known, 1 - tail)
    return Band(min(low, 1.0), max(high, 1.0), group, len(known), COVERAGE)


def quantile(values: Sequence[float], level: float) -> float:
    """The conformal quantile: the ceil((n + 1)·level)-th smallest value, at most the largest."""
    ordered = sorted(values)
    rank = ceil((len(ordered) + 1) * level) if level > 1 / 2 else int((len(ordered) + 1) * level)
    return ordered[min(max(rank, 1), len(ordered)) - 1]


def interval(group: str, peak_bytes: int) -> Interval:
    """Low and high end around a predicted peak."""
    found = band(group)
    return Interval(
        low_bytes=int(peak_bytes * found.low),
        high_bytes=ceil(peak_bytes * found.high),
        group=found.group,
        runs=found.runs,
        coverage=found.coverage,
    )
