"""How far predicted step times are from measured ones: errors, and how well predictions rank layouts.

Only an order of layouts is asked of a planner, so ranking is judged inside groups: layouts of one model on the same
GPUs. The measures are those of time_model.md, section 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

DISTINCT = 1.03
"""Ratio of two measured speeds above which their order is asked for: repeated runs differ by less."""

STALLED = 3.0
"""Runs this many times slower than their group's best are left out: no layout explains them, only a stall does."""

RANKABLE = 3
"""Timed runs that make a group a ranking."""

BEST_OF = 3
"""Candidates among which the best is looked for, beside the first alone."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One run: its predicted and measured speed; seconds of a step where the source measured them.

    Measured speeds may be in any unit that is the same inside a group.
    """

    group: str
    predicted_speed: float
    measured_speed: float
    predicted_seconds: float
    measured_seconds: float | None

    @property
    def error(self) -> float | None:
        """Signed relative error of the step time: positive is too slow."""
        return None if self.measured_seconds is None else self.predicted_seconds / self.measured_seconds - 1


@dataclass(frozen=True, slots=True)
class Errors:
    """Relative errors of step times: mean of their sizes, median with sign, and the largest."""

    rows: int
    mean: float
    bias: float
    worst: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """How layouts are ordered inside groups.

    `correlation` is Spearman's, the median over groups; `pair_accuracy` the share of distinct pairs in the right order;
    `best_loss` how much slower the predicted best is than the true best, `best_of_loss` the best of the first three,
    both means over groups. `constant` are groups whose predictions are all the same: they order nothing.
    """

    groups: int
    pairs: int
    correlation: float
    pair_accuracy: float
    best_loss: float
    best_of_loss: float


def errors(runs: Sequence[Timed]) -> Errors | None:
    """Errors of the runs whose step time was measured; None when there is none."""
    found = [each.error for each in runs if each.error is not None]
    if not found:
        return None
    return Errors(len(found), fmean(map(abs, found)), median(found), max(found, key=abs))


def ranking(runs: Sequence[Timed]) -> Ranking | None:
    """How the runs are ordered inside their groups; None when no group is large enough."""
    members: dict[str, list[Timed]] = {}
    for each in runs:
        members.setdefault(each.group, []).append(each)
    groups = [each for each in members.values() if len(each) >= RANKABLE]
    pairs = [pair for group in groups for pair in combinations(group, 2) if _distinct(*pair)]
    if not groups:
        return None
    return Ranking(
        groups=len(groups),
        pairs=len(pairs),
        correlation=median(map(_correlation, groups)),
        pair_accuracy=fmean(_agreement(*pair) for pair in pairs) if pairs else 1.0,
        best_loss=fmean(_loss(group, 1) for group in groups),
        best_of_loss=fmean(_loss(group, BEST_OF) for group in groups),
    )


def without_stalled(runs: Sequence[Timed]) -> list[Timed]:
    """The runs that are not slower than a third of the best of their group."""
    best: dict[str, float] = {}
    for each in runs:
        best[each.group] = max(best.get(each.group, 0.0), each.measured_speed)
    return [each for each in runs if each.measured_speed * STALLED >= best[each.group]]


def _distinct(one: Timed, other: Timed) -> bool:
    slow, fast = sorted((one.measured_speed, other.measured_speed))
    return fast >= slow * DISTINCT


def _agreement(one: Timed, other: Timed) -> float:
    """1 for a pair in the right order, 1/2 for one that is predicted to be equal."""
    if one.predicted_speed == other.predicted_speed:
        return 0.5
    return float((one.predicted_speed > other.predicted_speed) == (one.measured_speed > other.measured_speed))


def _loss(group: Sequence[Timed], first: int) -> float:
    """How much faster the true best is than the best of the first predictions."""
    chosen = sorted(group, key=lambda each: -each.predicted_speed)[:first]
    return max(each.measured_speed for each in group) / max(each.measured_speed for each in chosen) - 1


def _correlation(group: Sequence[Timed]) -> float:
    """Spearman's rank correlation, equal values sharing their mean rank; 0 where either side is constant."""
    predicted = _ranks([each.predicted_speed for each in group])
    measured = _ranks([each.measured_speed for each in group])
    middle = (len(group) - 1) / 2
    together = sum((a - middle) * (b - middle) for a, b in zip(predicted, measured, strict=True))
    spread = sum((a - middle) ** 2 for a in predicted) * sum((b - middle) ** 2 for b in measured)
    return together / float(spread**0.5) if spread else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    first = {value: ordered.index(value) for value in set(values)}
    return [first[each] + (ordered.count(each) - 1) / 2 for each in values]
