"""What README.md shows runs as it is."""

import re
from pathlib import Path

import pytest

from client_jobs import DEVICE

ROOT = Path(__file__).parents[3]
README = Path(__file__).parents[1] / "README.md"


def test_every_example_runs(address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    examples = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    program = "\n".join(examples).replace("http://127.0.0.1:8000", address)
    names: dict[str, object] = {}
    exec(compile(program, str(README), "exec"), names)
    names["client"].close()  # type: ignore[attr-defined]
    out = capsys.readouterr().out
    assert "fits stage 0 peaks at" in out
    assert "--tensor-model-parallel-size" in out
    assert "['world_size']" in out
    assert DEVICE in program
