"""`memplan serve` as a process of its own: what a client sees through a socket."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.api.questions import DEVICE, estimate, open_job, plan
from tests.api.serving import command, environment, free_port, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(f"sqlite:///{folder / 'new.db'}", folder) as found:
        yield found


def test_a_missing_database_is_created(address: str, folder: Path) -> None:
    assert httpx2.get(f"{address}/readyz").status_code == 200
    assert (folder / "new.db").exists()


def test_an_estimate_and_a_plan_over_a_socket(address: str) -> None:
    assert httpx2.post(f"{address}/v1/estimates", json=estimate()).json()["verdict"] == "fits"
    first = httpx2.post(f"{address}/v1/plans", json=plan(), timeout=30)
    assert first.status_code == 201
    again = httpx2.get(f"{address}{first.headers['location']}")
    assert again.json() == first.json()


def test_a_body_that_is_too_large_gets_its_problem_before_it_is_sent_whole(address: str) -> None:
    body = json.dumps({"source": {"text": "x" * (6 << 20)}, "device": DEVICE}).encode()
    answer = httpx2.post(f"{address}/v1/estimates", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_log_has_one_line_for_each_request_with_its_id(address: str, folder: Path) -> None:
    httpx2.get(f"{address}/livez", headers={"X-Request-Id": "find-me"})
    found: list[str] = []
    deadline = time.monotonic() + 10
    while not found and time.monotonic() < deadline:  # the line is written when the answer has gone
        time.sleep(0.05)
        whole_lines = (folder / "serve.log").read_text().split("\n")[:-1]
        found = [each for each in whole_lines if "find-me" in each]
    (line,) = map(json.loads, found)
    assert (line["method"], line["path"], line["status"]) == ("GET", "/livez", 200)


def test_searches_keep_no_other_request_waiting(address: str) -> None:
    """More searches at a time than there are threads for them, and estimates among them."""
    questions = [
        plan(
            job=open_job(model={"preset": "gpt-3-175b"}, batch={"global": 1536, "sequence_length": 2048}),
            cluster={"world_size": 512},
            search={"micro": "any", "checkpointing": ["none", "full"]},
            labels={"number": str(number)},
        )
        for number in range(12)
    ]
    statuses: list[int] = []

    def search(question: dict[str, object]) -> None:
        statuses.append(httpx2.post(f"{address}/v1/plans?wait=2m", json=question, timeout=130).status_code)

    searches = [threading.Thread(target=search, args=(each,)) for each in questions]
    for each in searches:
        each.start()
    waits = []
    while any(each.is_alive() for each in searches):
        began = time.monotonic()
        assert httpx2.post(f"{address}/v1/estimates", json=estimate(), timeout=30).status_code == 200
        waits.append(time.monotonic() - began)
    for each in searches:
        each.join()
    assert statuses == [201] * 12
    # An estimate waits for its turn at the interpreter, never for a whole search.
    assert sorted(waits)[len(waits) // 2] < 1.0


def test_a_service_that_is_told_to_stop_ends_searches_and_streams(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'memplan.db'}"
    question = plan(
        job=open_job(model={"preset": "gpt-3-175b"}, batch={"global": 1536, "sequence_length": 2048}),
        cluster={"world_size": 512},
        search={"context": "any", "micro": "any", "virtual_pipeline": "any", "checkpointing": "any"},
    )
    with served(database, tmp_path) as address:
        begun = httpx2.post(f"{address}/v1/plans?wait=0", json=question).json()
        path = f"/v1/operations/{begun['id']}"
        stream = httpx2.stream("GET", f"{address}{path}/events", timeout=30)
        assert next(stream.__enter__().iter_lines()) == "event: progress"
        stopped = time.monotonic()
    # Kubernetes kills after thirty seconds, Docker after ten.
    assert time.monotonic() - stopped < 10
    with served(database, tmp_path) as address:
        ended = httpx2.get(f"{address}{path}").json()
    assert (ended["state"], ended["error"]["code"]) == ("cancelled", "service_stopping")


def test_a_second_process_on_the_same_file_is_refused(address: str, folder: Path) -> None:
    assert address
    words = command("serve", "--port", str(free_port()))
    second = subprocess.run(
        words,
        cwd=folder,
        env=environment(f"sqlite:///{folder / 'new.db'}"),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert second.stderr.decode().startswith("memplan: another process serves")
