"""Where a job could run: what it needs on a target, and which other targets would do."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from service.calculator.estimate import distinct_stages, stage_moments
from service.catalog.devices import Device
from service.job.diagnostics import Findings
from service.job.resolve import Resolved
from service.usecases.devices import accelerator_of, list_devices
from service.usecases.errors import RejectedJob
from service.usecases.estimates import Verdict, resolved_of, verdict_on
from service.usecases.imports import Accepted, accept
from service.usecases.intervals import interval_around

GROWTHS: Final = (2, 4)
"""By how much the number of GPUs is raised to see whether a job then fits."""

MOST_LARGER: Final = 2
"""How many larger devices are named."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a job is to run: a device, and the number of GPUs when it is not the job's own."""

    device: str
    world_size: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a job needs on the worst stage of a target, and what is there (bytes), with the verdict on it."""

    verdict: Verdict
    reason: str
    stage: int
    device_bytes: int
    low_bytes: int
    high_bytes: int
    usable_bytes: int | None


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another target, and what the job needs there."""

    target: Target
    need: Need


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


def need_on(resolved: Resolved, device: Device) -> Need:
    """Return what a job needs on a device, without the ledger."""
    parts = (resolved.model, resolved.layout, resolved.recipe, accelerator_of(device))
    peaks = {stage: int(max(stage_moments(*parts, stage).values())) for stage in distinct_stages(*parts[:2])}
    stage = max(peaks, key=lambda each: peaks[each])
    around = interval_around(resolved, peaks[stage])
    verdict, reason = verdict_on(device, stage, peaks[stage], around.high_bytes)
    return Need(verdict, reason, stage, peaks[stage], around.low_bytes, around.high_bytes, device.usable_bytes)


def other_targets(accepted: Accepted, resolved: Resolved, device: Device) -> Iterator[Alternative]:
    """Yield targets on which the job fits: more of the same GPUs, then larger ones of the same make."""
    for world_size in _grown(resolved):
        try:
            need = need_on(resolved_on(accepted, world_size), device)
        except RejectedJob:
            continue
        if need.verdict == "fits":
            yield Alternative(Target(device.id, world_size), need)
            break
    larger = ((each, need_on(resolved, each)) for each in _larger(device))
    fitting = ((each, need) for each, need in larger if need.verdict == "fits")
    for each, need in islice(fitting, MOST_LARGER):
        yield Alternative(Target(each.id, resolved.job.world_size), need)


def _grown(resolved: Resolved) -> list[int]:
    return [int(resolved.layout.world_size) * growth for growth in GROWTHS]


def _larger(device: Device) -> list[Device]:
    """Devices of the same maker with more usable memory, the smallest first, one of each size."""
    sizes: dict[int, Device] = {}
    for each in list_devices():
        usable = each.usable_bytes
        if usable is not None and each.vendor == device.vendor and usable > (device.usable_bytes or 0):
            sizes.setdefault(usable, each)
    return [sizes[usable] for usable in sorted(sizes)]
