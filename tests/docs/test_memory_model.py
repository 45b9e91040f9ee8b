"""`docs/memory-model.md` has the sections that ledger lines cite, and knows every module that makes lines."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALCULATOR = ROOT / "service" / "calculator"
PAGE = (ROOT / "docs" / "memory-model.md").read_text("utf-8")
CITED = re.compile(r"memory_model\.md,? (?:sections? )?(\d(?:\d|\.\d)?)")
MAKES_LINES = re.compile(r"\b(?:Line|Saved|saved)\(")


def cited_sections() -> list[str]:
    return sorted({each for path in ROOT.glob("service/**/*.py") for each in CITED.findall(path.read_text("utf-8"))})


def modules_that_make_lines() -> list[Path]:
    paths = [*CALCULATOR.glob("*.py"), *CALCULATOR.glob("states/*.py"), *CALCULATOR.glob("activations/*.py")]
    return sorted(path for path in paths if MAKES_LINES.search(path.read_text("utf-8")))


@pytest.mark.parametrize("section", cited_sections())
def test_a_cited_section_exists(section: str) -> None:
    assert re.search(rf"^##+ {re.escape(section)} ", PAGE, re.MULTILINE)


@pytest.mark.parametrize("path", modules_that_make_lines(), ids=lambda path: path.stem)
def test_a_module_that_makes_lines_is_described(path: Path) -> None:
    assert path.name in PAGE
