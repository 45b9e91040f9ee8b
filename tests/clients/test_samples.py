"""Every call by curl that the document and clients/curl.md show works as pasted against a fresh service."""

import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from service.api.app import create_app
from service.api.samples import SAMPLES, SERVICE
from service.settings import Settings
from tests.clients.samples import PAGE, ROOT, page

# A call that is answered by a problem must fail; curl alone would show it and succeed.
STRICT = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n'


@contextmanager
def fresh_service(template: Path, folder: Path) -> Iterator[str]:
    """The address of a service without plans, in this process."""
    shutil.copy(template, folder / "memplan.db")
    app = create_app(Settings(database_url=f"sqlite:///{folder}/memplan.db"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def run(sample: str, address: str) -> str:
    done = subprocess.run(
        ["bash", "-c", STRICT + sample.replace(SERVICE, address)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("operation", SAMPLES)
def test_a_sample_works_against_a_fresh_service(operation: str, sqlite_template: Path, tmp_path: Path) -> None:
    with fresh_service(sqlite_template, tmp_path) as address:
        assert run(SAMPLES[operation], address)


def test_the_call_with_a_file_answers_with_a_verdict(sqlite_template: Path, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```sh\n(python3.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    with fresh_service(sqlite_template, tmp_path) as address:
        assert '"verdict":"fits"' in run(sample, address)


def test_every_operation_has_a_sample_and_no_other() -> None:
    document = create_app(Settings()).openapi()
    known = {operation["operationId"] for methods in document["paths"].values() for operation in methods.values()}
    assert SAMPLES.keys() == known


def test_the_page_shows_the_samples_of_now() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.clients.samples writes the page anew"
