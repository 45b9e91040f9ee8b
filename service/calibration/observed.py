"""The interval of a group of observed runs: its own ratios, pooled with those of the measured runs that are shipped.

A ratio is measured over predicted bytes. With n different predictions a group outweighs what is shipped as n outweighs
`PRIOR`, as groups do among themselves (`conformal`), and repeated runs of one prediction weigh the square root of their
number. The next run may be beyond all of them, for which split conformal prediction counts one run more at no bound
(Lei et al. 2018, Distribution-free predictive inference for regression): here each end of the shipped interval is that
run, so that a group of fewer than fifteen predictions moves or widens the interval and never narrows it. A run out of
memory has a ratio above the one at which it died: its weight goes to the ratios above, in proportion (Efron 1967, The
two sample problem with censored data: redistribution to the right).

One run decides nothing: fewer than `FEWEST` runs are not looked at, and a run far from all others counts as the last
one that would not be far, unless a second one is as far on the same side.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.calibration.conformal import COVERAGE, PRIOR

Ratios = NDArray[np.float64]

FEWEST = 5
"""Runs from which a group has a say: of five, two that are wrong do not move the median past the others."""

FEWEST_OF_A_JOB = 3
"""Runs of one job from which its own middle is what is expected of it: of three, one that is wrong does not move it."""

FARTHEST = 4.0
"""Ratios beyond this, or below its inverse, are of another job or in another unit, and are not looked at."""

_FAR = 3.0
"""Robust standard deviations (1.4826 times the median absolute deviation) from the median at which a run is far."""

_NOISE = 0.02
"""Least deviation, as a logarithm, that is taken for a standard deviation: repeated runs of one job differ by that."""


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Runs that are judged together: of a framework's way of keeping states, its kernels, and a device."""

    framework: str
    implementation: str
    device: str

    @property
    def name(self) -> str:
        """The group as answers name it."""
        return f"{self.framework} ({self.implementation}) on {self.device}"


@dataclass(frozen=True, slots=True)
class Run:
    """An observed run: its ratio (out of memory: the least it can be), and what its prediction has in common."""

    ratio: float
    oom: bool
    prediction: Hashable


@dataclass(frozen=True, slots=True)
class Shipped:
    """What the measured runs that are shipped say of such jobs: ratios with their weights, and ends of the interval."""

    ratios: Ratios
    weights: Ratios
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Pooled:
    """Where the measured bytes of further runs lie, as factors of the predicted ones, and the share it held.

    `center` is the middle and `low` to `high` the claimed share; `reached` the share of the runs with a ratio that are
    inside when each is left out; `outliers` were counted as less far than they are.
    """

    center: float
    low: float
    high: float
    reached: float
    outliers: int


def pooled(runs: Sequence[Run], shipped: Shipped) -> Pooled:
    """What at least `FEWEST` runs and what is shipped say together."""
    logs, oom = np.log([each.ratio for each in runs]), np.array([each.oom for each in runs])
    settled, outliers = _within(logs, oom)
    oom = oom & ~outliers
    repeats = Counter(each.prediction for each in runs)
    weights = np.array([repeats[each.prediction] ** -0.5 for each in runs])
    middle = _quantile(*_redistributed(settled, weights, oom), 0.5)
    own = float(weights.sum())
    center = float(np.exp(own / (own + PRIOR) * middle))
    ratios = np.append(shipped.ratios, (shipped.low, shipped.high))
    borrowed = np.append(shipped.weights / shipped.weights.sum() * PRIOR, (1.0, 1.0))
    pool = _Pool(settled, weights, oom, np.log(ratios), borrowed)
    low, high = pool.ends()
    inside = [pool.holds_without(int(index)) for index in np.flatnonzero(~oom)]
    reached = sum(inside) / len(inside) if inside else 0.0
    return Pooled(center, min(low, center), max(high, center), reached, int(outliers.sum()))


def middle(runs: Sequence[Run]) -> float:
    """The middle of the ratios of runs, those out of memory counted above the ratio at which they died."""
    logs = np.log([each.ratio for each in runs])
    oom = np.array([each.oom for each in runs])
    return float(np.exp(_quantile(*_redistributed(logs, np.ones(len(runs)), oom), 0.5)))


@dataclass(frozen=True, slots=True)
class _Pool:
    """Logarithms of the group's ratios and of the shipped ones, with their weights."""

    logs: Ratios
    weights: Ratios
    oom: NDArray[np.bool_]
    shipped: Ratios
    shipped_weights: Ratios

    def ends(self, without: int | None = None) -> tuple[float, float]:
        """Ends of the central share of all, or of all but one of the group's runs."""
        weights = self.weights.copy()
        if without is not None:
            weights[without] = 0.0
        tail = (1 - COVERAGE) / 2
        found = _redistributed(
            np.concatenate((self.logs, self.shipped)),
            np.concatenate((weights, self.shipped_weights)),
            np.concatenate((self.oom, np.zeros(len(self.shipped), dtype=bool))),
        )
        return float(np.exp(_quantile(*found, tail))), float(np.exp(_quantile(*found, 1 - tail)))

    def holds_without(self, index: int) -> bool:
        """Whether the interval that is made without a run holds it."""
        low, high = self.ends(index)
        return bool(low <= np.exp(self.logs[index]) <= high)


def _within(logs: Ratios, oom: NDArray[np.bool_]) -> tuple[Ratios, NDArray[np.bool_]]:
    """The logarithms with a lone far one on either side moved to where it is no longer far, and which those are."""
    middle = float(np.median(logs))
    reach = _FAR * max(1.4826 * float(np.median(np.abs(logs - middle))), _NOISE)
    far = np.zeros(len(logs), dtype=bool)
    for side in (logs > middle + reach, (logs < middle - reach) & ~oom):
        if side.sum() == 1:
            far |= side
    return np.where(far, np.clip(logs, middle - reach, middle + reach), logs), far


def _redistributed(logs: Ratios, weights: Ratios, oom: NDArray[np.bool_]) -> tuple[Ratios, Ratios]:
    """Ascending logarithms and their weights, those out of memory given to what is above them."""
    order = np.lexsort((oom, logs))
    logs, weights = logs[order], weights[order]
    for index in np.flatnonzero(oom[order]):
        above = weights[index + 1 :].sum()
        if above > 0:
            weights[index + 1 :] *= 1 + weights[index] / above
            weights[index] = 0.0
    return logs, weights


def _quantile(logs: Ratios, weights: Ratios, share: float) -> float:
    """The least logarithm that at least this share of the weight does not exceed."""
    below = np.cumsum(weights)
    return float(logs[min(int(np.searchsorted(below, below[-1] * share - 1e-9)), len(logs) - 1)])
