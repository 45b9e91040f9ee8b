"""The log of a real service: which request, which plan, whose token, and no secret."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import make_url

from service.settings import Settings
from service.store.session import Store
from service.usecases.tokens import Issued, issue
from tests.api.questions import estimate, plan, script
from tests.api.serving import served

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
FORGOTTEN = "battery-staple"


@dataclass(frozen=True)
class Service:
    address: str
    log: Path
    token: Issued
    password: str

    def request(self, method: str, path: str, request_id: str, **sent: Any) -> httpx2.Response:
        headers = {
            "Authorization": f"Bearer {self.token.secret}",
            "X-Request-Id": request_id,
            "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
        }
        return httpx2.request(method, f"{self.address}{path}", headers=headers, timeout=60, **sent)

    def lines(self, request_id: str, event: str = "request") -> list[dict[str, Any]]:
        """What the log says of a request; the last line is written when the answer has gone."""
        until = time.monotonic() + 10
        while True:
            whole = self.log.read_text().split("\n")[:-1]
            found = [each for each in map(json.loads, whole) if each.get("request_id") == request_id]
            found = [each for each in found if each["event"] == event]
            if found or time.monotonic() > until:
                return found
            time.sleep(0.05)


@pytest.fixture(scope="module")
def service(shared_postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("log")
    with Store(Settings(database_url=shared_postgres_url)) as store:
        token = issue(store, "slurm", ["admin"])
    url = make_url(shared_postgres_url)
    # A server that asks for no password takes any.
    password = str(url.password or "correct-horse")
    text = url.set(password=password).render_as_string(hide_password=False)
    with served(text, folder, access="tokens", log_level="DEBUG") as address:
        yield Service(address, folder / "serve.log", token, password)


def test_a_request_is_one_line_with_its_ids_and_the_token_that_asked(service: Service) -> None:
    service.request("GET", "/v1/plans?limit=1", "list-1")
    (line,) = service.lines("list-1")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/v1/plans", 200)
    assert (line["trace_id"], line["token"]) == (TRACE, service.token.token.id)
    assert line["milliseconds"] > 0
    assert line["timestamp"].endswith("Z")


def test_a_plan_is_named_when_it_is_made_and_when_it_is_read(service: Service) -> None:
    made = service.request("POST", "/v1/plans", "make-1", json=plan()).json()
    (line,) = service.lines("make-1")
    assert (line["plan"], line["status"]) == (made["id"], 201)
    service.request("GET", f"/v1/plans/{made['id']}", "read-1")
    assert service.lines("read-1")[0]["plan"] == made["id"]


def test_the_search_names_the_request_that_began_it(service: Service) -> None:
    question = plan(labels={"name": "followed"})
    begun = service.request("POST", "/v1/plans?wait=0", "follow-1", json=question).json()
    (line,) = service.lines("follow-1", "plan made")
    assert line["plan"].startswith("pln_")
    assert line["trace_id"] == TRACE
    assert service.lines("follow-1")[0]["operation"] == begun["id"]


def test_a_failure_is_logged_with_the_request_and_without_what_was_sent(service: Service) -> None:
    service.request("GET", "/v1/plans/pln_0", "missing-1")
    assert service.lines("missing-1")[0]["status"] == 404


def test_nothing_secret_is_in_the_log(service: Service) -> None:
    source = {**script(), "env": {"WANDB_API_KEY": FORGOTTEN, "TP": "2"}}
    for number, (path, body) in enumerate(
        [
            ("/v1/estimates", {"source": source, "device": "h100-sxm-80gb"}),
            ("/v1/imports", {"source": {**source, "text": f"export HF_TOKEN={FORGOTTEN}\n{source['text']}"}}),
            ("/v1/plans", {"source": source, "cluster": {"device": "nothing", "world_size": 8}}),
            ("/v1/verdicts", {"items": [{"source": source, "targets": [{"device": FORGOTTEN}]}]}),
            ("/v1/estimates", {**estimate(), "env": FORGOTTEN}),
        ]
    ):
        service.request("POST", path, f"secret-{number}", json=body)
        assert service.lines(f"secret-{number}")
    guess = "memplan_" + "0" * 72
    httpx2.get(f"{service.address}/v1/plans", headers={"Authorization": f"Bearer {guess}", "X-Request-Id": "guess-1"})
    assert service.lines("guess-1")
    text = service.log.read_text()
    for secret in (service.token.secret, service.token.token.sha256, service.password, FORGOTTEN, guess):
        assert secret not in text
