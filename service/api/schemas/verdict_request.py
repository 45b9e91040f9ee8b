"""The question of verdicts."""

from typing import Annotated

from pydantic import Field, Tag

from service.api.schemas.base import RequestBody
from service.api.schemas.estimate_request import DEVICE
from service.api.schemas.examples import JOB
from service.api.schemas.plan_request import Degree
from service.api.schemas.policy_request import QUEUE
from service.api.schemas.question import JOB_OR_SOURCE, USE_OBSERVATIONS, WITH_JOB, WITH_SOURCE
from service.formats.source import ConfigSource
from service.job.schema import Job
from service.usecases.targets import Target
from service.usecases.verdicts import Item

MOST_ITEMS = 100
MOST_TARGETS = 100


class TargetRequest(RequestBody):
    """Where a job is to run."""

    device: str = DEVICE
    """Id, alias or scheduler label of the device, from `GET /v1/devices`; an unknown one makes this target's verdict
    `unknown`, with an `error`."""
    world_size: Degree | None = Field(None, examples=[128])
    """Number of GPUs; it takes the place of the job's, and the data-parallel degree follows. Null: the job's own."""


class _Item(RequestBody):
    targets: list[TargetRequest] = Field(min_length=1, max_length=MOST_TARGETS)
    """The targets that it is judged for, at most 100."""
    reference: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = Field(
        None, examples=["slurm-4711"]
    )
    """The caller's own name of the job, for the record of what a queue's policy refuses."""

    def targets_asked(self) -> list[Target]:
        """Return the targets as the use case takes them."""
        return [Target(each.device, each.world_size) for each in self.targets]


class JobItemRequest(_Item):
    """A job and its targets."""

    job: Job
    """The job; what is absent is the framework's default."""

    def item(self) -> Item:
        """Return the item as the use case takes it."""
        return Item(self.job, self.targets_asked(), self.reference)


class SourceItemRequest(_Item):
    """A config that a job is read from, and its targets."""

    source: ConfigSource
    """The config as its owner has it."""

    def item(self) -> Item:
        """Return the item as the use case takes it."""
        return Item(self.source, self.targets_asked(), self.reference)


ItemRequest = Annotated[
    Annotated[JobItemRequest, Tag(WITH_JOB)] | Annotated[SourceItemRequest, Tag(WITH_SOURCE)], JOB_OR_SOURCE
]


class VerdictRequest(RequestBody):
    """Jobs and the targets that they are judged for."""

    items: list[ItemRequest] = Field(
        min_length=1, max_length=MOST_ITEMS, examples=[[{"job": JOB, "targets": [{"device": "h100-sxm-80gb"}]}]]
    )
    """The jobs, at most 100; what is not ready in time is `unknown`."""
    queue: Annotated[str, Field(max_length=100, pattern=QUEUE)] | None = Field(None, examples=["prod"])
    """The queue that they are for: its policy, or that of `default`, is applied to each verdict. Null: none is."""
    use_observations: bool = USE_OBSERVATIONS
    """Whether observed runs are used; false asks for what is said without them."""
