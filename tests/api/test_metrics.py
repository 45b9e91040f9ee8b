"""`GET /metrics`: what Prometheus gets to read, in its own format."""

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings
from tests.api.questions import DEVICE, estimate, job, plan
from tests.api.test_quotas import slow, stop

ROUTE = "http_server_request_duration_seconds_count"


def figures(client: TestClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample by its name and labels."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.text)
    return {(each.name, frozenset(each.labels.items())): each.value for family in families for each in family.samples}


class Change:
    """How much figures grow from here on; they are those of the process, which other tests share."""

    def __init__(self, client: TestClient) -> None:
        self._client, self._before = client, figures(client)

    def of(self, name: str, **labels: Any) -> float:
        key = (name, frozenset((label, str(value)) for label, value in labels.items()))
        return figures(self._client).get(key, 0) - self._before.get(key, 0)

    def requests(self, method: str, route: str, status: int) -> float:
        return self.of(ROUTE, http_request_method=method, http_route=route, http_response_status_code=status)


def test_requests_are_timed_by_the_route_as_the_document_writes_it(client: TestClient) -> None:
    change = Change(client)
    for _ in range(3):
        client.get("/v1/plans/pln_0")
    client.post("/v1/estimates", json=estimate())
    client.post("/v1/estimates", json={})
    client.get("/v1/nothing/here")
    client.request("BREW", "/livez")
    assert change.requests("GET", "/v1/plans/{plan_id}", 404) == 3
    assert change.requests("POST", "/v1/estimates", 200) == 1
    assert change.requests("POST", "/v1/estimates", 422) == 1
    assert change.requests("GET", "", 404) == 1
    assert change.requests("_OTHER", "/livez", 405) == 1


def test_a_request_is_in_the_bucket_of_its_time(client: TestClient) -> None:
    change = Change(client)
    client.get("/livez")
    labels = {"http_request_method": "GET", "http_route": "/livez", "http_response_status_code": 200}
    assert change.of("http_server_request_duration_seconds_bucket", le="+Inf", **labels) == 1
    assert 0 < change.of("http_server_request_duration_seconds_sum", **labels) < 30


def test_verdicts_are_counted_by_kind_when_they_are_remembered_too(client: TestClient) -> None:
    change = Change(client)
    small = {"job": job(), "targets": [{"device": DEVICE}, {"device": "nothing"}]}
    large = {"job": job(batch={"micro": 16}), "targets": [{"device": "rtx-4090"}]}
    for _ in range(2):
        answer = client.post("/v1/verdicts", json={"items": [small, large]})
        assert [each["verdict"] for each in answer.json()["results"]] == ["fits", "unknown", "does_not_fit"]
    for verdict in ("fits", "unknown", "does_not_fit"):
        assert change.of("memplan_verdicts_total", verdict=verdict) == 2
    assert change.of("memplan_verdicts_total", verdict="tight") == 0


def test_searches_are_timed_and_their_layouts_counted_once(client: TestClient) -> None:
    change = Change(client)
    made = client.post("/v1/plans", json=plan()).json()
    client.post("/v1/plans", json=plan())
    assert change.of("memplan_search_seconds_count") == 1
    assert change.of("memplan_search_seconds_sum") == pytest.approx(made["elapsed_seconds"])
    assert change.of("memplan_layouts_evaluated_total") == made["searched"]


def test_the_searches_that_run_and_wait_are_those_of_the_moment(sqlite_url: str) -> None:
    with TestClient(create_app(Settings(database_url=sqlite_url, search_concurrency=1))) as client:
        for number in range(3):
            assert client.post("/v1/plans?wait=0", json=slow(number)).status_code == 202
        now = {
            dict(labels)["state"]: value
            for (name, labels), value in figures(client).items()
            if name == "memplan_searches"
        }
        stop(client)
    assert now == {"running": 1, "waiting": 2}


def test_how_long_changes_wait_for_the_database_is_timed(client: TestClient) -> None:
    change = Change(client)
    client.post("/v1/plans", json=plan())
    assert change.of("memplan_database_wait_seconds_count") >= 1


def test_the_release_and_the_process_are_described(client: TestClient) -> None:
    found = figures(client)
    assert 1 in {value for (name, _), value in found.items() if name == "memplan_build_info"}
    assert found["process_resident_memory_bytes", frozenset()] > 0


def test_figures_need_no_token_and_can_be_switched_off(sqlite_url: str) -> None:
    with TestClient(create_app(Settings(database_url=sqlite_url, access="tokens"))) as client:
        assert client.get("/metrics").status_code == 200
    with TestClient(create_app(Settings(database_url=sqlite_url, metrics="off"))) as client:
        assert client.get("/metrics").status_code == 404
        assert "/metrics" not in client.get("/openapi.json").json()["paths"]


def test_wrong_fits_are_told_by_group(client: TestClient) -> None:
    labels = {"framework": "megatron-core", "implementation": "transformer_engine", "device": DEVICE}
    for run, oom in (("one", False), ("two", True), ("three", False)):
        sent = {"run_id": run, "job": job(), "device": DEVICE, "measured": {"source": "scheduler", "oom": oom}}
        assert client.post("/v1/observations", json=sent).status_code == 201
    found = figures(client)
    assert found["memplan_observed_fits", frozenset(labels.items())] == 3
    assert found["memplan_observed_false_fits", frozenset(labels.items())] == 1
