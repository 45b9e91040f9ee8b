"""Plans: searched once, stored, found again by their question, listed, and removed. On both databases."""

from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy.orm import SessionTransaction
from starlette.testclient import TestClient

from service.store.errors import StoreBusy, StoreUnavailable
from service.store.session import Store
from service.usecases import plans
from tests.api.questions import DEVICE, job, open_job, plan, script


def made(client: TestClient, question: dict[str, Any], status: int = 201) -> dict[str, Any]:
    # However busy the machine is.
    response = client.post("/v1/plans?wait=5m", json=question)
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


CLUSTER = {"device": DEVICE, "world_size": 16}


def given_job(micro: int) -> dict[str, Any]:
    """A job that leaves nothing open; 16 sequences at a time do not fit, one does."""
    degrees = {"tensor": 4, "pipeline": 2, "virtual_pipeline": 1, "context": 1, "expert": 1, "expert_tensor": 4}
    kept = {"granularity": "none"}
    batch = {"micro": micro, "global": 64}
    return job(world_size=16, parallelism=degrees, checkpointing=kept, batch=batch, stages={"layers": [16, 16]})


class TestAxes:
    """What can be searched, and limited."""

    @pytest.mark.parametrize(
        ("axis", "values", "found"),
        [
            ("schedule", ["interleaved"], {"schedule": {"interleaved"}}),
            ("stages", ["first_last"], {"pipeline": {2, 4}}),
            ("expert", [2, 8], {"expert": {2, 8}}),
            ("expert_tensor", [1], {"expert_tensor": {1}}),
            ("sharding_stage", [1], {"sharding_stage": {1}}),
            ("sharding_degree", [2, 4], {"sharding_degree": {2, 4, None}}),
            ("microbatch_group_size", [8], {"microbatch_group_size": {8, None}}),
            ("cross_entropy", ["te", "megatron_fused"], {"cross_entropy": {"te", "megatron_fused"}}),
            ("optimizer_offload", ["cpu"], {"optimizer_offload": {"cpu"}}),
            ("optimizer_offload", [{"fraction": 0.5}], {"optimizer_offload": {"{'fraction': 0.5}"}}),
            ("checkpointing", ["full"], {"checkpointing": {"full"}}),
            (
                "checkpointing",
                [{"granularity": "full", "method": "block", "num_layers": 3}],
                {"method": {"block"}, "num_layers": {3}},
            ),
            ("checkpointing", [{"granularity": "selective", "modules": ["moe_act"]}], {"modules": {"['moe_act']"}}),
        ],
    )
    def test_every_axis_takes_a_list(
        self, api: TestClient, axis: str, values: list[Any], found: dict[str, set[Any]]
    ) -> None:
        experts = open_job(model={"preset": "mixtral-8x7b"}, batch={"sequence_length": 4096, "global": 64})
        narrow = {"micro": [1], "context": [1], "tensor": [1, 2], "pipeline": [2, 4], "checkpointing": ["none", "full"]}
        question = {"job": experts, "cluster": {"device": DEVICE, "world_size": 32}, "top": 30}
        answer = made(api, {**question, "search": {**narrow, axis: values}}, status=201)
        assert answer["candidates"]
        for name, allowed in found.items():
            values = [each["layout"][name] for each in answer["candidates"]]
            assert {str(each) if isinstance(each, dict | list) else each for each in values} <= allowed

    @pytest.mark.parametrize("word", ["any", "usual"])
    def test_a_word_opens_an_axis(self, api: TestClient, word: str) -> None:
        search = dict.fromkeys(("schedule", "stages", "expert", "sharding_degree", "cross_entropy"), word)
        answer = made(api, plan(search={**search, "micro": [1], "context": [1], "checkpointing": ["none"]}, top=60))
        losses = {each["layout"]["cross_entropy"] for each in answer["candidates"]}
        assert (len(losses) > 1) == (word == "any")

    @pytest.mark.parametrize(
        "search",
        [
            {"sharding_stage": [4]},
            {"schedule": ["sideways"]},
            {"stages": ["odd"]},
            {"checkpointing": [{"granularity": "full", "depth": 3}]},
            {"cross_entropy": []},
            {"tensors": [1]},
        ],
    )
    def test_what_is_no_value_of_an_axis_is_refused(self, api: TestClient, search: dict[str, Any]) -> None:
        response = api.post("/v1/plans", json=plan(search=search))
        assert response.status_code == 422
        assert response.json()["errors"][0]["pointer"].startswith(f"/search/{next(iter(search))}")

    @pytest.mark.parametrize("framework", ["fsdp2", "deepspeed"])
    def test_other_frameworks_are_searched(self, api: TestClient, framework: str) -> None:
        narrow = {"micro": [1], "context": [1], "virtual_pipeline": [1]}
        answer = made(api, {**plan(job=open_job(framework={"name": framework})), "search": narrow})
        stages = {each["layout"]["sharding_stage"] for each in answer["candidates"]}
        assert stages <= {2, 3} if framework == "fsdp2" else stages <= {0, 1, 2, 3}
        first = answer["candidates"][0]
        again = api.post("/v1/estimates", json={"job": first["job"], "device": DEVICE})
        assert again.status_code == 200, again.text
        assert again.json()["peak"]["device_bytes"] == first["peak"]["device_bytes"]

    def test_layers_that_do_not_divide_are_placed(self, api: TestClient) -> None:
        """61 layers, as DeepSeek-V3 has."""
        prime = open_job(model={"preset": "llama-3-8b", "num_hidden_layers": 61})
        question = plan(job=prime, search={"pipeline": [4], "virtual_pipeline": "usual"}, top=30)
        answer = made(api, question)
        assert {each["layout"]["pipeline"] for each in answer["candidates"]} == {4}
        assert all(each["layout"]["stages"] for each in answer["candidates"])


class TestGiven:
    """What a plan says about the job as it came."""

    def test_a_job_that_does_not_fit_gets_the_smallest_changes(self, api: TestClient) -> None:
        answer = made(api, {"job": given_job(16), "cluster": CLUSTER})
        assert answer["given"]["verdict"] == "does_not_fit"
        assert answer["candidates"] == []
        assert 2 <= len(answer["alternatives"]) <= 5
        keys = [len(each["changes"]) for each in answer["alternatives"]]
        assert keys == sorted(keys)
        for each in answer["alternatives"]:
            assert each["verdict"] in {"fits", "tight"}
            assert each["saved_bytes"] == answer["given"]["peak_bytes"] - each["peak_bytes"] > 0
            assert each["step_ratio"] > 0

    def test_a_change_has_the_bytes_of_the_job_that_it_makes(self, api: TestClient) -> None:
        answer = made(api, {"job": given_job(16), "cluster": CLUSTER, "labels": {"again": "1"}})
        first = answer["alternatives"][0]
        changed = given_job(16)
        for pointer, value in first["changes"].items():
            section, key = pointer.strip("/").split("/")
            changed.setdefault(section, {})[key] = value
        again = api.post("/v1/estimates", json={"job": changed, "device": DEVICE}).json()
        assert again["peak"]["device_bytes"] == first["peak_bytes"]

    def test_changes_are_in_the_words_of_the_config(self, api: TestClient) -> None:
        source = script(text=script()["text"].replace("--micro-batch-size 1", "--micro-batch-size 16"))
        answer = made(api, {"source": source, "cluster": {"device": "a100-sxm-40gb", "world_size": 16}})
        assert answer["given"]["verdict"] == "does_not_fit"
        assert answer["alternatives"][0]["change"].startswith("--")

    def test_a_job_that_fits_or_leaves_its_micro_batch_open_needs_no_change(self, api: TestClient) -> None:
        fits = made(api, {"job": given_job(1), "cluster": CLUSTER})
        assert (fits["given"]["verdict"], fits["alternatives"]) == ("fits", [])
        openly = made(api, plan(labels={"open": "1"}))
        assert (openly["given"], openly["alternatives"]) == (None, [])

    def test_recomputation_is_the_least_and_its_cost_is_said(self, api: TestClient) -> None:
        search = {
            "tensor": [1],
            "pipeline": [4],
            "context": [1],
            "micro": [2],
            "virtual_pipeline": [1],
            "stages": ["even"],
        }
        answer = made(
            api, plan(job=open_job(model={"preset": "llama-2-13b"}), search={**search, "checkpointing": "usual"})
        )
        first = answer["candidates"][0]
        least = first["least_recomputation"]
        assert first["layout"]["checkpointing"] != "none"
        assert 0 < least["cost_seconds"] < 0.34 * first["time"]["step_seconds"]
        assert least["layers"] == sorted(least["layers"], reverse=True)
        assert least["layers"][0] > least["layers"][-1]
        assert least["step_seconds"] <= first["time"]["step_seconds"]


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
