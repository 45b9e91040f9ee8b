"""The question of a plan."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, Tag

from service.api.schemas.base import RequestBody
from service.api.schemas.estimate_request import DEVICE
from service.api.schemas.question import JOB_OR_SOURCE, USE_OBSERVATIONS, WITH_JOB, WITH_SOURCE
from service.calculator import limits
from service.formats.source import ConfigSource
from service.job.schema import Bit, Flag, Job
from service.store.plans import Kept
from service.usecases.searches import Question
from service.usecases.spaces import Axis, Cluster, Limits

Degree = Annotated[int, Field(strict=True, ge=1, le=limits.WORLD_SIZE)]
Degrees = Annotated[list[Degree], Field(min_length=1, max_length=1000)] | Literal["any"]
Granularity = Literal["none", "selective", "full"]

LABEL_KEY = r"^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$"
ExpiresAt = Annotated[AwareDatetime, Field(lt=datetime(9000, 1, 1, tzinfo=UTC))]
LabelKey = Annotated[str, Field(max_length=100, pattern=LABEL_KEY)]
# A value stands after `=` in a query; PostgreSQL takes no NUL in a text.
LabelValue = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


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

    `any` stands for every value that the cluster allows.
    """

    tensor: Degrees | None = Field(None, examples=[[1, 2, 4, 8]])
    """Tensor-parallel degrees to try."""
    sequence: Annotated[list[Flag], Field(min_length=1, max_length=2)] | Literal["any"] | None = Field(
        None, examples=[[True]]
    )
    """Whether sequence parallelism is tried on, off, or both."""
    pipeline: Degrees | None = Field(None, examples=[[1, 2, 4]])
    """Pipeline degrees to try."""
    virtual_pipeline: Degrees | None = Field(None, examples=["any"])
    """Chunks per pipeline rank to try; more than one means the interleaved schedule."""
    context: Degrees | None = Field(None, examples=[[1]])
    """Context-parallel degrees to try."""
    data: Degrees | None = Field(None, examples=[None])
    """Data-parallel degrees to try; they follow from the others, so this only leaves layouts out."""
    micro: Degrees | None = Field(None, examples=[[1, 2, 4]])
    """Micro-batch sizes to try (sequences)."""
    sharding_stage: Annotated[list[Bit], Field(min_length=1, max_length=2)] | Literal["any"] | None = Field(
        None, examples=[[0, 1]]
    )
    """Sharding stages to try: 0 nothing, 1 optimizer states."""
    checkpointing: Annotated[list[Granularity], Field(min_length=1, max_length=3)] | Literal["any"] | None = Field(
        None, examples=[["none", "full"]]
    )
    """Granularities of activation checkpointing to try; full means every method and depth."""
    tensor_across_nodes: bool = Field(False, strict=True, examples=[False])
    """Whether tensor parallelism may leave the node."""

    def limits(self) -> Limits:
        """Return the limits as the search takes them."""
        axes: tuple[Axis, ...] = Axis.__args__  # type: ignore[attr-defined]
        named = {axis: getattr(self, axis) for axis in axes}
        return Limits(
            {
                axis: value if value == "any" else sorted(set(value))
                for axis, value in named.items()
                if value is not None
            },
            self.tensor_across_nodes,
        )


class _Plan(RequestBody):
    cluster: ClusterRequest
    """The GPUs that the plan is for; they take the place of the job's world size."""
    search: SearchRequest = SearchRequest()
    """Limits of the search; without any, what the job leaves open is searched and what it states is fixed."""
    objective: Literal["step_time"] = Field("step_time", examples=["step_time"])
    """What the ranking is by: the time of an optimizer step, less recomputation first among near-equal times."""
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
