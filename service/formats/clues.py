"""What a source's dialect is guessed by: the keys that its text sets, found without parsing it."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from service.formats.source import ConfigSource

_SCANNED = 256 * 1024
_LAST = 64 * 1024
_LINE = re.compile(r"^[ \t]*(?:-[ \t]+)?[\"']?(?:--)?([A-Za-z_][\w-]*)[\"']?[ \t]*:", re.MULTILINE)
# Comments are no JSON, but people write them.
_OBJECT = re.compile(r"\s*\{\s*(?:[\"}#]|//|/\*)")
_FLAG = re.compile(r"(?<![\w-])--([a-zA-Z][\w-]*)")
_FLOW = re.compile(r"[{,][ \t]*[\"']?(?:--)?([A-Za-z_][\w-]{0,80})[\"']?[ \t]*:")


def head(source: ConfigSource) -> str:
    """As much of the text as is looked at before it is read; empty when there is nothing in it.

    Of a long text that is its beginning and its end, where a script has its command.
    """
    text = source.text or ""
    if len(text) > _SCANNED:
        text = f"{text[: _SCANNED - _LAST]}\n{text[-_LAST:]}"
    return "" if text.isspace() else text


def words(source: ConfigSource) -> str:
    """As much of the argument list as is looked at, as one line."""
    return " ".join(source.argv)[:_SCANNED]


def keys(source: ConfigSource) -> frozenset[str]:
    """The keys in the text, as written: what stands before a colon, at the start of a line or behind `{` and `,`."""
    return _keys(head(source))


@lru_cache(maxsize=4)
def _keys(text: str) -> frozenset[str]:
    return frozenset((*_LINE.findall(text), *_FLOW.findall(text)))


def is_object(source: ConfigSource) -> bool:
    """Whether the text begins like an object of JSON: its keys are in double quotes, as YAML's seldom are."""
    return _OBJECT.match(head(source)) is not None


def flags(source: ConfigSource) -> frozenset[str]:
    """The flags in the text, or in the argument list where there is no text, as written but for their dashes."""
    return _flags(head(source) or words(source))


@lru_cache(maxsize=4)
def _flags(text: str) -> frozenset[str]:
    return frozenset(_FLAG.findall(text))


def holds_any(text: str, pieces: Collection[str]) -> bool:
    """Whether one of these pieces is in a text: much faster than a pattern that begins with them."""
    return any(each in text for each in pieces)


def graded(found: int, confidence: Sequence[float]) -> float:
    """How sure so many clues make: the confidence of that index, or the last one."""
    return confidence[min(found, len(confidence) - 1)]
