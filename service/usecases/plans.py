"""Stored plans: made once for a question, found again by its digest, never changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from service.job.schema import Job
from service.planner.search import Progress
from service.store import plans
from service.store.kept import Kept
from service.store.paging import Page
from service.store.plans import NewPlan, PlanFilter, StoredPlan, StoredPlanSummary
from service.store.session import Store, WriteSession
from service.usecases.searches import Search, SearchAnswer, run

SCHEMA_VERSION = 1
"""Version of the two stored documents; a reader of an older one comes with the change."""

_ANSWER = TypeAdapter(SearchAnswer)


@dataclass(frozen=True, slots=True)
class Plan:
    """A stored plan: what it is listed by, the question in its canonical form, and the answer."""

    summary: StoredPlanSummary
    question: Mapping[str, Any]
    answer: SearchAnswer


def find_plan(store: Store, digest: str) -> Plan | None:
    """Return the plan of a question that was asked before, or None."""
    with store.read() as session:
        stored = plans.get_by_digest(session, digest)
    return None if stored is None else _plan(stored)


def make_plan(
    store: Store,
    asked: Search,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    also: Callable[[WriteSession, str, bool], None] | None = None,
) -> tuple[Plan, bool]:
    """Search and store; return the plan and True, or the one that was stored meanwhile and False.

    `also` gets the plan's id, and whether it is new, to store more in the same transaction. Raises SearchCancelled.
    """
    answer = run(asked, progress, cancelled)
    new = _new_plan(asked, answer)
    with store.write() as session:
        stored, created = plans.create(session, new)
        if also is not None:
            also(session, stored.id, created)
    return _plan(stored), created


def keep_at_least(store: Store, plan: Plan, kept: Kept) -> Plan:
    """Keep a plan that was found at least so long: what is asked for again is never kept less long."""
    before = Kept(plan.summary.expires_at, plan.summary.pinned)
    longer = before.at_least(kept)
    return plan if longer == before else keep_plan(store, plan.summary.id, lambda now: now.at_least(kept))


def keep_plan(
    store: Store, plan_id: str, changed: Callable[[Kept], Kept], expected: Callable[[Plan], None] | None = None
) -> Plan:
    """Change how long a plan is kept; `expected` refuses one that is not as the caller knows it. Raises NotFound."""
    with store.write() as session:
        before = _plan(plans.get(session, plan_id, for_update=True))
        if expected is not None:
            expected(before)
        kept = changed(Kept(before.summary.expires_at, before.summary.pinned))
        return _plan(plans.keep(session, plan_id, kept))


def get_plan(store: Store, plan_id: str) -> Plan:
    """Return the plan of this id. Raises NotFound."""
    with store.read() as session:
        return _plan(plans.get(session, plan_id))


def list_plans(store: Store, where: PlanFilter, limit: int, cursor: str | None) -> Page[StoredPlanSummary]:
    """Return up to `limit` plans, newest first, from the cursor on. Raises InvalidCursor."""
    with store.read() as session:
        return plans.list_page(session, where, limit, cursor)


def delete_plan(store: Store, plan_id: str, expected: Callable[[Plan], None] | None = None) -> None:
    """Remove the plan of this id; `expected` refuses one that is not as the caller knows it. Raises NotFound."""
    with store.write() as session:
        if expected is not None:
            expected(_plan(plans.get(session, plan_id)))
        plans.delete(session, plan_id)


def model_name(job: Job) -> str:
    """Return the name that a plan's model is listed by: its preset, else its type."""
    return job.model.preset or job.model.model_type or "custom"


def _new_plan(asked: Search, answer: SearchAnswer) -> NewPlan:
    best = answer.candidates[0] if answer.candidates else None
    return NewPlan(
        digest=asked.digest,
        model=model_name(asked.resolved.job),
        device=asked.cluster.device,
        world_size=asked.cluster.world_size,
        verdict=answer.verdict,
        best_step_seconds=None if best is None else best.step_seconds,
        peak_device_bytes=None if best is None else max(best.stage_bytes),
        labels=asked.question.labels,
        schema_version=SCHEMA_VERSION,
        method_version=answer.method_version,
        request=asked.document,
        answer=_ANSWER.dump_python(answer, mode="json", by_alias=True),
        expires_at=asked.question.kept.expires_at,
        pinned=asked.question.kept.pinned,
    )


def _plan(stored: StoredPlan) -> Plan:
    return Plan(stored, stored.request, _ANSWER.validate_python(stored.answer))
