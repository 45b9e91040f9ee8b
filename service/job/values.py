"""Values of a job while it is being filled in, each with the place it came from."""

from collections.abc import Mapping
from typing import Any

from service.job.diagnostics import Origin, Source

_GIVEN = Source("given")


class Values:
    """A tree of values addressed by JSON Pointer; what was given is never overwritten by a default."""

    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}
        # Every value and object of the tree by its pointer: a job asks for a hundred and fifty.
        self._found: dict[str, Any] = {"": self._tree}
        self.sources: dict[str, Source] = {}

    def give(self, pointer: str, section: Mapping[str, Any]) -> None:
        """Take over what the caller stated in one section, nested objects included."""
        for key, value in section.items():
            below = f"{pointer}/{key}"
            if isinstance(value, dict):
                self.give(below, value)
            else:
                self._set(below, value, _GIVEN)

    def adopt(self, other: "Values") -> None:
        """Take over sections that are not here yet, with where their values came from."""
        for name, section in other.document().items():
            copied = self._tree[name] = self._found[f"/{name}"] = dict(section)
            self._note_below(f"/{name}", copied)
        self.sources.update(other.sources)

    def fill(self, pointer: str, value: Any, origin: Origin, where: str = "") -> None:
        """Set a value that nobody stated; keeps what is there."""
        if value is not None and self._found.get(pointer) is None:
            self._set(pointer, value, Source(origin, where))

    def get(self, pointer: str) -> Any:
        """The value at a pointer, or None."""
        return self._found.get(pointer)

    def section(self, pointer: str) -> dict[str, Any]:
        """A copy of the object at a pointer; empty when there is none."""
        return dict(self._found.get(pointer) or {})

    def document(self) -> dict[str, Any]:
        """The whole tree."""
        return self._tree

    def _set(self, pointer: str, value: Any, source: Source) -> None:
        parent, _, leaf = pointer.rpartition("/")
        self._object(parent)[leaf] = value
        self._found[pointer] = value
        self.sources[pointer] = source
        if isinstance(value, dict):
            self._note_below(pointer, value)

    def _object(self, pointer: str) -> dict[str, Any]:
        found: dict[str, Any] | None = self._found.get(pointer)
        if found is None:
            parent, _, leaf = pointer.rpartition("/")
            found = self._found[pointer] = self._object(parent)[leaf] = {}
        return found

    def _note_below(self, pointer: str, section: Mapping[str, Any]) -> None:
        for key, value in section.items():
            self._found[f"{pointer}/{key}"] = value
            if isinstance(value, dict):
                self._note_below(f"{pointer}/{key}", value)
