"""The question of a plan."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, Tag

from service.api.schemas.base import RequestBody
from service.api.schemas.estimate_request import DEVICE
from service.api.schemas.question import JOB_OR_SOURCE, USE_OBSERVATIONS, WITH_JOB, WITH_SOURCE
from service.calculator import limits
from service.formats.source import ConfigSource
from service.job.schema import Flag, Job, Loss, OffloadFraction, Schedule
from service.planner.splits import SplitKind
from service.store.kept import Kept
from service.usecases.searches import Question
from service.usecases.spaces import Axis, Cluster, Limits

Degree = Annotated[int, Field(strict=True, ge=1, le=limits.WORLD_SIZE)]
Any_ = Literal["any", "usual"]
Degrees = Annotated[list[Degree], Field(min_length=1, max_length=1000)] | Any_
Granularity = Literal["none", "selective", "full"]
Layers = Annotated[int, Field(strict=True, ge=1, le=limits.LAYERS)]
Offload = Literal["none", "cpu"] | OffloadFraction
ShardingStage = Annotated[int, Field(strict=True, ge=0, le=3)]

LABEL_KEY = r"^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$"
ExpiresAt = Annotated[AwareDatetime, Field(lt=datetime(9000, 1, 1, tzinfo=UTC))]
LabelKey = Annotated[str, Field(max_length=100, pattern=LABEL_KEY)]
# A value stands after `=` in a query; PostgreSQL takes no NUL in a text.
LabelValue = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


class CheckpointingLimit(RequestBody):
    """One kind of activation checkpointing; what it leaves out is searched."""

    granularity: Granularity = Field(examples=["selective"])
    """Nothing, chosen modules, or whole layers."""
    method: Literal["uniform", "block"] | None = Field(None, examples=[None])
    """Full only; null means uniform."""
    num_layers: Layers | None = Field(None, examples=[None])
    """Full only: layers in a segment, or checkpointed layers of a chunk; null means every number."""
    modules: Annotated[list[str], Field(max_length=50)] | None = Field(None, examples=[["moe_act", "layernorm"]])
    """Selective only: Megatron's names of the modules that are computed again."""
    op: Literal["default"] | None = Field(None, examples=[None])
    """Selective only: torchtitan's list of operations whose results are kept."""
    every: Layers | None = Field(None, examples=[None])
    """Selective only: every n-th layer is checkpointed."""


class ClusterRequest(RequestBody):
    """The GPUs that the plan is for."""

    device: str = DEVICE
    """Id, alias or scheduler label of the device, from `GET /v1/devices`."""
    world_size: Degree = Field(examples=[64])
    """Number of GPUs; every one is used."""
    gpus_per_node: Degree | None = Field(None, examples=[8])
    """GPUs of one node; null means the device's usual number."""


class SearchRequest(RequestBody):
    """Limits of the search: an axis that is named here is searched even where the job states a value.

    A list holds the values to try; `any` stands for every value that the framework and the cluster allow, `usual` for
    what is searched where the axis is null here and in the job. For microbatch_group_size, cross_entropy and
    optimizer_offload that is the framework's default alone.
    """

    tensor: Degrees | None = Field(None, examples=[[1, 2, 4, 8]])
    """Tensor-parallel degrees to try."""
    sequence: Annotated[list[Flag], Field(min_length=1, max_length=2)] | Any_ | None = Field(None, examples=[[True]])
    """Whether sequence parallelism is tried on, off, or both."""
    pipeline: Degrees | None = Field(None, examples=[[1, 2, 4]])
    """Pipeline degrees to try."""
    virtual_pipeline: Degrees | None = Field(None, examples=["any"])
    """Chunks per pipeline rank to try; more than one need a schedule that takes turns."""
    schedule: Annotated[list[Schedule], Field(min_length=1, max_length=12)] | Any_ | None = Field(
        None, examples=[["1f1b", "interleaved"]]
    )
    """Pipeline schedules to try, each with the numbers of chunks that it can have; null means 1f1b and interleaved."""
    stages: Annotated[list[SplitKind], Field(min_length=1, max_length=4)] | Any_ | None = Field(
        None, examples=[["even", "account_for"]]
    )
    """Ways to divide layers over Megatron's stages: evenly, with embedding or loss counted as a layer, with numbers of
    layers of their own for the first and last stage, or written out stage by stage where nothing else divides them."""
    context: Degrees | None = Field(None, examples=[[1]])
    """Context-parallel degrees to try."""
    expert: Degrees | None = Field(None, examples=[[1, 8]])
    """Expert-parallel degrees to try."""
    expert_tensor: Degrees | None = Field(None, examples=[[1]])
    """Expert-tensor-parallel degrees to try; null means 1 and the tensor degree."""
    data: Degrees | None = Field(None, examples=[None])
    """Data-parallel degrees to try; they follow from the others, so this only leaves layouts out."""
    micro: Degrees | None = Field(None, examples=[[1, 2, 4]])
    """Micro-batch sizes to try (sequences)."""
    sharding_stage: Annotated[list[ShardingStage], Field(min_length=1, max_length=4)] | Any_ | None = Field(
        None, examples=[[0, 1]]
    )
    """Sharding stages to try, of those that the framework has: 0 nothing, 1 optimizer states, 2 gradients too, 3
    weights too. FSDP's stage 2 keeps weights whole from the forward to the backward."""
    sharding_degree: Degrees | None = Field(None, examples=[None])
    """Ranks that share one copy of what is sharded. Null means all data x context ranks, and with FSDP also those of
    one or more whole nodes (hybrid sharding)."""
    checkpointing: (
        Annotated[list[Granularity | CheckpointingLimit], Field(min_length=1, max_length=50)] | Any_ | None
    ) = Field(None, examples=[["none", "full"]])
    """Kinds of activation checkpointing to try: a granularity with all its modules, methods and depths, or one kind."""
    microbatch_group_size: Degrees | None = Field(None, examples=[None])
    """Micro-batches that an interleaved schedule runs in a row on one chunk; null means the framework's number."""
    cross_entropy: Annotated[list[Loss], Field(min_length=1, max_length=11)] | Any_ | None = Field(
        None, examples=[["megatron", "megatron_fused"]]
    )
    """Loss recipes to try; null means the framework's."""
    optimizer_offload: Annotated[list[Offload], Field(min_length=1, max_length=10)] | Any_ | None = Field(
        None, examples=[["none", "cpu"]]
    )
    """Places of optimizer states to try: the GPU, its host, or a fraction on the host; null means the GPU."""
    tensor_across_nodes: bool = Field(False, strict=True, examples=[False])
    """Whether tensor parallelism may leave the node."""

    def limits(self) -> Limits:
        """Return the limits as the search takes them."""
        axes: tuple[Axis, ...] = Axis.__args__  # type: ignore[attr-defined]
        named = {axis: getattr(self, axis) for axis in axes}
        return Limits(
            {axis: _values(value) for axis, value in named.items() if value is not None},
            self.tensor_across_nodes,
        )


def _values(asked: list[Any] | Any_) -> list[Any] | Any_:
    """The values of an axis as the search takes them, each once."""
    if isinstance(asked, str):
        return asked
    plain = [
        each.model_dump(exclude_none=True) if isinstance(each, CheckpointingLimit | OffloadFraction) else each
        for each in asked
    ]
    distinct = {json.dumps(each, sort_keys=True): each for each in plain}
    return (
        [distinct[key] for key in sorted(distinct, key=lambda key: (isinstance(distinct[key], str), key))]
        if any(not isinstance(each, int) for each in plain)
        else sorted(set(plain))
    )


class _Plan(RequestBody):
    cluster: ClusterRequest
    """The GPUs that the plan is for; they take the place of the job's world size."""
    search: SearchRequest = SearchRequest()
    """Limits of the search; without any, what the job leaves open is searched and what it states is fixed."""
    objective: Literal["step_time"] = Field("step_time", examples=["step_time"])
    """What the ranking is by: the time of an optimizer step; within 5 % the larger margin, then fewer changes."""
    top: int = Field(10, strict=True, ge=1, le=100, examples=[10])
    """Number of candidates to return."""
    labels: dict[LabelKey, LabelValue] = Field(default={}, max_length=50, examples=[{"team": "pretraining"}])
    """Labels to find the plan by; part of the question."""
    expires_at: ExpiresAt | None = Field(None, examples=["2027-03-01T00:00:00Z"])
    """When the plan may be removed (RFC 3339); null: as the service's settings say. No part of the question: who asks
    again finds the same plan, and can only keep it longer."""
    pinned: bool = Field(False, strict=True, examples=[True])
    """Whether it is kept for good, whatever else is said."""
    use_observations: bool = USE_OBSERVATIONS
    """Whether observed runs are used; false asks for what is said without them."""


class JobPlanRequest(_Plan):
    """Layouts of a job on a cluster."""

    job: Job
    """The job: what it states is fixed, what it leaves open is searched. The global batch must be stated."""

    def question(self) -> Question:
        """Return the question as the search takes it."""
        return _question(self, self.job)


class SourcePlanRequest(_Plan):
    """Layouts of a job that is read from a config, on a cluster."""

    source: ConfigSource
    """The config: what it states is fixed, what it leaves open is searched."""

    def question(self) -> Question:
        """Return the question as the search takes it."""
        return _question(self, self.source)


def _question(plan: _Plan, given: Job | ConfigSource) -> Question:
    cluster = Cluster(plan.cluster.device, plan.cluster.world_size, plan.cluster.gpus_per_node)
    kept = Kept(plan.expires_at, plan.pinned)
    return Question(given, cluster, plan.search.limits(), plan.objective, plan.top, plan.labels, kept=kept)


PlanRequest = Annotated[
    Annotated[JobPlanRequest, Tag(WITH_JOB)] | Annotated[SourcePlanRequest, Tag(WITH_SOURCE)], JOB_OR_SOURCE
]
