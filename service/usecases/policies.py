"""Policies: what the jobs of a queue may do, and what a policy makes of a verdict."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from service.calculator.units import GIB
from service.catalog.devices import Devices, UnknownDevice
from service.logs import logger
from service.store.definitions import StoredDefinition
from service.store.errors import NotFound
from service.store.session import Store
from service.usecases.current import Current
from service.usecases.targets import Target
from service.usecases.verdicts import VerdictAnswer, clipped

Mode = Literal["enforce", "warn", "shadow", "off"]
Ruling = Literal["admit", "warn", "refuse"]
RuleName = Literal["does_not_fit", "tight", "unknown", "margin", "device", "world_size"]

FALLBACK: Final = "default"
"""The queue whose policy holds for every queue that has none of its own."""

_GRAVITY: Final[tuple[Ruling, ...]] = ("admit", "warn", "refuse")
# What a mode leaves of a ruling.
_MOST: Final[Mapping[Mode, Ruling]] = {"enforce": "refuse", "warn": "warn", "shadow": "admit", "off": "admit"}

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of a queue, and what is done when one is broken.

    `enforce` refuses, `warn` only warns, `shadow` admits and keeps a record, `off` applies no rule. A job must leave
    free `margin_fraction` of the usable memory and `margin_bytes`. Without `allowed_devices` every device is allowed.
    """

    mode: Mode
    margin_fraction: float = 0.0
    margin_bytes: int = 0
    tight: Ruling = "warn"
    unknown: Ruling = "warn"
    allowed_devices: tuple[str, ...] | None = None
    max_world_size: int | None = None


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a job breaks, what that alone would come to, and why."""

    rule: RuleName
    ruling: Ruling
    message: str


@dataclass(frozen=True, slots=True)
class Ruled:
    """What a policy makes of a verdict: `ruling` is what to do, `enforced` what it would be if it were enforced."""

    policy: str
    mode: Mode
    ruling: Ruling
    enforced: Ruling
    broken: tuple[BrokenRule, ...] = ()

    @property
    def first(self) -> BrokenRule | None:
        """The rule that counts: of the gravest ones the first."""
        return next((each for each in self.broken if each.ruling == self.enforced), None)


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """A queue's policy, and when it was stated."""

    queue: str
    policy: Policy
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Policies:
    """All policies of a moment, by queue."""

    by_queue: Mapping[str, QueuePolicy] = field(default_factory=dict)

    def find(self, queue: str) -> QueuePolicy:
        """Return the policy that is stated for a queue. Raises NotFound."""
        found = self.by_queue.get(queue)
        if found is None:
            raise NotFound("policy", queue)
        return found

    def of(self, queue: str) -> QueuePolicy | None:
        """Return the policy that holds for a queue: its own, or the one of all others, or None."""
        return self.by_queue.get(queue) or self.by_queue.get(FALLBACK)


Precondition = Callable[[QueuePolicy | None], None]


class CurrentPolicies:
    """The policies of this process, changed at once by its own requests and soon by those of other processes."""

    def __init__(self, store: Store) -> None:
        self._current = Current(store, "policy", _policies)

    @property
    def now(self) -> Policies:
        """The policies of this moment."""
        return self._current.listing

    def refresh(self) -> None:
        """Look at what is stored; without a database the policies stay as they were."""
        self._current.refresh()

    def put(self, queue: str, policy: Policy, expected: Precondition) -> tuple[QueuePolicy, bool]:
        """Store the policy of a queue; return it, and whether there was none. Raises what `expected` raises."""
        with self._current.changing() as (session, stored):
            before = _policies(stored).by_queue.get(queue)
            expected(before)
            self._current.put(session, stored, queue, _POLICY.dump_python(policy, mode="json"))
        return self.now.find(queue), before is None

    def remove(self, queue: str, expected: Precondition) -> None:
        """Forget the policy of a queue; the records stay. Raises NotFound, and what `expected` raises."""
        with self._current.changing() as (session, stored):
            expected(_policies(stored).by_queue.get(queue))
            self._current.delete(session, queue)


def applied(stated: QueuePolicy, devices: Devices, answer: VerdictAnswer) -> tuple[VerdictAnswer, Ruled]:
    """Return the answer without alternatives that the policy forbids, and what the policy makes of it."""
    policy = stated.policy
    if policy.mode == "off":
        return answer, Ruled(stated.queue, "off", "admit", "admit")
    broken = tuple(_broken(policy, devices, answer))
    enforced = _gravest([each.ruling for each in broken])
    most = _MOST[policy.mode]
    ruling = enforced if _GRAVITY.index(enforced) < _GRAVITY.index(most) else most
    allowed = [each for each in answer.alternatives if not _forbidden(policy, devices, each.target)]
    return replace(answer, alternatives=allowed), Ruled(stated.queue, policy.mode, ruling, enforced, broken)


def _gravest(rulings: Sequence[Ruling]) -> Ruling:
    return next((each for each in reversed(_GRAVITY) if each in rulings), "admit")


def _broken(policy: Policy, devices: Devices, answer: VerdictAnswer) -> Iterator[BrokenRule]:
    if answer.verdict == "does_not_fit":
        yield BrokenRule("does_not_fit", "refuse", answer.reason)
    if answer.verdict == "tight" and policy.tight != "admit":
        yield BrokenRule("tight", policy.tight, answer.reason)
    if answer.verdict == "unknown" and policy.unknown != "admit":
        yield BrokenRule("unknown", policy.unknown, answer.reason)
    need = answer.need
    if need is not None and need.usable_bytes is not None and answer.verdict in {"fits", "tight"}:
        wanted = policy.margin_bytes + int(need.usable_bytes * policy.margin_fraction)
        left = need.usable_bytes - need.expected_bytes
        if left < wanted:
            message = f"{left / GIB:.1f} GiB are left free; {wanted / GIB:.1f} GiB are asked for"
            yield BrokenRule("margin", "refuse", message)
    yield from _forbidden(policy, devices, answer.target)


def _forbidden(policy: Policy, devices: Devices, target: Target) -> list[BrokenRule]:
    """What the policy has against a target, whatever the job."""
    found = []
    if policy.allowed_devices is not None and target.device not in _ids(devices, policy.allowed_devices):
        allowed = ", ".join(policy.allowed_devices) or "none"
        message = clipped(f"{target.device} is not allowed here; allowed: {allowed}")
        found.append(BrokenRule("device", "refuse", message))
    if policy.max_world_size is not None and (target.world_size or 0) > policy.max_world_size:
        message = f"{target.world_size} GPUs; at most {policy.max_world_size} are allowed here"
        found.append(BrokenRule("world_size", "refuse", message))
    return found


def _ids(devices: Devices, names: Sequence[str]) -> set[str]:
    """The ids that names lead to; one that leads nowhere any more allows nothing."""
    found = set()
    for name in names:
        try:
            found.add(devices.find(name).id)
        except UnknownDevice:
            continue
    return found


_POLICY = TypeAdapter(Policy)


def _policies(stored: Mapping[str, StoredDefinition]) -> Policies:
    found: dict[str, QueuePolicy] = {}
    for queue, each in stored.items():
        try:
            found[queue] = QueuePolicy(queue, _policy(each.definition), each.updated_at)
        except ValidationError as error:
            _log.error("a stored policy is left out", queue=queue, error=str(error))
    return Policies(MappingProxyType(found))


def _policy(document: Mapping[str, Any]) -> Policy:
    return _POLICY.validate_python(document)
