"""JSON, YAML and TOML texts to plain values, within bounds: no tags, no alias bombs, no deep nesting."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

LARGEST_YAML = 256 * 1024
_DEEPEST = 100
_MOST_ALIASES = 50
_TOML_PIECES = re.compile(r"[=,\[\]{}\n]")


class DocumentFault(ValueError):
    """A text that is no document of its kind; `code` is the diagnostic's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text, and the keys that it holds twice in one object."""

    value: Any
    repeated: Sequence[str] = ()


def read_json(text: str) -> Document:
    """A JSON text. Raises DocumentFault with the position of the first mistake."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            repeated.extend(_twice(key for key, _ in items))
        return found

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant)
    except json.JSONDecodeError as fault:
        raise DocumentFault("syntax", f"line {fault.lineno}, column {fault.colno}: {fault.msg}") from fault
    except RecursionError as fault:
        raise DocumentFault("too_deep", "the JSON text is nested too deeply") from fault
    except ValueError as fault:
        raise DocumentFault("syntax", f"the JSON text holds a number that cannot be read: {fault}") from fault
    return Document(value, repeated)


def _no_constant(name: str) -> NoReturn:
    raise DocumentFault("syntax", f"{name} is no JSON value")


def read_yaml(text: str) -> Document:
    """A YAML text of plain values. Raises DocumentFault for tags, too many aliases, deep nesting or bad syntax."""
    return _read_yaml(text, lambda loader: loader.get_single_data())


def read_yaml_documents(text: str) -> Document:
    """Every document of a YAML text, as a list. Raises DocumentFault as `read_yaml` does."""

    def every(loader: "_Loader") -> list[Any]:
        found = []
        while loader.check_node():
            found.append(loader.construct_document(loader.get_node()))
        return found

    return _read_yaml(text, every)


def _read_yaml(text: str, take: "Callable[[_Loader], Any]") -> Document:
    if len(text) > LARGEST_YAML:
        raise DocumentFault("too_large", f"a YAML text of more than {LARGEST_YAML // 1024} KiB is not read")
    try:
        _within_bounds(text)
        loader = _Loader(text)
        value = take(loader)
    except yaml.MarkedYAMLError as fault:
        line = f"line {fault.problem_mark.line + 1}: " if fault.problem_mark else ""
        raise DocumentFault("syntax", f"{line}{fault.problem or 'no YAML text'}") from fault
    except (yaml.YAMLError, ValueError) as fault:
        raise DocumentFault("syntax", f"no YAML text: {fault}") from fault
    return Document(value, loader.repeated)


def read_toml(text: str) -> Document:
    """A TOML text. Raises DocumentFault with the position of the first mistake, for deep nesting or a large text."""
    if len(text) > LARGEST_YAML:
        raise DocumentFault("too_large", f"a TOML text of more than {LARGEST_YAML // 1024} KiB is not read")
    # The parser takes time that grows with the square of a dotted key's length.
    if max(piece.count(".") for piece in _TOML_PIECES.split(text)) > _DEEPEST:
        raise DocumentFault("too_deep", "the TOML text has keys with too many parts")
    try:
        return Document(tomllib.loads(text))
    except tomllib.TOMLDecodeError as fault:
        raise DocumentFault("syntax", f"no TOML text: {fault}") from fault
    except RecursionError as fault:
        raise DocumentFault("too_deep", "the TOML text is nested too deeply") from fault
    except ValueError as fault:
        raise DocumentFault("syntax", f"the TOML text holds a number that cannot be read: {fault}") from fault


def _within_bounds(text: str) -> None:
    """Counts depth and aliases on the event stream, before anything is built from it."""
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > _DEEPEST or aliases > _MOST_ALIASES:
            raise DocumentFault("too_deep", "the YAML text is nested too deeply or repeats too much by aliases")


class _Loader(yaml.CSafeLoader):
    """The safe loader; a key that an object holds twice is remembered, the last one wins."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        self.repeated.extend(_twice(str(key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode)))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def _twice(keys: Iterable[str]) -> list[str]:
    return [key for key, count in Counter(keys).items() if count > 1]
