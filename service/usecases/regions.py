"""What a search goes through: for every way to compute and to keep states that is open, the layouts that have it.

A recipe decides the bytes and the seconds of many layouts at once. Most questions have one; a question that opens the
loss or the place of optimizer states has several, and so have frameworks whose recipe depends on a degree.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any

from service.calculator.device import Accelerator
from service.calibration.evidence import Evidence
from service.calibration.few_shot import NOTHING_FITTED
from service.job.resolve import InvalidJob, ResolvedModel, resolve_model
from service.job.schema import Job
from service.job.states import FULLY_SHARDED
from service.job.validate.facts import stated_positions
from service.planner.grid import space_size
from service.planner.problem import Problem
from service.planner.search import Region
from service.planner.space import SearchSpace
from service.usecases.intervals import band_of, fitted_of
from service.usecases.spaces import Limits, baseline, space_of

LOSSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "transformer_engine": ("megatron", "megatron_fused", "te"),
        "local": ("megatron", "megatron_fused", "te"),
        "titan": ("torch_float", "loss_parallel", "chunked"),
        "hf": ("hf", "liger", "cut"),
        "torch": ("torch", "chunked", "liger", "cut"),
    }
)
"""Losses that are tried where any may be, by the implementation of the layers."""

LOSS = "/kernels/cross_entropy"

OFFLOADS = ("none", "cpu")
"""Places of optimizer states that are tried where any may be."""

SPLIT_LOSSES = frozenset({"loss_parallel"})
"""Losses that need logits split over a tensor group."""


@dataclass(frozen=True, slots=True)
class Regions:
    """Regions, each with the job whose recipe it has; `refused` counts layouts of recipes that are not possible."""

    jobs: tuple[Job, ...]
    regions: tuple[Region, ...]
    refused: Counter[str]


@dataclass(frozen=True, slots=True)
class _Variation:
    """Values of the job that make a recipe, the part of the space that has it, and how many keys it changes."""

    values: Mapping[str, Any]
    space: Mapping[str, Any] = field(default_factory=dict)
    changes: int = 0


def regions_of(
    given: Job, bare: Job, asked: ResolvedModel, limits: Limits, accelerator: Accelerator, evidence: Evidence
) -> Regions:
    """Return the regions of a question.

    `given` is the job as it came, `bare` the same with the searched values open, `asked` that with its defaults.
    """
    whole = space_of(asked.job, asked.model, asked.recipe, limits, accelerator.gpus_per_node)
    before = baseline(given, whole)
    jobs, regions, refused = [], [], Counter[str]()
    for each in _variations(bare, asked.job, limits, whole):
        space = replace(whole, **each.space)
        try:
            resolved = resolve_model(with_values(bare, each.values)) if each.values else asked
        except InvalidJob as error:
            code = next((problem.code for problem in error.findings.errors), "incomplete_job")
            refused[code] += space_size(asked.model, space)
            continue
        jobs.append(resolved.job)
        problem = _problem(resolved, accelerator, evidence)
        regions.append(Region(problem, space, before, each.changes, problem.recipe.optimizer.offload_percent > 0))
    return Regions(tuple(jobs), tuple(regions), refused)


def _problem(resolved: ResolvedModel, accelerator: Accelerator, evidence: Evidence) -> Problem:
    """The problem of a recipe, with what observed runs say of its bytes and its step times."""
    band = band_of(resolved.job, accelerator.name, evidence)
    timed = fitted_of(resolved.job, accelerator.name, accelerator.gpus_per_node, evidence)
    tuning = NOTHING_FITTED if timed is None else timed.tuning
    positions = stated_positions(resolved.job)
    return Problem(resolved.model, resolved.recipe, accelerator, band.upper_ends, band.expected, tuning, positions)


def _variations(bare: Job, job: Job, limits: Limits, space: SearchSpace) -> Iterator[_Variation]:
    """Every recipe that is open; `job` has the defaults of the `bare` one."""
    for loss, offload, tensor, stage in product(
        _losses(job, limits), _offloads(limits), _tensors(bare, job, space), _stages(job, space)
    ):
        values: dict[str, Any] = {}
        open_space: dict[str, Any] = {}
        changes = 0
        if loss is not None:
            values[LOSS] = loss
            changes += loss != job.kernels.cross_entropy
        if offload is not None:
            values |= offload_values(offload, job.framework.name)
            changes += offload != "none"
        if tensor:
            values["/parallelism/tensor"] = tensor[0]
            open_space["tensor"] = tensor
        if stage is not None:
            values["/sharding/stage"] = stage
            open_space["sharding_stage"] = (stage,)
        if loss not in SPLIT_LOSSES or max(tensor or space.tensor) > 1:
            yield _Variation(values, open_space, changes)


def offload_values(place: Any, framework: str) -> dict[str, Any]:
    """Return what a job states for optimizer states in a place; FSDP moves the weights with them."""
    away = place != "none" and framework in FULLY_SHARDED
    return {"/optimizer/offload": place} | ({"/optimizer/parameter_offload": "cpu"} if away else {})


def _losses(job: Job, limits: Limits) -> tuple[str | None, ...]:
    if limits.axes.get("cross_entropy", "usual") == "usual":
        return (None,)
    listed = limits.named("cross_entropy")
    return tuple(listed) if listed else LOSSES.get(job.framework.transformer_impl or "", (None,))


def _offloads(limits: Limits) -> tuple[Any, ...]:
    if limits.axes.get("optimizer_offload", "usual") == "usual":
        return (None,)
    return tuple(limits.named("optimizer_offload") or OFFLOADS)


def _tensors(bare: Job, job: Job, space: SearchSpace) -> tuple[tuple[int, ...], ...]:
    """Tensor degrees with one loss: torchtitan splits its loss where it splits anything, unless one is stated."""
    one, more = tuple(each for each in space.tensor if each == 1), tuple(each for each in space.tensor if each > 1)
    follows = job.framework.transformer_impl == "titan" and bare.kernels.cross_entropy is None
    return (one, more) if follows and one and more else ((),)


def _stages(job: Job, space: SearchSpace) -> tuple[int | None, ...]:
    """Sharding stages with one recipe."""
    several = job.framework.name in FULLY_SHARDED and len(space.sharding_stage) > 1
    return space.sharding_stage if several else (None,)


def with_values(job: Job, values: Mapping[str, Any]) -> Job:
    """Return the job with other values by JSON Pointer; what follows from those is left to be filled in again."""
    document = job.model_dump(by_alias=True, exclude_none=True)
    if LOSS in values and "kernels" in document:
        document["kernels"].pop("vocab_parallel_loss", None)
    for pointer, value in values.items():
        section, _, key = pointer.strip("/").partition("/")
        document.setdefault(section, {})[key] = value
    return Job.model_validate(document)
