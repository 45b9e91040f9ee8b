"""Stored plans: the layouts of a job that fit a cluster."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes, JobAnswer, Seconds
from service.api.schemas.search import SearchResult
from service.job.schema import Job
from service.store.paging import Page
from service.store.plans import StoredPlanSummary
from service.usecases.plans import Plan

_ID = Field(examples=["pln_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
_DIGEST = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])


class PlanSummary(Answer):
    """A stored plan as lists show it."""

    id: str = _ID
    """Id of the plan; ids sort by the time they were made."""
    digest: str = _DIGEST
    """SHA-256 of the canonical question and the method: the same question finds this plan."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stored (UTC)."""
    model: str = Field(examples=["llama-3-8b"])
    """Preset of the job's model, else its model type."""
    device: str = Field(examples=["h100-sxm-80gb"])
    """Device of the cluster."""
    world_size: int = Field(examples=[64])
    """Number of GPUs."""
    verdict: str = Field(examples=["fits"])
    """Verdict of the first candidate; `does_not_fit` when there is none."""
    best_step_seconds: Seconds | None = Field(examples=[9.81])
    """Step time of the first candidate (seconds); null without one."""
    peak_device_bytes: Bytes | None = Field(examples=[43486543872])
    """Peak of the first candidate (bytes); null without one."""
    labels: dict[str, str] = Field(examples=[{"team": "pretraining"}])
    """Labels that it was stored with."""
    expires_at: datetime | None = Field(examples=["2027-03-01T00:00:00Z"])
    """When it may be removed (UTC); null: as the service's settings say."""
    pinned: bool = Field(examples=[False])
    """Whether it is kept for good."""
    method_version: str = Field(examples=["1"])
    """Version of the memory model that made it."""

    @classmethod
    def of(cls, stored: StoredPlanSummary) -> Self:
        """Return the wire form of a plan's summary."""
        fields: dict[str, Any] = {name: getattr(stored, name) for name in cls.model_fields}
        return cls(**fields)


class PlanAnswer(SearchResult):
    """A stored plan: which layouts of a job fit a cluster, fastest first."""

    id: str = _ID
    """Id of the plan; ids sort by the time they were made."""
    digest: str = _DIGEST
    """SHA-256 of the canonical question and the method: the same question finds this plan."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stored (UTC)."""
    model: str = Field(examples=["llama-3-8b"])
    """Preset of the job's model, else its model type."""
    device: str = Field(examples=["h100-sxm-80gb"])
    """Device of the cluster."""
    world_size: int = Field(examples=[64])
    """Number of GPUs."""
    gpus_per_node: int = Field(examples=[8])
    """GPUs of one node."""
    objective: str = Field(examples=["step_time"])
    """What the ranking is by."""
    labels: dict[str, str] = Field(examples=[{"team": "pretraining"}])
    """Labels that it was stored with."""
    expires_at: datetime | None = Field(examples=["2027-03-01T00:00:00Z"])
    """When it may be removed (UTC); null: as the service's settings say."""
    pinned: bool = Field(examples=[False])
    """Whether it is kept for good."""
    job: JobAnswer
    """What was fixed: the job with the searched values open."""

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the wire form of a stored plan."""
        stored, question = plan.summary, plan.question
        return cls.of_search(
            plan.answer,
            id=stored.id,
            digest=stored.digest,
            created_at=stored.created_at,
            model=stored.model,
            device=stored.device,
            world_size=stored.world_size,
            gpus_per_node=question["cluster"]["gpus_per_node"],
            objective=question["objective"],
            labels=dict(stored.labels),
            expires_at=stored.expires_at,
            pinned=stored.pinned,
            job=Job.model_validate(question["job"]),
        )


class PlanList(Answer):
    """Some plans of a list, newest first."""

    items: list[PlanSummary]
    """The plans of this page."""
    next_cursor: str | None = Field(examples=["AAZEhl9vYAABmtDxxrV8DopfPSscCp6N"])
    """Where the next page begins, for the query parameter `cursor`; null on the last page."""

    @classmethod
    def of(cls, page: Page[StoredPlanSummary]) -> Self:
        """Return the wire form of a page."""
        return cls(items=[PlanSummary.of(each) for each in page.items], next_cursor=page.next_cursor)
