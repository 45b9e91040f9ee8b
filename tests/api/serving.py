"""A real `memplan serve` in a process of its own, on a free port of this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

ROOT = Path(__file__).parents[2]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "service", *words]


def environment(database_url: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMPLAN_")}
    return kept | {
        "MEMPLAN_DATABASE_URL": database_url,
        "MEMPLAN_LOG_FORMAT": "json",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class Server:
    """A service in a process of its own."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it as a power cut would: nothing is finished, nothing is cleaned up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=20)


@contextmanager
def server(database_url: str, folder: Path, **settings: str) -> Iterator[Server]:
    """A service that answers; at the end it is told to stop, if it still runs."""
    port = free_port()
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command("serve", "--host", "127.0.0.1", "--port", str(port)),
            cwd=folder,
            env=environment(database_url) | {f"MEMPLAN_{name.upper()}": value for name, value in settings.items()},
            stdout=output,
            stderr=output,
        )
        try:
            found = Server(process, port)
            _wait(found.address, process, log)
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)


@contextmanager
def served(database_url: str, folder: Path, **settings: str) -> Iterator[str]:
    """The address of a service; stopped as a supervisor would, which must end it cleanly."""
    with server(database_url, folder, **settings) as found:
        yield found.address
    code = found.process.returncode
    assert code in {0, -signal.SIGTERM}, (folder / "serve.log").read_text()


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            if httpx2.get(f"{address}/readyz", timeout=5).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.05)
    raise AssertionError(log.read_text())
