"""Observations: one for each run, beside what was predicted of it. On both databases."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.api.questions import DEVICE, estimate, job, plan, script

PATH = "/v1/observations"
GIB = 1 << 30


def observation(**changes: Any) -> dict[str, Any]:
    """A run of Llama-3-8B on 64 GPUs that reports what torch had reserved."""
    measured = {"source": "torch", "reserved_bytes": 13 * GIB, **changes.pop("measured", {})}
    return {"run_id": "run-1", "job": job(), "device": DEVICE, "measured": measured} | changes


def stored(client: TestClient, sent: dict[str, Any], status: int = 201) -> dict[str, Any]:
    response = client.post(PATH, json=sent)
    assert response.status_code == status, response.text
    found: dict[str, Any] = response.json()
    assert response.headers["location"] == f"{PATH}/{found['id']}"
    return found


def refused(client: TestClient, sent: dict[str, Any], status: int = 422) -> dict[str, Any]:
    response = client.post(PATH, json=sent)
    assert response.status_code == status, response.text
    problem: dict[str, Any] = response.json()
    return problem


class TestStored:
    """What is kept of a run."""

    def test_the_prediction_of_the_same_bytes_is_kept_beside_it(self, client: TestClient) -> None:
        expected = client.post("/v1/estimates", json=estimate()).json()
        found = stored(client, observation())
        assert found["id"].startswith("obs_")
        assert found["predicted"]["reserved_bytes"] == max(each["reserved_bytes"] for each in expected["stages"])
        assert found["predicted"]["device_bytes"] == expected["peak"]["device_bytes"]
        assert found["predicted"]["verdict"] == expected["verdict"]
        assert found["ratios"]["reserved"] == pytest.approx(13 * GIB / found["predicted"]["reserved_bytes"], abs=1e-6)
        assert found["ratios"]["allocated"] is None
        assert (found["method"], found["digest"]) == (expected["method"], expected["digest"])
        assert found["job"] == expected["job"]

    def test_a_stage_is_compared_with_the_same_stage(self, client: TestClient) -> None:
        stages = client.post("/v1/estimates", json=estimate()).json()["stages"]
        for stage, expected in enumerate(stages):
            sent = observation(run_id=f"run-{stage}", measured={"stage": stage})
            predicted = stored(client, sent)["predicted"]
            assert (predicted["stage"], predicted["allocated_bytes"]) == (stage, expected["allocated_bytes"])

    def test_a_measured_step_is_beside_its_prediction(self, client: TestClient) -> None:
        seconds = client.post("/v1/estimates", json=estimate()).json()["time"]["step_seconds"]
        found = stored(client, observation(measured={"step_seconds": 2 * seconds}))
        assert found["predicted"]["step_seconds"] == pytest.approx(seconds)
        assert found["ratios"]["step_seconds"] == pytest.approx(2.0)

    def test_a_run_out_of_memory_needs_no_bytes(self, client: TestClient) -> None:
        found = stored(client, observation(measured={"source": "scheduler", "reserved_bytes": None, "oom": True}))
        assert found["measured"]["oom"] is True
        assert found["ratios"] == {"allocated": None, "reserved": None, "device": None, "step_seconds": None}

    def test_bytes_say_that_there_was_no_oom(self, client: TestClient) -> None:
        assert stored(client, observation())["measured"]["oom"] is False

    def test_a_config_will_do_instead_of_a_job(self, client: TestClient) -> None:
        sent = observation(source=script())
        del sent["job"]
        assert stored(client, sent)["framework"] == "megatron-core"

    def test_a_candidate_of_a_plan_has_the_plans_job_and_verdict(self, client: TestClient) -> None:
        made = client.post("/v1/plans", json=plan()).json()
        sent = {"run_id": "run-1", "plan": made["id"], "candidate": 1, "measured": observation()["measured"]}
        found = stored(client, sent)
        assert (found["plan"], found["candidate"], found["device"]) == (made["id"], 1, DEVICE)
        assert found["predicted"]["device_bytes"] == made["candidates"][1]["peak"]["device_bytes"]
        assert found["predicted"]["verdict"] == made["candidates"][1]["verdict"]
        client.delete(f"/v1/plans/{made['id']}")
        assert client.get(f"{PATH}/{found['id']}").json()["job"] == found["job"]

    def test_a_plan_may_have_run_on_another_device(self, client: TestClient) -> None:
        made = client.post("/v1/plans", json=plan()).json()
        sent = {"run_id": "1", "plan": made["id"], "device": "h200-sxm-141gb", "measured": observation()["measured"]}
        assert stored(client, sent)["device"] == "h200-sxm-141gb"


class TestRunIds:
    """A run has one observation."""

    def test_the_same_again_is_the_same_observation(self, client: TestClient) -> None:
        first, again = stored(client, observation()), stored(client, observation(), 200)
        assert again == first
        assert len(client.get(PATH).json()["items"]) == 1

    def test_the_same_in_other_words_is_the_same(self, client: TestClient) -> None:
        first = stored(client, observation())
        assert stored(client, observation(measured={"stage": None}), 200) == first

    def test_another_measurement_of_the_run_is_refused(self, client: TestClient) -> None:
        first = stored(client, observation())
        problem = refused(client, observation(measured={"reserved_bytes": 14 * GIB}), 409)
        assert problem["code"] == "run_already_observed"
        assert problem["errors"][0]["pointer"] == "/run_id"
        assert first["id"] in problem["detail"]

    def test_a_removed_observation_makes_room_for_another(self, client: TestClient) -> None:
        first = stored(client, observation())
        assert client.delete(f"{PATH}/{first['id']}").status_code == 204
        assert client.get(f"{PATH}/{first['id']}").json()["code"] == "observation_not_found"
        assert client.delete(f"{PATH}/{first['id']}").status_code == 404
        stored(client, observation(measured={"reserved_bytes": 14 * GIB}))

    def test_many_at_once_store_one(self, client: TestClient) -> None:
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(lambda _: client.post(PATH, json=observation()), range(12)))
        assert {each.status_code for each in answers} <= {200, 201}
        assert len({each.json()["id"] for each in answers}) == 1
        assert sum(each.status_code == 201 for each in answers) == 1

    def test_a_key_gives_the_first_answer_again(self, client: TestClient) -> None:
        first, again = (
            client.post(PATH, json=observation(), headers={"Idempotency-Key": "epilog-1"}) for _ in range(2)
        )
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.content == first.content
        assert again.headers["idempotency-replayed"] == "true"

    def test_a_key_of_a_refused_observation_is_given_back(self, client: TestClient) -> None:
        stored(client, observation())
        other = observation(measured={"reserved_bytes": 14 * GIB})
        key = {"Idempotency-Key": "epilog-1"}
        assert client.post(PATH, json=other, headers=key).status_code == 409
        assert client.post(PATH, json=observation(run_id="run-2"), headers=key).status_code == 201


class TestList:
    """Observations are listed newest first, by what is known of them."""

    @pytest.fixture
    def listed(self, client: TestClient) -> TestClient:
        for number in range(3):
            stored(client, observation(run_id=f"run-{number}"))
        stored(client, observation(run_id="dead", device="h200-sxm-141gb", measured={"oom": True}))
        return client

    @pytest.mark.parametrize(
        ("query", "runs"),
        [
            ("", ["dead", "run-2", "run-1", "run-0"]),
            ("run_id=run-1", ["run-1"]),
            ("device=h200-sxm-141gb", ["dead"]),
            ("oom=false&framework=megatron-core", ["run-2", "run-1", "run-0"]),
            ("oom=true", ["dead"]),
            ("plan=pln_1", []),
        ],
    )
    def test_filters(self, listed: TestClient, query: str, runs: list[str]) -> None:
        assert [each["run_id"] for each in listed.get(f"{PATH}?{query}").json()["items"]] == runs

    def test_pages_follow_each_other(self, listed: TestClient) -> None:
        first = listed.get(f"{PATH}?limit=3&framework=megatron-core")
        (link,) = [each["url"] for each in first.links.values()]
        assert "framework=megatron-core" in link
        rest = listed.get(link).json()
        assert [each["run_id"] for each in rest["items"]] == ["run-0"]
        assert rest["next_cursor"] is None

    def test_a_summary_is_the_observation_without_its_job(self, listed: TestClient) -> None:
        (summary,) = listed.get(f"{PATH}?run_id=run-1").json()["items"]
        whole = listed.get(f"{PATH}/{summary['id']}").json()
        assert whole.pop("job")
        assert summary == whole

    def test_an_observation_has_a_tag(self, listed: TestClient) -> None:
        path = f"{PATH}/{listed.get(PATH).json()['items'][0]['id']}"
        tag = listed.get(path).headers["etag"]
        assert listed.get(path, headers={"If-None-Match": tag}).status_code == 304


class TestRefused:
    """What cannot be of a run says which field is wrong and what would do."""

    @pytest.mark.parametrize(
        ("measured", "pointer"),
        [
            ({"reserved_bytes": None}, "/measured"),
            ({"reserved_bytes": GIB, "allocated_bytes": 2 * GIB}, "/measured"),
            ({"reserved_bytes": -1}, "/measured/reserved_bytes"),
            ({"reserved_bytes": 13.5}, "/measured/reserved_bytes"),
            ({"source": "dcgm"}, "/measured/source"),
            ({"step_seconds": 0}, "/measured/step_seconds"),
            ({"peak": 1}, "/measured/peak"),
        ],
    )
    def test_form(self, api: TestClient, measured: dict[str, Any], pointer: str) -> None:
        problem = refused(api, observation(measured=measured))
        assert problem["code"] == "invalid_request"
        assert [each["pointer"] for each in problem["errors"]] == [pointer]
        assert problem["errors"][0]["fix"]

    @pytest.mark.parametrize(
        ("measured", "pointer"),
        [({"stage": 2}, "/measured/stage"), ({"reserved_bytes": 100 * GIB}, "/measured/reserved_bytes")],
    )
    def test_what_the_run_cannot_have_measured(self, api: TestClient, measured: dict[str, Any], pointer: str) -> None:
        problem = refused(api, observation(measured=measured))
        assert problem["code"] == "implausible_measurement"
        assert problem["errors"][0]["pointer"] == pointer

    @pytest.mark.parametrize("keys", [[], ["job", "plan"], ["job", "source"], ["plan", "source"]])
    def test_a_run_is_of_one_thing(self, api: TestClient, keys: list[str]) -> None:
        about = {"job": job(), "plan": "pln_1", "source": script()}
        sent = observation()
        del sent["job"]
        problem = refused(api, sent | {key: about[key] for key in keys})
        assert "exactly one of the keys `plan`, `job` and `source`" in problem["detail"]

    def test_what_is_not_there(self, api: TestClient) -> None:
        of_plan = {"run_id": "1", "plan": "pln_1", "measured": observation()["measured"]}
        assert refused(api, of_plan, 404)["code"] == "plan_not_found"
        made = api.post("/v1/plans", json=plan(top=1)).json()["id"]
        assert refused(api, of_plan | {"plan": made, "candidate": 1}, 404)["code"] == "candidate_not_found"
        assert refused(api, observation(device="h1000"))["code"] == "unknown_device"
        assert api.get(f"{PATH}/obs_1").json()["code"] == "observation_not_found"

    def test_a_job_that_breaks_rules_or_lacks_facts(self, api: TestClient) -> None:
        assert refused(api, observation(job=job(parallelism={"tensor": 7})))["code"] == "invalid_job"
        assert refused(api, observation(job=job(world_size=None)))["code"] == "incomplete_job"
