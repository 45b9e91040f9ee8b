"""Every example of the page about formats is read as the page says."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from service.formats.registry import import_source
from service.formats.source import ConfigSource
from tests.formats.documented import sections

_EXAMPLE = re.compile(r"```\w+\n(.*?)```\n\nOutcome: (\w+)(?:; missing: ([^.]*))?\.", re.DOTALL)


def examples() -> Iterator[Any]:
    for title, body in sections().items():
        name = title.split()[0]
        for number, (text, outcome, missing) in enumerate(_EXAMPLE.findall(body)):
            facts = {each.strip() for each in missing.split(",") if each.strip()}
            yield pytest.param(name, text, outcome, facts, id=f"{name}-{number}")


@pytest.mark.parametrize(("format_", "text", "outcome", "missing"), list(examples()))
def test_an_example_is_read_as_the_page_says(format_: str, text: str, outcome: str, missing: set[str]) -> None:
    imported = import_source(ConfigSource(text=text))

    assert imported.format == format_
    assert imported.outcome == outcome
    assert {each.fact for each in imported.findings.missing} == missing
    assert list(imported.unknown) == []


def test_every_section_has_an_example() -> None:
    assert len(sections()) > 8
    assert [title for title, body in sections().items() if "\n**Read**" in body and not _EXAMPLE.search(body)] == []
