"""What README.md and docs/ show is what happens."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.api.app import create_app
from service.api.schemas.examples import HUGGING_FACE_CONFIG, KUBERNETES_MANIFEST, MEGATRON_SCRIPT, SLURM_SCRIPT
from service.cli import build_parser
from service.settings import Settings
from tests.api.readme import PAGES, README, ROOT, rendered

SPANNING = re.MULTILINE | re.DOTALL


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_answer_is_the_one_that_its_command_gives(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == rendered(text), "python -m tests.api.readme writes the answers anew"


def commands() -> Iterator[str]:
    """Every line of a page's shell blocks that calls memplan."""
    for page in (*PAGES, ROOT / "CONTRIBUTING.md", *(ROOT / "clients").rglob("*.md")):
        for block in re.findall(r"^```(?:sh|bash|console|shell)\n(.*?)^```$", page.read_text("utf-8"), SPANNING):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.match(r"^(?:\$ )?(?:\w+=\S+ )*(?:\.venv/bin/)?memplan (.*)", line)
                if found:
                    yield found[1]


def test_every_command_that_a_page_shows_is_one_that_there_is() -> None:
    shown = list(commands())
    assert len(shown) > 5
    for command in shown:
        words = shlex.split(re.split(r" [|>;&]|;", command, maxsplit=1)[0], comments=True)
        build_parser().parse_args(words[: words.index("--")] if "--" in words else words)


def test_the_page_of_the_interface_lists_every_route() -> None:
    page = (ROOT / "docs/api.md").read_text("utf-8")
    for path, methods in create_app(Settings()).openapi()["paths"].items():
        shown = re.sub(r"\{(?!queue|format)\w+\}", "{id}", path)
        for method in methods:
            assert f"`{method.upper()} {shown}`" in page or f"`{method.upper()} {shown}?" in page, (method, path)


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


@pytest.mark.parametrize(
    ("name", "source"),
    [("sh", MEGATRON_SCRIPT), ("sbatch", SLURM_SCRIPT), ("yaml", KUBERNETES_MANIFEST), ("json", HUGGING_FACE_CONFIG)],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_example_files_are_those_of_the_document(name: str, source: dict[str, Any]) -> None:
    assert (ROOT / f"docs/examples/llama-3-8b.{name}").read_text() == source["text"]
