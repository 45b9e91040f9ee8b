"""Stored observations: what runs measured, beside what was predicted of them."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes, JobAnswer, Seconds
from service.api.schemas.estimate import Method
from service.job.schema import Job
from service.store.observations import Measured, Predicted, StoredObservation, StoredObservationSummary
from service.store.paging import Page

_STAGE = Field(ge=0, examples=[0])
_RATIO = Field(ge=0, examples=[1.03])


class MeasuredAnswer(Answer):
    """What a run measured."""

    source: str = Field(examples=["torch"])
    """Who measured: `torch`, `nvidia-smi` or `scheduler`."""
    stage: int | None = _STAGE
    """Pipeline rank that was measured, from 0; null means the most of any rank."""
    allocated_bytes: Bytes | None = Field(examples=[40802189312])
    """Peak of `torch.cuda.max_memory_allocated` (bytes)."""
    reserved_bytes: Bytes | None = Field(examples=[42412802048])
    """Peak of `torch.cuda.max_memory_reserved` (bytes)."""
    device_bytes: Bytes | None = Field(examples=[43486543872])
    """Peak of what `nvidia-smi` shows for the GPU (bytes)."""
    oom: bool | None = Field(examples=[False])
    """Whether the run ended out of GPU memory; null when nothing was said."""
    step_seconds: Seconds | None = Field(examples=[9.81])
    """Time of an optimizer step (seconds)."""

    @classmethod
    def of(cls, found: Measured) -> Self:
        """Return the wire form of a measurement."""
        return cls(**{name: getattr(found, name) for name in cls.model_fields})


class PredictedAnswer(Answer):
    """What was predicted of the stage that was measured, before observed runs are looked at."""

    verdict: str = Field(examples=["fits"])
    """What was said of the whole job before the run: by its plan, or else when this was stored."""
    stage: int = _STAGE
    """Pipeline rank, from 0: that which was measured, or the worst one."""
    allocated_bytes: Bytes = Field(examples=[40802189312])
    """Predicted peak of `torch.cuda.max_memory_allocated` (bytes)."""
    reserved_bytes: Bytes = Field(examples=[42412802048])
    """Predicted peak of `torch.cuda.max_memory_reserved` (bytes)."""
    device_bytes: Bytes = Field(examples=[43486543872])
    """Predicted peak of what `nvidia-smi` shows (bytes)."""
    step_seconds: Seconds | None = Field(examples=[9.81])
    """Predicted time of an optimizer step (seconds); null unless one was measured."""
    usable_bytes: Bytes | None = Field(examples=[84932978278])
    """Memory that a process could use on the device (bytes)."""


class RatiosAnswer(Answer):
    """Measured over predicted; null where nothing was measured. Of a run out of memory, these are the least."""

    allocated: float | None = _RATIO
    """Of `allocated_bytes`."""
    reserved: float | None = _RATIO
    """Of `reserved_bytes`."""
    device: float | None = _RATIO
    """Of `device_bytes`."""
    step_seconds: float | None = _RATIO
    """Of `step_seconds`."""

    @classmethod
    def of(cls, measured: Measured, predicted: Predicted) -> Self:
        """Return the wire form of the ratios of a measurement to its prediction."""
        return cls(
            allocated=_ratio(measured.allocated_bytes, predicted.allocated_bytes),
            reserved=_ratio(measured.reserved_bytes, predicted.reserved_bytes),
            device=_ratio(measured.device_bytes, predicted.device_bytes),
            step_seconds=_ratio(measured.step_seconds, predicted.step_seconds),
        )


class ObservationSummary(Answer):
    """A stored observation as lists show it."""

    id: str = Field(examples=["obs_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
    """Id of the observation; ids sort by the time they were made."""
    run_id: str = Field(examples=["slurm-4711"])
    """The caller's name of the run."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stored (UTC)."""
    framework: str = Field(examples=["megatron-core"])
    """Whose way of keeping states the run has: with `implementation` and `device` the group that it is judged with."""
    implementation: str = Field(examples=["transformer_engine"])
    """Whose layers it ran."""
    device: str = Field(examples=["h100-sxm-80gb"])
    """Id of the device that it ran on."""
    gpus_per_node: int = Field(ge=1, examples=[8])
    """GPUs of one node."""
    plan: str | None = Field(examples=["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
    """Id of the plan that it ran; null for a job or a config."""
    candidate: int | None = Field(ge=0, examples=[0])
    """Which candidate of the plan; null without one."""
    measured: MeasuredAnswer
    """What was measured."""
    predicted: PredictedAnswer
    """What `method` predicted of it."""
    ratios: RatiosAnswer
    """Measured over predicted."""
    method: Method
    """What made the prediction: after a new release, its own as soon as it has looked at this run again."""
    digest: str = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])
    """Digest of the job's estimate on the device, by the method that was current when this was stored."""

    @classmethod
    def of(cls, stored: StoredObservationSummary) -> Self:
        """Return the wire form of an observation's summary."""
        return cls(**cls.fields_of(stored))

    @staticmethod
    def fields_of(stored: StoredObservationSummary) -> dict[str, Any]:
        """Return the fields of a summary's wire form."""
        measured, latest = stored.measured, stored.predicted[-1]
        sizes = {name: getattr(latest, name) for name in ("allocated_bytes", "reserved_bytes", "device_bytes")}
        return {
            "id": stored.id,
            "run_id": stored.run_id,
            "created_at": stored.created_at,
            "framework": stored.group.framework,
            "implementation": stored.group.implementation,
            "device": stored.group.device,
            "gpus_per_node": stored.gpus_per_node,
            "plan": stored.plan,
            "candidate": stored.candidate,
            "measured": MeasuredAnswer.of(measured),
            "predicted": PredictedAnswer(
                verdict=stored.verdict,
                stage=latest.stage,
                step_seconds=latest.step_seconds,
                usable_bytes=stored.usable_bytes,
                **sizes,
            ),
            "ratios": RatiosAnswer.of(measured, latest),
            "method": Method(version=latest.method_version, profile=stored.profile),
            "digest": stored.digest,
        }


class ObservationAnswer(ObservationSummary):
    """A stored observation: what a run measured, beside what was predicted of it."""

    job: JobAnswer
    """The job that ran, with every default written out."""

    @classmethod
    def of(cls, stored: StoredObservation) -> Self:  # type: ignore[override]  # a summary has no job
        """Return the wire form of a stored observation."""
        return cls(job=Job.model_validate(stored.job), **cls.fields_of(stored))


class ObservationList(Answer):
    """Some observations of a list, newest first."""

    items: list[ObservationSummary]
    """The observations of this page."""
    next_cursor: str | None = Field(examples=["AAZEhl9vYAABmtDxxrV8DopfPSscCp6N"])
    """Where the next page begins, for the query parameter `cursor`; null on the last page."""

    @classmethod
    def of(cls, page: Page[StoredObservationSummary]) -> Self:
        """Return the wire form of a page."""
        return cls(items=[ObservationSummary.of(each) for each in page.items], next_cursor=page.next_cursor)


def _ratio(measured: float | None, predicted: float | None) -> float | None:
    return None if measured is None or not predicted else round(measured / predicted, 6)
