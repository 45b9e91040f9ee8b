"""What else would do where a job does not fit: the smallest changes to it, more GPUs, larger ones."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from service.calibration.evidence import Evidence
from service.calibration.interval import interval_by
from service.catalog.devices import Device, Devices
from service.formats.registry import import_source
from service.formats.writers.export import Cluster, ExportFormat, changes_between
from service.job.resolve import InvalidJob, Resolved, job_with_layout, resolve_model
from service.job.schema import Job
from service.planner.changes import KEYS
from service.planner.problem import Problem
from service.planner.suggest import Suggestion, Variant, suggest
from service.usecases.devices import accelerator_of, device_of, knows_links
from service.usecases.errors import RejectedJob
from service.usecases.imports import Accepted, Given
from service.usecases.intervals import band_of
from service.usecases.regions import LOSS, LOSSES, SPLIT_LOSSES, offload_values, with_values
from service.usecases.spaces import ANY, opened, space_of, stated_split
from service.usecases.targets import Need, Target, need_of, need_on, resolved_on

MOST: Final = 3
"""Alternatives in all."""

MOST_OF_A_PLAN: Final = 5
"""Changes in the answer of a plan."""

MOST_CHANGES: Final = 2
"""Changes to the job among them, so that there is room for another target."""

MOST_LARGER: Final = 2
"""Larger devices among them."""

GROWTHS: Final = (2, 4)
"""By how much the number of GPUs is raised to see whether a job then fits."""

_DIALECTS: Mapping[str, ExportFormat] = {
    "megatron": "megatron",
    "nemo": "nemo",
    "deepspeed": "deepspeed",
    "accelerate": "accelerate",
    "torchtitan": "torchtitan",
}
"""Dialects of configs in which a change can be written."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A change to a job (values by JSON Pointer, None: left out) or another target, and what the job then needs.

    `text` is the change in the caller's own dialect; `saved_bytes` is what the worst GPU holds less by a change to the
    job, and `step_ratio` the new step time over the old one.
    """

    target: Target
    need: Need
    text: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    saved_bytes: int | None = None
    step_ratio: float | None = None


def alternatives(
    given: Given, accepted: Accepted, target: Target, devices: Devices, evidence: Evidence
) -> list[Alternative]:
    """Return what else would do: the smallest changes to the job first, then other targets.

    Raises RejectedJob and NoSuchDevice.
    """
    device = device_of(target.device, "/device", devices)
    resolved = resolved_on(accepted, target.world_size)
    found = _suggestions(resolved, device, evidence, MOST)
    changes = [_change(given, resolved, device, each, evidence) for each in found]
    targets = chain(_more(accepted, resolved, device, evidence), _larger(resolved, device, devices, evidence))
    others = chain(targets, changes[MOST_CHANGES:])
    return list(islice(chain(changes[:MOST_CHANGES], others), MOST))


def changes_to(
    given: Given, accepted: Accepted, target: Target, device: Device, evidence: Evidence
) -> list[Alternative]:
    """Return the smallest changes with which a job fits better than now. Raises RejectedJob."""
    resolved = resolved_on(accepted, target.world_size)
    found = _suggestions(resolved, device, evidence, MOST_OF_A_PLAN)
    return [_change(given, resolved, device, each, evidence) for each in found]


def _suggestions(resolved: Resolved, device: Device, evidence: Evidence, most: int) -> list[Suggestion]:
    job = resolved.job
    if device.usable_bytes is None or not knows_links(device) or job.world_size is None:
        return []
    space = space_of(opened(job, ANY, {}, job.world_size), resolved.model, resolved.recipe, ANY, device.gpus_per_node)
    band = band_of(job, device.id, evidence)
    problem = Problem(resolved.model, resolved.recipe, accelerator_of(device), band.upper_ends, band.expected)
    inner = space.expert_tensor if resolved.model.has_experts else (0,)
    near = replace(space, splits=(stated_split(job),), expert_tensor=inner)
    return suggest(problem, resolved.layout, near, variants=list(_variants(job)), most=most)


def _variants(job: Job) -> Iterator[Variant]:
    """Changes beside the layout: another loss, optimizer states on the host."""
    losses = [each for each in LOSSES.get(job.framework.transformer_impl or "", ()) if each not in SPLIT_LOSSES]
    wholes: list[dict[str, Any]] = [{LOSS: each} for each in losses if each != job.kernels.cross_entropy]
    if job.optimizer.offload in (None, "none"):
        wholes.append(offload_values("cpu", job.framework.name))
    for values in wholes:
        try:
            recipe = resolve_model(with_values(job, values)).recipe
        except InvalidJob:
            continue
        yield Variant(values, recipe)


def _change(given: Given, resolved: Resolved, device: Device, found: Suggestion, evidence: Evidence) -> Alternative:
    values = {pointer: value for pointer, value in found.changes.items() if pointer not in KEYS}
    job = job_with_layout(with_values(resolved.job, values), found.candidate.layout)
    peak = found.candidate.estimate.peak
    return Alternative(
        target=Target(device.id, job.world_size),
        need=need_of(
            (found.candidate.verdict, found.candidate.reason),
            peak.stage,
            peak.device_bytes,
            interval_by(band_of(job, device.id, evidence), peak.device_bytes),
            device.usable_bytes,
        ),
        text=_in_dialect(given, job_with_layout(resolved.job, resolved.layout), job, device)
        or _in_own_keys(found.changes),
        changes=dict(found.changes),
        saved_bytes=found.saved_bytes,
        step_ratio=found.step_ratio,
    )


def _in_dialect(given: Given, before: Job, after: Job, device: Device) -> str:
    """The change as it is written into the caller's config, or nothing where that cannot be said."""
    dialect = None if isinstance(given, Job) else _DIALECTS.get(import_source(given).format)
    if dialect is None:
        return ""
    changes = changes_between(before, after, dialect, Cluster(device.gpus_per_node, device.id))
    return " ".join(each.text for each in changes)


def _in_own_keys(changes: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{pointer.strip('/').replace('/', '.')} = {json.dumps(value)}" for pointer, value in changes.items()
    )


def _more(accepted: Accepted, resolved: Resolved, device: Device, evidence: Evidence) -> Iterator[Alternative]:
    """More of the same GPUs: the smallest number tried on which the job fits."""
    for growth in GROWTHS:
        world_size = int(resolved.layout.world_size) * growth
        try:
            need = need_on(resolved_on(accepted, world_size), device, evidence)
        except RejectedJob:
            continue
        if need.verdict == "fits":
            yield Alternative(Target(device.id, world_size), need, f"run on {world_size} GPUs")
            return


def _larger(resolved: Resolved, device: Device, devices: Devices, evidence: Evidence) -> Iterator[Alternative]:
    """Larger GPUs of the same maker, the smallest first; no slices, which are for jobs of one GPU."""
    sizes: dict[int, Device] = {}
    for each in devices:
        usable = each.usable_bytes if each.slice_of is None else None
        if usable is not None and each.vendor == device.vendor and usable > (device.usable_bytes or 0):
            sizes.setdefault(usable, each)
    needs = ((sizes[usable], need_on(resolved, sizes[usable], evidence)) for usable in sorted(sizes))
    fitting = (
        Alternative(Target(each.id, resolved.job.world_size), need, f"run on {each.id}")
        for each, need in needs
        if need.verdict == "fits"
    )
    yield from islice(fitting, MOST_LARGER)
