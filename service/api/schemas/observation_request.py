"""What a run measured, and which run it was."""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from service.api.schemas.base import RequestBody
from service.api.schemas.estimate_request import DEVICE
from service.api.schemas.plan_request import Degree
from service.api.schemas.question import WITH_JOB, WITH_SOURCE
from service.calculator import limits
from service.formats.source import ConfigSource
from service.job.digest import digest
from service.job.schema import Job
from service.store.observations import Measured, Meter
from service.usecases.observations import Observed, OfJob, OfPlan

WITH_PLAN = "question with plan"
_ABOUT = {"plan": WITH_PLAN, "job": WITH_JOB, "source": WITH_SOURCE}

MOST_CANDIDATES = 1000
LONGEST_STEP = 1e7

# What no name has, and what PostgreSQL takes in no text.
RunId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Size = Annotated[int, Field(strict=True, ge=1, le=limits.LARGEST_BYTES, json_schema_extra={"format": "int64"})]

_SIZES = ("allocated_bytes", "reserved_bytes", "device_bytes")


class MeasuredRequest(RequestBody):
    """What a run measured on one GPU of a stage: at least one size, `oom` or `step_seconds`."""

    source: Meter = Field(examples=["torch"])
    """Who measured: `torch` (the process itself), `nvidia-smi` (or another reader of the driver), `scheduler`."""
    stage: Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)] | None = Field(None, examples=[0])
    """Pipeline rank that was measured, from 0; null means the most of any rank."""
    allocated_bytes: Size | None = Field(None, examples=[40802189312])
    """Peak of `torch.cuda.max_memory_allocated` (bytes)."""
    reserved_bytes: Size | None = Field(None, examples=[42412802048])
    """Peak of `torch.cuda.max_memory_reserved` (bytes)."""
    device_bytes: Size | None = Field(None, examples=[43486543872])
    """Peak of what `nvidia-smi` shows for the GPU (bytes)."""
    oom: bool | None = Field(None, strict=True, examples=[False])
    """Whether the run ended out of GPU memory; its sizes are then the least that it needed. Null: not said, which with
    a size or a step time means that it did not."""
    step_seconds: Annotated[float, Field(strict=True, gt=0, le=LONGEST_STEP, allow_inf_nan=False)] | None = Field(
        None, examples=[9.81]
    )
    """Time of an optimizer step, after the first ones (seconds)."""

    @model_validator(mode="after")
    def _measured(self) -> Self:
        sizes = [each for each in (getattr(self, name) for name in _SIZES) if each is not None]
        if not sizes and self.oom is None and self.step_seconds is None:
            raise PydanticCustomError(
                "nothing_measured",
                "should have at least one of `allocated_bytes`, `reserved_bytes`, `device_bytes`, "
                "`oom` and `step_seconds`",
            )
        if sizes != sorted(sizes):
            raise PydanticCustomError(
                "sizes_out_of_order", "should have sizes with allocated_bytes ≤ reserved_bytes ≤ device_bytes"
            )
        return self

    def measured(self) -> Measured:
        """Return the measurement as the store takes it."""
        found = {name: getattr(self, name) for name in MeasuredRequest.model_fields}
        said = found.pop("oom")
        return Measured(**found, oom=said if said is not None or not self._is_sized else False)

    @property
    def _is_sized(self) -> bool:
        return any(getattr(self, name) is not None for name in (*_SIZES, "step_seconds"))


class _Observation(RequestBody):
    run_id: RunId = Field(examples=["slurm-4711"])
    """The caller's name of the run: a run has one observation, and the same one may be sent again."""
    gpus_per_node: Degree | None = Field(None, examples=[8])
    """GPUs of one node; null means the plan's, or the device's usual number."""
    measured: MeasuredRequest
    """What was measured."""

    def _observed(self, ran: OfPlan | OfJob) -> Observed:
        document = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return Observed(self.run_id, ran, self.measured.measured(), digest(document))


class PlanObservationRequest(_Observation):
    """What a run of a stored plan's candidate measured."""

    plan: str = Field(max_length=100, examples=["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
    """Id of the plan."""
    candidate: int = Field(0, strict=True, ge=0, le=MOST_CANDIDATES, examples=[0])
    """Which candidate of the plan; 0 is the first."""
    device: str | None = Field(None, max_length=100, examples=["h100-sxm-80gb"])
    """Id, alias or scheduler label of the device that it ran on; null means the plan's."""

    def observed(self) -> Observed:
        """Return the observation as the use case takes it."""
        return self._observed(OfPlan(self.plan, self.candidate, self.device, self.gpus_per_node))


class JobObservationRequest(_Observation):
    """What a run of a job measured."""

    job: Job
    """The job that ran."""
    device: str = DEVICE
    """Id, alias or scheduler label of the device that it ran on."""

    def observed(self) -> Observed:
        """Return the observation as the use case takes it."""
        return self._observed(OfJob(self.job, self.device, self.gpus_per_node))


class SourceObservationRequest(_Observation):
    """What a run of a config measured."""

    source: ConfigSource
    """The config that ran, as its owner has it."""
    device: str = DEVICE
    """Id, alias or scheduler label of the device that it ran on."""

    def observed(self) -> Observed:
        """Return the observation as the use case takes it."""
        return self._observed(OfJob(self.source, self.device, self.gpus_per_node))


def _form(body: Any) -> Literal["question with plan", "question with job", "question with source"] | None:
    named = [tag for key, tag in _ABOUT.items() if isinstance(body, dict) and key in body]
    return named[0] if len(named) == 1 else None  # type: ignore[return-value]


ObservationRequest = Annotated[
    Annotated[PlanObservationRequest, Tag(WITH_PLAN)]
    | Annotated[JobObservationRequest, Tag(WITH_JOB)]
    | Annotated[SourceObservationRequest, Tag(WITH_SOURCE)],
    Discriminator(
        _form,
        custom_error_type="plan_job_or_source",
        custom_error_message="should have exactly one of the keys `plan`, `job` and `source`",
    ),
]
