"""The table of settings in `docs/operations.md`. `python -m tests.docs.settings` writes it anew."""

import re
from pathlib import Path

from pydantic.fields import FieldInfo

from service.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"

_TABLE = re.compile(r"(<!-- settings: [^\n]* -->\n).*?(<!-- end of settings -->)", re.DOTALL)


def rendered(text: str) -> str:
    """Return the page with the settings as they are."""
    rows = [_row(name, field) for name, field in Settings.model_fields.items()]
    table = "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])
    return _TABLE.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text)


def _row(name: str, field: FieldInfo) -> str:
    # Which driver it is need not be said.
    default = str(field.default).replace("sqlite+pysqlite", "sqlite")
    return f"| `MEMPLAN_{name.upper()}` | `{default}` | {field.description} |"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text("utf-8")), "utf-8")
