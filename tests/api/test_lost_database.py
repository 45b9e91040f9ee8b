"""A database that is lost: what needs it is told to come back, what does not goes on, and all is well when it is back.

The faults are real: a server of our own is stopped and paused, connections are ended, a file is locked.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import URL, make_url, text
from starlette.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings
from service.store.errors import StoreSilent, StoreUnavailable
from service.store.migration import upgrade
from service.store.session import Store
from service.store.silence import PAUSE_SECONDS
from tests.api.questions import DEVICE, estimate, job, plan
from tests.api.serving import served
from tests.postgres_server import NoServer, PrivateServer, connect, give_up, private_server
from tests.stalling import Relay, relay

VERDICT = {"items": [{"job": job(), "targets": [{"device": DEVICE}]}]}


@dataclass(frozen=True)
class Deployment:
    """A service and the server that has its database."""

    server: PrivateServer
    address: str

    def request(self, method: str, path: str, **sent: object) -> httpx2.Response:
        return httpx2.request(method, f"{self.address}{path}", timeout=60, **sent)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def deployment(postgres: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    assert postgres, "asked for, so that where there is no PostgreSQL the reason is said once"
    folder = tmp_path_factory.mktemp("lost")
    try:
        with private_server() as server:
            url = server.url.render_as_string(hide_password=False)
            upgrade(Settings(database_url=url))
            with served(url, folder, busy_timeout_seconds="2") as address:
                yield Deployment(server, address)
    except NoServer as reason:
        give_up(reason)


def unavailable(answer: httpx2.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable"), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1


def answers_again(deployment: Deployment) -> float:
    """Seconds until the service is ready, without having been started again."""
    began = time.monotonic()
    while deployment.request("GET", "/readyz").status_code != 200:
        assert time.monotonic() - began < 20
        time.sleep(0.1)
    return time.monotonic() - began


class TestServer:
    """PostgreSQL."""

    def test_while_the_server_is_down_only_what_needs_it_is_refused(self, deployment: Deployment) -> None:
        made = deployment.request("POST", "/v1/plans", json=plan())
        path = made.headers["location"]
        deployment.server.stop()
        try:
            for _ in range(3):
                unavailable(deployment.request("GET", path))
                unavailable(deployment.request("POST", "/v1/plans", json=plan(labels={"lost": "yes"})))
                unavailable(deployment.request("GET", "/readyz"))
                assert deployment.request("GET", "/livez").status_code == 200
                assert deployment.request("POST", "/v1/estimates", json=estimate()).status_code == 200
                assert deployment.request("POST", "/v1/verdicts", json=VERDICT).status_code == 200
                assert deployment.request("GET", "/v1/devices").status_code == 200
                assert deployment.request("GET", "/metrics").status_code == 200
        finally:
            deployment.server.start()
        assert answers_again(deployment) < 10
        assert deployment.request("GET", path).json() == made.json()
        labels = deployment.request("GET", "/v1/plans?label=lost=yes").json()["items"]
        assert labels == []
        assert deployment.request("POST", "/v1/plans", json=plan(labels={"lost": "yes"})).status_code == 201

    def test_an_ended_connection_costs_no_answer(self, deployment: Deployment) -> None:
        for _ in range(3):
            assert deployment.request("GET", "/v1/plans").status_code == 200
            with connect(deployment.server.url) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = 'memplan'"
                )
            assert deployment.request("GET", "/v1/plans").status_code == 200

    def test_a_paused_server_keeps_waiting_only_those_who_need_it(self, deployment: Deployment) -> None:
        found: list[int] = []
        waiting = threading.Thread(target=lambda: found.append(deployment.request("GET", "/v1/plans").status_code))
        with deployment.server.paused():
            waiting.start()
            for _ in range(5):
                assert (
                    deployment.request("POST", "/v1/verdicts?timeout=5s", json=VERDICT).json()["results"][0]["verdict"]
                    == "fits"
                )
                time.sleep(0.2)
            assert found == []
        waiting.join()
        assert found == [200]
        assert answers_again(deployment) < 10


class TestSilence:
    """A server that hangs: its connections stay open, and nothing comes back."""

    @pytest.fixture
    def between(self, postgres_url: str) -> Iterator[tuple[TestClient, Relay]]:
        """A service with two connections through a relay, which give up after 2.5 s."""
        url = make_url(postgres_url)
        with relay(url.host or "127.0.0.1", url.port or 5432) as found:
            through = url.set(host="127.0.0.1", port=found.own_port).render_as_string(hide_password=False)
            settings = Settings(
                database_url=through, thread_limit=2, statement_timeout_seconds=0.5, busy_timeout_seconds=1
            )
            with TestClient(create_app(settings)) as client:
                yield client, found

    def test_everybody_is_answered_though_nobody_can_be_served(self, between: tuple[TestClient, Relay]) -> None:
        client, server = between
        assert client.get("/v1/plans").status_code == 200
        with ThreadPoolExecutor(30) as threads:
            with server.stalled():
                began = time.monotonic()
                asked = [threads.submit(client.get, "/v1/plans") for _ in range(30)]
                for path, body in (("/v1/verdicts", VERDICT), ("/v1/estimates", estimate())):
                    assert client.post(path, json=body).status_code == 200
                for each in asked:
                    unavailable(each.result())
                # Two at a time wait 2.5 s for an answer; all in turn would take half a minute.
                assert time.monotonic() - began < 15
                unavailable(client.post("/v1/plans", json=plan()))
            while client.get("/readyz").status_code != 200:
                assert time.monotonic() - began < 30
                time.sleep(0.1)
        assert client.post("/v1/plans", json=plan()).status_code == 201
        assert len(client.get("/v1/plans").json()["items"]) == 1

    def test_a_commit_without_an_answer_acknowledges_nothing(self, postgres_url: str) -> None:
        url = make_url(postgres_url)
        with relay(url.host or "127.0.0.1", url.port or 5432) as server:
            through = url.set(host="127.0.0.1", port=server.own_port).render_as_string(hide_password=False)
            settings = Settings(database_url=through, statement_timeout_seconds=0.5, busy_timeout_seconds=1)
            with Store(settings) as store:
                with pytest.raises(StoreSilent):
                    store_nothing(store, server)
                began = time.monotonic()
                with pytest.raises(StoreUnavailable, match="not answered lately"), store.read():
                    pass
                assert time.monotonic() - began < 0.5
                server.flows.set()
                time.sleep(PAUSE_SECONDS)
                store.ping()


def store_nothing(store: Store, server: Relay) -> None:
    """A transaction during which the server begins to hang."""
    with store.write() as session:
        session.execute(text("SELECT 1"))
        server.flows.clear()


class TestFile:
    """SQLite."""

    def test_while_another_program_holds_the_file_nothing_is_stored_and_all_can_be_read(self, sqlite_url: str) -> None:
        settings = Settings(database_url=sqlite_url, busy_timeout_seconds=0.3)
        with (
            TestClient(create_app(settings)) as client,
            closing(sqlite3.connect(str(make_url(sqlite_url).database), isolation_level=None)) as other,
        ):
            path = client.post("/v1/plans", json=plan()).headers["location"]
            other.execute("BEGIN IMMEDIATE")
            refused = client.post("/v1/plans", json=plan(labels={"second": "yes"}))
            assert (refused.status_code, refused.json()["code"]) == (503, "store_busy")
            assert int(refused.headers["retry-after"]) >= 1
            assert client.get(path).status_code == 200
            assert client.delete(path).json()["code"] == "store_busy"
            assert client.post("/v1/estimates", json=estimate()).status_code == 200
            other.execute("ROLLBACK")
            assert client.post("/v1/plans", json=plan(labels={"second": "yes"})).status_code == 201
            assert len(client.get("/v1/plans").json()["items"]) == 2

    def test_a_file_that_is_no_database_any_more_is_reported_until_it_is_one_again(self, sqlite_url: str) -> None:
        path = Path(str(make_url(sqlite_url).database))
        kept = path.read_bytes()
        with TestClient(create_app(Settings(database_url=sqlite_url))) as client:
            client.app.state.services.store.close()  # type: ignore[attr-defined]
            for each in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                each.unlink(missing_ok=True)
            path.write_text("not a database, but a text of some length\n" * 50)
            refused = client.get("/v1/plans")
            assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
            path.write_bytes(kept)
            assert client.get("/v1/plans").status_code == 200
