"""The answers that README.md shows: made by running its commands. `python -m tests.api.readme` writes them anew."""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.testclient import TestClient

from service.api.app import create_app
from service.cli import main
from service.settings import Settings

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# How long a search took is another number each time.
_TIMING = re.compile(r" in \d+\.\d+ s;")
_WIDEST = 100
_COMMAND = "$ .venv/bin/memplan "


def rendered(text: str) -> str:
    """Return the text with every answer as the command before it gives now."""
    answer = ""

    def replaced(block: re.Match[str]) -> str:
        nonlocal answer
        kind, content = block.groups()
        if kind == "sh" and content.startswith("curl "):
            answer = _answer(content)
        elif kind == "json":
            content = answer
        elif kind == "console":
            now = _console(content.splitlines()[0])
            content = content if _TIMING.sub("", content) == _TIMING.sub("", now) else now
        return f"```{kind}\n{content}```"

    return _BLOCK.sub(replaced, text)


def _answer(command: str) -> str:
    words = shlex.split(command.replace("\\\n", " "))
    body = words[words.index("-d") + 1]
    path = next(word for word in words if "/v1/" in word).partition("8000")[2]
    with (
        TemporaryDirectory() as folder,
        TestClient(create_app(Settings(database_url=f"sqlite:///{folder}/memplan.db"))) as client,
    ):
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
    answer.raise_for_status()
    return _shortened(answer.json())


def _shortened(answer: dict[str, Any]) -> str:
    """The answer with fewer keys, the first stage alone, and its largest line alone."""
    first = answer["stages"][0]
    largest = max(first["ledger"], key=lambda line: line["bytes"])
    line = {key: largest[key] for key in ("name", "shape", "dtype", "count", "bytes", "sharded_by", "source")}
    stage = {key: first[key] for key in ("stage", "moment", "in_flight_microbatches", "device_bytes", "categories")}
    shown = {key: answer[key] for key in ("verdict", "reason", "peak")}
    return _pretty({**shown, "stages": [{**stage, "ledger": [line]}]}) + "\n"


def _pretty(value: Any, indent: str = "") -> str:
    """JSON of at most a hundred columns, as many members on a line as there is room for."""
    line = json.dumps(value)
    if len(indent) + len(line) <= _WIDEST or not isinstance(value, dict | list):
        return line
    if isinstance(value, list):
        return "[" + ", ".join(_pretty(each, indent) for each in value) + "]"
    below = indent + "  "
    lines = [below]
    for key, each in value.items():
        member = f"{json.dumps(key)}: {_pretty(each, below)},"
        if len(lines[-1]) + len(member) > _WIDEST and lines[-1] != below:
            lines.append(below)
        lines[-1] += member + " "
    return "{\n" + "\n".join(each.rstrip() for each in lines).rstrip(",") + "\n" + indent + "}"


def _console(command: str) -> str:
    words = shlex.split(command.removeprefix(_COMMAND))
    output = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(output):
        code = main(words)
    if code != 0:
        raise RuntimeError(f"{command} ended with {code}")
    lines = [line.rstrip() for line in output.getvalue().splitlines()]
    return "\n".join([command, *lines]) + "\n"


if __name__ == "__main__":
    README.write_text(rendered(README.read_text("utf-8")), "utf-8")
