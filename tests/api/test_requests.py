"""What is the same for every request: its id, its trace, and what happens when the service itself fails."""

import json
import re

import pytest
from starlette.testclient import TestClient

from service.usecases import estimates
from tests.api.questions import estimate

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize("path", ["/livez", "/nowhere", "/docs"])
def test_every_answer_has_an_id(api: TestClient, path: str) -> None:
    first, second = (api.get(path).headers["x-request-id"] for _ in range(2))
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert first != second


def test_the_callers_id_and_trace_are_echoed(api: TestClient) -> None:
    answer = api.get("/livez", headers={"X-Request-Id": "train-7.rank:0", "traceparent": TRACE})
    assert answer.headers["x-request-id"] == "train-7.rank:0"
    assert answer.headers["traceparent"] == TRACE


@pytest.mark.parametrize("given", ["", "a b", "é", "x" * 129, "<script>"])
def test_an_id_that_is_none_is_replaced(api: TestClient, given: str) -> None:
    found = api.get("/livez", headers={"X-Request-Id": given.encode()}).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", found)


@pytest.mark.parametrize(
    "given", ["00-0-0-00", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "nonsense", "ff" + TRACE[2:], f"{TRACE}-more"]
)
def test_a_trace_that_is_none_is_dropped(api: TestClient, given: str) -> None:
    assert "traceparent" not in api.get("/livez", headers={"traceparent": given}).headers


def test_a_trace_of_a_later_version_is_taken(api: TestClient) -> None:
    later = f"01{TRACE[2:]}-more"
    assert api.get("/livez", headers={"traceparent": later}).headers["traceparent"] == later


def test_a_failure_of_the_service_is_a_problem_that_tells_nothing_of_its_inside(
    api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(estimates, "estimate_job", fail)
    answer = api.post("/v1/estimates", json=estimate(), headers={"X-Request-Id": "one"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == "one"
    found = answer.json()
    assert (found["code"], found["request_id"], found["errors"]) == ("internal_error", "one", [])
    assert "secret" not in json.dumps(found)


def test_the_service_says_that_it_is_alive_and_ready(client: TestClient) -> None:
    assert client.get("/livez").json() == {"status": "alive"}
    ready = client.get("/readyz").json()
    assert ready["status"] == "ready"
    assert ready["devices"] > 30
    assert ready["models"] > 50
