"""What the observed runs of an installation say: intervals and step times of the groups that have enough of them."""

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor
from statistics import median

import numpy as np

from service.calibration.few_shot import FEWEST as FEWEST_STEPS
from service.calibration.few_shot import LINKS, PRODUCTS, Tuning, fit
from service.calibration.interval import ASKED_INSTEAD, Band, Known, Observations, band, shipped_for, widened
from service.calibration.observed import FARTHEST, FEWEST, FEWEST_OF_A_JOB, Group, Pooled, Run, middle, pooled
from service.calibration.residuals import Kind, Likeness

MOST_LAYOUTS = 50
"""Different timed layouts that are fitted: the newest."""

_STEPS = 1000
"""Factors are cut to thousandths, outwards, so that a run that says nothing new changes no answer."""


@dataclass(frozen=True, slots=True)
class Step:
    """A timed step: its prediction at every pair of factors that a fit tries, in order, and what was measured."""

    grid: Sequence[float]
    seconds: float


@dataclass(frozen=True, slots=True)
class Seen:
    """An observed run of a group: measured over predicted bytes by kind, and of a run out of memory the least ratio.

    `device_bytes` are predicted.

    Runs of one `prediction` repeat each other in their bytes, runs of one `job` also in their time.
    """

    prediction: Hashable
    device_bytes: int
    job: Hashable
    ratios: Mapping[Kind, float]
    least_ratio: float | None
    gpus_per_node: int
    step: Step | None


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the timed steps of a cluster say, and from how many steps of how many layouts."""

    tuning: Tuning
    steps: int
    layouts: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What the runs of a group say of one kind of bytes; `ooms` of them ran out of memory."""

    kind: Kind
    runs: int
    ooms: int
    pooled: Pooled
    known: Mapping[int, Known]


class Evidence:
    """The observed runs of a moment, newest first in each group; it never changes, and remembers what it was asked.

    `generation` tells it from that of other moments.
    """

    def __init__(self, seen: Mapping[Group, Sequence[Seen]] | None = None, generation: int = 0) -> None:
        self.generation = generation
        self._records = {group: _Record.of(runs) for group, runs in (seen or {}).items()}
        self._bands: dict[tuple[Likeness, str], Band] = {}
        self._fitted: dict[tuple[Group, int], Fitted | None] = {}

    def band(self, likeness: Likeness, device: str) -> Band:
        """The ends of the interval of jobs that are alike, on a device: as shipped where too few runs were observed."""
        key = (likeness, device)
        if key not in self._bands:
            self._bands[key] = self._band(likeness, Group(likeness.framework, likeness.implementation, device))
        return self._bands[key]

    def judged(self, likeness: Likeness, device: str) -> Judged | None:
        """What the group of such jobs says of their bytes; None where it has too few runs."""
        record = self._records.get(Group(likeness.framework, likeness.implementation, device))
        kind = None if record is None else record.kind_for(likeness.kind)
        if record is None or kind is None:
            return None
        runs = [*record.ratios.get(kind, ()), *record.ooms]
        said = pooled(runs, shipped_for(replace(likeness, kind=kind)))
        return Judged(kind, len(runs), len(record.ooms), said, _known(runs, record.sizes))

    def fitted(self, group: Group, gpus_per_node: int) -> Fitted | None:
        """What timed steps say of a group's runs in such nodes; None where too few layouts were timed."""
        key = (group, gpus_per_node)
        if key not in self._fitted:
            record = self._records.get(group)
            self._fitted[key] = None if record is None else _fitted(record.steps.get(gpus_per_node, {}))
        return self._fitted[key]

    def said(self, devices: Iterable[str]) -> dict[str, str]:
        """A digest of every group on these devices (none: on any) that has a say, by its name."""
        wanted = set(devices)
        found = {group.name: record for group, record in self._records.items() if group.device in wanted or not wanted}
        return {name: record.digest() for name, record in found.items() if record.has_a_say}

    def _band(self, likeness: Likeness, group: Group) -> Band:
        found = self.judged(likeness, group.device)
        if found is None:
            return band(likeness)
        said = found.pooled
        own = Band(
            low=floor(said.low * _STEPS) / _STEPS,
            high=ceil(said.high * _STEPS) / _STEPS,
            less_bytes=0,
            more_bytes=0,
            group=f"{group.name}, {found.kind} bytes, observed",
            runs=found.runs,
            coverage=band(likeness).coverage,
            reached=round(said.reached, 3),
            center=round(said.center * _STEPS) / _STEPS,
            observed=Observations(group.name, found.runs, found.ooms),
            known=found.known,
        )
        return widened(own, found.kind, likeness.kind)


NO_EVIDENCE = Evidence()


@dataclass(frozen=True, slots=True)
class _Record:
    """A group's plausible runs by kind of bytes, those out of memory, and timed steps by nodes and job."""

    ratios: Mapping[Kind, Sequence[Run]]
    ooms: Sequence[Run]
    sizes: Mapping[Hashable, int] = field(default_factory=dict)
    steps: Mapping[int, Mapping[Hashable, Sequence[Step]]] = field(default_factory=dict)

    @classmethod
    def of(cls, seen: Iterable[Seen]) -> "_Record":
        ratios: dict[Kind, list[Run]] = defaultdict(list)
        steps: dict[int, dict[Hashable, list[Step]]] = defaultdict(lambda: defaultdict(list))
        ooms, sizes = [], {}
        for each in seen:
            sizes[each.prediction] = each.device_bytes
            if each.least_ratio is not None:
                if _is_plausible(each.least_ratio):
                    ooms.append(Run(each.least_ratio, oom=True, prediction=each.prediction))
                continue
            for kind, ratio in each.ratios.items():
                if _is_plausible(ratio):
                    ratios[kind].append(Run(ratio, oom=False, prediction=each.prediction))
            if each.step is not None:
                steps[each.gpus_per_node][each.job].append(each.step)
        return cls(dict(ratios), ooms, sizes, {nodes: dict(found) for nodes, found in steps.items()})

    @property
    def has_a_say(self) -> bool:
        """Whether there are enough runs of any kind of bytes, or enough timed layouts in any nodes."""
        sized = any(self.kind_for(kind) for kind in ASKED_INSTEAD)
        return sized or any(len(each) >= FEWEST_STEPS for each in self.steps.values())

    def digest(self) -> str:
        """SHA-256 of everything in the record, in hexadecimal digits."""
        seconds = {
            nodes: {job: [each.seconds for each in steps] for job, steps in jobs.items()}
            for nodes, jobs in self.steps.items()
        }
        return hashlib.sha256(repr((self.ratios, self.ooms, seconds)).encode()).hexdigest()

    def kind_for(self, asked: Kind) -> Kind | None:
        """The kind of bytes whose runs speak for the one asked for; None where there are too few.

        The first with enough runs that did not end out of memory, or else that with most of them.
        """
        counts = {kind: len(self.ratios.get(kind, ())) for kind in ASKED_INSTEAD[asked]}
        enough = [kind for kind, count in counts.items() if count >= FEWEST]
        best = enough[0] if enough else max(counts, key=lambda kind: counts[kind])
        return best if counts[best] + len(self.ooms) >= FEWEST else None


def _known(runs: Sequence[Run], sizes: Mapping[Hashable, int]) -> dict[int, Known]:
    """Jobs with enough runs to speak for themselves, by the device bytes that are predicted for them."""
    members: dict[int, list[Run]] = defaultdict(list)
    for each in runs:
        members[sizes[each.prediction]].append(each)
    return {size: Known(middle(same), len(same)) for size, same in members.items() if len(same) >= FEWEST_OF_A_JOB}


def _is_plausible(ratio: float) -> bool:
    return 1 / FARTHEST <= ratio <= FARTHEST


def _fitted(steps: Mapping[Hashable, Sequence[Step]]) -> Fitted | None:
    """A layout that was timed several times counts once, with the middle of its times."""
    newest = list(steps.values())[:MOST_LAYOUTS]
    if len(newest) < FEWEST_STEPS:
        return None
    grids = np.array([each[0].grid for each in newest], dtype=np.float64).reshape(-1, len(LINKS), len(PRODUCTS))
    seconds = [median(step.seconds for step in each) for each in newest]
    return Fitted(fit(list(grids), seconds), sum(map(len, newest)), len(newest))
