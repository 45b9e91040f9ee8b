"""Plans: searched once, stored, found again by their question, listed, and removed. On both databases."""

from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy.orm import SessionTransaction
from starlette.testclient import TestClient

from service.store.errors import StoreBusy, StoreUnavailable
from service.store.session import Store
from service.usecases import plans
from tests.api.questions import DEVICE, open_job, plan, script


def made(client: TestClient, question: dict[str, Any], status: int = 201) -> dict[str, Any]:
    response = client.post("/v1/plans", json=question)
    assert response.status_code == status, response.text
    found: dict[str, Any] = response.json()
    assert response.headers["location"] == f"/v1/plans/{found['id']}"
    return found


def listed(client: TestClient, query: str = "") -> list[str]:
    response = client.get(f"/v1/plans{query}")
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["items"]]


@pytest.fixture(scope="module")
def found(api: TestClient) -> dict[str, Any]:
    return made(api, plan())


class TestAnswer:
    """What a plan says."""

    def test_every_field_of_the_contract_is_there(self, found: dict[str, Any]) -> None:
        assert {
            *("id", "digest", "created_at", "candidates", "frontier", "searched", "rejected"),
            *("smallest_world_size", "largest_micro_batch", "longest_sequence", "elapsed_seconds"),
        } <= found.keys()
        assert found["id"].startswith("pln_")
        assert found["digest"].startswith("sha256:")
        assert found["created_at"].endswith("Z")
        for candidate in found["candidates"]:
            assert {"job", "stages", "verdict", "time", "peak"} <= candidate.keys()

    def test_candidates_fit_and_are_ranked_fastest_first_but_for_near_ties(self, found: dict[str, Any]) -> None:
        candidates = found["candidates"]
        assert 1 < len(candidates) <= 10
        verdicts = [each["verdict"] for each in candidates]
        assert verdicts == sorted(verdicts)  # fits before tight
        times = [each["time"]["step_seconds"] for each in candidates if each["verdict"] == "fits"]
        assert all(later * 1.05 >= earlier for earlier, later in pairwise(times))
        for each in candidates:
            assert each["peak"]["device_bytes"] == max(stage["device_bytes"] for stage in each["stages"])
            assert each["peak"]["margin_bytes"] >= 0

    def test_every_candidate_has_the_bytes_and_time_that_its_estimate_has(
        self, api: TestClient, found: dict[str, Any]
    ) -> None:
        for candidate in found["candidates"]:
            estimated = api.post("/v1/estimates", json={"job": candidate["job"], "device": DEVICE}).json()
            stages = [{"stage": each["stage"], "device_bytes": each["device_bytes"]} for each in estimated["stages"]]
            assert stages == candidate["stages"]
            assert estimated["time"] == candidate["time"]
            assert estimated["verdict"] == candidate["verdict"]
            for end in ("low_bytes", "high_bytes"):
                assert estimated["peak"][end] == candidate["peak"][end]

    def test_the_frontier_trades_memory_for_time(self, found: dict[str, Any]) -> None:
        peaks = [each["device_bytes"] for each in found["frontier"]]
        times = [each["step_seconds"] for each in found["frontier"]]
        assert peaks == sorted(peaks)
        assert times == sorted(times, reverse=True)

    def test_what_is_rejected_is_counted_by_rule(self, api: TestClient) -> None:
        narrow = made(api, plan(search={"tensor": [3, 8]}))
        assert narrow["rejected"]["world_size_not_divisible"] > 0
        assert sum(narrow["rejected"].values()) <= narrow["searched"]

    def test_what_the_job_states_is_fixed(self, api: TestClient) -> None:
        answer = made(api, plan(job=open_job(parallelism={"tensor": 2, "pipeline": 4})))
        assert {(each["layout"]["tensor"], each["layout"]["pipeline"]) for each in answer["candidates"]} == {(2, 4)}

    def test_an_axis_named_in_the_search_is_opened_even_if_stated(self, api: TestClient) -> None:
        job = open_job(parallelism={"tensor": 2})
        answer = made(api, plan(job=job, search={"tensor": [4, 8]}))
        assert {each["layout"]["tensor"] for each in answer["candidates"]} <= {4, 8}
        answer = made(api, plan(job=job, search={"tensor": "any"}, top=100))
        assert len({each["layout"]["tensor"] for each in answer["candidates"]}) > 1

    def test_a_job_that_fits_nowhere_is_a_stored_answer(self, api: TestClient) -> None:
        job = open_job(model={"preset": "llama-3.1-405b"})
        answer = made(api, plan(job=job, cluster={"world_size": 8}))
        assert answer["verdict"] == "does_not_fit"
        assert answer["candidates"] == []
        assert answer["smallest_world_size"] is None or answer["smallest_world_size"] > 8
        assert answer["largest_micro_batch"] is None

    def test_a_launch_script_keeps_what_it_states_on_another_cluster(self, api: TestClient) -> None:
        question = plan(search={"context": [1], "virtual_pipeline": [1]})
        question["source"] = script()
        del question["job"]
        answer = made(api, question)
        assert answer["world_size"] == 16
        assert {(each["layout"]["tensor"], each["layout"]["pipeline"]) for each in answer["candidates"]} == {(8, 2)}


class TestStore:
    """How a plan is kept."""

    def test_the_same_question_finds_the_same_plan(self, client: TestClient) -> None:
        first = made(client, plan(labels={"team": "nlp"}))
        assert made(client, plan(labels={"team": "nlp"}), 200) == first
        reordered = dict(reversed(plan(labels={"team": "nlp"}).items()))
        assert made(client, reordered, 200)["id"] == first["id"]
        other = made(client, plan(labels={"team": "vision"}))
        assert other["digest"] != first["digest"]
        assert listed(client) == [other["id"], first["id"]]

    def test_a_plan_is_read_as_it_was_answered(self, client: TestClient) -> None:
        first = made(client, plan())
        assert client.get(f"/v1/plans/{first['id']}").json() == first

    def test_a_caller_who_has_a_plan_is_told_so(self, client: TestClient) -> None:
        path = f"/v1/plans/{made(client, plan())['id']}"
        tag = client.get(path).headers["etag"]
        assert tag.startswith('"')
        for given in (tag, f'"other", {tag}', f"W/{tag}", "*"):
            answer = client.get(path, headers={"If-None-Match": given})
            assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200

    def test_a_removed_plan_is_gone_and_can_be_made_again(self, client: TestClient) -> None:
        first = made(client, plan())
        path = f"/v1/plans/{first['id']}"
        answer = client.delete(path)
        assert (answer.status_code, answer.content) == (204, b"")
        for method in ("GET", "DELETE"):
            gone = client.request(method, path)
            assert gone.status_code == 404
            assert gone.json()["code"] == "plan_not_found"
        assert made(client, plan())["id"] != first["id"]

    @pytest.mark.parametrize("plan_id", ["pln_" + "0" * 32, "pln_x", "x", "%00", "pln_" + "F" * 32])
    def test_an_id_that_nothing_has(self, client: TestClient, plan_id: str) -> None:
        assert client.get(f"/v1/plans/{plan_id}").json()["code"] == "plan_not_found"

    def test_pages_show_every_plan_once_newest_first(self, client: TestClient) -> None:
        made_ids = [made(client, plan(labels={"number": str(number)}))["id"] for number in range(5)]
        seen, path = [], "/v1/plans?limit=2"
        while path:
            page = client.get(path)
            seen += [each["id"] for each in page.json()["items"]]
            link = page.headers.get("link", "")
            assert bool(link) == (page.json()["next_cursor"] is not None)
            path = link.partition(">")[0].removeprefix("<")
        assert seen == made_ids[::-1]

    def test_a_list_is_filtered(self, client: TestClient) -> None:
        small = made(client, plan(labels={"team": "nlp", "run": "1"}))["id"]
        large = made(client, plan(cluster={"device": "a100-sxm-80gb"}, labels={"team": "nlp"}))["id"]
        none = made(client, plan(job=open_job(model={"preset": "llama-3.1-405b"})))["id"]
        assert listed(client, "?model=llama-3.1-405b") == [none]
        assert listed(client, "?device=a100-sxm-80gb") == [large]
        assert listed(client, "?verdict=does_not_fit") == [none]
        assert listed(client, "?label=team=nlp") == [large, small]
        assert listed(client, "?label=team=nlp&label=run=1") == [small]
        assert listed(client, "?label=team=vision") == []
        assert listed(client, "?label=run=1&label=run=2") == []  # no plan has both

    def test_a_list_shows_what_a_plan_is_about(self, client: TestClient) -> None:
        answer = made(client, plan(labels={"team": "nlp"}))
        (item,) = client.get("/v1/plans").json()["items"]
        best = answer["candidates"][0]
        assert item["best_step_seconds"] == best["time"]["step_seconds"]
        assert item["peak_device_bytes"] == best["peak"]["device_bytes"]
        for key in ("id", "digest", "created_at", "model", "device", "world_size", "verdict", "labels"):
            assert item[key] == answer[key]


class TestFailure:
    """What a caller hears when the database fails."""

    def test_a_commit_that_fails_is_never_acknowledged(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError("the disk is gone")

        with monkeypatch.context() as broken:
            broken.setattr(SessionTransaction, "commit", fail)
            answer = client.post("/v1/plans", json=plan())
        assert answer.status_code == 500
        assert answer.json()["code"] == "internal_error"
        assert listed(client) == []
        made(client, plan())

    @pytest.mark.parametrize(
        ("error", "code"), [(StoreBusy("in use"), "store_busy"), (StoreUnavailable("gone"), "store_unavailable")]
    )
    def test_a_database_that_is_busy_or_away_is_worth_another_try(
        self, api: TestClient, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
    ) -> None:
        def fail(_: Store) -> None:
            raise error

        monkeypatch.setattr(Store, "read", fail)
        monkeypatch.setattr(plans, "find_plan", lambda *_: fail(None))
        for method, path in (("GET", "/v1/plans"), ("GET", "/v1/plans/pln_" + "0" * 32), ("GET", "/readyz")):
            answer = api.request(method, path)
            assert answer.status_code == 503
            assert answer.json()["code"] == code
            assert int(answer.headers["retry-after"]) > 0
        assert api.post("/v1/plans", json=plan()).status_code == 503
