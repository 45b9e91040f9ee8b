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
heavy = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "httpx"} & sys.modules.keys()
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


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_can_complete_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("estimate", "verdict", "validate-time", "--world-size", "h100-sxm-80gb"):
        assert word in script


def test_the_script_of_bash_is_one_that_bash_reads(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    subprocess.run(["bash", "-n"], input=capsys.readouterr().out, text=True, check=True)
