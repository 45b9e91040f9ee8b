"""Where answers are computed: short computations do not wait for long ones."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from service.api.access import requires
from service.api.app import create_app
from service.api.direct import DirectRoute
from service.api.lanes import Lanes
from service.api.schemas.verdict_request import VerdictRequest
from service.api.services import ServicesOf
from service.formats.source import ConfigSource
from service.job.schema import Job
from service.settings import Settings
from service.usecases import verdicts
from tests.api.questions import DEVICE, job

LANES = Lanes()
JOB = Job.model_validate(job())


@pytest.mark.parametrize("given", [JOB, ConfigSource(text="torchrun pretrain_gpt.py"), ConfigSource(argv=["--bf16"])])
def test_a_job_and_a_brief_config_are_short(given: Job | ConfigSource) -> None:
    assert LANES.of(given) is LANES.short


@pytest.mark.parametrize("given", [ConfigSource(text=" " * 20_000), ConfigSource(files={"a": "", "b": " " * 20_000})])
def test_a_config_of_many_lines_may_take_long(given: ConfigSource) -> None:
    assert LANES.of(given) is LANES.long
    assert LANES.of(JOB, given) is LANES.long


def test_many_answers_may_take_long() -> None:
    assert LANES.of(JOB, answers=4) is LANES.short
    assert LANES.of(JOB, answers=5) is LANES.long


class TestBesideLongOnes:
    """A verdict, while other requests compute as long as they may."""

    @pytest.fixture
    def busy(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
        """A service whose verdicts on 128 GPUs do not end before the test does."""
        judged, over = verdicts._judged, threading.Event()
        begun = threading.Semaphore(0)

        def slowly(*asked: Any) -> Any:
            if asked[1].world_size == 128:
                begun.release()
                over.wait(20)
            return judged(*asked)

        monkeypatch.setattr(verdicts, "_judged", slowly)
        targets = [{"device": DEVICE, "world_size": 128}, *[{"device": DEVICE}] * 4]
        long = {"items": [{"job": job(), "targets": targets}]}
        with TestClient(create_app(Settings(database_url=sqlite_url))) as client, ThreadPoolExecutor(12) as threads:
            asked = [threads.submit(client.post, "/v1/verdicts", json=long) for _ in range(12)]
            assert begun.acquire(timeout=20)
            yield client
            assert not any(each.done() for each in asked)
            over.set()
            assert {each.result().status_code for each in asked} == {200}

    def test_is_given(self, busy: TestClient) -> None:
        answer = busy.post("/v1/verdicts?timeout=5s", json={"items": [{"job": job(), "targets": [{"device": DEVICE}]}]})
        assert answer.json()["results"][0]["verdict"] == "fits"

    def test_is_no_excuse_for_an_estimate(self, busy: TestClient) -> None:
        assert busy.post("/v1/estimates", json={"job": job(), "device": DEVICE}).status_code == 200


def test_a_direct_route_has_one_question() -> None:
    async def none(services: ServicesOf, request: Request) -> Response:
        raise NotImplementedError

    async def two(one: VerdictRequest, other: VerdictRequest, request: Request) -> Response:
        raise NotImplementedError

    def blocking(question: VerdictRequest) -> Response:
        raise NotImplementedError

    for endpoint in (none, two, blocking):
        with pytest.raises(TypeError):
            DirectRoute("/x", endpoint, methods=["POST"], dependencies=[requires("verdict:read")])
