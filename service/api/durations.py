"""Durations in queries, as Go programs write them (`2s`, `500ms`, `1m30s`), or a bare number of seconds."""

import re
from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

_NUMBER = r"\d{1,9}(\.\d{1,9})?"
_FORM = rf"^({_NUMBER}|({_NUMBER}(ms|s|m|h)){{1,4}})$"
_PART = re.compile(r"([\d.]+)(ms|s|m|h|$)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}

LONGEST_WAIT = 300.0
"""Longest time that a request may be kept waiting (seconds)."""


def seconds_of(text: Any) -> Any:
    """Return the seconds of a duration in text; other types pass as they are. Raises PydanticCustomError."""
    if not isinstance(text, str):
        return text
    if re.fullmatch(_FORM, text, re.ASCII) is None:
        raise PydanticCustomError("wrong_form", "should be a duration, as in 2s, 500ms or 1.5")
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))


Duration = Annotated[
    float,
    BeforeValidator(seconds_of),
    WithJsonSchema({"type": "string", "pattern": _FORM}),
]

Wait = Annotated[
    Duration,
    Field(le=LONGEST_WAIT),
    Query(description="How long to wait for the answer before it becomes an operation (default 10s).", examples=["2s"]),
]
