"""Durations in queries, as schedulers write them: `2s`, `500ms`, `1m`, or a bare number of seconds."""

import re
from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

_FORM = r"^\d{1,9}(\.\d{1,9})?(ms|s|m)?$"
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}

LONGEST_WAIT = 300.0
"""Longest time that a request may be kept waiting (seconds)."""


def seconds_of(text: Any) -> Any:
    """Return the seconds of a duration in text; other types pass as they are. Raises PydanticCustomError."""
    if not isinstance(text, str):
        return text
    found = re.match(_FORM, text, re.ASCII)
    if found is None:
        raise PydanticCustomError("wrong_form", "should be a duration, as in 2s, 500ms or 1.5")
    unit = found[2]
    return float(text.removesuffix(unit or "")) * _SECONDS[unit]


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
