"""A JSON schema as a tree to look things up in: which keys a place knows, and what a value there would look like."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
Pointer = Sequence[str | int]


class SchemaTree:
    """The schema of a request body; `definitions` are the schemas that `$ref` names by its last part."""

    def __init__(self, root: Schema, definitions: Mapping[str, Schema]) -> None:
        self._root = root
        self._definitions = definitions

    def keys(self, pointer: Pointer) -> list[str]:
        """Return the keys that the objects at this place may have, in the schema's order."""
        return list(dict.fromkeys(key for each in self._resolved(pointer) for key in each.get("properties", {})))

    def values(self, pointer: Pointer) -> list[Any]:
        """Return the values that the closed sets at this place allow."""
        resolved = self._resolved(pointer)
        return [value for each in resolved for value in each.get("enum", [each["const"]] if "const" in each else [])]

    def description(self, pointer: Pointer) -> str:
        """Return what this place is for, or nothing when the schema does not say."""
        return next((each["description"] for each in self._at(pointer) if "description" in each), "")

    def example(self, pointer: Pointer) -> Any:
        """Return a value that would be right at this place, or None when the schema gives none."""
        given = (value for each in self._at(pointer) for value in each.get("examples", []))
        return next((value for value in given if value is not None), None)

    def _at(self, pointer: Pointer) -> list[Schema]:
        found = [self._root]
        for step in pointer:
            reached = [alternative for each in found for alternative in self._alternatives(each)]
            found = [below for each in reached for below in _below(each, step)]
        return found

    def _resolved(self, pointer: Pointer) -> list[Schema]:
        return [alternative for each in self._at(pointer) for alternative in self._alternatives(each)]

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        yield schema
        if "$ref" in schema:
            yield from self._alternatives(self._definitions[schema["$ref"].rpartition("/")[2]])
        for each in [*schema.get("anyOf", []), *schema.get("oneOf", []), *schema.get("allOf", [])]:
            yield from self._alternatives(each)


NO_SCHEMA = SchemaTree({}, {})
"""The schema of a part of a request that has none: knows no keys."""


def _below(schema: Schema, step: str | int) -> list[Schema]:
    if isinstance(step, int):
        return [schema["items"]] if "items" in schema else []
    if step in schema.get("properties", {}):
        return [schema["properties"][step]]
    others = schema.get("additionalProperties")
    return [others] if isinstance(others, Mapping) else []
