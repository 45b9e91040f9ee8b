"""Policies, what they make of verdicts, and the record of that."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime
from typing import Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes, Count
from service.api.schemas.policy_request import PolicyRequest
from service.store.paging import Page
from service.store.refusals import StoredRefusal
from service.usecases.policies import BrokenRule, QueuePolicy, Ruled, Ruling
from service.usecases.refusals import Summary

_QUEUE = Field(examples=["prod"])
_RULE = Field(examples=["margin"])
_MODE = Field(examples=["shadow"])
_RULING = Field(examples=["refuse"])


class PolicyAnswer(Answer):
    """The policy of a queue."""

    queue: str = _QUEUE
    """Name of the queue."""
    definition: PolicyRequest
    """The policy, as it can be sent again."""
    updated_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was stated (RFC 3339)."""

    @classmethod
    def of(cls, found: QueuePolicy) -> Self:
        """Return the wire form of a policy."""
        definition = PolicyRequest.model_validate(asdict(found.policy))
        return cls(queue=found.queue, definition=definition, updated_at=found.updated_at)


class PolicyList(Answer):
    """All policies."""

    items: list[PolicyAnswer]
    """The policies, by the name of their queue."""


class BrokenRuleAnswer(Answer):
    """A rule that a job breaks."""

    rule: str = _RULE
    """`does_not_fit`, `tight`, `unknown`, `margin`, `device` or `world_size`."""
    ruling: str = _RULING
    """What this alone comes to: `warn` or `refuse`."""
    message: str = Field(examples=["1.2 GiB are left free; 4.0 GiB are asked for"])
    """Why, for people."""

    @classmethod
    def of(cls, broken: BrokenRule) -> Self:
        """Return the wire form of a broken rule."""
        return cls(rule=broken.rule, ruling=broken.ruling, message=broken.message)


class RulingAnswer(Answer):
    """What the policy of the queue makes of a verdict."""

    policy: str = _QUEUE
    """Queue whose policy was applied: the one that was asked for, or `default`."""
    mode: str = _MODE
    """`enforce`, `warn`, `shadow` or `off`."""
    ruling: str = Field(examples=["admit"])
    """What to do with the job: `admit`, `warn` or `refuse`."""
    enforced: str = _RULING
    """What it would be if the policy were enforced."""
    rule: str | None = _RULE
    """The rule that decided it; null when none is broken."""
    broken: list[BrokenRuleAnswer]
    """Every rule that the job breaks."""

    @classmethod
    def of(cls, ruled: Ruled) -> Self:
        """Return the wire form of a ruling."""
        return cls(
            policy=ruled.policy,
            mode=ruled.mode,
            ruling=ruled.ruling,
            enforced=ruled.enforced,
            rule=None if ruled.first is None else ruled.first.rule,
            broken=[BrokenRuleAnswer.of(each) for each in ruled.broken],
        )


class RefusalAnswer(Answer):
    """A job that a policy refused, or would have refused if it were enforced."""

    id: str = Field(examples=["rfs_019ad0f1c6b57c0e8a5f3d2b1c0a9e8d"])
    """Id of the record."""
    mode: str = _MODE
    """The policy's mode then."""
    rules: list[str] = Field(examples=[["does_not_fit"]])
    """The rules that it breaks."""
    reason: str = Field(examples=["stage 0 needs 95.1 GiB, usable 79.1 GiB; short by 16.0 GiB"])
    """Why, for people."""
    reference: str | None = Field(examples=["slurm-4711"])
    """The caller's own name of the job."""
    device: str = Field(examples=["h100-sxm-80gb"])
    """Id of the device."""
    world_size: int | None = Field(examples=[64])
    """Number of GPUs; null when nothing states it."""
    verdict: str = Field(examples=["does_not_fit"])
    """The verdict on it."""
    peak_bytes: Bytes | None = Field(examples=[102120030208])
    """What the worst GPU would hold (bytes); null when it could not be computed."""
    usable_bytes: Bytes | None = Field(examples=[84932978278])
    """Memory that it could use (bytes)."""
    digest: str | None = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])
    """SHA-256 of the job, the device and the method, as in the verdict."""
    count: Count = Field(examples=[3])
    """How often it was asked for."""
    created_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When it was first asked for (RFC 3339)."""
    last_at: datetime = Field(examples=["2026-11-29T20:00:00Z"])
    """When it was last asked for (RFC 3339)."""

    @classmethod
    def of(cls, stored: StoredRefusal) -> Self:
        """Return the wire form of a refusal."""
        facts = {name: getattr(stored, name) for name in cls.model_fields if name != "rules"}
        return cls(rules=stored.rules.split(), **facts)


class RefusalList(Answer):
    """A page of refusals, newest first."""

    items: list[RefusalAnswer]
    """The refusals of this page."""
    next_cursor: str | None = Field(examples=["AAZEhl9vYAABmtDxxrV8DopfPSscCp6N"])
    """Where the next page begins; null on the last page."""

    @classmethod
    def of(cls, page: Page[StoredRefusal]) -> Self:
        """Return the wire form of a page."""
        return cls(items=[RefusalAnswer.of(each) for each in page.items], next_cursor=page.next_cursor)


class RulingCounts(Answer):
    """How often a policy came to each ruling, would it be enforced."""

    admit: Count = Field(examples=[970])
    """Verdicts that break no rule."""
    warn: Count = Field(examples=[18])
    """Verdicts that it warns of."""
    refuse: Count = Field(examples=[12])
    """Verdicts that it refuses."""


class DayCounts(RulingCounts):
    """The rulings of a day."""

    day: date = Field(examples=["2026-11-29"])
    """The day, in UTC."""


class PolicySummary(Answer):
    """What the policy of a queue came to, would it be enforced: what to look at before it is."""

    queue: str = _QUEUE
    """Name of the queue."""
    since: date = Field(examples=["2026-11-23"])
    """First day that is counted, in UTC."""
    rulings: RulingCounts
    """All rulings since then."""
    rules: dict[str, int] = Field(examples=[{"does_not_fit": 12, "tight": 18}])
    """How often each rule decided."""
    days: list[DayCounts]
    """The rulings by day, the oldest first; days without any are left out."""

    @classmethod
    def of(cls, found: Summary) -> Self:
        """Return the wire form of a summary."""
        return cls(
            queue=found.queue,
            since=found.since,
            rulings=_counts(found.rulings),
            rules=dict(found.rules),
            days=[DayCounts(day=day, **_counts(each).model_dump()) for day, each in found.days.items()],
        )


def _counts(rulings: Mapping[Ruling, int]) -> RulingCounts:
    return RulingCounts(admit=rulings.get("admit", 0), warn=rulings.get("warn", 0), refuse=rulings.get("refuse", 0))
