"""The question of a comparison."""

from typing import Annotated, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from service.api.schemas.base import RequestBody
from service.api.schemas.examples import JOB
from service.api.schemas.question import JOB_OR_SOURCE, USE_OBSERVATIONS, WITH_JOB, WITH_SOURCE
from service.api.schemas.verdict_request import TargetRequest
from service.calibration.evidence import Evidence
from service.formats.source import ConfigSource
from service.job.schema import Job
from service.usecases.comparisons import ComparisonQuestion, LabelledItem
from service.usecases.targets import Target

MOST_SIDES = 10
MOST_TARGETS = 20


class _LabelledItem(RequestBody):
    label: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$", examples=["8-way tensor"])
    """Name of this side in the answer."""


class LabelledJobRequest(_LabelledItem):
    """A job to be compared."""

    job: Job
    """The job; what is absent is the framework's default."""

    def item(self) -> LabelledItem:
        """Return the side as the use case takes it."""
        return LabelledItem(self.label, self.job)


class LabelledSourceRequest(_LabelledItem):
    """A config to be compared."""

    source: ConfigSource
    """The config as its owner has it."""

    def item(self) -> LabelledItem:
        """Return the side as the use case takes it."""
        return LabelledItem(self.label, self.source)


LabelledRequest = Annotated[
    Annotated[LabelledJobRequest, Tag(WITH_JOB)] | Annotated[LabelledSourceRequest, Tag(WITH_SOURCE)], JOB_OR_SOURCE
]


class ComparisonRequest(RequestBody):
    """What is compared: at least one plan or job; jobs need targets."""

    plans: list[Annotated[str, Field(max_length=100)]] = Field(
        default=[], max_length=MOST_SIDES, examples=[["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"]]
    )
    """Ids of stored plans; each stands for its first candidate, without targets on its own cluster."""
    items: list[LabelledRequest] = Field(default=[], max_length=MOST_SIDES, examples=[[{"label": "mine", "job": JOB}]])
    """Jobs, each under a name."""
    targets: list[TargetRequest] = Field(
        default=[], max_length=MOST_TARGETS, examples=[[{"device": "h100-sxm-80gb"}, {"device": "h200-sxm-141gb"}]]
    )
    """Where every plan and job is to run; may be left out when there are only plans."""
    use_observations: bool = USE_OBSERVATIONS
    """Whether observed runs are used; false asks for what is said without them."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.plans and not self.items:
            raise PydanticCustomError("nothing_to_compare", "should have at least one of `plans` and `items`")
        if self.items and not self.targets:
            raise PydanticCustomError("no_targets", "should have `targets`, because jobs do not say where they run")
        return self

    def question(self, evidence: Evidence) -> ComparisonQuestion:
        """Return the question as the use case takes it."""
        targets = [Target(each.device, each.world_size) for each in self.targets]
        return ComparisonQuestion(self.plans, [each.item() for each in self.items], targets, evidence)
