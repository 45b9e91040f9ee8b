"""Policies: what the jobs of a queue may do, and what would have been refused."""

import time
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.calculator.units import GIB
from service.settings import Settings
from tests.api.questions import DEVICE, job

PATH = "/v1/policies/prod"
SMALL = "rtx-4090"
TOO_LARGE = job(model={"preset": "llama-3-70b"})


def put(client: TestClient, path: str = PATH, **said: Any) -> httpx2.Response:
    answer: httpx2.Response = client.put(path, json=said)
    assert answer.status_code in {200, 201}, answer.text
    return answer


def judge(client: TestClient, asked: dict[str, Any] | None = None, device: str = DEVICE, **more: Any) -> dict[str, Any]:
    queue = more.pop("queue", "prod")
    item = {"job": asked or job(), "targets": [{"device": device}], **more}
    answer = client.post("/v1/verdicts", json={"items": [item], "queue": queue})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["results"][0]
    return found


def stored(client: TestClient) -> None:
    """What is put on record every second is now."""
    client.app.state.services.record.store()  # type: ignore[attr-defined]


def refusals(client: TestClient, queue: str = "prod") -> list[dict[str, Any]]:
    stored(client)
    found: list[dict[str, Any]] = client.get(f"/v1/policies/{queue}/refusals").json()["items"]
    return found


def summary(client: TestClient) -> dict[str, Any]:
    stored(client)
    found: dict[str, Any] = client.get(f"{PATH}/summary").json()
    return found


def test_without_a_queue_or_a_policy_no_rule_is_applied(client: TestClient) -> None:
    assert judge(client, queue=None)["policy"] is None
    assert judge(client)["policy"] is None
    put(client, mode="enforce", allowed_devices=[])
    assert judge(client, queue=None)["policy"] is None
    assert judge(client, queue="other")["policy"] is None
    assert judge(client)["policy"]["ruling"] == "refuse"


def test_the_policy_of_default_holds_for_queues_without_their_own(client: TestClient) -> None:
    put(client, "/v1/policies/default", mode="enforce", max_world_size=8)
    put(client, mode="enforce")
    other, own = judge(client, queue="other")["policy"], judge(client)["policy"]
    assert (other["policy"], other["ruling"], other["rule"]) == ("default", "refuse", "world_size")
    assert (own["policy"], own["ruling"], own["rule"]) == ("prod", "admit", None)


@pytest.mark.parametrize(
    ("mode", "ruling", "enforced"),
    [
        ("enforce", "refuse", "refuse"),
        ("warn", "warn", "refuse"),
        ("shadow", "admit", "refuse"),
        ("off", "admit", "admit"),
    ],
)
def test_a_mode_says_what_becomes_of_a_job_that_does_not_fit(
    client: TestClient, mode: str, ruling: str, enforced: str
) -> None:
    put(client, mode=mode)
    found = judge(client, TOO_LARGE, device=SMALL)
    assert found["verdict"] == "does_not_fit"  # the verdict is what it is without a policy
    assert (found["policy"]["ruling"], found["policy"]["enforced"]) == (ruling, enforced)
    assert found["policy"]["rule"] == (None if mode == "off" else "does_not_fit")


def test_the_answer_says_every_rule_that_is_broken(client: TestClient) -> None:
    usable = judge(client, queue=None)["usable_bytes"]
    put(client, mode="enforce", margin_bytes=usable - GIB, allowed_devices=["a100-sxm-80gb"], max_world_size=32)
    found = judge(client)
    assert found["verdict"] == "fits"
    broken = {each["rule"]: each for each in found["policy"]["broken"]}
    assert broken.keys() == {"margin", "device", "world_size"}
    assert found["policy"]["rule"] == "margin"
    assert "allowed: a100-sxm-80gb" in broken["device"]["message"]
    assert broken["world_size"]["message"] == "64 GPUs; at most 32 are allowed here"


def test_a_margin_is_what_a_job_must_leave_free(client: TestClient) -> None:
    free = judge(client, queue=None)
    share = free["margin_bytes"] / free["usable_bytes"]
    put(client, mode="enforce", margin_fraction=share - 0.01)
    assert judge(client)["policy"]["ruling"] == "admit"
    put(client, mode="enforce", margin_fraction=share + 0.01)
    assert judge(client)["policy"]["rule"] == "margin"
    put(client, mode="enforce", margin_bytes=free["margin_bytes"])
    assert judge(client)["policy"]["ruling"] == "admit"
    put(client, mode="enforce", margin_bytes=free["margin_bytes"] + 1)
    assert judge(client)["policy"]["rule"] == "margin"


def test_an_unknown_verdict_comes_to_what_the_operator_says(client: TestClient) -> None:
    incomplete = {"model": {"preset": "llama-3-8b"}, "framework": {"name": "megatron-core"}}
    rulings = []
    for unknown in ("admit", "warn", "refuse"):
        put(client, mode="enforce", unknown=unknown)
        rulings.append(judge(client, incomplete)["policy"]["ruling"])
    assert rulings == ["admit", "warn", "refuse"]


def test_allowed_devices_are_given_by_any_of_their_names(client: TestClient) -> None:
    put(client, mode="enforce", allowed_devices=["NVIDIA-H100-80GB-HBM3"])
    assert judge(client, device="h100")["policy"]["ruling"] == "admit"
    answer = client.put(PATH, json={"mode": "warn", "allowed_devices": ["h100", "h100-sxm-80"]})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_device")
    assert answer.json()["errors"][0]["pointer"] == "/allowed_devices/1"


def test_no_alternative_is_shown_that_the_policy_forbids(client: TestClient) -> None:
    free = judge(client, TOO_LARGE, device=SMALL, queue=None)["alternatives"]
    assert any(each["device"] != SMALL for each in free)
    put(client, mode="warn", allowed_devices=[SMALL], max_world_size=64)
    shown = judge(client, TOO_LARGE, device=SMALL)["alternatives"]
    assert shown == [each for each in free if each["device"] == SMALL and each["world_size"] <= 64]


def test_a_shadow_keeps_record_of_what_would_be_refused(client: TestClient) -> None:
    put(client, mode="shadow")
    for _ in range(3):
        judge(client, TOO_LARGE, device=SMALL, reference="slurm-1")
    judge(client, TOO_LARGE, device=SMALL, reference="slurm-2")
    judge(client)
    second, first = refusals(client)
    assert (first["reference"], first["count"], first["mode"]) == ("slurm-1", 3, "shadow")
    assert (second["reference"], second["count"]) == ("slurm-2", 1)
    assert first["rules"] == ["does_not_fit"]
    assert first["peak_bytes"] > first["usable_bytes"]
    assert first["digest"] == judge(client, TOO_LARGE, device=SMALL, queue=None)["digest"]
    found = summary(client)
    assert found["rulings"] == {"admit": 1, "warn": 0, "refuse": 4}
    assert found["rules"] == {"does_not_fit": 4}
    assert [each["refuse"] for each in found["days"]] == [4]
    judge(client, TOO_LARGE, device=SMALL, reference="slurm-1")
    assert [each["count"] for each in refusals(client)] == [1, 4]


def test_a_mode_that_is_off_keeps_no_record(client: TestClient) -> None:
    put(client, mode="off")
    judge(client, TOO_LARGE, device=SMALL)
    assert refusals(client) == []
    assert summary(client)["rulings"] == {"admit": 0, "warn": 0, "refuse": 0}


def test_refusals_are_listed_by_pages_and_by_queue(client: TestClient) -> None:
    put(client, mode="enforce", allowed_devices=[])
    for number in range(5):
        judge(client, reference=str(number))
    put(client, "/v1/policies/other", mode="enforce", allowed_devices=[])
    judge(client, queue="other")
    stored(client)
    seen, path = [], f"{PATH}/refusals?limit=2"
    while path:
        answer = client.get(path)
        seen += [each["reference"] for each in answer.json()["items"]]
        path = answer.headers.get("link", "").partition(">")[0].lstrip("<")
    assert seen == ["4", "3", "2", "1", "0"]
    assert len(refusals(client, "other")) == 1


def test_every_answer_is_put_on_record_though_verdicts_are_remembered(client: TestClient) -> None:
    judge(client)
    put(client, mode="shadow", allowed_devices=[])
    for _ in range(2):
        assert judge(client)["policy"]["enforced"] == "refuse"
    assert client.delete(PATH).status_code == 204
    assert judge(client)["policy"] is None
    assert summary(client)["rulings"]["refuse"] == 2  # the record stays


def test_a_policy_is_read_changed_and_taken_back(client: TestClient) -> None:
    made = put(client, mode="warn", margin_fraction=0.1)
    assert (made.status_code, made.headers["location"]) == (201, PATH)
    seen = client.get(PATH)
    assert seen.headers["etag"] == made.headers["etag"]
    assert client.get(PATH, headers={"If-None-Match": seen.headers["etag"]}).status_code == 304
    definition = {**seen.json()["definition"], "mode": "enforce"}
    match = {"If-Match": seen.headers["etag"]}
    assert client.put(PATH, json=definition, headers=match).status_code == 200
    assert client.put(PATH, json=definition, headers=match).json()["code"] == "precondition_failed"
    assert [each["queue"] for each in client.get("/v1/policies").json()["items"]] == ["prod"]
    assert client.delete(PATH).status_code == 204
    for answer in (client.get(PATH), client.delete(PATH)):
        assert (answer.status_code, answer.json()["code"]) == (404, "policy_not_found")


def test_the_record_and_the_policy_are_there_after_a_restart(settings: Settings) -> None:
    with TestClient(create_app(settings)) as first:
        put(first, mode="shadow", allowed_devices=[])
        judge(first)
    with TestClient(create_app(settings)) as second:
        assert judge(second)["policy"]["enforced"] == "refuse"
        assert refusals(second)[0]["count"] == 2


def test_other_processes_follow_and_count_together(postgres_url: str) -> None:
    settings = Settings(database_url=postgres_url)
    with TestClient(create_app(settings)) as first, TestClient(create_app(settings)) as second:
        put(first, mode="shadow", allowed_devices=[])
        until = time.monotonic() + 10
        while judge(second)["policy"] is None and time.monotonic() < until:
            time.sleep(0.05)
        for client in (first, second, first):
            judge(client)
            stored(client)
        assert refusals(first)[0]["count"] == 4


@pytest.mark.parametrize(
    "said", [{}, {"mode": "on"}, {"mode": "warn", "margin_fraction": 1}, {"mode": "warn", "max_gpus": 8}]
)
def test_a_policy_of_the_wrong_form_is_refused(api: TestClient, said: dict[str, Any]) -> None:
    answer = api.put(PATH, json=said)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert api.get(PATH).status_code == 404
