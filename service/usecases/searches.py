"""The search for layouts: a question about a job on a cluster, and its answer. Nothing is stored here."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from service.calculator.device import Accelerator
from service.calculator.estimate import METHOD_VERSION
from service.calculator.layout import Layout
from service.calibration.evidence import NO_EVIDENCE, Evidence, Fitted
from service.calibration.interval import Band, Observations, interval_by
from service.catalog.devices import Device, Devices
from service.job.diagnostics import Diagnostic, Findings, MissingFact
from service.job.digest import digest
from service.job.resolve import InvalidJob, ResolvedModel, job_with_layout, resolve_model
from service.job.schema import Job
from service.planner.grid import space_size
from service.planner.recompute import LeastRecomputation
from service.planner.search import Candidate, FrontierPoint, Progress, search
from service.planner.verdict import Verdict
from service.store.kept import Kept
from service.usecases.alternatives import Alternative, changes_to
from service.usecases.devices import accelerator_of, device_of, knows_links
from service.usecases.errors import IncompleteDevice, RejectedJob, SearchTooLarge
from service.usecases.estimates import canonical
from service.usecases.imports import Accepted, Given, accept, merged
from service.usecases.intervals import band_of, fitted_of
from service.usecases.regions import Regions, regions_of, with_values
from service.usecases.spaces import Cluster, Limits, opened
from service.usecases.targets import Need, Target, need_on, resolved_on
from service.usecases.unproven import unproven_times

Objective = Literal["step_time"]

ATTENTION, AUTOMATIC = "/kernels/attention", "auto"


@dataclass(frozen=True, slots=True)
class Question:
    """Which layouts of a job fit a cluster; `changes` are further values of the job by JSON Pointer.

    How long the plan shall be kept is no part of the question.
    """

    given: Given
    cluster: Cluster
    limits: Limits = field(default_factory=Limits)
    objective: Objective = "step_time"
    top: int = 10
    labels: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)


@dataclass(frozen=True, slots=True)
class Search:
    """A question that was understood, ready to be searched.

    `document` is its canonical form, in which the same question is the same text, and `digest` that of the document.
    What observed runs say is part of both where they change the answer. `accepted` is the job as it came.
    """

    question: Question
    cluster: Cluster
    device: Device
    accepted: Accepted
    resolved: ResolvedModel
    accelerator: Accelerator
    regions: Regions
    document: Mapping[str, object]
    digest: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLayout:
    """A layout in the words of the job; what has a default was not stored at first."""

    tensor: int
    sequence: bool
    pipeline: int
    virtual_pipeline: int
    microbatch_group_size: int | None = None
    schedule: str
    stages: Mapping[str, Any] | None = None
    context: int
    expert: int = 1
    expert_tensor: int = 1
    data: int
    micro: int
    accumulation: int
    sharding_stage: int
    sharding_degree: int | None = None
    checkpointing: str
    method: str | None
    num_layers: int | None
    modules: tuple[str, ...] = ()
    cross_entropy: str | None = None
    optimizer_offload: Any = "none"


@dataclass(frozen=True, slots=True)
class FoundCandidate:
    """A layout that fits: the whole job with it, device bytes of every stage, and its step time.

    `shift_bytes` is what observed runs lead one to expect on top of the itemised bytes of the worst stage.
    """

    job: Job
    layout: FoundLayout
    verdict: Verdict
    reason: str
    stage: int
    stage_bytes: tuple[int, ...]
    low_bytes: int
    high_bytes: int
    step_seconds: float
    tokens_per_second_per_gpu: float
    bubble_fraction: float
    recompute_fraction: float
    shift_bytes: int = 0
    least_recomputation: LeastRecomputation | None = None


@dataclass(frozen=True, slots=True)
class FoundPoint:
    """A layout that no other beats in both peak memory and step time."""

    layout: FoundLayout
    device_bytes: int
    step_seconds: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What a search found; `candidates` are ranked, and empty when nothing fits.

    `given` is what the job needs as it came, where defaults complete it; `alternatives` are the smallest changes to it.
    `observed` are the runs whose sizes were used, `center` what is expected over what is itemised, and `timed` the
    steps; None where too few were observed.
    """

    verdict: Verdict
    given: Need | None = None
    alternatives: tuple[Alternative, ...] = ()
    candidates: tuple[FoundCandidate, ...]
    frontier: tuple[FoundPoint, ...]
    searched: int
    rejected: Mapping[str, int]
    smallest_world_size: int | None
    largest_micro_batch: int | None
    longest_sequence: int | None
    elapsed_seconds: float
    usable_bytes: int
    findings: Findings
    profile: str
    method_version: str
    observed: Observations | None = None
    center: float = 1.0
    timed: Fitted | None = None


def prepare(
    question: Question, most_layouts: int, devices: Devices | None = None, evidence: Evidence = NO_EVIDENCE
) -> Search:
    """Understand a question. Raises RejectedJob, NoSuchDevice, IncompleteDevice and SearchTooLarge."""
    device = device_of(question.cluster.device, "/cluster/device", devices)
    if device.usable_bytes is None or not knows_links(device):
        raise IncompleteDevice(f"the catalogue has no usable memory or no link bandwidths of {device.id}")
    nodes = question.cluster.gpus_per_node or device.gpus_per_node
    cluster = Cluster(device.id, question.cluster.world_size, nodes)
    accepted = accept(question.given, question.changes)
    bare = opened(accepted.job, question.limits, accepted.findings.sources, cluster.world_size)
    accelerator = accelerator_of(device, nodes)
    bare, resolved = _with_kernel(accepted, bare, accelerator)
    regions = regions_of(accepted.job, bare, resolved, question.limits, accelerator, evidence)
    size = sum(space_size(each.problem.model, each.space) for each in regions.regions) + regions.refused.total()
    if size > most_layouts:
        raise SearchTooLarge(f"the search would look at {size} layouts; {most_layouts} are allowed")
    document = {**_document(question, cluster, device, resolved.job), **_observed(cluster, resolved.job, evidence)}
    return Search(
        question=question,
        cluster=cluster,
        device=device,
        accepted=accepted,
        resolved=resolved,
        accelerator=accelerator,
        regions=regions,
        document=document,
        digest=digest(document),
        evidence=evidence,
    )


def run(asked: Search, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None) -> SearchAnswer:
    """Search the whole space and rank what fits. Raises SearchCancelled."""
    began = time.perf_counter()
    regions = asked.regions
    found = search(regions.regions, top=asked.question.top, progress=progress, cancelled=cancelled)
    given, changes = _as_given(asked)
    band, timed = _said(asked.cluster, asked.resolved.job, asked.evidence)
    return SearchAnswer(
        verdict=found.candidates[0].verdict if found.candidates else "does_not_fit",
        given=given,
        alternatives=changes,
        candidates=tuple(_candidate(asked, each) for each in found.candidates),
        frontier=tuple(_point(regions.jobs[each.region], each) for each in found.frontier),
        searched=found.searched + regions.refused.total(),
        rejected=dict(sorted((Counter(found.rejected) + regions.refused).items())),
        smallest_world_size=found.smallest_world_size,
        largest_micro_batch=found.largest_micro_batch,
        longest_sequence=found.longest_sequence,
        elapsed_seconds=round(time.perf_counter() - began, 6),
        usable_bytes=asked.accelerator.usable_bytes,
        findings=_with_unproven(asked, found.candidates[0] if found.candidates else None),
        profile=asked.resolved.recipe.profile,
        method_version=METHOD_VERSION,
        observed=band.observed,
        center=band.center,
        timed=timed,
    )


def _with_unproven(asked: Search, first: Candidate | None) -> Findings:
    """The findings, and what makes step times unproven."""
    known = asked.resolved.findings
    unproven = unproven_times(asked.resolved, first, asked.accelerator.gpus_per_node)
    return Findings([*known.diagnostics, *unproven], known.missing, known.sources)


def _as_given(asked: Search) -> tuple[Need | None, tuple[Alternative, ...]]:
    """What a job needs on the cluster as it came, and the smallest changes with which it fits."""
    target = Target(asked.device.id, asked.cluster.world_size)
    try:
        need = need_on(resolved_on(asked.accepted, target.world_size), asked.device, asked.evidence)
    except RejectedJob:
        return None, ()
    if need.verdict == "fits":
        return need, ()
    return need, tuple(changes_to(asked.question.given, asked.accepted, target, asked.device, asked.evidence))


def _said(cluster: Cluster, job: Job, evidence: Evidence) -> tuple[Band, Fitted | None]:
    """What observed runs say of a job's bytes and of its step times on a cluster."""
    nodes = cluster.gpus_per_node or 1
    return band_of(job, cluster.device, evidence), fitted_of(job, cluster.device, nodes, evidence)


def _observed(cluster: Cluster, job: Job, evidence: Evidence) -> dict[str, object]:
    """What observed runs change in an answer, as a part of its question."""
    band, timed = _said(cluster, job, evidence)
    known = {str(size): job.factor for size, job in band.known.items()}
    factors = {"center": band.center, "low": band.low, "high": band.high, "known": known}
    bytes_ = {} if band.observed is None else factors
    steps = {} if timed is None else asdict(timed.tuning)
    return {"observations": {**bytes_, **steps}} if bytes_ or steps else {}


def _resolved(accepted: Accepted, bare: Job) -> ResolvedModel:
    """The model and recipe of the question, and the job that says what is fixed. Raises RejectedJob."""
    read = _without_searched(accepted.findings)
    try:
        resolved = resolve_model(bare)
    except InvalidJob as error:
        raise RejectedJob(merged(merged(read, error.findings), _unstated_batch(bare)), accepted.given_as) from None
    findings = merged(merged(read, resolved.findings), _unstated_batch(bare))
    if findings.errors or findings.missing:
        raise RejectedJob(findings, accepted.given_as)
    return ResolvedModel(resolved.job, resolved.model, resolved.recipe, findings)


def _with_kernel(accepted: Accepted, bare: Job, accelerator: Accelerator) -> tuple[Job, ResolvedModel]:
    """The question with the attention kernel that the framework would take by itself, where it is left open.

    Candidates then state their kernel, so that what runs is what was planned, and the interval is that of a stated one.
    """
    resolved = _resolved(accepted, bare)
    if bare.kernels.attention is not None or resolved.recipe.attention != AUTOMATIC:
        return bare, resolved
    kernel = resolved.recipe.on(accelerator).attention
    bare = with_values(bare, {ATTENTION: kernel})
    message = f"the attention kernel is left open: each candidate states {kernel}, the one that would be taken here"
    resolved = _resolved(accepted, bare)
    said = Findings([Diagnostic("assumed", "info", message, (ATTENTION,), kernel)])
    return bare, replace(resolved, findings=merged(said, resolved.findings))


def _without_searched(findings: Findings) -> Findings:
    """The findings of an import, less the missing facts that a search finds or that the cluster states."""
    missing = [each for each in findings.missing if each.fact not in {"micro", "world_size"}]
    return Findings(findings.diagnostics, missing, findings.sources)


def _unstated_batch(job: Job) -> Findings:
    if job.batch.global_ is not None:
        return Findings()
    message = "the sequences of one optimizer step are not given; a plan keeps them while it varies the layout"
    return Findings(missing=[MissingFact("global", message)])


def _document(question: Question, cluster: Cluster, device: Device, job: Job) -> dict[str, object]:
    limits = question.limits
    axes: dict[str, object] = {
        axis: values if isinstance(values, str) else list(values) for axis, values in limits.axes.items()
    }
    figures = {} if device.revision is None else {"device_revision": device.revision}
    return {
        "job": canonical(job),
        "cluster": {
            "device": cluster.device,
            "world_size": cluster.world_size,
            "gpus_per_node": cluster.gpus_per_node,
            **figures,
        },
        "search": {**axes, "tensor_across_nodes": limits.tensor_across_nodes},
        "objective": question.objective,
        "top": question.top,
        "labels": dict(question.labels),
        "method": METHOD_VERSION,
    }


def _candidate(asked: Search, found: Candidate) -> FoundCandidate:
    complete = job_with_layout(asked.regions.jobs[found.region], found.layout, found.split)
    peak = found.estimate.peak
    around = interval_by(band_of(complete, asked.cluster.device, asked.evidence), peak.device_bytes)
    return FoundCandidate(
        job=complete,
        layout=_layout(complete, found.layout),
        verdict=found.verdict,
        reason=found.reason,
        stage=peak.stage,
        stage_bytes=found.peak_bytes,
        low_bytes=around.low_bytes,
        high_bytes=around.high_bytes,
        step_seconds=float(found.time.step_seconds),
        tokens_per_second_per_gpu=float(found.time.tokens_per_second_per_gpu),
        bubble_fraction=float(found.time.bubble_fraction),
        recompute_fraction=float(found.time.recompute_fraction),
        shift_bytes=around.expected_bytes - peak.device_bytes,
        least_recomputation=found.least,
    )


def _point(job: Job, found: FrontierPoint) -> FoundPoint:
    complete = job_with_layout(job, found.layout, found.split)
    return FoundPoint(_layout(complete, found.layout), found.device_bytes, found.step_seconds, found.verdict)


def _layout(job: Job, layout: Layout) -> FoundLayout:
    """The layout that a job states."""
    checkpointing = layout.checkpointing
    full = checkpointing.granularity == "full"
    return FoundLayout(
        tensor=int(layout.tensor),
        sequence=bool(layout.sequence_parallel),
        pipeline=layout.pipeline,
        virtual_pipeline=layout.virtual,
        microbatch_group_size=job.parallelism.microbatch_group_size,
        schedule=layout.schedule,
        stages=None if job.stages is None else job.stages.model_dump(exclude_none=True),
        context=int(layout.context),
        expert=int(layout.expert),
        expert_tensor=int(layout.expert_tensor),
        data=int(layout.data),
        micro=int(layout.micro_batch),
        accumulation=int(layout.micro_batches),
        sharding_stage=int(layout.sharding_stage),
        sharding_degree=int(layout.shards) if layout.sharding_stage else None,
        checkpointing=checkpointing.granularity,
        method=checkpointing.method if full else None,
        num_layers=int(checkpointing.num_layers) if full else None,
        modules=checkpointing.modules or checkpointing.op,
        cross_entropy=job.kernels.cross_entropy,
        optimizer_offload=_place(job),
    )


def _place(job: Job) -> Any:
    """Where optimizer states live, as a job states it."""
    offload = job.optimizer.offload or "none"
    return offload if isinstance(offload, str) else offload.model_dump()
