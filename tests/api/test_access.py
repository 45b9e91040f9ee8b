"""Who may ask what: bearer tokens with scopes, where they are needed, and what those get who have none."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from service.api.access import requires
from service.api.app import create_app
from service.api.bodies import StrictRoute
from service.settings import Settings
from service.store.errors import StoreUnavailable
from service.store.session import Store
from service.usecases import tokens
from service.usecases.scopes import SCOPES, Scope
from tests.api.questions import DEVICE, job, plan
from tests.api.test_openapi import OPERATIONS, PUBLIC

NEEDED: dict[str, Scope] = {
    **dict.fromkeys(("create_estimate", "create_verdicts", "create_import"), "verdict:read"),
    **dict.fromkeys(("list_devices", "get_device", "list_models"), "verdict:read"),
    **dict.fromkeys(("list_plans", "get_plan", "export_plan", "list_comparisons", "get_comparison"), "plan:read"),
    **dict.fromkeys(("get_operation", "follow_operation"), "plan:read"),
    **dict.fromkeys(("list_observations", "get_observation", "list_calibrations"), "plan:read"),
    **dict.fromkeys(("list_policies", "get_policy", "list_refusals", "get_policy_summary"), "plan:read"),
    **dict.fromkeys(("create_plan", "keep_plan", "delete_plan", "create_comparison", "cancel_operation"), "plan:write"),
    **dict.fromkeys(("create_observation", "delete_observation"), "observe:write"),
    **dict.fromkeys(("put_device", "delete_device", "put_policy", "delete_policy"), "admin"),
}
VERDICT = {"items": [{"job": job(), "targets": [{"device": DEVICE}]}]}


@pytest.fixture
def guarded(settings: Settings) -> Iterator[TestClient]:
    """A client of a service that needs tokens; the test runs once on each kind of database."""
    with TestClient(create_app(settings.model_copy(update={"access": "tokens"}))) as opened:
        yield opened


def store_of(client: TestClient) -> Store:
    found: Store = client.app.state.services.store  # type: ignore[attr-defined]
    return found


def bearer(client: TestClient, *scopes: Scope, lifetime: timedelta | None = None) -> dict[str, str]:
    """The header of a new token with these scopes."""
    return {"Authorization": f"Bearer {tokens.issue(store_of(client), 'test', scopes, lifetime).secret}"}


def refused(client: TestClient, status: int, headers: dict[str, str], path: str = "/v1/plans") -> tuple[str, str]:
    """The code of a refusal and its challenge."""
    answer = client.get(path, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    return answer.json()["code"], answer.headers["www-authenticate"]


class TestNeeded:
    """Where tokens are needed."""

    def test_a_token_with_the_scope_lets_in(self, guarded: TestClient) -> None:
        assert guarded.get("/v1/plans", headers=bearer(guarded, "plan:read")).status_code == 200

    def test_without_a_token_the_answer_is_401_and_names_the_scope(self, guarded: TestClient) -> None:
        code, challenge = refused(guarded, 401, {})
        assert code == "authentication_required"
        assert challenge == 'Bearer realm="memplan", scope="plan:read"'

    @pytest.mark.parametrize("credentials", ["Basic dXNlcjpwYXNz", "Bearer", "Bearer  ", "memplan_0", "Bearer a b", ""])
    def test_what_is_no_bearer_token_counts_as_none(self, guarded: TestClient, credentials: str) -> None:
        assert refused(guarded, 401, {"Authorization": credentials})[0] == "authentication_required"

    def test_a_token_that_never_was_is_invalid(self, guarded: TestClient) -> None:
        known = bearer(guarded, "admin")["Authorization"]
        other = tokens._new_secret()
        for wrong in ("Bearer x", known[:-1], known + "0", known.replace("memplan_", "memplan-"), f"Bearer {other}"):
            code, challenge = refused(guarded, 401, {"Authorization": wrong})
            assert code == "invalid_token"
            assert 'error="invalid_token"' in challenge

    def test_another_scope_is_not_enough_and_the_one_that_is_needed_is_named(self, guarded: TestClient) -> None:
        code, challenge = refused(guarded, 403, bearer(guarded, "verdict:read", "plan:write", "observe:write"))
        assert code == "insufficient_scope"
        assert challenge == 'Bearer realm="memplan", error="insufficient_scope", scope="plan:read"'

    def test_admin_may_do_everything(self, guarded: TestClient) -> None:
        headers = bearer(guarded, "admin")
        assert guarded.post("/v1/verdicts", json=VERDICT, headers=headers).status_code == 200
        made = guarded.post("/v1/plans", json=plan(), headers=headers)
        assert made.status_code == 201
        assert guarded.get(made.headers["location"], headers=headers).status_code == 200

    def test_a_remembered_answer_is_for_those_who_may_ask_only(self, guarded: TestClient) -> None:
        asked: dict[str, Any] = {"json": VERDICT}
        assert guarded.post("/v1/verdicts", **asked, headers=bearer(guarded, "verdict:read")).status_code == 200
        assert guarded.post("/v1/verdicts", **asked).status_code == 401
        assert guarded.post("/v1/verdicts", **asked, headers=bearer(guarded, "plan:read")).status_code == 403

    def test_a_refused_body_is_not_read(self, guarded: TestClient) -> None:
        answer = guarded.post("/v1/estimates", content=b"{" * 10, headers={"content-type": "text/plain"})
        assert answer.status_code == 401

    @pytest.mark.parametrize("path", ["/livez", "/readyz", "/docs", "/docs/errors", "/openapi.json"])
    def test_health_and_documentation_are_public(self, guarded: TestClient, path: str) -> None:
        assert guarded.get(path).status_code == 200

    def test_a_wrong_method_and_a_wrong_path_are_told_before_a_token_is_asked_for(self, guarded: TestClient) -> None:
        assert guarded.put("/v1/plans").status_code == 405
        assert guarded.get("/v1/nothing").status_code == 404

    def test_a_key_is_the_callers_own(self, guarded: TestClient) -> None:
        key = {"Idempotency-Key": "nightly"}
        first, second = bearer(guarded, "plan:write"), bearer(guarded, "plan:write")
        assert guarded.post("/v1/plans", json=plan(), headers=key | first).status_code == 201
        again = guarded.post("/v1/plans", json=plan(), headers=key | first)
        assert again.headers["idempotency-replayed"] == "true"
        # With another body it would be refused if the key were the same one.
        other = guarded.post("/v1/plans", json=plan(labels={"a": "b"}), headers=key | second)
        assert other.status_code == 201


class TestLifetime:
    """A token from the moment that it is made to its end."""

    def test_an_expired_token_is_invalid_at_once(self, guarded: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        headers = bearer(guarded, "plan:read", lifetime=timedelta(hours=1))
        assert guarded.get("/v1/plans", headers=headers).status_code == 200
        later(monkeypatch, timedelta(hours=1))
        assert refused(guarded, 401, headers)[0] == "invalid_token"

    def test_a_revoked_token_opens_nothing_after_ten_seconds(
        self, guarded: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        headers = bearer(guarded, "plan:read")
        assert guarded.get("/v1/plans", headers=headers).status_code == 200
        tokens.revoke_token(store_of(guarded), "test")
        later(monkeypatch, timedelta(seconds=11))
        assert refused(guarded, 401, headers)[0] == "invalid_token"

    def test_a_repeated_request_asks_the_database_for_its_token_once(self, guarded: TestClient) -> None:
        headers = bearer(guarded, "verdict:read")
        statements: list[str] = []
        store = store_of(guarded)
        event.listen(store._engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
        for _ in range(20):
            assert guarded.post("/v1/verdicts", json=VERDICT, headers=headers).status_code == 200
        assert sum("FROM tokens" in each for each in statements) == 1

    def test_while_the_database_is_away_a_known_token_is_taken_for_five_minutes(
        self, guarded: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        headers = bearer(guarded, "verdict:read")
        assert guarded.post("/v1/verdicts", json=VERDICT, headers=headers).status_code == 200
        unknown = bearer(guarded, "verdict:read")
        break_store(monkeypatch)
        later(monkeypatch, timedelta(minutes=4))
        assert guarded.post("/v1/verdicts", json=VERDICT, headers=headers).status_code == 200
        assert guarded.post("/v1/verdicts", json=VERDICT, headers=unknown).json()["code"] == "store_unavailable"
        later(monkeypatch, timedelta(minutes=6))
        answer = guarded.post("/v1/verdicts", json=VERDICT, headers=headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")

    def test_the_last_use_is_stored_when_the_service_stops_at_the_latest(self, settings: Settings) -> None:
        with TestClient(create_app(settings.model_copy(update={"access": "tokens"}))) as client:
            headers = bearer(client, "plan:read")
            client.get("/v1/plans", headers=headers)
        with Store(settings) as store:
            (token,) = tokens.list_tokens(store)
        assert token.last_used_at is not None
        assert datetime.now(UTC) - token.last_used_at < timedelta(minutes=1)

    def test_of_the_secret_only_the_first_characters_and_the_digest_are_stored(self, store: Store) -> None:
        issued = tokens.issue(store, "slurm", ["plan:read", "verdict:read"])
        assert issued.token.scopes == ("verdict:read", "plan:read")
        assert issued.secret not in repr(tokens.list_tokens(store))
        assert issued.token.hint == issued.secret[:14]
        assert len(bytes.fromhex(issued.secret[8:72])) == 32
        assert tokens.issue(store, "slurm", ["admin"]).secret != issued.secret


class TestOpen:
    """On a loopback address nobody needs a token."""

    def test_nobody_needs_a_token(self, client: TestClient) -> None:
        assert client.get("/v1/plans").status_code == 200

    def test_a_token_that_is_sent_is_looked_at_all_the_same(self, client: TestClient) -> None:
        assert refused(client, 401, {"Authorization": "Bearer wrong"})[0] == "invalid_token"
        assert refused(client, 403, bearer(client, "verdict:read"))[0] == "insufficient_scope"
        assert client.get("/v1/plans", headers=bearer(client, "plan:read")).status_code == 200

    @pytest.mark.parametrize(
        ("host", "access", "needed"),
        [
            ("127.0.0.1", "auto", False),
            ("127.8.8.8", "auto", False),
            ("::1", "auto", False),
            ("localhost", "auto", False),
            ("0.0.0.0", "auto", True),  # noqa: S104 - nothing listens
            ("::", "auto", True),
            ("10.0.0.7", "auto", True),
            ("memplan.example.org", "auto", True),
            ("10.0.0.7", "open", False),
            ("127.0.0.1", "tokens", True),
        ],
    )
    def test_tokens_are_needed_beyond_this_machine(self, host: str, access: Any, needed: bool) -> None:
        assert Settings(host=host, access=access).needs_tokens is needed


class TestDeclared:
    """No route is forgotten."""

    @pytest.mark.parametrize("dependencies", [[], [requires("plan:read"), requires("plan:write")]])
    def test_a_route_that_does_not_declare_one_scope_cannot_be_made(self, dependencies: list[Any]) -> None:
        with pytest.raises(TypeError, match=r"GET /things must declare one scope"):
            StrictRoute("/things", lambda: None, methods=["GET"], dependencies=dependencies)

    def test_every_operation_is_listed_below(self) -> None:
        assert NEEDED.keys() == OPERATIONS.keys() - PUBLIC

    @pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - PUBLIC))
    def test_every_scope_lets_in_where_it_should_and_nowhere_else(self, some: TestClient, operation: str) -> None:
        method, template = OPERATIONS[operation].split()
        path, scope = re.sub(r"{\w+}", "none", template), NEEDED[operation]
        others = [each for each in SCOPES if each not in {scope, "admin"}]
        assert some.request(method, path, headers=bearer(some, scope)).status_code not in {401, 403}
        assert some.request(method, path, headers=bearer(some, *others)).status_code == 403
        assert some.request(method, path).status_code == 401


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of one service that needs tokens, for all tests that store nothing else."""
    path = tmp_path_factory.mktemp("access") / "memplan.db"
    with TestClient(create_app(Settings(database_url=f"sqlite:///{path}", access="tokens"))) as opened:
        yield opened


def later(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Let the keyring's clock be ahead."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + by

    monkeypatch.setattr(tokens, "datetime", Ahead)


def break_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the database refuse every reading."""

    def unavailable(_: Store) -> None:
        raise StoreUnavailable("the database is not available: gone")

    monkeypatch.setattr(Store, "read", unavailable)
