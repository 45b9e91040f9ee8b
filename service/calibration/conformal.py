"""Prediction intervals from residuals of nested groups, and the coverage they reach on runs left out.

A job's interval is cut from the residuals of its own group. A thin group borrows: with n different predictions it keeps
the share n / (n + `PRIOR`) of the weight and hands the rest to the group around it, and so on up to every run: the
predictive mean of a hierarchical Dirichlet process (Teh et al. 2006, Hierarchical Dirichlet processes, section 4).
Inside a group a family of n different predictions weighs the square root of n, between counting its runs, which are not
independent, and counting it once. The level at which the tails are cut is the lowest one that reaches the claimed
coverage on folds left out (Barber et al. 2021, Predictive inference with the jackknife+), found apart for jobs of the
version that was read and for all others.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import sqrt

from service.calibration.residuals import Likeness, Residual, Version

COVERAGE = 0.9
"""The share of runs that an interval claims to hold."""

PRIOR = 4.0
"""Different predictions with which a group outweighs the wider group around it: the fewest that show a spread.

Chosen with the runs in sight: from 3 to 8 the levels that follow reach 0.87 to 0.94 with families left out.
"""

LEVELS = tuple(each / 1000 for each in range(700, 996, 5))
"""Central shares of the residuals that are tried for the claimed coverage."""

VERSIONS: tuple[Version, ...] = ("own", "other")

Levels = Mapping[Version, float]


@dataclass(frozen=True, slots=True)
class Trial:
    """One run against the interval that is made without its fold."""

    residual: Residual
    low: float
    high: float

    @property
    def covered(self) -> bool:
        """Whether the interval holds the run."""
        return self.low <= self.residual.ratio <= self.high


class Nested:
    """Residuals by group, in ascending order of their ratio."""

    def __init__(self, residuals: Sequence[Residual]) -> None:
        self._residuals = sorted(residuals, key=lambda each: each.ratio)
        self._members: dict[str, list[int]] = defaultdict(list)
        for index, each in enumerate(self._residuals):
            for name in each.likeness.levels:
                self._members[name].append(index)

    def runs(self, group: str) -> int:
        """Measured runs of a group."""
        return len(self._members[group])

    def predictions(self, group: str) -> float:
        """Different predictions among a group's runs."""
        return sum(self._residuals[index].weight for index in self._members[group])

    def factors(self, likeness: Likeness, level: float) -> tuple[float, float]:
        """Ends of the central share of the residuals that such a job has, around 1."""
        below = list(accumulate(self.weights(likeness)))
        tail = below[-1] * (1 - level) / 2
        low = next(index for index, total in enumerate(below) if total > tail)
        high = next(index for index, total in enumerate(below) if total >= below[-1] - tail)
        return min(self._residuals[low].ratio, 1.0), max(self._residuals[high].ratio, 1.0)

    @property
    def ratios(self) -> list[float]:
        """All ratios, in ascending order."""
        return [each.ratio for each in self._residuals]

    def weights(self, likeness: Likeness) -> list[float]:
        """The weight that each ratio has for such a job; they sum to 1."""
        weights = [0.0] * len(self._residuals)
        left = 1.0
        for depth, name in reversed(list(enumerate(likeness.levels))):
            own = self.predictions(name)
            share = left if depth == 0 else left * own / (own + PRIOR)
            for index, weight in self._inside(name):
                weights[index] += share * weight
            left -= share
        return weights

    def _inside(self, group: str) -> list[tuple[int, float]]:
        """Weights of a group's runs, which sum to 1."""
        families: dict[str, float] = defaultdict(float)
        for index in self._members[group]:
            families[self._residuals[index].family] += self._residuals[index].weight
        whole = sum(sqrt(each) for each in families.values())
        runs = [(index, self._residuals[index]) for index in self._members[group]]
        return [(index, each.weight / sqrt(families[each.family]) / whole) for index, each in runs]


def left_out(
    residuals: Sequence[Residual], levels: Levels, fold: Callable[[Residual], Hashable] = lambda each: each.family
) -> list[Trial]:
    """Every run that has a level against the interval of the other folds; a fold is a family unless said otherwise."""
    trials = []
    folds: dict[Hashable, list[Residual]] = defaultdict(list)
    for each in residuals:
        if each.likeness.version in levels:
            folds[fold(each)].append(each)
    for name, members in folds.items():
        others = Nested([each for each in residuals if fold(each) != name])
        found: dict[Likeness, tuple[float, float]] = {}
        for each in members:
            if each.likeness not in found:
                found[each.likeness] = others.factors(each.likeness, levels[each.likeness.version])
            trials.append(Trial(each, *found[each.likeness]))
    return trials


def reached(trials: Sequence[Trial]) -> float:
    """Share of the different predictions whose runs are covered."""
    whole = sum(each.residual.weight for each in trials)
    return sum(each.residual.weight for each in trials if each.covered) / whole


def calibrated_levels(residuals: Sequence[Residual]) -> dict[Version, float]:
    """For each version the lowest of `LEVELS` that reaches the claimed coverage, or the highest when none does."""
    stated = {each.likeness.version for each in residuals}
    return {version: _calibrated(residuals, version) for version in VERSIONS if version in stated}


def _calibrated(residuals: Sequence[Residual], version: Version) -> float:
    found = bisect_left(LEVELS, COVERAGE, key=partial(_reached_at, residuals, version))
    return LEVELS[min(found, len(LEVELS) - 1)]


def _reached_at(residuals: Sequence[Residual], version: Version, level: float) -> float:
    return reached(left_out(residuals, {version: level}, lambda each: each.fold))
