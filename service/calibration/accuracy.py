"""How far predictions are from what was measured: errors of bytes, and verdicts against labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

FITTING = ("fits", "tight")
"""Verdicts that let a job run."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One prediction beside its measurement (bytes), with the ends of its interval."""

    predicted: int
    measured: int
    low: int
    high: int

    @property
    def error(self) -> float:
        """Signed relative error, predicted / measured - 1: positive is too much."""
        return self.predicted / self.measured - 1

    @property
    def covered(self) -> bool:
        """Whether the interval holds the measurement."""
        return self.low <= self.measured <= self.high

    @property
    def width(self) -> float:
        """Width of the interval as a share of the prediction."""
        return (self.high - self.low) / self.predicted


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Errors of a set of predictions, as shares; `bias` is the median of the signed ones."""

    rows: int
    predictions: int
    median: float
    p90: float
    worst: float
    bias: float
    coverage: float
    width: float


@dataclass(frozen=True, slots=True)
class Confusion:
    """Verdicts by label: how many runs of each label got which verdict."""

    counts: Mapping[str, Mapping[str, int]]

    @property
    def rows(self) -> int:
        """Runs with a label and a verdict."""
        return sum(sum(verdicts.values()) for verdicts in self.counts.values())

    @property
    def right(self) -> float:
        """Share of labels on whose side the estimate is: `fits` or `tight` for a run that fitted."""
        fitted, died = self.counts["fits"], self.counts["oom"]
        return (sum(fitted.get(each, 0) for each in FITTING) + died.get("does_not_fit", 0)) / self.rows

    @property
    def wrong_fits(self) -> float:
        """Share of the runs out of memory that were called `fits`, without the warning of `tight`."""
        died = self.counts["oom"]
        return died.get("fits", 0) / max(sum(died.values()), 1)


def accuracy(compared: Sequence[Compared]) -> Accuracy:
    """The errors of at least one prediction; `predictions` counts the different ones, since published runs repeat."""
    errors = sorted(abs(each.error) for each in compared)
    return Accuracy(
        rows=len(compared),
        predictions=len({each.predicted for each in compared}),
        median=median(errors),
        p90=share_below(errors, 0.9),
        worst=errors[-1],
        bias=median(each.error for each in compared),
        coverage=sum(each.covered for each in compared) / len(compared),
        width=median(each.width for each in compared),
    )


def share_below(ordered: Sequence[float], share: float) -> float:
    """The smallest of the ordered values that at least this share of them does not exceed."""
    return ordered[max(ceil(len(ordered) * share), 1) - 1]


def confusion(verdicts: Sequence[tuple[str, str]]) -> Confusion:
    """Count (label, verdict) pairs."""
    counts = Counter(verdicts)
    return Confusion(
        {
            label: {verdict: count for (of, verdict), count in sorted(counts.items()) if of == label}
            for label in ("fits", "oom")
        }
    )
