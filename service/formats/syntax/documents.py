"""JSON, YAML and TOML texts to plain values, within bounds: no tags, no alias bombs, no deep nesting."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import rtoml
import yaml

from service.formats.syntax.yaml_values import YamlFault, yaml_documents


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
    """A YAML text of plain values. Raises DocumentFault for tags, what aliases make too large, depth or bad syntax."""
    documents = read_yaml_documents(text)
    if len(documents.value) > 1:
        raise DocumentFault("syntax", "the text holds several YAML documents; one is expected")
    return Document(documents.value[0] if documents.value else None, documents.repeated)


def read_yaml_documents(text: str) -> Document:
    """Every document of a YAML text, as a list. Raises DocumentFault as `read_yaml` does."""
    repeated: list[str] = []
    try:
        return Document(list(yaml_documents(text, repeated)), repeated)
    except YamlFault as fault:
        raise DocumentFault(fault.code, str(fault)) from fault
    except yaml.MarkedYAMLError as fault:
        line = f"line {fault.problem_mark.line + 1}: " if fault.problem_mark else ""
        raise DocumentFault("syntax", f"{line}{fault.problem or 'no YAML text'}") from fault
    except (yaml.YAMLError, ValueError) as fault:
        raise DocumentFault("syntax", f"no YAML text: {fault}") from fault


def read_toml(text: str) -> Document:
    """A TOML text. Raises DocumentFault with the position of the first mistake, or for deep nesting."""
    try:
        return Document(rtoml.loads(text))
    except rtoml.TomlParsingError as fault:
        deep = "recursion" in str(fault) or "recurse" in str(fault)
        raise DocumentFault("too_deep" if deep else "syntax", f"no TOML text: {fault}") from fault


def _twice(keys: Iterable[str]) -> list[str]:
    return [key for key, count in Counter(keys).items() if count > 1]
