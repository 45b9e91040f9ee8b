"""Searches that outlast their request: followed by polling and by events, cancelled, and ended. On both databases."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import routing
from starlette.testclient import TestClient

from service.api.app import create_app
from service.planner.search import SearchCancelled
from service.settings import Settings
from service.store import operations
from service.store.errors import StoreBusy
from service.store.operations import Report
from service.store.session import Store
from service.usecases import plans
from tests.api.questions import plan


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An event without which no search ends; searches say that they have done 7 of 20 layouts meanwhile."""
    released, search = threading.Event(), plans.run

    def run(asked: Any, progress: Any, cancelled: Any) -> Any:
        progress(7, 20)
        while not released.wait(0.01):
            if cancelled():
                raise SearchCancelled
        return search(asked)

    monkeypatch.setattr(plans, "run", run)
    yield released
    released.set()


def begun(client: TestClient, question: dict[str, Any] | None = None, wait: str = "0") -> dict[str, Any]:
    """Ask for a plan without waiting for it, and return its operation."""
    response = client.post(f"/v1/plans?wait={wait}", json=question or plan())
    assert response.status_code == 202, response.text
    found: dict[str, Any] = response.json()
    assert response.headers["location"] == f"/v1/operations/{found['id']}"
    assert int(response.headers["retry-after"]) > 0
    return found


def get(client: TestClient, operation: dict[str, Any]) -> dict[str, Any]:
    response = client.get(f"/v1/operations/{operation['id']}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    assert ("retry-after" in response.headers) == (found["state"] in {"waiting", "running"})
    return found


def until(client: TestClient, operation: dict[str, Any], *states: str) -> dict[str, Any]:
    """Poll as a client would until the operation is in one of the states."""
    limit = time.monotonic() + 20
    while (found := get(client, operation))["state"] not in states:
        assert time.monotonic() < limit, found
        time.sleep(0.02)
    return found


def events(client: TestClient, operation: dict[str, Any], last: str = "") -> list[dict[str, str]]:
    """The events of an operation until its stream ends."""
    headers = {"Last-Event-ID": last} if last else {}
    response = client.get(f"/v1/operations/{operation['id']}/events", headers=headers)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block for block in response.text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


class TestWait:
    """When a search becomes an operation."""

    def test_a_search_that_ends_in_time_is_a_plan(self, client: TestClient) -> None:
        assert client.post("/v1/plans?wait=30s", json=plan()).status_code == 201

    def test_a_search_that_takes_longer_is_an_operation_that_leads_to_its_plan(
        self, client: TestClient, held: threading.Event
    ) -> None:
        operation = begun(client, wait="50ms")
        assert operation["state"] == "running"
        assert operation["progress"] == {"done": 7, "total": 20, "fraction": 0.35}
        assert (operation["result"], operation["error"], operation["finished_at"]) == (None, None, None)
        held.set()
        ended = until(client, operation, "succeeded")
        made = client.get(ended["result"]).json()
        assert made["digest"] == ended["digest"] == operation["digest"]
        assert ended["finished_at"] >= ended["created_at"]
        assert client.post("/v1/plans", json=plan()).json() == made

    def test_an_answer_that_is_stored_is_given_at_once(self, client: TestClient) -> None:
        made = client.post("/v1/plans?wait=1m", json=plan())
        assert client.post("/v1/plans?wait=0", json=plan()).status_code == 200
        assert made.status_code == 201

    @pytest.mark.usefixtures("held")
    def test_who_asks_the_same_meanwhile_follows_the_same_search(self, client: TestClient) -> None:
        first = begun(client)
        assert begun(client)["id"] == first["id"]
        assert begun(client, plan(labels={"team": "nlp"}))["id"] != first["id"]

    @pytest.mark.parametrize("wait", ["", "-1", "soon", "2h", "1e3", "301", "\u0662"])
    def test_a_wait_that_is_none(self, api: TestClient, wait: str) -> None:
        answer = api.post("/v1/plans", params={"wait": wait}, json=plan())
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert (error["location"], error["pointer"]) == ("query", "/wait")

    @pytest.mark.usefixtures("held")
    def test_searches_beyond_those_that_may_wait_are_refused(self, settings: Settings) -> None:
        narrow = settings.model_copy(update={"search_concurrency": 1, "search_queue": 1})
        with TestClient(create_app(narrow)) as client:
            states = [begun(client, plan(labels={"number": str(number)}))["state"] for number in range(2)]
            assert states[1] == "waiting"
            refused = client.post("/v1/plans?wait=0", json=plan())
            assert (refused.status_code, refused.json()["code"]) == (503, "searches_full")
            assert int(refused.headers["retry-after"]) > 0
            assert client.get("/livez").status_code == 200


class TestEvents:
    """The stream of an operation."""

    def test_the_stream_has_each_change_and_ends_with_the_operation(
        self, client: TestClient, held: threading.Event
    ) -> None:
        operation = begun(client, wait="50ms")
        threading.Timer(0.7, held.set).start()
        found = events(client, operation)
        assert [each["event"] for each in found] == ["progress", "succeeded"]
        numbers = [int(each["id"]) for each in found]
        assert numbers == sorted(set(numbers))
        assert json.loads(found[-1]["data"]) == get(client, operation)
        assert json.loads(found[0]["data"])["progress"]["done"] == 7

    def test_a_stream_goes_on_after_the_last_event_that_was_seen(
        self, client: TestClient, held: threading.Event
    ) -> None:
        operation = begun(client)
        held.set()
        until(client, operation, "succeeded")
        (last,) = events(client, operation)
        assert last["event"] == "succeeded"
        assert events(client, operation, str(int(last["id"]) - 1)) == [last]
        nothing = client.get(f"/v1/operations/{operation['id']}/events", headers={"Last-Event-ID": last["id"]})
        assert (nothing.status_code, nothing.content) == (204, b"")

    def test_a_comment_keeps_a_silent_stream_open(
        self, client: TestClient, held: threading.Event, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert routing._PING_INTERVAL == 15
        monkeypatch.setattr(routing, "_PING_INTERVAL", 0.1)
        operation = begun(client)
        threading.Timer(1.5, held.set).start()
        assert "\n: ping\n" in client.get(f"/v1/operations/{operation['id']}/events").text

    @pytest.mark.parametrize("seen", ["999999", "x", "\u00b2"])
    def test_an_event_that_was_never_sent_counts_as_none(
        self, client: TestClient, held: threading.Event, seen: str
    ) -> None:
        operation = begun(client)
        held.set()
        until(client, operation, "succeeded")
        path = f"/v1/operations/{operation['id']}/events"
        assert "event: succeeded" in client.get(path, headers={"Last-Event-ID": seen.encode()}).text


class TestEnd:
    """The ways in which an operation ends without a result."""

    @pytest.mark.usefixtures("held")
    def test_a_search_that_runs_is_cancelled(self, client: TestClient) -> None:
        operation = begun(client)
        asked = client.post(f"/v1/operations/{operation['id']}/cancel")
        assert asked.status_code == 200
        assert asked.json()["cancel_requested"]
        ended = until(client, operation, "cancelled")
        assert (ended["result"], ended["error"]) == (None, None)
        assert client.get("/v1/plans").json()["items"] == []
        assert client.post(f"/v1/operations/{operation['id']}/cancel").json() == ended

    @pytest.mark.usefixtures("held")
    def test_a_search_that_waits_is_cancelled_at_once(self, settings: Settings) -> None:
        with TestClient(create_app(settings.model_copy(update={"search_concurrency": 1}))) as client:
            begun(client, plan(labels={"number": "1"}))
            operation = begun(client)
            assert client.post(f"/v1/operations/{operation['id']}/cancel").json()["state"] == "cancelled"
            # The same question may be asked again.
            assert begun(client)["id"] != operation["id"]

    @pytest.mark.usefixtures("held")
    def test_who_waits_for_a_search_that_is_cancelled_hears_of_it(self, client: TestClient) -> None:
        operation = begun(client)
        cancel = threading.Timer(0.2, client.post, [f"/v1/operations/{operation['id']}/cancel"])
        cancel.start()
        answer = client.post("/v1/plans?wait=20", json=plan())
        assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
        assert "retry-after" not in answer.headers

    def test_what_has_ended_cannot_be_cancelled(self, client: TestClient, held: threading.Event) -> None:
        operation = begun(client)
        held.set()
        until(client, operation, "succeeded")
        answer = client.post(f"/v1/operations/{operation['id']}/cancel")
        assert (answer.status_code, answer.json()["code"]) == (409, "operation_finished")

    @pytest.mark.parametrize(
        ("error", "code"), [(StoreBusy("in use"), "store_busy"), (RuntimeError("a secret"), "internal_error")]
    )
    def test_a_search_that_fails_says_why_and_nothing_of_its_inside(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
    ) -> None:
        released = threading.Event()

        def fail(*_: Any) -> None:
            released.wait(20)
            raise error

        monkeypatch.setattr(plans, "run", fail)
        operation = begun(client)
        released.set()
        ended = until(client, operation, "failed")
        assert ended["error"]["code"] == code
        assert "secret" not in json.dumps(ended)

    @pytest.mark.usefixtures("held")
    def test_a_service_that_stops_ends_its_searches(self, settings: Settings) -> None:
        one_thread = settings.model_copy(update={"search_concurrency": 1})
        with TestClient(create_app(one_thread)) as client:
            started = [begun(client, plan(labels={"number": str(number)})) for number in range(2)]
        with TestClient(create_app(one_thread)) as client:
            for each in started:
                found = get(client, each)
                assert (found["state"], found["error"]["code"]) == ("cancelled", "service_stopping")

    def test_what_a_killed_process_left_has_failed(self, settings: Settings) -> None:
        long_ago = datetime.now(UTC) - timedelta(minutes=1)
        with Store(settings) as store, store.write() as session:
            running = operations.create(session, "plan", "sha256:1", Report(state="running", done=3, total=9), long_ago)
            done = operations.create(session, "plan", "sha256:2", Report(state="succeeded", result="pln_1"), long_ago)
        with TestClient(create_app(settings)) as client:
            found = get(client, {"id": running})
            assert (found["state"], found["error"]["code"]) == ("failed", "interrupted")
            assert found["progress"]["done"] == 3
            assert get(client, {"id": done})["state"] == "succeeded"

    def test_the_work_of_another_process_goes_on_as_long_as_it_reports(self, postgres_url: str) -> None:
        settings = Settings(database_url=postgres_url)
        with Store(settings) as store:
            with store.write() as session:
                theirs = operations.create(session, "plan", "sha256:1", Report(state="running"))
            with TestClient(create_app(settings)) as client:
                assert get(client, {"id": theirs})["state"] == "running"
                assert client.post(f"/v1/operations/{theirs}/cancel").json()["cancel_requested"]
                with store.write() as session:
                    long_ago = datetime.now(UTC) - timedelta(minutes=1)
                    operations.report(session, theirs, Report(state="running"), long_ago)
                found = get(client, {"id": theirs})
                assert (found["state"], found["error"]["code"]) == ("failed", "interrupted")

    @pytest.mark.usefixtures("held")
    def test_a_search_whose_end_another_process_asked_for_ends(self, client: TestClient, settings: Settings) -> None:
        operation = begun(client)
        with Store(settings) as store, store.write() as session:
            operations.request_cancel(session, operation["id"])
        until(client, operation, "cancelled")

    def test_an_end_that_could_not_be_stored_is_stored_later(
        self, client: TestClient, held: threading.Event, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        operation = begun(client)
        report, failures = operations.report, iter([StoreBusy("in use")])

        def sometimes(session: Any, operation_id: str, found: Report, *rest: Any) -> Any:
            if found.state == "succeeded" and (error := next(failures, None)) is not None:
                raise error
            return report(session, operation_id, found, *rest)

        monkeypatch.setattr(operations, "report", sometimes)
        held.set()
        until(client, operation, "succeeded")


@pytest.mark.parametrize("operation_id", ["op_" + "0" * 32, "op_x", "pln_" + "0" * 32, "%00"])
@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("GET", "/events"), ("POST", "/cancel")])
def test_an_operation_that_never_was(api: TestClient, operation_id: str, method: str, path: str) -> None:
    answer = api.request(method, f"/v1/operations/{operation_id}{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "operation_not_found")


def test_a_report_changes_the_version_only_when_there_is_something_new(store: Store) -> None:
    first = Report(state="running", done=1, total=4)
    with store.write() as session:
        made = operations.create(session, "plan", "sha256:1", first)
        assert operations.report(session, made, first).version == 1
        assert operations.report(session, made, replace(first, done=2)).version == 2
        ended = operations.report(session, made, replace(first, state="succeeded", done=4, result="pln_1"))
        assert (ended.version, ended.finished_at is not None) == (3, True)
        assert operations.report(session, made, first) == ended
        assert operations.request_cancel(session, made) == ended
