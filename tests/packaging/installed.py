"""Checks the memplan that is installed in this environment: run with its Python, in an empty folder.

Needs nothing but the standard library. sys.argv: a config file, and the pins that the environment was made with.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

# What every environment has, and the wheel itself.
UNPINNED = {"memplan", "pip", "setuptools"}
MEMPLAN = Path(sys.executable).parent / "memplan"


def check(config: str, pins: str) -> None:
    """Fail unless the commands answer, the service serves, and every package is one of the pins."""
    everything_is_pinned(Path(pins).read_text("utf-8"))
    said = run("estimate", config)
    assert said.startswith("fits: "), said
    answer = json.loads(run("estimate", config, "--json"))
    assert answer["verdict"] == "fits"
    assert run("verdict", config).startswith("fits: ")
    assert "h100-sxm-80gb" in run("devices")
    serves(answer)
    assert run("db", "upgrade").startswith("the database is at revision ")


def everything_is_pinned(pins: str) -> None:
    pinned = {normal(name): version for name, version in re.findall(r"^([^=\s]+)==(\S+)$", pins, re.MULTILINE)}
    found = {normal(each.metadata["Name"]): each.version for each in distributions()}
    loose = {name: version for name, version in found.items() if name not in UNPINNED and pinned.get(name) != version}
    assert not loose, f"not as pinned: {loose}"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def run(*words: str) -> str:
    return subprocess.run([MEMPLAN, *words], check=True, capture_output=True, text=True).stdout


def serves(estimate: dict[str, Any]) -> None:
    """A new database is made, and routes, catalogue and the pages for people are there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with Path("serve.log").open("wb") as log:
        process = subprocess.Popen([MEMPLAN, "serve", "--port", str(port)], stdout=log, stderr=log)
        try:
            wait_for(f"{address}/readyz", process)
            body = {"job": estimate["job"], "device": "h100-sxm-80gb"}
            assert fetch(f"{address}/v1/estimates", body)["peak"] == estimate["peak"]
            question = {
                "job": {**estimate["job"], "parallelism": {}},
                "cluster": {"device": "h100-sxm-80gb", "world_size": 8},
                "search": {"tensor": [8], "context": [1], "checkpointing": ["none"]},
            }
            plan = fetch(f"{address}/v1/plans", question)
            assert fetch(f"{address}/v1/plans/{plan['id']}")["digest"] == plan["digest"]
            assert len(fetch(f"{address}/v1/models")["items"]) > 5
            for page in ("docs", "docs/errors", "docs/assets/swagger-ui/swagger-ui-bundle.js", "docs/assets/docs.js"):
                with urllib.request.urlopen(f"{address}/{page}", timeout=30) as answer:
                    assert answer.read(), page
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
    assert Path("memplan.db").exists()


def wait_for(page: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert process.poll() is None, Path("serve.log").read_text()
        try:
            with urllib.request.urlopen(page, timeout=10):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(Path("serve.log").read_text())


def fetch(address: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


if __name__ == "__main__":
    # What the developer's shell says of memplan or Python must not reach the installed one.
    for variable in [name for name in os.environ if name.startswith(("MEMPLAN_", "PYTHONPATH"))]:
        del os.environ[variable]
    assert not list(Path().iterdir()), "the folder is not empty"
    check(*sys.argv[1:])
    print(f"installed and working on Python {sys.version.split()[0]}: {shutil.which('memplan') or MEMPLAN}")
