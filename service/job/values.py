"""Values of a job while it is being filled in, each with the place it came from."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from service.job.diagnostics import Origin, Source


@lru_cache(maxsize=1024)
def _parts(pointer: str) -> tuple[str, ...]:
    """Keys on the way to a pointer's value; a job asks for the same two hundred pointers as every other."""
    return tuple(pointer.strip("/").split("/"))


class Values:
    """A tree of values addressed by JSON Pointer; what was given is never overwritten by a default."""

    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}
        self.sources: dict[str, Source] = {}

    def give(self, pointer: str, section: Mapping[str, Any]) -> None:
        """Take over what the caller stated in one section, nested objects included."""
        for key, value in section.items():
            below = f"{pointer}/{key}"
            if isinstance(value, dict):
                self.give(below, value)
            else:
                self._set(below, value, Source("given"))

    def fill(self, pointer: str, value: Any, origin: Origin, where: str = "") -> None:
        """Set a value that nobody stated; keeps what is there."""
        if self.get(pointer) is None and value is not None:
            self._set(pointer, value, Source(origin, where))

    def get(self, pointer: str) -> Any:
        """The value at a pointer, or None."""
        node: Any = self._tree
        for part in _parts(pointer):
            if not isinstance(node, dict):
                return None
            node = node.get(part)
        return node

    def section(self, pointer: str) -> dict[str, Any]:
        """A copy of the object at a pointer; empty when there is none."""
        return dict(self.get(pointer) or {})

    def document(self) -> dict[str, Any]:
        """The whole tree."""
        return self._tree

    def _set(self, pointer: str, value: Any, source: Source) -> None:
        *parents, leaf = _parts(pointer)
        node = self._tree
        for part in parents:
            node = node.setdefault(part, {})
        node[leaf] = value
        self.sources[pointer] = source
