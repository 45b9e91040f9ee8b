"""The question of an estimate."""

from typing import Annotated

from pydantic import Field, Tag

from service.api.schemas.base import RequestBody
from service.api.schemas.question import JOB_OR_SOURCE, USE_OBSERVATIONS, WITH_JOB, WITH_SOURCE
from service.formats.source import ConfigSource
from service.job.schema import Job

DEVICE = Field(max_length=100, examples=["h100-sxm-80gb"])


class _Estimate(RequestBody):
    device: str = DEVICE
    """Id, alias or scheduler label of the device, from `GET /v1/devices`."""
    use_observations: bool = USE_OBSERVATIONS
    """Whether observed runs are used; false asks for what is said without them."""


class JobEstimateRequest(_Estimate):
    """The memory of a job on a device."""

    job: Job
    """The job; what is absent is the framework's default, and reported back."""

    @property
    def given(self) -> Job:
        """What the question is about."""
        return self.job


class SourceEstimateRequest(_Estimate):
    """The memory of a job that is read from a config, on a device."""

    source: ConfigSource
    """The config as its owner has it."""

    @property
    def given(self) -> ConfigSource:
        """What the question is about."""
        return self.source


EstimateRequest = Annotated[
    Annotated[JobEstimateRequest, Tag(WITH_JOB)] | Annotated[SourceEstimateRequest, Tag(WITH_SOURCE)], JOB_OR_SOURCE
]
