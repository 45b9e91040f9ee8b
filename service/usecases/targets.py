"""Where a job is to run, and what it needs there."""

from dataclasses import dataclass, replace
from typing import Any

from service.calculator.estimate import stage_peaks
from service.calibration.evidence import Evidence
from service.calibration.interval import Interval, Observations, interval_by
from service.catalog.devices import Device
from service.job.diagnostics import Findings
from service.job.resolve import Resolved
from service.usecases.devices import accelerator_of
from service.usecases.estimates import Verdict, Without, resolved_of, verdict_on, without_at
from service.usecases.imports import Accepted, accept
from service.usecases.intervals import band_of


@dataclass(frozen=True, slots=True)
class Target:
    """Where a job is to run: a device, and the number of GPUs when it is not the job's own."""

    device: str
    world_size: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a job needs on the worst stage of a target, and what is there (bytes), with the verdict on it.

    `device_bytes` are itemised; `shift_bytes` is what `observed` runs lead one to expect on top of them.
    """

    verdict: Verdict
    reason: str
    stage: int
    device_bytes: int
    low_bytes: int
    high_bytes: int
    usable_bytes: int | None
    shift_bytes: int = 0
    observed: Observations | None = None

    @property
    def expected_bytes(self) -> int:
        """What is expected on the worst stage."""
        return self.device_bytes + self.shift_bytes


def need_of(verdict: tuple[Verdict, str], stage: int, peak: int, around: Interval, usable: int | None) -> Need:
    """Return the need of a peak (bytes) with its verdict and interval."""
    return Need(
        verdict=verdict[0],
        reason=verdict[1],
        stage=stage,
        device_bytes=peak,
        low_bytes=around.low_bytes,
        high_bytes=around.high_bytes,
        usable_bytes=usable,
        shift_bytes=around.expected_bytes - peak,
        observed=around.observed,
    )


def resolved_on(accepted: Accepted, world_size: int | None) -> Resolved:
    """Return the job with nothing left open, on so many GPUs (None: its own number). Raises RejectedJob.

    On another number of GPUs the data-parallel degree follows, and with it the micro-batches of a stated global batch.
    """
    if world_size is None:
        return resolved_of(accepted)
    follows = ["/parallelism/data", *(["/batch/accumulation"] if accepted.job.batch.global_ is not None else [])]
    changes: dict[str, Any] = {"/world_size": world_size, **dict.fromkeys(follows)}
    changed = accept(accepted.job, changes)
    missing = [each for each in accepted.findings.missing if each.fact != "world_size"]
    sources = {**accepted.findings.sources, "/world_size": changed.findings.sources["/world_size"]}
    findings = Findings(accepted.findings.diagnostics, missing, sources)
    return resolved_of(replace(accepted, job=changed.job, findings=findings))


def need_on(resolved: Resolved, device: Device, evidence: Evidence) -> Need:
    """Return what a job needs on a device, without the ledger."""
    peaks = stage_peaks(resolved.model, resolved.layout, resolved.recipe, accelerator_of(device))
    stage, peak = max(((stage, int(peak)) for stage, peak in peaks.items()), key=lambda each: each[1])
    around = interval_by(band_of(resolved.job, device.id, evidence), peak)
    return need_of(verdict_on(device, stage, around), stage, peak, around, device.usable_bytes)


def without_observations(resolved: Resolved, device: Device, need: Need) -> Without | None:
    """Return what is said where observed runs are left out; None where there are none."""
    return None if need.observed is None else without_at(resolved, device, need.stage, need.device_bytes)
