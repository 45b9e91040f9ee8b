"""How often, and how many at a time, a caller may ask: each token for itself, and an address without one."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api import quotas
from service.api.app import create_app
from service.api.quotas import Quotas
from service.settings import GUARDED, Limits, Settings
from service.usecases import tokens
from tests.api.questions import open_job, plan
from tests.api.test_access import bearer

Serve = Callable[..., TestClient]


@pytest.fixture
def serve(sqlite_url: str) -> Iterator[Serve]:
    """A client of a service with these settings."""
    with ExitStack() as stack:

        def opened(**given: Any) -> TestClient:
            return stack.enter_context(TestClient(create_app(Settings(database_url=sqlite_url, **given))))

        yield opened


def limited(client: TestClient, code: str, headers: dict[str, str] | None = None, **sent: Any) -> Any:
    """The answer to a request that must be refused for now."""
    answer = client.request(sent.pop("method", "GET"), sent.pop("path", "/v1/models"), headers=headers, **sent)
    assert (answer.status_code, answer.json()["code"]) == (429, code), answer.text
    assert int(answer.headers["retry-after"]) >= 1
    return answer


class TestRate:
    """How often."""

    def test_who_asks_too_often_is_told_when_to_come_back(self, serve: Serve) -> None:
        client = serve(rate_limit="3/minute")
        for left in (2, 1, 0):
            answer = client.get("/v1/models")
            assert answer.status_code == 200
            assert answer.headers["ratelimit-policy"] == '"caller";q=3;w=60'
            assert answer.headers["ratelimit"].startswith(f'"caller";r={left};t=')
        refused = limited(client, "rate_limited")
        assert 55 <= int(refused.headers["retry-after"]) <= 60
        assert refused.headers["ratelimit"].startswith('"caller";r=0;t=')

    def test_a_second_later_there_is_room_again(self, serve: Serve) -> None:
        client = serve(rate_limit="1/second")
        assert client.get("/v1/models").status_code == 200
        wait = int(limited(client, "rate_limited").headers["retry-after"])
        threading.Event().wait(wait)
        assert client.get("/v1/models").status_code == 200

    def test_each_token_and_each_address_counts_for_itself(self, serve: Serve) -> None:
        client = serve(rate_limit="1/hour")
        for _ in range(2):
            headers = bearer(client, "admin")
            assert client.get("/v1/models", headers=headers).status_code == 200
            limited(client, "rate_limited", headers)
        assert client.get("/v1/models").status_code == 200
        limited(client, "rate_limited")

    def test_a_refusal_that_the_caller_could_have_foreseen_counts(self, serve: Serve) -> None:
        client = serve(rate_limit="1/hour")
        headers = bearer(client, "observe:write")
        assert client.get("/v1/models", headers=headers).status_code == 403
        limited(client, "rate_limited", headers)

    def test_health_and_documentation_are_not_counted(self, serve: Serve) -> None:
        client = serve(rate_limit="1/hour")
        for path in ("/livez", "/readyz", "/openapi.json", "/docs") * 2:
            answer = client.get(path)
            assert answer.status_code == 200
            assert "ratelimit" not in answer.headers

    def test_who_guesses_tokens_is_stopped_but_not_those_who_are_known(self, serve: Serve) -> None:
        client = serve(access="tokens", rate_limit="off")
        known, later = bearer(client, "admin"), bearer(client, "admin")
        assert client.get("/v1/models", headers=known).status_code == 200
        for _ in range(quotas._FAILURES.amount):
            guess = {"Authorization": f"Bearer {tokens._new_secret()}"}
            assert client.get("/v1/models", headers=guess).status_code == 401
        limited(client, "rate_limited", {"Authorization": f"Bearer {tokens._new_secret()}"})
        assert client.get("/v1/models", headers=known).status_code == 200
        limited(client, "rate_limited", later)

    def test_tries_are_counted_apart_from_requests_of_the_same_rate(self, serve: Serve) -> None:
        client = serve(rate_limit=str(quotas._FAILURES.amount) + "/minute")
        for _ in range(quotas._FAILURES.amount):
            assert client.get("/v1/models").status_code == 200
        limited(client, "rate_limited")
        guess = {"Authorization": f"Bearer {tokens._new_secret()}"}
        assert client.get("/v1/models", headers=guess).status_code == 401


class TestAtOnce:
    """How many at a time."""

    def test_more_than_so_many_are_refused_until_one_is_answered(self) -> None:
        served = Quotas(Limits(rate=None, requests=2, searches=None))
        places = [served.occupied("one") for _ in range(2)]
        for each in places:
            each.__enter__()
        with pytest.raises(quotas.ProblemError, match="2 requests of this caller"):
            served.occupied("one").__enter__()
        enter_and_leave(served.occupied("another"))
        places[0].__exit__(None, None, None)
        enter_and_leave(served.occupied("one"))

    def test_an_open_stream_counts_until_it_is_closed(self, serve: Serve) -> None:
        client = serve(caller_requests=1)
        begun = client.post("/v1/plans?wait=0", json=slow(0)).json()
        seen: list[int] = []

        def ask_meanwhile() -> None:
            seen.append(limited(client, "too_many_at_once").status_code)
            stop(client)

        meanwhile = threading.Timer(0.5, ask_meanwhile)
        meanwhile.start()
        # The stream ends with the search, which the other thread ends.
        assert client.get(f"/v1/operations/{begun['id']}/events").status_code == 200
        meanwhile.join()
        assert seen == [429]
        assert client.get("/v1/models").status_code == 200


class TestSearches:
    """How many searches."""

    def test_one_caller_cannot_fill_the_queue(self, serve: Serve) -> None:
        client = serve(caller_searches=2, search_concurrency=1)
        begun = [client.post("/v1/plans?wait=0", json=slow(number)) for number in range(2)]
        assert [each.status_code for each in begun] == [202, 202]
        limited(client, "too_many_searches", method="POST", path="/v1/plans?wait=0", json=slow(2))
        # Another caller may, and so may who joins a search that runs.
        other = bearer(client, "plan:write")
        assert client.post("/v1/plans?wait=0", json=slow(2), headers=other).status_code == 202
        assert client.post("/v1/plans?wait=0", json=slow(1)).status_code == 202
        assert client.post(f"{begun[1].headers['location']}/cancel").status_code == 200
        assert client.post("/v1/plans?wait=0", json=slow(3)).status_code == 202


class TestSettings:
    """What applies where."""

    def test_where_tokens_are_needed_callers_are_limited(self) -> None:
        assert Settings(access="tokens").limits == GUARDED
        assert Settings().limits == Limits(None, None, None)

    def test_what_is_set_counts_everywhere(self) -> None:
        given: dict[str, Any] = {"rate_limit": "9/minute", "caller_requests": 4, "caller_searches": "off"}
        for access in ("tokens", "open"):
            assert Settings(access=access, **given).limits == Limits("9/minute", 4, None)

    @pytest.mark.parametrize(
        "given",
        [
            *({"rate_limit": text} for text in ("100", "0/second", "1/day", "100/second;1/minute", "-1/second", "")),
            {"caller_requests": 0},
            {"caller_searches": "many"},
        ],
    )
    def test_what_is_no_limit_is_refused(self, given: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(given))):
            Settings(**given)

    def test_the_environment_sets_a_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MEMPLAN_CALLER_REQUESTS", "12")
        assert Settings().limits.requests == 12


def slow(number: int) -> dict[str, Any]:
    """A question whose search takes long, another for each number."""
    return plan(
        job=open_job(model={"preset": "gpt-3-175b"}, batch={"global": 1536, "sequence_length": 2048}),
        cluster={"world_size": 512},
        search={"context": "any", "micro": "any", "virtual_pipeline": "any", "checkpointing": "any"},
        labels={"number": str(number)},
    )


def stop(client: TestClient) -> None:
    """End the searches of a service without asking it."""
    queue = client.app.state.services.searches  # type: ignore[attr-defined]
    for each in list(queue._tasks.values()):
        each.stop.set()


def enter_and_leave(place: AbstractContextManager[None]) -> None:
    with place:
        pass
