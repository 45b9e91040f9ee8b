"""What the client does when the service does not answer as it should; the answers are made up."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from client_jobs import DEVICE, JOB
from memplan_client import AsyncClient, Client, Retries, errors
from memplan_client.retries import retry_after

AT_ONCE = Retries(times=3, first_pause=0)


def problem(code: str, status: int, headers: dict[str, str] | None = None) -> httpx.Response:
    body = {"type": f"/docs/errors#{code}", "title": "title", "status": status, "detail": "detail", "code": code}
    sent = {"Content-Type": "application/problem+json", **(headers or {})}
    return httpx.Response(status, content=json.dumps(body), headers=sent)


def page(status: int) -> httpx.Response:
    return httpx.Response(status, html="<h1>Bad gateway</h1>")


DEVICES = {"items": []}


class Service:
    """Gives the answers one after the other, the last one for good, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        # A response can be read once.
        return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)

    def client(self, **options: Any) -> Client:
        given = {"retries": AT_ONCE, **options}
        return Client("http://memplan.test", transport=httpx.MockTransport(self), **given)


@pytest.mark.parametrize(
    "failure",
    [
        problem("store_busy", 503, {"Retry-After": "0"}),
        problem("rate_limited", 429),
        page(502),
        page(504),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("too long"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else str(each.status_code),
)
def test_a_request_is_sent_again_when_the_service_cannot_answer_now(failure: httpx.Response | Exception) -> None:
    service = Service(failure, failure, httpx.Response(200, json=DEVICES))
    assert service.client().devices() == []
    assert len(service.requests) == 3


def test_the_last_failure_is_raised_after_as_many_tries_as_are_allowed() -> None:
    service = Service(problem("store_busy", 503))
    with pytest.raises(errors.StoreBusy):
        service.client().devices()
    assert len(service.requests) == 4
    service = Service(httpx.ConnectError("refused"))
    with pytest.raises(errors.ServiceUnreachable, match=r"GET http://memplan\.test/v1/devices: refused"):
        service.client(retries=Retries(times=0)).devices()
    assert len(service.requests) == 1
    with pytest.raises(errors.ServiceTimeout):
        Service(httpx.ConnectTimeout("too long")).client().devices()


def test_what_stores_something_is_sent_again_with_the_same_key() -> None:
    service = Service(problem("store_busy", 503), page(502), problem("invalid_request", 422))
    with pytest.raises(errors.InvalidRequest):
        service.client().plan(JOB, DEVICE, 8)
    keys = [each.headers["Idempotency-Key"] for each in service.requests]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    with pytest.raises(errors.InvalidRequest):
        service.client().compare({"a": JOB}, targets=[DEVICE])
    assert service.requests[-1].headers["Idempotency-Key"] not in keys


def test_a_key_that_is_in_use_is_waited_for() -> None:
    busy = problem("idempotency_key_in_use", 409, {"Retry-After": "0"})
    service = Service(busy, problem("invalid_job", 422))
    with pytest.raises(errors.InvalidJob):
        service.client().compare({"a": JOB}, targets=[DEVICE])


def test_what_the_caller_did_wrong_is_not_sent_again() -> None:
    for status, code in ((422, "invalid_job"), (404, "plan_not_found"), (409, "operation_finished"), (500, "x")):
        service = Service(problem(code, status))
        with pytest.raises(errors.ProblemError):
            service.client().estimate(JOB, DEVICE)
        assert len(service.requests) == 1


def test_a_post_without_a_key_that_stores_something_is_not_sent_again() -> None:
    request = httpx.Request("POST", "http://memplan.test/v1/plans")
    assert AT_ONCE.pause(request, 1, None) is None
    keyed = httpx.Request("POST", "http://memplan.test/v1/plans", headers={"Idempotency-Key": "1"})
    assert AT_ONCE.pause(keyed, 1, None) == 0


def test_pauses_double_with_jitter_up_to_a_limit_and_after_what_the_service_asks() -> None:
    request = httpx.Request("GET", "http://memplan.test/v1/plans")
    retries = Retries(times=20, first_pause=1, longest_pause=8)

    def pauses(tried: int, headers: dict[str, str]) -> Iterator[float]:
        for _ in range(200):
            pause = retries.pause(request, tried, httpx.Response(503, headers=headers))
            assert pause is not None
            yield pause

    for tried, longest in ((1, 1), (2, 2), (3, 4), (4, 8), (10, 8)):
        found = list(pauses(tried, {}))
        assert 0 <= min(found) < longest / 4
        assert longest / 2 < max(found) <= longest
    asked = list(pauses(1, {"Retry-After": "5"}))
    assert 5 <= min(asked) <= max(asked) <= 6
    assert retries.pause(request, 1, httpx.Response(503, headers={"Retry-After": "9"})) is None


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    for value, expected in (("7", 7), (soon, 60), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", None), ("", None)):
        found = retry_after(httpx.Response(503, headers={"Retry-After": value}))
        assert found == pytest.approx(expected, abs=5) if expected is not None else found is None


def test_an_answer_that_is_none_of_memplans_is_said_so() -> None:
    for answer in (page(502), page(200), page(404), httpx.Response(302, headers={"Location": "/login"})):
        with pytest.raises(errors.UnexpectedAnswer) as unexpected:
            Service(answer).client().devices()
        assert unexpected.value.status == answer.status_code
        assert "http://memplan.test/v1/devices" in str(unexpected.value)
    with pytest.raises(errors.UnexpectedAnswer, match="newer memplan-client"):
        Service(httpx.Response(200, json={"things": []})).client().devices()


def test_a_code_that_is_newer_than_the_client_is_an_error_of_its_status() -> None:
    for status, kind in (
        (401, errors.Unauthorized),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (422, errors.Refused),
        (429, errors.TooManyRequests),
        (418, errors.ProblemError),
    ):
        service = Service(problem("brand_new", status, {"Retry-After": "120"}))
        with pytest.raises(kind) as raised:
            service.client().devices()
        assert raised.value.code == "brand_new"
        assert raised.value.retry_after == 120


def test_a_field_that_is_newer_than_the_client_is_kept() -> None:
    service = Service(httpx.Response(200, json={"items": [], "next_year": 1}))
    assert service.client().devices() == []


def test_the_token_and_the_release_are_in_every_request() -> None:
    service = Service(httpx.Response(200, json=DEVICES))
    service.client(token="mp_secret").devices()
    (request,) = service.requests
    assert request.headers["Authorization"] == "Bearer mp_secret"
    assert request.headers["User-Agent"].startswith("memplan-client/")
    assert "mp_secret" not in repr(service.client(token="mp_secret"))


def test_a_service_may_live_below_a_path() -> None:
    service = Service(httpx.Response(200, json=DEVICES))
    Client("http://host.test/memplan", transport=httpx.MockTransport(service)).devices()
    assert service.requests[0].url.path == "/memplan/v1/devices"


def test_asyncio_repeats_and_raises_alike() -> None:
    async def asked(*answers: httpx.Response | Exception) -> int:
        service = Service(*answers)
        transport = httpx.MockTransport(service)
        async with AsyncClient("http://memplan.test", retries=AT_ONCE, transport=transport) as client:
            assert await client.devices() == []
        return len(service.requests)

    good = httpx.Response(200, json=DEVICES)
    assert asyncio.run(asked(problem("store_busy", 503), httpx.ConnectError("refused"), good)) == 3
    for failures, kind in (
        ((page(502),), errors.UnexpectedAnswer),
        ((httpx.ReadTimeout("late"),), errors.ServiceTimeout),
        ((problem("unknown_device", 422),), errors.UnknownDevice),
        ((httpx.Response(200, json=[]),), errors.UnexpectedAnswer),
    ):
        with pytest.raises(kind):
            asyncio.run(asked(*failures))
