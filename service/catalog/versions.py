"""Dates and version numbers inside what people write as a framework's version."""

import re

Date = tuple[int, int, int]
_YEARS = re.compile(r"\b(20\d\d)[-/](?!0\d|1[012])(?:20)?\d\d\b")
"""Two years: 2024-25; with a month for its second half it is none."""

_DATE = re.compile(r"\b(20\d\d)(?:-(\d\d))?(?:-(\d\d))?\b")


def stated_date(version: str | None) -> Date | None:
    """The date in a version's text; the first day of what it leaves out. None where there is none."""
    found = _DATE.search(version or "")
    if found is None:
        return None
    return int(found[1]), int(found[2] or 1), int(found[3] or 1)


def stated_period(version: str | None) -> tuple[Date, Date] | None:
    """The first and last day that a version's text leaves open, of two years (2024-25) too; None where it has none.

    A month's last day is its 31st, which is as good for comparing.
    """
    found = _DATE.search(version or "")
    if found is None:
        return None
    years = _YEARS.search(version or "")
    first, last = int(found[1]), int(years[1]) + 1 if years else int(found[1])
    month, day = (None, None) if years else (found[2], found[3])
    return (first, int(month or 1), int(day or 1)), (last, int(month or 12), int(day or 31))


def stated_version(version: str | None, tool: str) -> tuple[int, ...] | None:
    """Major and minor number behind a tool's name, a pattern, in a version's text."""
    found = re.search(rf"{tool} v?(\d+)\.(\d+)", version or "", re.IGNORECASE)
    return None if found is None else (int(found[1]), int(found[2]))
