"""What the stored observations say at present: evidence for the next answers, and a report on every group."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median
from typing import Final

from pydantic import ValidationError

from service.calculator.estimate import METHOD_VERSION
from service.calibration.evidence import NO_EVIDENCE, Evidence, Fitted, Judged, Seen, Step
from service.calibration.interval import Band
from service.calibration.observed import Group
from service.calibration.residuals import Kind, Likeness
from service.catalog.devices import Devices
from service.job.resolve import InvalidJob, resolve
from service.job.schema import Job
from service.logs import logger
from service.store import observations
from service.store.errors import StoreError
from service.store.observations import Predicted, StoredObservation, StoredObservationSummary
from service.store.session import ReadSession, Store
from service.usecases.current_devices import CurrentDevices
from service.usecases.devices import device_of
from service.usecases.errors import RejectedQuestion
from service.usecases.intervals import likeness_of
from service.usecases.predictions import predicted

MOST_RUNS: Final = 200
"""Runs of a group that are looked at: the newest."""

BATCH: Final = 20
"""Runs that a new version of the method looks at again, at a time."""

KINDS: Final[tuple[Kind, ...]] = ("device", "reserved", "allocated")

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Drift:
    """Bias of the same runs by the version of the method before, and by the present one."""

    method_version: str
    runs: int
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the timed steps of a group say in nodes of a size."""

    gpus_per_node: int
    fitted: Fitted


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the newest runs of a group say.

    `outdated` of them the present method has not looked at yet. `bias` is the middle of measured over predicted `kind`
    of bytes, less 1, over `sized` runs. `judged` is what is made of them for jobs like the newest run, None where they
    are too few; `band` and `shipped` are the intervals around such jobs' device bytes, with them and without.
    Verdicts are counted where it is known how the run ended.
    """

    group: Group
    profile: str
    newest_at: datetime
    runs: int
    outdated: int
    ooms: int
    called_fits: int
    wrong_fits: int
    kind: Kind | None
    sized: int
    bias: float | None
    judged: Judged | None
    band: Band
    shipped: Band
    drift: Drift | None
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True, slots=True)
class _Runs:
    """The newest runs of a group, newest first, and what the newest shares with the measured runs."""

    likeness: Likeness
    newest: Sequence[StoredObservationSummary]


@dataclass(frozen=True, slots=True)
class _State:
    """One moment: the generations of the groups in the database, their runs, and what they say."""

    generations: dict[Group, int] = field(default_factory=dict)
    groups: dict[Group, _Runs] = field(default_factory=dict)
    evidence: Evidence = NO_EVIDENCE


class Calibrations:
    """What the observations say, for all threads of a process: as new as the last refresh."""

    def __init__(self, store: Store, devices: CurrentDevices) -> None:
        self._store = store
        self._devices = devices
        self._turn = threading.Lock()
        self._state = _State()
        self._looked_at: str | None = None
        self._is_caught_up = False

    @property
    def evidence(self) -> Evidence:
        """What observed runs say at this moment."""
        return self._state.evidence

    def evidence_for(self, *, use_observations: bool) -> Evidence:
        """What an answer is made with: what observed runs say, or nothing where the caller asks for it without."""
        return self._state.evidence if use_observations else NO_EVIDENCE

    def refresh(self) -> None:
        """Read the groups that have changed, here or in another process. Raises StoreBusy and StoreUnavailable."""
        with self._turn, self._store.read() as session:
            found = observations.generations(session)
            before = self._state
            changed = [group for group, number in found.items() if before.generations.get(group) != number]
            if not changed:
                return
            groups = before.groups | {group: _runs(session, group, before.groups.get(group)) for group in changed}
            kept = {group: runs for group, runs in groups.items() if runs is not None}
            seen = {group: [each for run in runs.newest if (each := _seen(run))] for group, runs in kept.items()}
            self._state = _State(found, kept, Evidence(seen, before.evidence.generation + 1))

    def follow(self) -> None:
        """Look for what other processes have stored, and let a new method look at a few old runs again."""
        try:
            if not self._is_caught_up:
                self._catch_up()
            elif self._store.is_sole:
                return
            self.refresh()
        except StoreError as error:
            _log.warning("observations could not be read", error=str(error))

    def fits(self) -> list[tuple[tuple[str, str, str], int, int]]:
        """Return for every group how many runs were called `fits`, and how many of these ran out of memory."""
        found = []
        for group, runs in self._state.groups.items():
            called = _called_fits(runs.newest)
            names = (group.framework, group.implementation, group.device)
            found.append((names, len(called), sum(each.measured.oom is True for each in called)))
        return found

    def report(self) -> list[Calibration]:
        """Return what every group says, by name. Raises StoreBusy and StoreUnavailable."""
        self.refresh()
        state = self._state
        return [_calibration(group, state.groups[group], state.evidence) for group in sorted(state.groups)]

    def _catch_up(self) -> None:
        with self._store.read() as session:
            batch = observations.outdated(session, METHOD_VERSION, self._looked_at, BATCH)
        for each in batch:
            again = _predicted_again(each, self._devices.now)
            if again is not None:
                with self._store.write() as writing:
                    observations.predict_again(writing, each, again)
            self._looked_at = each.id
        self._is_caught_up = not batch


def _runs(session: ReadSession, group: Group, known: _Runs | None) -> _Runs | None:
    newest = observations.newest(session, group, MOST_RUNS, () if known is None else known.newest)
    if not newest:
        return None
    if known is not None and known.newest[0].id == newest[0].id:
        return replace(known, newest=newest)
    job = Job.model_validate(observations.get(session, newest[0].id).job)
    return _Runs(likeness_of(job, "device"), newest)


def _seen(run: StoredObservationSummary) -> Seen | None:
    """A run as it is judged, or None as long as the present method has not looked at it."""
    said = _by(run, METHOD_VERSION)
    if said is None:
        return None
    measured = run.measured
    least = (run.usable_bytes + 1) / said.device_bytes if measured.oom and run.usable_bytes is not None else None
    is_timed = measured.step_seconds is not None and said.step_grid is not None
    return Seen(
        prediction=(said.stage, said.allocated_bytes, said.reserved_bytes, said.device_bytes),
        device_bytes=said.device_bytes,
        job=run.digest,
        ratios={} if measured.oom else _ratios(run, said),
        least_ratio=least,
        gpus_per_node=run.gpus_per_node,
        step=Step(said.step_grid or (), measured.step_seconds or 0.0) if is_timed else None,
    )


def _by(run: StoredObservationSummary, method_version: str) -> Predicted | None:
    return next((each for each in run.predicted if each.method_version == method_version), None)


def _ratios(run: StoredObservationSummary, said: Predicted) -> dict[Kind, float]:
    sizes = {kind: (getattr(run.measured, f"{kind}_bytes"), getattr(said, f"{kind}_bytes")) for kind in KINDS}
    return {kind: measured / size for kind, (measured, size) in sizes.items() if measured is not None and size}


def _calibration(group: Group, runs: _Runs, evidence: Evidence) -> Calibration:
    newest = runs.newest
    ended = _called_fits(newest)
    judged = evidence.judged(runs.likeness, group.device)
    lived = [(run, _by(run, METHOD_VERSION)) for run in newest if not run.measured.oom]
    ratios = [_ratios(run, said) for run, said in lived if said is not None]
    counts = {kind: sum(kind in each for each in ratios) for kind in KINDS}
    kind = judged.kind if judged is not None else max(KINDS, key=lambda each: counts[each])
    sized = [each[kind] for each in ratios if kind in each]
    nodes = sorted({each.gpus_per_node for each in newest})
    fitted = [(each, evidence.fitted(group, each)) for each in nodes]
    return Calibration(
        group=group,
        profile=newest[0].profile,
        newest_at=newest[0].created_at,
        runs=len(newest),
        outdated=sum(_by(each, METHOD_VERSION) is None for each in newest),
        ooms=sum(each.measured.oom is True for each in newest),
        called_fits=len(ended),
        wrong_fits=sum(each.measured.oom is True for each in ended),
        kind=kind if sized else None,
        sized=len(sized),
        bias=median(sized) - 1 if sized else None,
        judged=judged,
        band=evidence.band(runs.likeness, group.device),
        shipped=NO_EVIDENCE.band(runs.likeness, group.device),
        drift=_drift(newest, kind),
        clusters=tuple(Cluster(size, found) for size, found in fitted if found is not None),
    )


def _called_fits(newest: Sequence[StoredObservationSummary]) -> list[StoredObservationSummary]:
    """The runs that were called `fits` and of which it is known how they ended."""
    return [each for each in newest if each.measured.oom is not None and each.verdict == "fits"]


def _drift(newest: Sequence[StoredObservationSummary], kind: Kind) -> Drift | None:
    """The present method beside the one before, on the runs that both have looked at."""
    made = {each.method_version: each.made_at for run in newest for each in run.predicted}
    earlier = max((each for each in made if each != METHOD_VERSION), key=lambda each: made[each], default="")
    pairs = [(run, _by(run, earlier), _by(run, METHOD_VERSION)) for run in newest if not run.measured.oom]
    looked_at = [(_ratios(run, before), _ratios(run, now)) for run, before, now in pairs if before and now]
    both = [(before[kind], now[kind]) for before, now in looked_at if kind in before and kind in now]
    if not both:
        return None
    return Drift(earlier, len(both), median(each for each, _ in both) - 1, median(each for _, each in both) - 1)


def _predicted_again(stored: StoredObservation, devices: Devices) -> Predicted | None:
    """What the present method says of a run; None where it does not know the job, the device or the stage any more."""
    try:
        device = device_of(stored.group.device, "/device", devices)
        resolved = resolve(Job.model_validate(stored.job))
        return predicted(resolved, device, stored.gpus_per_node, stored.measured)[0]
    except (ValidationError, InvalidJob, RejectedQuestion) as error:
        _log.warning("an observed run cannot be predicted any more", observation=stored.id, error=str(error))
        return None
