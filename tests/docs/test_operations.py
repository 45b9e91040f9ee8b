"""`docs/operations.md` names every setting, every scope, and only commands that there are."""

import re
import shlex

import pytest

from service.calculator.units import MIB
from service.cli import build_parser
from service.metrics import rendered as rendered_metrics
from service.settings import GUARDED, Settings
from service.usecases.scopes import SCOPES
from tests.docs.settings import PAGE, rendered

TEXT = PAGE.read_text("utf-8")
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("memplan ")
]


def test_the_settings_are_those_of_the_program() -> None:
    assert rendered(TEXT) == TEXT, "python -m tests.docs.settings writes the table anew"


def test_every_scope_is_explained_once() -> None:
    assert re.findall(
        r"^\| `([a-z:]+)` \|", TEXT.partition("\n## Tokens\n")[2].partition("\n## ")[0], re.MULTILINE
    ) == list(SCOPES)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_the_program_has(command: str) -> None:
    build_parser().parse_args(shlex.split(command)[1:])


def test_the_limits_are_those_of_the_program() -> None:
    section = TEXT.partition("\n## Limits\n")[2].partition("\n## ")[0]
    settings = Settings()
    for name, value in {
        "MEMPLAN_BODY_LIMIT_BYTES": f"{settings.body_limit_bytes // MIB} MiB",
        "MEMPLAN_RATE_LIMIT": f"{(GUARDED.rate or '').partition('/')[0]} a second",
        "MEMPLAN_CALLER_REQUESTS": str(GUARDED.requests),
        "MEMPLAN_CALLER_SEARCHES": str(GUARDED.searches),
        "MEMPLAN_SEARCH_QUEUE": str(settings.search_queue),
        "MEMPLAN_SEARCH_MAX_LAYOUTS": f"{settings.search_max_layouts:,}",
    }.items():
        assert f"| {value} (`{name}`)" in section, name


def test_every_metric_is_explained() -> None:
    section = TEXT.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    shown = set(re.findall(r"^# HELP ((?:memplan|http)_\w+) ", rendered_metrics().decode(), re.MULTILINE))
    rows = re.findall(r"^\| (`[^|]+`) \|", section, re.MULTILINE)
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {each for each in shown if not each.endswith("_created")} == explained
