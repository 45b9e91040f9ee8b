"""Shell patterns (`*`, `?`, `[…]`) on bounded texts; None where a pattern or text is beyond what is read."""

import fnmatch
import re
from functools import lru_cache

_LONGEST_PATTERN = 200
_LONGEST_TEXT = 4_000
_SPECIAL = re.compile(r"[*?\[]")
_EXTENDED = re.compile(r"[@+?*!]\(")


def matches(pattern: str, text: str) -> bool | None:
    """Whether the whole text matches the pattern."""
    if not _SPECIAL.search(pattern) and not _EXTENDED.search(pattern):
        return pattern == text
    if len(pattern) > _LONGEST_PATTERN or len(text) > _LONGEST_TEXT or _EXTENDED.search(pattern):
        return None
    return _compiled(pattern).match(text) is not None


def escaped(text: str) -> str:
    """A pattern that matches exactly this text, as quoting makes one."""
    return _SPECIAL.sub(r"[\g<0>]", text)


def trimmed(text: str, pattern: str, operator: str) -> str | None:
    """The text without the shortest (`#`, `%`) or longest (`##`, `%%`) matching prefix or suffix."""
    prefix = operator.startswith("#")
    if not _SPECIAL.search(pattern) and not _EXTENDED.search(pattern):
        return text.removeprefix(pattern) if prefix else text.removesuffix(pattern)
    if len(text) > _LONGEST_TEXT:
        return None
    cuts = range(len(text) + 1)
    # The longest match is tried first for `##` and `%%`; a long prefix ends late, a long suffix starts early.
    for cut in reversed(cuts) if (len(operator) > 1) == prefix else cuts:
        found = matches(pattern, text[:cut] if prefix else text[cut:])
        if found is None:
            return None
        if found:
            return text[cut:] if prefix else text[:cut]
    return text


def replaced(text: str, pattern: str, replacement: str, operator: str) -> str | None:
    """The text with the first (`/`), every (`//`), a leading (`/#`) or a trailing (`/%`) match replaced."""
    if not pattern:
        return text
    if _SPECIAL.search(pattern):
        return None
    if operator == "/#":
        return replacement + text.removeprefix(pattern) if text.startswith(pattern) else text
    if operator == "/%":
        return text.removesuffix(pattern) + replacement if text.endswith(pattern) else text
    return text.replace(pattern, replacement, -1 if operator == "//" else 1)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
