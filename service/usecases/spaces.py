"""The space of layouts that a question opens: what its job states is fixed, what it leaves open is searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from service.calculator.layout import Checkpointing
from service.calculator.model import Model
from service.calculator.placement import Split
from service.calculator.recipe import Recipe
from service.calculator.schedules.schedule import CHUNKS
from service.catalog.profiles import profile_of
from service.job.checkpointing import checkpointing_of, fill_checkpointing
from service.job.diagnostics import Source
from service.job.resolve import split_of
from service.job.schema import Job
from service.job.values import Values
from service.planner.space import Choice, SearchSpace, whole_space

Axis = Literal[
    "tensor",
    "sequence",
    "pipeline",
    "virtual_pipeline",
    "context",
    "data",
    "micro",
    "sharding_stage",
    "checkpointing",
]

AXES: Mapping[Axis, Sequence[str]] = {
    "tensor": ("/parallelism/tensor",),
    "sequence": ("/parallelism/sequence",),
    "pipeline": ("/parallelism/pipeline", "/stages"),
    "virtual_pipeline": ("/parallelism/virtual_pipeline", "/parallelism/microbatch_group_size", "/schedule"),
    "context": ("/parallelism/context",),
    "data": ("/parallelism/data", "/batch/accumulation"),
    "micro": ("/batch/micro", "/batch/accumulation"),
    "sharding_stage": ("/sharding/stage", "/sharding/degree"),
    "checkpointing": ("/checkpointing",),
}
"""The axes of a search; the first pointer is where a job states the axis, the others depend on its value."""

_NOT_STATED = {"default", "derived", "assumed"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """The GPUs that a plan is for."""

    device: str
    world_size: int
    gpus_per_node: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may use: values by axis, or `any`; an axis that is named is searched even if the job states it."""

    axes: Mapping[Axis, Sequence[int] | Sequence[str] | Literal["any"]] = field(default_factory=dict)
    tensor_across_nodes: bool = False


ANY = Limits(dict.fromkeys(AXES, "any"))
"""Every axis open, whatever the job states."""


def opened(job: Job, limits: Limits, sources: Mapping[str, Source], world_size: int) -> Job:
    """Return the job on another number of GPUs, without the values that are searched.

    These are the axes that the limits name, and values that the caller never wrote but an importer filled in.
    """
    document = job.model_dump(by_alias=True, exclude_none=True)
    for axis, pointers in AXES.items():
        source = sources.get(pointers[0])
        if axis in limits.axes or (source is not None and source.origin in _NOT_STATED):
            for pointer in pointers:
                _remove(document, pointer)
    return Job.model_validate({**document, "world_size": world_size})


def space_of(job: Job, model: Model, recipe: Recipe, limits: Limits, gpus_per_node: int) -> SearchSpace:
    """Return the space of the layouts that the job and the limits leave open; sizes and batch must be stated."""
    world_size, batch = job.world_size, job.batch
    if world_size is None or batch.global_ is None or batch.sequence_length is None:
        raise ValueError("a search needs the world size, the global batch and the sequence length")
    space = whole_space(
        model,
        recipe,
        world_size=world_size,
        gpus_per_node=gpus_per_node,
        global_batch=batch.global_,
        sequence_length=batch.sequence_length,
        tensor_across_nodes=limits.tensor_across_nodes,
    )
    return replace(space, **_fixed(job), **_limited(limits, space))


def _fixed(job: Job) -> dict[str, Any]:
    """What the job states, as values of the space."""
    parallel, sharding = job.parallelism, job.sharding
    stated = {
        "tensor": parallel.tensor,
        "sequence": None if parallel.sequence is None else int(parallel.sequence),
        "pipeline": parallel.pipeline,
        "virtual": 1 if job.schedule is not None and CHUNKS[job.schedule] == 1 else parallel.virtual_pipeline,
        "schedules": job.schedule,
        "context": parallel.context,
        "expert": parallel.expert,
        "expert_tensor": parallel.expert_tensor,
        "data": parallel.data,
        "micro": job.batch.micro,
        "sharding_stage": sharding.stage,
    }
    fixed: dict[str, Any] = {name: (value,) for name, value in stated.items() if value is not None}
    checkpointing = _checkpointing(job)
    if job.checkpointing.granularity is not None:
        fixed["checkpointing"] = (_choice(checkpointing, any_depth=job.checkpointing.num_layers is None),)
    return fixed | {
        "offload": checkpointing.offload,
        "offload_layers": checkpointing.offload_layers,
        "split": _split(job),
        "group": parallel.microbatch_group_size,
        "context_method": parallel.context_method or "p2p",
        "overlap_grad_reduce": bool(sharding.overlap_grad_reduce),
        "overlap_param_gather": bool(sharding.overlap_param_gather),
    }


def _limited(limits: Limits, space: SearchSpace) -> dict[str, Any]:
    """What the limits allow, as values of the space; the job does not state these axes any more."""
    listed = {axis: tuple(values) for axis, values in limits.axes.items() if values != "any"}
    limited: dict[str, Any] = {_NAMES.get(axis, axis): values for axis, values in listed.items()}
    if "sequence" in limited:
        limited["sequence"] = tuple(int(each) for each in limited["sequence"])
    if "checkpointing" in limited:
        wanted = limited["checkpointing"]
        kinds = {each.granularity for each in space.checkpointing}
        also = (Choice("selective", modules=("core_attn",)),) if "selective" in set(wanted) - kinds else ()
        limited["checkpointing"] = (*(each for each in space.checkpointing if each.granularity in wanted), *also)
    return limited


_NAMES: Mapping[str, str] = {"virtual_pipeline": "virtual"}


def _choice(stated: Checkpointing, *, any_depth: bool) -> Choice:
    """The one kind of checkpointing that a job states; a depth that it leaves out is searched."""
    full = stated.granularity == "full"
    depths = (int(stated.num_layers),) if full and not any_depth else None
    return Choice(
        granularity=stated.granularity,
        method=(stated.method or "uniform") if full else None,
        modules=stated.modules if stated.granularity == "selective" else (),
        depths=depths,
        op=stated.op,
        every=stated.every,
        budget_permille=stated.budget_permille,
    )


def _checkpointing(job: Job) -> Checkpointing:
    """What the job states of checkpointing and offload, as the calculator takes it."""
    values = Values()
    values.give("", job.model_dump(by_alias=True, exclude_none=True))
    framework = job.framework
    fill_checkpointing(values, profile_of(framework.name, framework.transformer_impl, framework.version))
    return checkpointing_of(values)


def _split(job: Job) -> Split:
    stated = {} if job.stages is None else job.stages.model_dump(exclude_none=True)
    framework = job.framework
    profile = profile_of(framework.name, framework.transformer_impl, framework.version)
    return split_of(stated, profile, framework.transformer_impl)


def _remove(document: dict[str, Any], pointer: str) -> None:
    *parents, leaf = pointer.strip("/").split("/")
    node: Any = document
    for part in parents:
        node = node.get(part, {})
    node.pop(leaf, None)
