"""Verdicts: whether jobs fit targets, in few words, as many as are ready in time."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from service.calibration.evidence import NO_EVIDENCE, Evidence
from service.catalog.devices import Device, Devices, built_in
from service.job.diagnostics import Diagnostic, MissingFact
from service.logs import logger
from service.usecases.alternatives import Alternative, alternatives
from service.usecases.answer_cache import AnswerCache
from service.usecases.capacity import peak_findings
from service.usecases.devices import device_of
from service.usecases.errors import NoSuchDevice, RejectedJob
from service.usecases.estimates import Verdict, Without, estimate_digest
from service.usecases.imports import Accepted, Given, accept
from service.usecases.targets import Need, Target, need_on, resolved_on, without_observations

LONGEST_REASON: Final = 120
"""Characters of a reason; longer warnings are cut by Kubernetes."""

FailureCode = Literal["unknown_device", "deadline", "internal_error"]

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Item:
    """A job and the targets that it is judged for; `reference` is the caller's own name of it."""

    given: Given
    targets: Sequence[Target]
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a target of an item was not judged: what is wrong, and what would do."""

    code: FailureCode
    message: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAnswer:
    """Whether a job fits a target; `need`, `profile` and `digest` are None where nothing could be computed.

    `target` has the device's id and the number of GPUs that were judged, as far as they are known; `is_whole` is false
    as long as alternatives have not been looked for, and `without` is what is said where observed runs are left out.
    """

    verdict: Verdict
    reason: str
    target: Target
    need: Need | None = None
    alternatives: Sequence[Alternative] = ()
    missing: Sequence[MissingFact] = ()
    errors: Sequence[Diagnostic] = ()
    capacity: Sequence[Diagnostic] = ()
    failure: Failure | None = None
    profile: str | None = None
    digest: str | None = None
    is_whole: bool = True
    without: Without | None = None

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """Rules that the job breaks, or that its peak does not fit or is not proven to."""
        return [*self.errors, *self.capacity]

    @property
    def is_final(self) -> bool:
        """Whether the same question has the same answer at another time."""
        return self.is_whole and (self.failure is None or self.failure.code == "unknown_device")


Place = tuple[int, int]
"""Numbers of an item and of one of its targets."""

Known = AnswerCache[tuple[int, bytes, Target], VerdictAnswer]
"""Answers by the generation of the evidence, the digest of the item's job or source and of the devices, and target."""


@dataclass(frozen=True, slots=True)
class Board:
    """The answers to a list of items as they come in, shared by the thread that works and the one that waits."""

    items: Sequence[Item]
    devices: Devices = field(default_factory=built_in)
    evidence: Evidence = NO_EVIDENCE
    answers: dict[Place, VerdictAnswer] = field(default_factory=dict)
    unfinished: list[tuple[Place, "_Reading", Target]] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(item.targets) for item in self.items)

    def found(self) -> list[tuple[Place, VerdictAnswer]]:
        """Every answer, in the order of items and targets; what is not there yet is unknown."""
        answers = dict(self.answers)
        return [(place, answers.get(place) or _late(target)) for place, target in self._places()]

    @property
    def is_final(self) -> bool:
        """Whether every answer is there and stays the same."""
        return all(answer.is_final for _, answer in self.found())

    def _places(self) -> Iterator[tuple[Place, Target]]:
        for number, item in enumerate(self.items):
            for place, target in enumerate(item.targets):
                yield (number, place), target


def judge_all(board: Board, known: Known, is_late: Callable[[], bool]) -> None:
    """Answer every item of the board for every target until it is late, and remember what was found.

    All verdicts come first: looking for alternatives takes a hundred times as long.
    """
    judge_each(board, known, is_late)
    finish(board, known, is_late)


def judge_each(board: Board, known: Known, is_late: Callable[[], bool]) -> None:
    """Say of every item whether it fits its targets; what is still to be finished is noted on the board."""
    for number, item in enumerate(board.items):
        reading = _Reading(item.given, board.devices, board.evidence)
        for place, target in enumerate(item.targets):
            if is_late():
                return
            key = (board.evidence.generation, reading.key, target)
            answer = known.get(key) or _answered(reading, target)
            board.answers[number, place] = answer
            if answer.is_final:
                known.put(key, answer)
            elif not answer.is_whole:
                board.unfinished.append(((number, place), reading, target))


def finish(board: Board, known: Known, is_late: Callable[[], bool]) -> None:
    """Look for alternatives where there are none yet."""
    for placed, reading, target in board.unfinished:
        if is_late():
            return
        board.answers[placed] = whole = _with_alternatives(board.answers[placed], reading, target)
        if whole.is_final:
            known.put((board.evidence.generation, reading.key, target), whole)


class _Reading:
    """The job of an item, read when it is first asked for and once for all targets.

    `key` is the digest of the item and of the devices that it is judged for.
    """

    def __init__(self, given: Given, devices: Devices, evidence: Evidence) -> None:
        self.given = given
        self.devices = devices
        self.evidence = evidence
        stated = given.model_dump_json(by_alias=True, exclude_none=True).encode()
        self.key = hashlib.sha256(devices.stamp + stated).digest()
        self._read: Accepted | RejectedJob | None = None

    def accepted(self) -> Accepted:
        """Return the job. Raises RejectedJob."""
        if self._read is None:
            try:
                self._read = accept(self.given)
            except RejectedJob as error:
                self._read = error
        if isinstance(self._read, RejectedJob):
            raise self._read
        return self._read


def _answered(reading: _Reading, target: Target) -> VerdictAnswer:
    try:
        return _judged(reading, target, device_of(target.device, "/device", reading.devices))
    except NoSuchDevice as error:
        return _no_such_device(target, error)
    except RejectedJob as error:
        return rejected(target, error)
    except Exception:  # noqa: BLE001 - a failure in one job must not cost a scheduler the answers about the others
        _log.exception("verdict failed")
        failure = Failure("internal_error", "the service failed at this item", "report it with the request id")
        return VerdictAnswer(verdict="unknown", reason=failure.message, target=target, failure=failure)


def _judged(reading: _Reading, target: Target, device: Device) -> VerdictAnswer:
    resolved = resolved_on(reading.accepted(), target.world_size)
    need = need_on(resolved, device, reading.evidence)
    return VerdictAnswer(
        verdict=need.verdict,
        reason=clipped(need.reason),
        target=Target(device.id, int(resolved.layout.world_size)),
        need=need,
        capacity=list(peak_findings(need.stage, need.expected_bytes, need.high_bytes, device)),
        profile=resolved.recipe.profile,
        digest=estimate_digest(resolved.job, device),
        is_whole=need.verdict not in {"tight", "does_not_fit"},
        without=without_observations(resolved, device, need),
    )


def _with_alternatives(answer: VerdictAnswer, reading: _Reading, target: Target) -> VerdictAnswer:
    try:
        found = alternatives(reading.given, reading.accepted(), target, reading.devices, reading.evidence)
    except Exception:  # noqa: BLE001 - the verdict is known, and must not be lost with what would be a help
        _log.exception("no alternatives")
        return answer
    return replace(answer, alternatives=found, is_whole=True)


def rejected(target: Target, error: RejectedJob) -> VerdictAnswer:
    """Return the answer about a job that is incomplete or invalid."""
    errors, missing = error.findings.errors, error.findings.missing
    said = [each.message for each in errors]
    if missing:
        said.append(f"not stated: {', '.join(each.fact for each in missing)}")
    return VerdictAnswer(
        verdict="unknown", reason=clipped("; ".join(said)), target=target, missing=missing, errors=errors
    )


def _no_such_device(target: Target, error: NoSuchDevice) -> VerdictAnswer:
    fix = f"did you mean {', '.join(error.close)}?" if error.close else "GET /v1/devices lists the ids"
    failure = Failure("unknown_device", str(error), fix)
    return VerdictAnswer(verdict="unknown", reason=clipped(f"{error}: {fix}"), target=target, failure=failure)


def _late(target: Target) -> VerdictAnswer:
    failure = Failure("deadline", "not ready within the deadline", "ask again, with more time or fewer items")
    return VerdictAnswer(verdict="unknown", reason=failure.message, target=target, failure=failure)


def clipped(text: str) -> str:
    """Return a sentence of at most `LONGEST_REASON` characters."""
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1].rstrip()}…"
