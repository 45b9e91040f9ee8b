"""What differs between jobs, field by field, and what each difference does to the first job's peak."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.calibration.evidence import NO_EVIDENCE
from service.catalog.devices import Device
from service.job.schema import Job
from service.usecases.errors import RejectedJob
from service.usecases.estimates import canonical
from service.usecases.imports import accept
from service.usecases.targets import need_on, resolved_on

_FOLLOWS = ("/parallelism/data", "/batch/accumulation")
"""What follows from the other degrees, and would contradict a change of one of them."""


@dataclass(frozen=True, slots=True)
class Side:
    """A job as its owner states it, and with every default written out; both None where it could not be read."""

    stated: Job | None
    resolved: Job | None


@dataclass(frozen=True, slots=True)
class Value:
    """A side's value of a field (None: it has none), and what it alone does to the first side's peak (bytes).

    A value that is valid only with others of its section has the effect of all of them; None where not even that is.
    """

    side: int
    value: Any
    effect_bytes: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A field whose value is not the same on all sides, by its JSON Pointer."""

    pointer: str
    values: tuple[Value, ...]


def differences(sides: Sequence[Side], device: Device, world_size: int | None) -> tuple[Difference, ...]:
    """Return every field that differs between the sides that could be read, with its effect on a target."""
    flat = {number: dict(_leaves(canonical(side.resolved))) for number, side in enumerate(sides) if side.resolved}
    if len(flat) < 2:  # noqa: PLR2004 - it takes two to differ
        return ()
    first = min(flat)
    effects = _Effects(sides[first], device, world_size)
    pointers = dict.fromkeys(pointer for values in flat.values() for pointer in values)
    differing = [
        each for each in pointers if any(values.get(each) != flat[first].get(each) for values in flat.values())
    ]
    changed = {
        number: {each: values.get(each) for each in differing if values.get(each) != flat[first].get(each)}
        for number, values in flat.items()
    }
    return tuple(
        Difference(
            pointer,
            tuple(
                Value(number, values.get(pointer), effects.of(pointer, changed[number]))
                for number, values in flat.items()
            ),
        )
        for pointer in differing
    )


class _Effects:
    """Peaks of a job with one field changed, less its own peak; each change is computed once."""

    def __init__(self, side: Side, device: Device, world_size: int | None) -> None:
        self._stated = side.stated
        self._device = device
        self._world_size = world_size
        self._peaks: dict[str, int | None] = {}
        self._own = self._peak({})

    def of(self, pointer: str, changed: Mapping[str, Any]) -> int | None:
        """Return what the value of a changed field does to the peak (bytes): 0 where it is not changed.

        A value that is valid only with the other changes of its section is changed with them; None where the job is
        not valid even so.
        """
        if pointer not in changed:
            return 0
        section = pointer.split("/")[1]
        alone = {pointer: changed[pointer]}
        together = {each: value for each, value in changed.items() if each.split("/")[1] == section}
        peak = self._known_peak(alone)
        if peak is None and len(together) > 1:
            peak = self._known_peak(together)
        return None if peak is None or self._own is None else peak - self._own

    def _known_peak(self, changes: Mapping[str, Any]) -> int | None:
        key = repr(changes)
        if key not in self._peaks:
            follows = {each: None for each in _FOLLOWS if each not in changes}
            self._peaks[key] = self._peak({**follows, **changes})
        return self._peaks[key]

    def _peak(self, changes: Mapping[str, Any]) -> int | None:
        if self._stated is None:
            return None
        if self._stated.batch.global_ is None:
            changes = {pointer: value for pointer, value in changes.items() if pointer != "/batch/accumulation"}
        try:
            accepted = accept(self._stated, changes)
            world_size = None if "/world_size" in changes else self._world_size
            return need_on(resolved_on(accepted, world_size), self._device, NO_EVIDENCE).device_bytes
        except RejectedJob:
            return None


def _leaves(document: Mapping[str, Any], pointer: str = "") -> list[tuple[str, Any]]:
    """Every value of a document by its JSON Pointer (RFC 6901); lists are values, and an empty one is none."""
    found: list[tuple[str, Any]] = []
    for key, value in document.items():
        below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        if isinstance(value, Mapping):
            found += _leaves(value, below)
        elif value != []:
            found.append((below, value))
    return found
