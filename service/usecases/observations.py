"""Observations: what a run measured, stored once with what was predicted of it."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from service.calibration.evidence import Evidence
from service.calibration.interval import interval_by
from service.catalog.devices import Device, Devices
from service.job.resolve import Resolved
from service.logs import logger
from service.store import observations
from service.store.errors import StoreError
from service.store.observations import (
    Measured,
    NewObservation,
    ObservationFilter,
    StoredObservation,
    StoredObservationSummary,
)
from service.store.paging import Page
from service.store.session import Store
from service.usecases.calibrations import Calibrations
from service.usecases.devices import device_of
from service.usecases.errors import NoSuchCandidate, RejectedQuestion
from service.usecases.estimates import Verdict, canonical, estimate_digest, resolved_job, verdict_on
from service.usecases.idempotency import Claims, Ended
from service.usecases.imports import Given
from service.usecases.intervals import band_of, group_of
from service.usecases.plans import get_plan
from service.usecases.predictions import predicted

_log = logger(__name__)


class RunObserved(RejectedQuestion):
    """Another observation of the run is stored."""

    def __init__(self, stored: StoredObservation) -> None:
        super().__init__(f"the run {stored.run_id!r} has another observation, {stored.id}")


@dataclass(frozen=True, slots=True)
class OfPlan:
    """A run of a candidate of a stored plan; without a device it was on the plan's."""

    plan: str
    candidate: int
    device: str | None
    gpus_per_node: int | None


@dataclass(frozen=True, slots=True)
class OfJob:
    """A run of a job or a config."""

    given: Given
    device: str
    gpus_per_node: int | None


@dataclass(frozen=True, slots=True)
class Observed:
    """What a run measured; `fingerprint` is the same when the same is sent again."""

    run_id: str
    ran: OfPlan | OfJob
    measured: Measured
    fingerprint: str


@dataclass(frozen=True, slots=True)
class _Ran:
    """The job of a run and where it was; of a plan, which candidate and what was said of it there."""

    resolved: Resolved
    device: Device
    gpus_per_node: int
    plan: str | None = None
    candidate: int | None = None
    verdict: Verdict | None = None


def observe(
    store: Store,
    claims: Claims,
    calibrations: Calibrations,
    observed: Observed,
    claim: UUID | None = None,
    devices: Devices | None = None,
) -> tuple[StoredObservation, bool]:
    """Store an observation with its prediction; return it and True, or the same one that was stored and False.

    `claim` is the caller's key. Raises RunObserved, NotFound for a plan, NoSuchCandidate, NoSuchDevice, RejectedJob
    and ImplausibleMeasurement.
    """
    with store.read() as session:
        stored = observations.get_by_run(session, observed.run_id)
    is_new = False
    if stored is None:
        new = _new(store, observed, devices, calibrations.evidence)
        with store.write() as session:
            stored, is_new = observations.create(session, new)
            if claim is not None and stored.fingerprint == observed.fingerprint:
                claims.settle(claim, Ended("created" if is_new else "found", stored.id), session)
    if stored.fingerprint != observed.fingerprint:
        raise RunObserved(stored)
    if is_new:
        _note(calibrations)
    return stored, is_new


def get_observation(store: Store, observation_id: str) -> StoredObservation:
    """Return the observation of this id. Raises NotFound."""
    with store.read() as session:
        return observations.get(session, observation_id)


def list_observations(
    store: Store, where: ObservationFilter, limit: int, cursor: str | None
) -> Page[StoredObservationSummary]:
    """Return up to `limit` observations, newest first, from the cursor on. Raises InvalidCursor."""
    with store.read() as session:
        return observations.list_page(session, where, limit, cursor)


def delete_observation(
    store: Store,
    calibrations: Calibrations,
    observation_id: str,
    expected: Callable[[StoredObservation], None] | None = None,
) -> None:
    """Remove the observation of this id; `expected` refuses one that is not as the caller knows it. Raises NotFound."""
    with store.write() as session:
        if expected is not None:
            expected(observations.get(session, observation_id))
        observations.delete(session, observation_id)
    _note(calibrations)


def _note(calibrations: Calibrations) -> None:
    """Let the next answer know what was stored; without a database it is known when that is back."""
    try:
        calibrations.refresh()
    except StoreError as error:
        _log.warning("observations could not be read", error=str(error))


def _new(store: Store, observed: Observed, devices: Devices | None, evidence: Evidence) -> NewObservation:
    asked = observed.ran
    ran = _ran_plan(store, asked, devices) if isinstance(asked, OfPlan) else _ran_job(asked, devices)
    prediction, found = predicted(ran.resolved, ran.device, ran.gpus_per_node, observed.measured)
    job, peak = ran.resolved.job, found.peak
    around = interval_by(band_of(job, ran.device.id, evidence), peak.device_bytes)
    return NewObservation(
        run_id=observed.run_id,
        fingerprint=observed.fingerprint,
        group=group_of(job, ran.device.id),
        gpus_per_node=ran.gpus_per_node,
        profile=ran.resolved.recipe.profile,
        plan=ran.plan,
        candidate=ran.candidate,
        digest=estimate_digest(job, ran.device),
        verdict=ran.verdict or verdict_on(ran.device, peak.stage, around)[0],
        usable_bytes=ran.device.usable_bytes,
        measured=observed.measured,
        job=canonical(job),
        predicted=prediction,
    )


def _ran_plan(store: Store, ran: OfPlan, devices: Devices | None) -> _Ran:
    plan = get_plan(store, ran.plan)
    candidates = plan.answer.candidates
    if ran.candidate >= len(candidates):
        raise NoSuchCandidate(ran.plan, ran.candidate, len(candidates))
    candidate = candidates[ran.candidate]
    device = device_of(ran.device or plan.summary.device, "/device", devices)
    said = candidate.verdict if device.id == plan.summary.device else None
    nodes = ran.gpus_per_node or plan.question["cluster"]["gpus_per_node"]
    return _Ran(resolved_job(candidate.job), device, nodes, ran.plan, ran.candidate, said)


def _ran_job(ran: OfJob, devices: Devices | None) -> _Ran:
    device = device_of(ran.device, "/device", devices)
    return _Ran(resolved_job(ran.given), device, ran.gpus_per_node or device.gpus_per_node)
