"""What a browser is told about an answer, and which pages of other sites may read it: none, unless told."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings
from service.usecases import models

ORIGIN = "https://cluster.example.org"


@pytest.fixture
def page(sqlite_url: str) -> Iterator[TestClient]:
    """A client of a service that pages of one origin may call."""
    settings = Settings(database_url=sqlite_url, cors_origins=[ORIGIN])
    with TestClient(create_app(settings)) as opened:
        yield opened


@pytest.mark.parametrize(
    "path", ["/livez", "/v1/models", "/v1/plans/pln_0", "/docs", "/docs/assets/docs.js", "/nowhere"]
)
def test_no_answer_is_sniffed_framed_or_told_to_others(api: TestClient, path: str) -> None:
    headers = api.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert len(headers.get_list("content-security-policy")) == 1
    assert "access-control-allow-origin" not in headers


def test_an_answer_is_no_page(api: TestClient) -> None:
    assert api.get("/v1/models").headers["content-security-policy"].startswith("default-src 'none';")


def test_an_answer_to_a_failure_has_them_too(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "list_models", lambda: 1 / 0)
    answer = api.get("/v1/models")
    assert answer.status_code == 500
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_browser_is_kept_to_tls_only_where_there_is_tls(api: TestClient) -> None:
    assert "strict-transport-security" not in api.get("/livez").headers
    behind = TestClient(api.app, base_url="https://testserver")
    assert behind.get("/livez").headers["strict-transport-security"] == "max-age=31536000"


def test_another_sites_page_may_ask_nothing(api: TestClient) -> None:
    preflight = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    assert api.options("/v1/plans", headers=preflight).status_code == 405
    assert "access-control-allow-origin" not in api.get("/v1/plans", headers={"Origin": ORIGIN}).headers


def test_the_pages_that_the_operator_names_may(page: TestClient) -> None:
    preflight = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization, if-match",
    }
    allowed = page.options("/v1/plans/pln_0", headers=preflight)
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, ORIGIN)
    answer = page.get("/v1/plans", headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "ETag" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers


def test_other_pages_still_may_not(page: TestClient) -> None:
    answer = page.get("/v1/plans", headers={"Origin": "https://elsewhere.example.org"})
    assert "access-control-allow-origin" not in answer.headers
