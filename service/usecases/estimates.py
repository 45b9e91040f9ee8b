"""How much memory a job takes on a device, and whether it fits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from service.calculator.estimate import METHOD_VERSION, Estimate, estimate
from service.calculator.step_time import StepTime
from service.calibration.evidence import NO_EVIDENCE, Evidence, Fitted
from service.calibration.few_shot import NOTHING_FITTED, tuned_step_time
from service.calibration.interval import Interval, interval_by
from service.catalog.devices import Device, Devices
from service.job.digest import digest, identity
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job
from service.planner.verdict import judge, reason
from service.usecases.capacity import HOST_MEMORY, estimate_findings
from service.usecases.devices import accelerator_of, device_of, knows_links
from service.usecases.imports import Accepted, Given, accept, merged
from service.usecases.intervals import band_of, fitted_of, interval_around

Verdict = Literal["fits", "tight", "does_not_fit", "unknown"]


@dataclass(frozen=True, slots=True)
class Without:
    """What is said of a peak (bytes) where observed runs are left out."""

    verdict: Verdict
    low_bytes: int
    high_bytes: int


@dataclass(frozen=True, slots=True)
class EstimateAnswer:
    """The itemised memory of a job on a device.

    `resolved` has the job with every default written out and what was found about it; `time` is None for a device
    whose links have no figures, and `timed` the observed steps behind it; `digest` is that of the canonical job, the
    device and the method. `without` is the answer without observed runs, where they changed it.
    """

    verdict: Verdict
    reason: str
    device: Device
    estimate: Estimate
    interval: Interval
    time: StepTime | None
    timed: Fitted | None
    resolved: Resolved
    method_version: str
    digest: str
    without: Without | None


def estimate_job(
    given: Given,
    device_name: str,
    changes: Mapping[str, Any] | None = None,
    devices: Devices | None = None,
    evidence: Evidence = NO_EVIDENCE,
) -> EstimateAnswer:
    """Return the itemised memory of a job, with further values by JSON Pointer. Raises RejectedJob and NoSuchDevice."""
    device = device_of(device_name, "/device", devices)
    resolved = resolved_job(given, changes)
    accelerator = accelerator_of(device)
    found = estimate(resolved.model, resolved.layout, resolved.recipe, accelerator)
    peak = found.peak.device_bytes
    around = interval_by(band_of(resolved.job, device.id, evidence), peak)
    stage, is_observed = found.peak.stage, around.band.observed is not None
    verdict, sentence = verdict_on(device, stage, around)
    time, timed = time_on(resolved, device, evidence)
    resolved = with_capacity(resolved, found, around, device)
    return EstimateAnswer(
        verdict=verdict,
        reason=sentence,
        device=device,
        estimate=found,
        interval=around,
        time=time,
        timed=timed,
        resolved=resolved,
        method_version=METHOD_VERSION,
        digest=estimate_digest(resolved.job, device),
        without=without_at(resolved, device, stage, peak) if is_observed else None,
    )


def with_capacity(resolved: Resolved, found: Estimate, around: Interval, device: Device) -> Resolved:
    """Return the job with what its estimate means on a device among its findings, in place of what import guessed."""
    known = resolved.findings
    further = list(estimate_findings(found, around, device))
    figures = {each.code for each in further}
    every = [each for each in known.diagnostics if each.code != HOST_MEMORY or HOST_MEMORY not in figures]
    ranked = sorted([*every, *further], key=lambda each: ("error", "warning", "info").index(each.severity))
    return replace(resolved, findings=replace(known, diagnostics=ranked))


def without_at(resolved: Resolved, device: Device, stage: int, device_bytes: int) -> Without:
    """Return what is said of a stage's peak (bytes) where observed runs are left out."""
    shipped = interval_around(resolved, device_bytes)
    return Without(verdict_on(device, stage, shipped)[0], shipped.low_bytes, shipped.high_bytes)


def time_on(resolved: Resolved, device: Device, evidence: Evidence) -> tuple[StepTime | None, Fitted | None]:
    """Return the time of a step, and the observed steps behind it; None where the device's links have no figures."""
    if not knows_links(device):
        return None, None
    timed = fitted_of(resolved.job, device.id, device.gpus_per_node, evidence)
    tuning = NOTHING_FITTED if timed is None else timed.tuning
    accelerator = accelerator_of(device)
    return tuned_step_time(resolved.model, resolved.layout, resolved.recipe, accelerator, tuning), timed


def resolved_job(given: Given, changes: Mapping[str, Any] | None = None) -> Resolved:
    """Return the job with nothing left open, and all that was found about it. Raises RejectedJob."""
    return resolved_of(accept(given, changes))


def resolved_of(accepted: Accepted) -> Resolved:
    """Return an accepted job with nothing left open, and all that was found about it. Raises RejectedJob."""
    try:
        resolved = resolve(accepted.job)
    except InvalidJob as error:
        raise accepted.rejected(error.findings) from None
    findings = merged(accepted.findings, resolved.findings)
    if findings.errors or findings.missing:
        raise accepted.rejected(findings)
    return replace(resolved, findings=findings)


def estimate_digest(job: Job, device: Device) -> str:
    """Return the digest of the question what a job, its defaults written out, takes on a device."""
    return digest({"job": identity(job), "device": device.key, "method": METHOD_VERSION})


def canonical(job: Job) -> dict[str, object]:
    """Return the job as a document in which the same job is the same text: nothing absent, nothing unset."""
    return job.model_dump(mode="json", by_alias=True, exclude_none=True)


def verdict_on(device: Device, stage: int, around: Interval) -> tuple[Verdict, str]:
    """Return the verdict on the worst stage's peak, as it is expected and at the upper end of its interval, and why."""
    if device.usable_bytes is None:
        return "unknown", f"no figure is known for the memory that a process can use on {device.id}"
    accelerator = accelerator_of(device)
    return (
        judge(around.expected_bytes, around.high_bytes, accelerator),
        reason(stage, around.expected_bytes, around.high_bytes, accelerator),
    )
