"""A memplan service for the tests: the one at MEMPLAN_TEST_SERVER, or one that is started for them.

It is started with the Python at MEMPLAN_TEST_PYTHON, by default the one that runs the tests.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_jobs import JOB
from memplan_client import Client

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service without plans."""
    given = os.environ.get("MEMPLAN_TEST_SERVER")
    if given:
        yield given
        return
    folder = tmp_path_factory.mktemp("service")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    log = folder / "serve.log"
    python = os.environ.get("MEMPLAN_TEST_PYTHON", sys.executable)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMPLAN_")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", "service", "serve", "--host", "127.0.0.1", "--port", port],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=output,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/readyz", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)


def _wait(page: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(page, timeout=5):
                return
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    """A client of the service."""
    with Client(address, timeout=60) as opened:
        yield opened


@pytest.fixture
def script() -> Path:
    """A Megatron-LM launch script; it describes JOB."""
    return ROOT / "docs" / "examples" / "llama-3-8b.sh"


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    """JOB in a file."""
    path = tmp_path / "job.json"
    path.write_text(json.dumps(JOB))
    return path
