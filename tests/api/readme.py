"""The answers that README.md and docs/ show: made by running the commands. `python -m tests.api.readme` renews them.

A block of `console` holds commands after `$ ` with what they print. A block of `sh` that begins with curl is a request,
and the block of `json` after it shows the keys that it shows of the answer, in its order; of a list as many elements,
of a ledger the largest. What is another each time is left as it is shown: ids, times, and how long a search took.
"""

import contextlib
import io
import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.testclient import TestClient

from service import logs
from service.api.app import create_app
from service.cli import main
from service.settings import Settings

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "docs").rglob("*.md")))

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# How long a search took is another number each time.
_TIMING = re.compile(r" in \d+\.\d+ s;")
_VOLATILE = {"id", "created_at", "updated_at", "elapsed_seconds", "request_id"}
_WIDEST = 100
_COMMAND = re.compile(r"^\$ (?:\.venv/bin/)?memplan ")


def rendered(text: str) -> str:
    """Return the text with every answer as the command before it gives now."""
    blocks = [(block.start(), *block.groups()) for block in _BLOCK.finditer(text)]
    asked = {
        start
        for (start, kind, content), (_, following, _) in pairwise(blocks)
        if kind == "sh" and content.startswith("curl ") and following == "json"
    }
    run = {start for start, kind, content in blocks if kind == "console" and _COMMAND.match(content)}
    if not asked and not run:
        return text
    with _service() as client:
        answer: Any = None

        def replaced(block: re.Match[str]) -> str:
            nonlocal answer
            kind, content = block.groups()
            if kind == "json" and answer is not None:
                content = _pretty(_shown(answer, json.loads(content))) + "\n"
                answer = None
            elif block.start() in asked:
                answer = _answer(client, content)
            elif block.start() in run:
                now = _console(content)
                content = content if _TIMING.sub("", content) == _TIMING.sub("", now) else now
            return f"```{kind}\n{content}```"

        return _BLOCK.sub(replaced, text)


@contextlib.contextmanager
def _service() -> Iterator[TestClient]:
    with (
        TemporaryDirectory() as folder,
        TestClient(create_app(Settings(database_url=f"sqlite:///{folder}/memplan.db"))) as client,
    ):
        yield client


def _answer(client: TestClient, command: str) -> Any:
    words = shlex.split(command.replace("\\\n", " "))
    body = words[words.index("-d") + 1] if "-d" in words else None
    method = words[words.index("-X") + 1] if "-X" in words else "GET" if body is None else "POST"
    address = next(word for word in words if word.startswith("http://127.0.0.1:8000/"))
    headers = {"content-type": "application/json"}
    answer = client.request(method, address.partition("8000")[2], content=body, headers=headers)
    if "-f" in words:
        answer.raise_for_status()
    return answer.json()


def _shown(answer: Any, template: Any, name: str = "") -> Any:
    """What the template shows of the answer."""
    if isinstance(answer, dict) and isinstance(template, dict):
        kept = {key: answer[key] for key in template if key in answer}
        return {key: template[key] if key in _VOLATILE else _shown(kept[key], template[key], key) for key in kept}
    if isinstance(answer, list) and isinstance(template, list):
        first = sorted(answer, key=lambda line: -line["bytes"]) if name == "ledger" else answer
        # A list of plain values is shown whole.
        if not any(isinstance(each, dict | list) for each in answer):
            return answer
        return [_shown(each, shown) for each, shown in zip(first, template, strict=False)]
    return answer


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


def _console(content: str) -> str:
    """A block of commands with what they print now; `$ echo $?` prints the exit code of the one before."""
    commands = [line for line in content.splitlines() if line.startswith("$ ")]
    lines: list[str] = []
    code = 0
    for command in commands:
        lines.append(command)
        if command == "$ echo $?":
            lines.append(str(code))
            continue
        words = shlex.split(_COMMAND.sub("", command))
        code, printed = _run(words)
        lines += [line.rstrip() for line in printed.splitlines()]
    return "\n".join(lines) + "\n"


def _run(words: list[str]) -> tuple[int, str]:
    output = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = main(words)
    return code, output.getvalue()


if __name__ == "__main__":
    logs.configure("ERROR", "json")
    for page in PAGES:
        written = page.read_text("utf-8")
        now = rendered(written)
        if now != written:
            page.write_text(now, "utf-8")
