"""The command starts fast, and answers as `memplan` and as `python -m service` alike."""

import os
import socket
import subprocess
import sys
from pathlib import Path

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


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "service", "serve", "--port", port]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        answer = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"memplan: cannot listen on 127.0.0.1 port {port}: Address already in use; --host")
    assert answer.stderr.count("\n") == 1


def test_a_host_that_is_not_here_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--host", "203.0.113.1", "--open"]) == 1
    assert "cannot listen on 203.0.113.1 port 8000: Cannot assign requested address" in capsys.readouterr().err
