"""The header Idempotency-Key: a repeated request makes nothing twice and gets its first answer. On both databases."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import httpx2
import pytest
from sqlalchemy import text
from sqlalchemy.orm import SessionTransaction
from starlette.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings
from service.store import keys
from service.store.keys import Name
from service.store.session import Store
from service.usecases import plans
from tests.api.questions import open_job, plan

KEY = {"Idempotency-Key": "slurm-job-4711"}


def posted(client: TestClient, question: Any = None, query: str = "", **headers: str) -> httpx2.Response:
    return client.post(f"/v1/plans{query}", json=question or plan(), headers={**KEY, **headers})


def rows(settings: Settings) -> int:
    with Store(settings) as store, store.read() as session:
        return int(session.execute(text("SELECT count(*) FROM idempotency_keys")).scalar_one())


def test_a_repeated_request_gets_its_first_answer(client: TestClient) -> None:
    first, again = posted(client), posted(client)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["location"] == first.headers["location"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(client.get("/v1/plans").json()["items"]) == 1


def test_a_question_that_was_answered_before_the_key_is_found(client: TestClient) -> None:
    client.post("/v1/plans", json=plan())
    assert [posted(client).status_code for _ in range(2)] == [200, 200]


def test_another_body_under_the_same_key_is_refused(client: TestClient) -> None:
    posted(client)
    refused = posted(client, plan(labels={"team": "nlp"}))
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    assert refused.json()["errors"][0]["location"] == "header"


def test_a_request_that_is_worked_on_is_not_begun_again(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    released, begun, run = threading.Event(), threading.Event(), plans.run

    def slow(*asked: Any) -> Any:
        begun.set()
        released.wait(20)
        return run(*asked)

    monkeypatch.setattr(plans, "run", slow)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(posted, client)
        assert begun.wait(20)
        meanwhile = posted(client)
        released.set()
        assert first.result().status_code == 201
    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "idempotency_key_in_use")
    assert int(meanwhile.headers["retry-after"]) > 0
    assert posted(client).content == first.result().content


def test_a_search_that_takes_longer_is_the_same_operation(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    released, run = threading.Event(), plans.run

    def slow(*asked: Any) -> Any:
        released.wait(20)
        return run(*asked)

    monkeypatch.setattr(plans, "run", slow)
    first, again = posted(client, query="?wait=0"), posted(client, query="?wait=0")
    released.set()
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotency-replayed"] == "true"


def test_a_request_that_was_refused_gives_its_key_back(client: TestClient, settings: Settings) -> None:
    assert posted(client, plan(job=open_job(batch={"global": None}))).status_code == 422
    assert posted(client, {"job": {}}).status_code == 422
    assert rows(settings) == 0
    assert posted(client).status_code == 201


def test_a_plan_and_its_key_are_stored_together_or_not_at_all(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = keys.settle

    def fail(session: Any, *end: Any) -> None:
        settle(session, *end)
        raise OSError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(keys, "settle", fail)
        assert posted(client).status_code == 500
    assert client.get("/v1/plans").json()["items"] == []
    assert rows(settings) == 0
    assert posted(client).status_code == 201


def test_a_commit_that_fails_gives_the_key_back(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = SessionTransaction.commit

    def fail_with_plans(transaction: SessionTransaction, *rest: Any) -> None:
        if any(type(each).__name__ == "PlanRow" for each in transaction.session.identity_map.values()):
            raise OSError("the disk is gone")
        commit(transaction, *rest)

    with monkeypatch.context() as broken:
        broken.setattr(SessionTransaction, "commit", fail_with_plans)
        assert posted(client).status_code == 500
    assert posted(client).status_code == 201


def test_a_removed_plan_is_not_made_again_by_its_key(client: TestClient) -> None:
    client.delete(posted(client).headers["location"])
    assert posted(client).json()["code"] == "plan_not_found"


@pytest.mark.parametrize("key", ["x" * 256, "\u00e9"])
def test_a_key_of_another_form_is_refused(api: TestClient, key: str) -> None:
    answer = api.post("/v1/plans", json=plan(), headers={"Idempotency-Key": key.encode()})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["location"] == "header"


def test_a_killed_process_leaves_no_key_behind(settings: Settings) -> None:
    """At once where there is one process; else when the claim has expired."""
    now = datetime.now(UTC)
    body = httpx2.Request("POST", "http://localhost/", json=plan()).content
    name = Name("", "POST /v1/plans", KEY["Idempotency-Key"])
    is_sqlite = settings.database_url.startswith("sqlite")
    expires = now + timedelta(minutes=1) if is_sqlite else now - timedelta(seconds=1)
    with Store(settings) as store, store.write() as session:
        keys.claim(session, name, sha256(body).hexdigest(), now, expires)
    with TestClient(create_app(settings)) as client:
        assert posted(client).status_code == 201


def test_keys_are_forgotten_after_a_day(client: TestClient, settings: Settings) -> None:
    old = datetime.now(UTC) - timedelta(hours=25)
    with Store(settings) as store, store.write() as session:
        keys.claim(session, Name("", "POST /v1/plans", "old"), "sha256:1", old, old)
    posted(client)
    assert rows(settings) == 1


def test_many_at_once_with_one_key_make_one_plan(client: TestClient) -> None:
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: posted(client), range(12)))
    assert {each.status_code for each in answers} <= {201, 409}
    assert len({each.headers["location"] for each in answers if each.status_code == 201}) == 1
    assert len(client.get("/v1/plans").json()["items"]) == 1
