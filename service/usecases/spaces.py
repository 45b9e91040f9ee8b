"""The space of layouts that a question opens: what its job states is fixed, what it leaves open is searched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from service.calculator.layout import Checkpointing, Layout, Placement
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
from service.planner.splits import divisors

Axis = Literal[
    "tensor",
    "sequence",
    "pipeline",
    "virtual_pipeline",
    "microbatch_group_size",
    "schedule",
    "stages",
    "context",
    "expert",
    "expert_tensor",
    "data",
    "micro",
    "sharding_stage",
    "sharding_degree",
    "checkpointing",
    "cross_entropy",
    "optimizer_offload",
]

AXES: Mapping[Axis, Sequence[str]] = {
    "tensor": ("/parallelism/tensor",),
    "sequence": ("/parallelism/sequence",),
    "pipeline": ("/parallelism/pipeline", "/stages"),
    "virtual_pipeline": ("/parallelism/virtual_pipeline", "/parallelism/microbatch_group_size", "/schedule"),
    "microbatch_group_size": ("/parallelism/microbatch_group_size",),
    "schedule": ("/schedule",),
    "stages": ("/stages",),
    "context": ("/parallelism/context",),
    "expert": ("/parallelism/expert",),
    "expert_tensor": ("/parallelism/expert_tensor",),
    "data": ("/parallelism/data", "/batch/accumulation"),
    "micro": ("/batch/micro", "/batch/accumulation"),
    "sharding_stage": ("/sharding/stage", "/sharding/degree", "/sharding/optimizer_instances"),
    "sharding_degree": ("/sharding/degree", "/sharding/optimizer_instances"),
    "checkpointing": ("/checkpointing",),
    "cross_entropy": ("/kernels/cross_entropy", "/kernels/vocab_parallel_loss"),
    "optimizer_offload": ("/optimizer/offload", "/optimizer/parameter_offload"),
}
"""The axes of a search; the first pointer is where a job states the axis, the others depend on its value."""

ON_REQUEST = frozenset({"cross_entropy", "optimizer_offload", "microbatch_group_size"})
"""Axes that a search opens only when it is asked to: what is left open there is the framework's default, not a question
of layout."""

_NOT_STATED = {"default", "derived", "assumed"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """The GPUs that a plan is for."""

    device: str
    world_size: int
    gpus_per_node: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may use: values by axis; an axis that is named is searched even if the job states it.

    `any` stands for all that the framework has, `usual` for what is searched where a job leaves the axis open.
    """

    axes: Mapping[Axis, Sequence[Any] | Literal["any", "usual"]] = field(default_factory=dict)
    tensor_across_nodes: bool = False

    def named(self, axis: Axis) -> Sequence[Any] | None:
        """The values listed for an axis; None where none are."""
        values = self.axes.get(axis)
        return None if values is None or isinstance(values, str) else values


ANY = Limits({axis: "usual" for axis in AXES if axis not in ON_REQUEST})
"""Every axis of the layout open, whatever the job states."""


def opened(job: Job, limits: Limits, sources: Mapping[str, Source], world_size: int) -> Job:
    """Return the job on another number of GPUs, without the values that are searched.

    These are the axes that the limits name, and values that the caller never wrote but an importer filled in.
    """
    document = job.model_dump(by_alias=True, exclude_none=True)
    for axis, pointers in AXES.items():
        source = None if axis in ON_REQUEST else sources.get(pointers[0])
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
    stated = replace(space, **_fixed(job, space))
    return replace(stated, **_limited(limits, stated, job))


def _fixed(job: Job, space: SearchSpace) -> dict[str, Any]:
    """What the job states, as values of the space."""
    parallel, sharding = job.parallelism, job.sharding
    stated = {
        "tensor": parallel.tensor,
        "sequence": None if parallel.sequence is None else int(parallel.sequence),
        "pipeline": parallel.pipeline,
        "virtual": 1 if job.schedule is not None and CHUNKS[job.schedule] == 1 else parallel.virtual_pipeline,
        "schedules": job.schedule,
        "group": parallel.microbatch_group_size,
        "context": parallel.context,
        "expert": parallel.expert,
        "expert_tensor": parallel.expert_tensor,
        "data": parallel.data,
        "micro": job.batch.micro,
        "sharding_stage": sharding.stage,
        "sharding_degree": sharding.degree,
    }
    fixed: dict[str, Any] = {name: (value,) for name, value in stated.items() if value is not None}
    checkpointing = _checkpointing(job)
    if job.checkpointing.granularity is not None:
        fixed["checkpointing"] = (_choice(checkpointing, any_depth=job.checkpointing.num_layers is None),)
    elif job.framework.transformer_impl == "titan":
        fixed["checkpointing"] = (*space.checkpointing, *_titan_choices(job))
    if job.stages is not None or space.splits is not None:
        fixed["splits"] = (stated_split(job),)
    return fixed | {
        "copies": sharding.optimizer_instances or 1,
        "offload": checkpointing.offload,
        "offload_layers": checkpointing.offload_layers,
        "context_method": parallel.context_method or "p2p",
        "overlap_grad_reduce": bool(sharding.overlap_grad_reduce),
        "overlap_param_gather": bool(sharding.overlap_param_gather),
        "overlap_expert": bool(parallel.overlap_expert),
    }


def baseline(job: Job, space: SearchSpace) -> Layout:
    """Return the layout that changes are counted from: what the job states, else what needs nothing to be said."""
    parallel, micro = job.parallelism, job.batch.micro or 1
    virtual, tensor = parallel.virtual_pipeline or 1, parallel.tensor or 1
    stage = space.sharding_stage[0] if job.sharding.stage is None else job.sharding.stage
    return Layout(
        tensor=tensor,
        sequence_parallel=int(bool(parallel.sequence)),
        context=parallel.context or 1,
        data=1,
        pipeline=parallel.pipeline or 1,
        virtual=virtual,
        schedule=job.schedule or ("interleaved" if virtual > 1 else "1f1b"),
        group=1,
        placement=Placement(()),
        micro_batch=micro,
        micro_batches=1,
        sequence_length=space.sequence_length,
        sharding_stage=stage,
        shards=1,
        checkpointing=_checkpointing(job),
        expert=parallel.expert or 1,
        expert_tensor=parallel.expert_tensor or tensor,
    )


def _titan_choices(job: Job) -> Iterator[Choice]:
    """The selective checkpointing of torchtitan: operations whose results are kept, or every second layer."""
    for stated in ({"op": "default"}, {"every": 2}):
        document = job.model_dump(by_alias=True, exclude_none=True)
        document["checkpointing"] = {**document.get("checkpointing", {}), "granularity": "selective", **stated}
        yield _choice(_checkpointing(Job.model_validate(document)), any_depth=False)


def _limited(limits: Limits, space: SearchSpace, job: Job) -> dict[str, Any]:
    """What the limits allow, as values of the space; the job does not state these axes any more."""
    listed = {axis: tuple(values) for axis in limits.axes if (values := limits.named(axis)) is not None}
    limited: dict[str, Any] = {_NAMES.get(axis, axis): values for axis, values in listed.items() if axis not in _APART}
    if "sequence" in limited:
        limited["sequence"] = tuple(int(each) for each in limited["sequence"])
    if "checkpointing" in listed:
        limited["checkpointing"] = tuple(_wanted(listed["checkpointing"], space, job))
    if "stages" in listed and space.splits is None:
        limited["split_kinds"] = listed["stages"]
    if limits.axes.get("microbatch_group_size") == "any":
        limited["group"] = ()
    if limits.axes.get("schedule") == "any":
        limited["schedules"] = space.every_schedule
    if limits.axes.get("sharding_degree") == "any":
        limited["sharding_degree"] = (0, *divisors(space.world_size)[1:-1])
    return limited


_NAMES: Mapping[str, str] = {"virtual_pipeline": "virtual", "microbatch_group_size": "group", "schedule": "schedules"}
_APART = frozenset({"checkpointing", "stages", "cross_entropy", "optimizer_offload"})


def _wanted(asked: Sequence[Any], space: SearchSpace, job: Job) -> Iterator[Choice]:
    """Kinds of checkpointing that a limit names: all of a granularity, or one as the job would state it."""
    for each in asked:
        if isinstance(each, str):
            kinds = [choice for choice in space.checkpointing if choice.granularity == each]
            yield from kinds or ([Choice("selective", modules=("core_attn",))] if each == "selective" else [])
        else:
            document = job.model_dump(by_alias=True, exclude_none=True) | {"checkpointing": dict(each)}
            stated = Job.model_validate(document)
            yield _choice(_checkpointing(stated), any_depth=stated.checkpointing.num_layers is None)


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


def stated_split(job: Job) -> Split:
    """Return how a job divides layers over its stages."""
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
