"""What is wrong with a document that does not have the form of its schema, in words that say how to mend it."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic_core import ErrorDetails

from service.usecases.schema_tree import NO_SCHEMA, SchemaTree

Location = Literal["body", "query", "path", "header"]
Pointer = tuple[str | int, ...]

_LONGEST_FOUND = 80

# What is wrong with a body as a whole.
_BODY = {
    "missing": ("there is no body", "send one JSON object"),
    "job_or_source": (
        "there should be exactly one of the keys `job` and `source`",
        "give the job itself as `job`, or the config that it is read from as `source`",
    ),
}

# pydantic's names for what is wrong, in fewer words; its own change between releases.
_CODES = {
    "extra_forbidden": "unknown_key",
    "missing": "missing_key",
    "literal_error": "unknown_value",
    "enum": "unknown_value",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "too_long": "out_of_range",
    "too_short": "out_of_range",
    "string_too_long": "out_of_range",
    "string_too_short": "out_of_range",
    "string_pattern_mismatch": "wrong_form",
    "finite_number": "out_of_range",
}


@dataclass(frozen=True, slots=True)
class FormFault:
    """One field that is wrong: a JSON Pointer into one part of a request, a stable code, and what would be right."""

    location: Location
    pointer: str
    code: str
    message: str
    fix: str


def faults_of(errors: Sequence[ErrorDetails], body: Any, schemas: Mapping[str, SchemaTree]) -> list[FormFault]:
    """Return one fault for each field that is wrong, in the order found; what a union's members say is joined.

    The errors' locations begin with body, query, path or header; `schemas` are those of these parts, where known.
    """
    found: dict[tuple[str, Pointer], FormFault] = {}
    for error in errors:
        # That a value is not null is never what is wrong with it: another member of the union says what is.
        if error["type"] == "none_required":
            continue
        location, *steps = error["loc"]
        absent = error["type"] == "missing"
        pointer = _pointer(steps, body, may_be_absent=absent) if location == "body" else _parameter(steps)
        fault = _fault(_location(str(location)), pointer, error, schemas.get(str(location), NO_SCHEMA))
        earlier = found.get((fault.location, pointer))
        found[fault.location, pointer] = fault if earlier is None else _joined(earlier, fault)
    return list(found.values())


def pointer_text(pointer: Sequence[str | int]) -> str:
    """Return the steps as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)


def _location(name: str) -> Location:
    return name if name in {"query", "path", "header"} else "body"  # type: ignore[return-value]


def _pointer(steps: Sequence[str | int], body: Any, *, may_be_absent: bool) -> Pointer:
    # pydantic's location also names the member of a union it tried; only what leads into the body is a place there.
    pointer: list[str | int] = []
    place = body
    for number, step in enumerate(steps):
        absent = may_be_absent and number == len(steps) - 1
        if isinstance(place, dict) and (step in place or absent):
            pointer.append(step)
            place = place.get(step)
        elif isinstance(place, list) and isinstance(step, int) and step < len(place):
            pointer.append(step)
            place = place[step]
    return tuple(pointer)


def _parameter(steps: Sequence[str | int]) -> Pointer:
    # The parameter, and which of its repetitions; then come the members of a union.
    return tuple(step for number, step in enumerate(steps) if number == 0 or isinstance(step, int))


def _fault(location: Location, pointer: Pointer, error: ErrorDetails, schema: SchemaTree) -> FormFault:
    kind = error["type"]
    name = str(pointer[-1]) if pointer else location
    match kind:
        case "extra_forbidden":
            message, fix = f"`{name}` is not a known key here", _nearest_key(name, pointer[:-1], schema)
        case "missing" if pointer:
            message, fix = f"`{name}` is required", f"add `{name}`{_expected(schema, pointer, ': ')}"
        case "missing" | "job_or_source":
            message, fix = _BODY[kind]
        case _:
            said = error["msg"].removeprefix("Input ").replace(" after validation", "")
            message = f"{said}; found {_shown(error['input'])}"
            fix = _nearest_value(error["input"], schema.values(pointer)) or _expected(schema, pointer)
    return FormFault(
        location=location,
        pointer=pointer_text(pointer),
        code=_CODES.get(kind, "wrong_type" if kind.endswith(("_type", "_parsing")) else kind),
        message=message,
        fix=fix or f"see what {name} may be in the OpenAPI document",
    )


def _joined(first: FormFault, second: FormFault) -> FormFault:
    if second.message == first.message:
        return first
    return replace(first, message=f"{first.message}; or {second.message}")


def _nearest_key(name: str, place: Pointer, schema: SchemaTree) -> str:
    known = schema.keys(place)
    close = difflib.get_close_matches(name, known, n=1)
    if not close:
        # A key is often right and only one level too high.
        below = {key: f"{section}.{key}" for section in known for key in schema.keys((*place, section))}
        close = [below[each] for each in difflib.get_close_matches(name, below, n=1)]
    return f"did you mean `{close[0]}`?" if close else f"remove it; known keys here: {', '.join(known) or 'none'}"


def _nearest_value(value: Any, allowed: Sequence[Any]) -> str:
    if not isinstance(value, str):
        return ""
    close = difflib.get_close_matches(value, [each for each in allowed if isinstance(each, str)], n=1)
    return f"did you mean {_shown(close[0])}?" if close else ""


def _expected(schema: SchemaTree, pointer: Pointer, lead: str = "") -> str:
    description, example = schema.description(pointer), schema.example(pointer)
    shown = "" if example is None else f"for example {_shown(example)}"
    said = "; ".join(each for each in (description.rstrip("."), shown) if each)
    return f"{lead}{said}" if said else ""


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= _LONGEST_FOUND else f"{shown[:_LONGEST_FOUND]}…"
