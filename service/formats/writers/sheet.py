"""A job while it is written in a dialect: its values by JSON Pointer, and the options that say them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.job.architecture import resolve_architecture
from service.job.schema import Job
from service.job.values import Values

Value = bool | int | float | str | Sequence[Any] | None
"""What an option is set to; None for a switch that takes no value."""


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of a dialect: a flag, a dotted key or the parts of a JSON Pointer, always with dots here."""

    key: str
    value: Value = None


class Sheet:
    """Options in the order they were said, and which of the job's values they cover."""

    def __init__(self, job: Job) -> None:
        self.options: list[Option] = []
        self._values = dict(_flat(_document(job)))
        self._said: set[str] = set()
        self._covered: set[str] = set()

    @property
    def values(self) -> Mapping[str, Any]:
        """Every value of the job by JSON Pointer, the model spelled out."""
        return self._values

    def get(self, pointer: str) -> Any:
        """The job's value at a pointer, or None."""
        return self._values.get(pointer)

    def say(self, key: str, value: Value, *pointers: str) -> None:
        """Sets an option, which says the values at these pointers."""
        self.options.append(Option(key, value))
        self._said.update(pointers)

    def copy(self, key: str, pointer: str) -> None:
        """Sets an option to the value at a pointer, if there is one."""
        if self.get(pointer) is not None:
            self.say(key, self.get(pointer), pointer)

    def implied(self, *pointers: str) -> None:
        """These values are what the dialect means when nothing is said."""
        self._said.update(pointers)

    def switch(self, key: str, pointer: str, on: Any, *, otherwise: Any) -> None:
        """Sets a switch when the value at a pointer is `on`; without the switch the dialect means `otherwise`."""
        if self.get(pointer) == on:
            self.say(key, None, pointer)
        elif self.get(pointer) == otherwise:
            self.implied(pointer)

    def covered(self, *pointers: str) -> None:
        """These values are other words for what is said, or belong to what the framework always does."""
        self._covered.update(pointers)

    def said(self) -> frozenset[str]:
        """Pointers of the job's values that the dialect says."""
        return frozenset(self._said & self._values.keys())

    def unsaid(self) -> tuple[str, ...]:
        """Pointers of the job's values that the dialect has no words for."""
        return tuple(sorted(self._values.keys() - self._said - self._covered))


def _document(job: Job) -> dict[str, Any]:
    """The job with its model spelled out, because no dialect knows our presets."""
    values = Values()
    resolve_architecture(job.model, values)
    document = job.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**document, "model": values.section("/model")}


def _flat(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        pointer = f"{prefix}/{key}"
        if isinstance(value, Mapping) and pointer != "/optimizer/offload":
            yield from _flat(value, pointer)
        elif value is not None and value != []:
            yield pointer, value


def nested(options: Sequence[Option]) -> dict[str, Any]:
    """Options with dotted keys as a document."""
    document: dict[str, Any] = {}
    for option in options:
        *parents, leaf = option.key.split(".")
        node = document
        for part in parents:
            node = node.setdefault(part, {})
        node[leaf] = list(option.value) if isinstance(option.value, tuple) else option.value
    return document
