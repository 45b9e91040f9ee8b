"""What can be wrong with a question, as typed errors that say where in the question it is."""

from collections.abc import Sequence
from typing import Literal

from service.job.diagnostics import Findings


class RejectedQuestion(Exception):
    """The question was understood and has no answer."""


class RejectedJob(RejectedQuestion):
    """The job breaks rules or lacks facts; `findings` has all of it, `given_as` says what the question had."""

    def __init__(self, findings: Findings, given_as: Literal["job", "source"]) -> None:
        facts = [f"{each.fact} is missing" for each in findings.missing]
        super().__init__("; ".join([*(each.message for each in findings.errors), *facts]))
        self.findings = findings
        self.given_as = given_as


class NoSuchDevice(RejectedQuestion):
    """The catalogue has no such device; `field` is the JSON Pointer of the name, `close` are similar ids."""

    def __init__(self, name: str, field: str, close: Sequence[str]) -> None:
        super().__init__(f"there is no device {name!r}")
        self.name = name
        self.field = field
        self.close = close


class IncompleteDevice(RejectedQuestion):
    """The catalogue lacks a figure of the device that the answer needs."""


class NotThisName(RejectedQuestion):
    """The id in the path is a name of another device."""


class NotRemovable(RejectedQuestion):
    """The device is part of the catalogue or of another device."""


class TooManyDefinitions(RejectedQuestion):
    """As many devices or policies are stored as may be."""


class PreconditionFailed(RejectedQuestion):
    """What is stored is not what the caller says that it has seen."""


class SearchTooLarge(RejectedQuestion):
    """The search would look at more layouts than this service allows."""


class NoSuchCandidate(RejectedQuestion):
    """The plan has fewer candidates than was asked for."""

    def __init__(self, plan_id: str, candidate: int, candidates: int) -> None:
        super().__init__(
            f"plan {plan_id} has {candidates} candidates, counted from 0; there is no candidate {candidate}"
        )
