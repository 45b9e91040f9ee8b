"""Dates and version numbers inside what people write as a framework's version."""

import re

Date = tuple[int, int, int]
_DATE = re.compile(r"\b(20\d\d)(?:-(\d\d))?(?:-(\d\d))?\b")


def stated_date(version: str | None) -> Date | None:
    """The date in a version's text; the first day of what it leaves out. None where there is none."""
    found = _DATE.search(version or "")
    if found is None:
        return None
    return int(found[1]), int(found[2] or 1), int(found[3] or 1)


def stated_version(version: str | None, tool: str) -> tuple[int, ...] | None:
    """Major and minor number behind a tool's name, a pattern, in a version's text."""
    found = re.search(rf"{tool} v?(\d+)\.(\d+)", version or "", re.IGNORECASE)
    return None if found is None else (int(found[1]), int(found[2]))
