"""The command starts fast, and answers as `memplan` and as `python -m service` alike."""

import subprocess
import sys

import pytest

from service.cli import main


def test_a_command_loads_no_web_framework_and_no_database() -> None:
    code = """
import sys
from service.cli import main
import service.cli.estimate, service.cli.plan
heavy = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic"} & sys.modules.keys()
sys.exit(", ".join(heavy) or None)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_runs_as_a_module() -> None:
    answer = subprocess.run([sys.executable, "-m", "service", "--version"], check=True, capture_output=True, text=True)
    assert answer.stdout.startswith("memplan ")


@pytest.mark.parametrize("words", [(), ("estimat",), ("db",), ("plan", "x"), ("serve", "--port", "http")])
def test_wrong_usage_has_exit_code_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    assert exit_.value.code == 2
    assert "usage: memplan" in capsys.readouterr().err
