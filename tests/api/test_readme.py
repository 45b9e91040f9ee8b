"""What README.md shows is what happens."""

import re
from pathlib import Path

from service.api.schemas.examples import MEGATRON_SCRIPT
from tests.api.readme import README, ROOT, rendered


def test_every_answer_is_the_one_that_its_command_gives() -> None:
    text = README.read_text("utf-8")
    assert text == rendered(text), "python -m tests.api.readme writes the answers anew"


def test_it_opens_with_the_two_commands_and_a_request() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = re.findall(r"^make (\w+)", blocks[0], re.MULTILINE)
    assert commands == ["serve", "test"]
    assert set(commands) <= set(targets)
    assert blocks[1].startswith("curl ")


def test_every_link_leads_to_a_file() -> None:
    for page in (README, *(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_example_script_is_that_of_the_document() -> None:
    assert Path(ROOT / "docs/examples/llama-3-8b.sh").read_text() == MEGATRON_SCRIPT["text"]
