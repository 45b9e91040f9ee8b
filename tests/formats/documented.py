"""The sections of the page about formats, with their examples."""

import re
from collections.abc import Mapping
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
_SECTION = re.compile(r"^## (\w+(?: in \w+)?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"```\w+\n(.*?)```\n\nOutcome: ", re.DOTALL)


def sections() -> Mapping[str, str]:
    """The text of every section by its title."""
    return dict(_SECTION.findall(PAGE))


def documented_example(title: str) -> str:
    """The first example of a section."""
    matched = _TEXT.search(sections()[title])
    assert matched is not None, title
    return matched.group(1)
