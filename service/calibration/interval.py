"""The interval around a prediction: factors from measured runs, and what they do not see of other kinds of bytes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import ceil

import numpy as np
from numpy.typing import NDArray

from service.calculator.units import MIB
from service.calibration.conformal import COVERAGE, PRIOR, Levels, Nested
from service.calibration.observed import Shipped
from service.calibration.residuals import Kind, Likeness, load_residuals

ASKED_INSTEAD: Mapping[Kind, tuple[Kind, ...]] = {
    "allocated": ("allocated", "reserved", "device"),
    "reserved": ("reserved", "allocated", "device"),
    "device": ("device", "reserved", "allocated"),
}
"""Kinds of bytes whose runs speak for a kind: the first of which a framework has `PRIOR` different predictions."""

ALLOCATOR = (0.97, 1.16)
"""Reserved bytes over those modelled, which are 1.03 of the allocated: measured 1.03 to 1.19 of them in the 15 runs of
the repository that report both, and never less than 1."""

DRIVER_BYTES = (200 * MIB, 500 * MIB)
"""What a context may take less or more than modelled: 0.3-1.0 GiB against 0.5 (memory_model.md 8)."""


@dataclass(frozen=True, slots=True)
class Observations:
    """The observed runs behind an interval: their group, how many they are, and how many ran out of memory.

    `same_job` counts those of the very job that is asked about, where they are enough to speak for it alone.
    """

    group: str
    runs: int
    ooms: int
    same_job: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """A job that was observed often enough: its measured over its predicted bytes, and in how many runs."""

    factor: float
    runs: int


@dataclass(frozen=True, slots=True)
class Band:
    """Ends of an interval as factors and bytes on top, with the runs behind them.

    `group` names the most alike runs that there are, `runs` counts them, and `reached` is the share of them that such
    intervals hold when their family (of observed runs: each run) is left out; `coverage` is the share that is claimed.
    `center` is where observed runs lie, 1 without any; `known` are jobs that were observed themselves, by the device
    bytes that are predicted for them.
    """

    low: float
    high: float
    less_bytes: int
    more_bytes: int
    group: str
    runs: int
    coverage: float
    reached: float
    center: float = 1.0
    observed: Observations | None = None
    known: Mapping[int, Known] = field(default_factory=dict)

    def expected(self, predicted_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
        """What observed runs lead one to expect of many predictions (bytes)."""
        if self.observed is None:
            return predicted_bytes
        found: NDArray[np.int64] = np.rint(predicted_bytes * self.center).astype(np.int64)
        for size, job in self.known.items():
            found[predicted_bytes == size] = round(size * job.factor)
        return found

    def upper_ends(self, predicted_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The upper ends around many predictions (bytes)."""
        ends: NDArray[np.int64] = np.ceil(predicted_bytes * self.high).astype(np.int64) + self.more_bytes
        return np.maximum(ends, self.expected(predicted_bytes))


@dataclass(frozen=True, slots=True)
class Interval:
    """What is expected of predicted bytes, the ends around it, and where they come from."""

    expected_bytes: int
    low_bytes: int
    high_bytes: int
    band: Band
    observed: Observations | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The levels at which residuals are cut, and the coverage that each group reached with one family left out."""

    levels: Levels
    reached: Mapping[str, float]


@cache
def load_calibration() -> Calibration:
    """What `make accuracy` found with these residuals."""
    document = json.loads(files("service.calibration").joinpath("calibration.json").read_text("utf-8"))
    return Calibration(**document)


@cache
def _nested() -> Nested:
    return Nested(load_residuals())


@cache
def band(likeness: Likeness) -> Band:
    """The ends of the interval of jobs that are alike."""
    nested, calibration = _nested(), load_calibration()
    asked = _asked(likeness, nested)
    low, high = nested.factors(asked, calibration.levels[asked.version])
    group = next(name for name in reversed(asked.levels) if nested.runs(name))
    found = Band(low, high, 0, 0, group, nested.runs(group), COVERAGE, calibration.reached[group])
    return widened(found, asked.kind, likeness.kind)


def interval(likeness: Likeness, predicted_bytes: int) -> Interval:
    """Low and high end around predicted bytes of the kind that the likeness has."""
    return interval_by(band(likeness), predicted_bytes)


def interval_by(found: Band, predicted_bytes: int) -> Interval:
    """Low and high end around predicted bytes, and what is expected."""
    expected = int(found.expected(np.array([predicted_bytes], dtype=np.int64))[0])
    known = found.known.get(predicted_bytes)
    same = 0 if known is None else known.runs
    return Interval(
        expected_bytes=expected,
        low_bytes=min(max(int(predicted_bytes * found.low) - found.less_bytes, 0), expected),
        high_bytes=max(ceil(predicted_bytes * found.high) + found.more_bytes, expected),
        band=found,
        observed=None if found.observed is None else replace(found.observed, same_job=same),
    )


def shipped_for(likeness: Likeness) -> Shipped:
    """What is shipped of jobs that are alike, to be pooled with observed runs."""
    nested, found = _nested(), band(likeness)
    weights = nested.weights(_asked(likeness, nested))
    return Shipped(np.array(nested.ratios), np.array(weights), found.low, found.high)


def _asked(likeness: Likeness, nested: Nested) -> Likeness:
    """The likeness with the kind of bytes whose runs speak for it."""
    for kind in ASKED_INSTEAD[likeness.kind]:
        alike = replace(likeness, kind=kind)
        if nested.predictions(alike.levels[1]) >= PRIOR:
            return alike
    return likeness


def widened(found: Band, asked: Kind, kind: Kind) -> Band:
    """The band of a kind of bytes, with the range of what runs of the kind that was asked do not show."""
    if asked in (kind, "device") or kind == "allocated":
        return found
    low, high, unseen = found.low, found.high, []
    if asked == "allocated":
        low, high = low * ALLOCATOR[0], high * ALLOCATOR[1]
        unseen.append("the allocator")
    less, more = (0, 0)
    if kind == "device":
        less, more = DRIVER_BYTES
        unseen.append("the driver")
    group = f"{found.group}, and the range of {' and '.join(unseen)}"
    return replace(found, low=low, high=high, less_bytes=less, more_bytes=more, group=group)
