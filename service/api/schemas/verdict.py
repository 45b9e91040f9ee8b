"""Whether jobs fit targets, in few words."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field

from service.api.schemas.alternative import REASON, AlternativeAnswer, Numbers, numbers
from service.api.schemas.base import Answer
from service.api.schemas.estimate import ObservationsAnswer
from service.api.schemas.findings import DiagnosticAnswer
from service.api.schemas.policy import RulingAnswer
from service.api.schemas.problem import Missing
from service.calculator.estimate import METHOD_VERSION
from service.usecases.estimates import Without
from service.usecases.refusals import RuledVerdict
from service.usecases.targets import Need
from service.usecases.verdicts import VerdictAnswer


def _observations(need: Need | None, without: Without | None) -> ObservationsAnswer | None:
    if need is None or need.observed is None or without is None:
        return None
    return ObservationsAnswer.of_peak(need.observed, need.device_bytes, need.expected_bytes, without)


class ItemError(Answer):
    """Why a target of an item was not judged."""

    code: str = Field(examples=["unknown_device"])
    """`unknown_device`, `deadline` (not ready in time) or `internal_error`."""
    message: str = Field(examples=["there is no device 'h100-sxm-80'"])
    """What is wrong, for people."""
    fix: str = Field(examples=["did you mean h100-sxm-80gb?"])
    """What would do."""


class VerdictMethod(Answer):
    """What made a verdict."""

    version: str = Field(examples=["1"])
    """Version of the memory model."""
    profile: str | None = Field(examples=["megatron-core d98e8a64 (2026-08-22)"])
    """Framework, and the state of it, whose defaults and habits were applied; null when the job could not be read."""


class VerdictBody(Numbers):
    """Whether a job fits a target."""

    device: str = Field(examples=["h100-sxm-80gb"])
    """Id of the device; what was asked for when there is no such device."""
    world_size: int | None = Field(examples=[64])
    """Number of GPUs; null when nothing states it."""
    verdict: str = Field(examples=["does_not_fit"])
    """`fits`, `tight`, `does_not_fit` or `unknown`: this set never grows. `unknown` when the job is incomplete or
    invalid, the device or its memory is not known, or the answer was not ready in time."""
    reason: str = REASON
    """The verdict in one sentence of at most 120 characters, for people."""
    missing: list[Missing]
    """Facts that the job does not state; with them an answer can be given."""
    diagnostics: list[DiagnosticAnswer]
    """Rules that the job breaks, and whether its peak does not fit or its margin is not proven."""
    observations: ObservationsAnswer | None
    """The observed runs that the verdict is made with; null where there are too few, and where it was asked for without
    them."""
    digest: str | None = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])
    """SHA-256 of the canonical job, the device and the method, as in an estimate; null when there is no such job."""
    method: VerdictMethod
    """What made the answer."""

    @staticmethod
    def fields_of(found: VerdictAnswer) -> dict[str, Any]:
        """Return the fields of a verdict's wire form."""
        return {
            "device": found.target.device,
            "world_size": found.target.world_size,
            "verdict": found.verdict,
            "reason": found.reason,
            "missing": [Missing(fact=each.fact, message=each.message) for each in found.missing],
            "diagnostics": [DiagnosticAnswer.of(each) for each in found.diagnostics],
            "observations": _observations(found.need, found.without),
            "digest": found.digest,
            "method": VerdictMethod(version=METHOD_VERSION, profile=found.profile),
            **numbers(found.need),
        }


class VerdictResult(VerdictBody):
    """Whether one job fits one target."""

    item: int = Field(ge=0, examples=[0])
    """Which item of the request, from 0."""
    target: int = Field(ge=0, examples=[0])
    """Which target of the item, from 0."""
    alternatives: list[AlternativeAnswer]
    """Where the job does not fit safely: up to three changes to it or other targets, the smallest changes first. Empty
    also when there was no time to look for them."""
    error: ItemError | None
    """Why this target was not judged; null when it was, and when the job is incomplete or invalid."""
    policy: RulingAnswer | None
    """What the policy of the queue makes of it; null when no queue was named, or no policy holds for it."""

    @classmethod
    def of(cls, ruled: RuledVerdict) -> Self:
        """Return the wire form of the answer at a place of the request."""
        found, failure = ruled.answer, ruled.answer.failure
        return cls(
            item=ruled.place[0],
            target=ruled.place[1],
            policy=None if ruled.ruled is None else RulingAnswer.of(ruled.ruled),
            alternatives=[AlternativeAnswer.of(each) for each in found.alternatives],
            error=None if failure is None else ItemError(code=failure.code, message=failure.message, fix=failure.fix),
            **cls.fields_of(found),
        )


class VerdictList(Answer):
    """Verdicts on every item for every target."""

    results: list[VerdictResult]
    """One for each item and target, in the order of the request: the first item's targets first."""

    @classmethod
    def of(cls, found: Sequence[RuledVerdict]) -> Self:
        """Return the wire form of the answers of a board."""
        return cls(results=[VerdictResult.of(each) for each in found])
