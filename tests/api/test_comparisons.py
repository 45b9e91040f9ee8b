"""Comparisons: plans and jobs on targets, what differs and with which effect, and who wins. On both databases."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.api.questions import DEVICE, job, open_job, plan, script

PATH = "/v1/comparisons"


def labelled(label: str, **changes: Any) -> dict[str, Any]:
    return {"label": label, "job": job(**changes)}


def question(**changes: Any) -> dict[str, Any]:
    asked = {
        "items": [labelled("eight"), labelled("four", parallelism={"tensor": 4})],
        "targets": [{"device": DEVICE}, {"device": "h200-sxm-141gb"}],
    }
    return asked | changes


def made(client: TestClient, asked: dict[str, Any], status: int = 201) -> dict[str, Any]:
    response = client.post(PATH, json=asked)
    assert response.status_code == status, response.text
    found: dict[str, Any] = response.json()
    assert response.headers["location"] == f"{PATH}/{found['id']}"
    return found


def effects(found: dict[str, Any], pointer: str) -> list[int | None]:
    (difference,) = [each for each in found["differences"] if each["pointer"] == pointer]
    return [each["effect_bytes"] for each in difference["values"]]


class TestAnswer:
    """What a comparison says."""

    @pytest.fixture
    def found(self, api: TestClient) -> dict[str, Any]:
        return api.post(PATH, json=question()).json()  # type: ignore[no-any-return]

    def test_the_matrix_has_every_side_on_every_target(self, found: dict[str, Any]) -> None:
        assert found["id"].startswith("cmp_")
        assert found["sides"] == ["eight", "four"]
        assert [[(cell["side"], cell["target"]) for cell in row] for row in found["matrix"]] == [
            [(0, 0), (0, 1)],
            [(1, 0), (1, 1)],
        ]
        assert [cell["device"] for cell in found["matrix"][0]] == [DEVICE, "h200-sxm-141gb"]

    def test_a_cell_has_the_bytes_and_the_time_of_the_estimate(self, api: TestClient, found: dict[str, Any]) -> None:
        cell = found["matrix"][1][0]
        estimated = api.post("/v1/estimates", json={"job": job(parallelism={"tensor": 4}), "device": DEVICE}).json()
        assert cell["peak_bytes"] == estimated["peak"]["device_bytes"]
        assert cell["verdict"] == estimated["verdict"]
        assert cell["step_seconds"] == estimated["time"]["step_seconds"]
        assert cell["digest"] == estimated["digest"]
        tokens_per_gpu_hour = estimated["time"]["tokens_per_second_per_gpu"] * 3600
        assert cell["gpu_hours"] == pytest.approx(1e9 / tokens_per_gpu_hour)

    def test_differences_name_the_fields_with_each_sides_value(self, found: dict[str, Any]) -> None:
        differences = {each["pointer"]: [value["value"] for value in each["values"]] for each in found["differences"]}
        assert differences["/parallelism/tensor"] == [8, 4]
        assert differences["/parallelism/data"] == [4, 8]
        assert "/batch/global" not in differences

    def test_the_effect_of_a_difference_is_that_of_the_changed_job(self, found: dict[str, Any]) -> None:
        eight, four = (row[0]["peak_bytes"] for row in found["matrix"])
        assert effects(found, "/parallelism/tensor") == [0, four - eight]

    def test_effects_are_told_apart(self, api: TestClient) -> None:
        items = [
            labelled("first"),
            labelled(
                "both", batch={"micro": 2}, checkpointing={"granularity": "full", "method": "uniform", "num_layers": 1}
            ),
        ]
        found = made(api, question(items=items))
        assert effects(found, "/batch/micro")[1] > 0  # type: ignore[operator]
        assert effects(found, "/checkpointing/granularity")[1] < 0  # type: ignore[operator]

    def test_a_value_that_is_not_valid_alone_has_no_effect(self, api: TestClient) -> None:
        other = labelled("other", model={"preset": "qwen3-8b"}, parallelism={"tensor": 4})
        found = made(api, question(items=[labelled("first", parallelism={"pipeline": 2}), other]))
        assert None in [effect for each in found["differences"] for effect in effects(found, each["pointer"])]

    def test_winners_are_the_best_of_what_fits(self, found: dict[str, Any]) -> None:
        cells = [cell for row in found["matrix"] for cell in row if cell["verdict"] == "fits"]
        for objective, key, best in (
            ("step_time", "step_seconds", min),
            ("gpu_hours", "gpu_hours", min),
            ("margin", "margin_bytes", max),
        ):
            winner = found["winners"][objective]
            assert winner["value"] == best(cell[key] for cell in cells)
            assert found["matrix"][winner["side"]][winner["target"]][key] == winner["value"]

    def test_nothing_wins_where_nothing_fits(self, api: TestClient) -> None:
        large = labelled("large", model={"preset": "llama-3.1-405b"}, parallelism={"pipeline": 1})
        found = made(api, question(items=[large], targets=[{"device": DEVICE}]))
        assert found["matrix"][0][0]["verdict"] == "does_not_fit"
        assert found["winners"] == {"step_time": None, "margin": None, "gpu_hours": None}
        assert found["differences"] == []

    def test_a_job_that_cannot_be_judged_leaves_the_others(self, api: TestClient) -> None:
        items = [
            labelled("invalid", parallelism={"tensor": 7}),
            {"label": "incomplete", "job": open_job()},
            labelled("good"),
            {"label": "script", "source": script()},
        ]
        found = made(api, question(items=items, targets=[{"device": DEVICE}]))
        (invalid,), (incomplete,), (good,), (read,) = found["matrix"]
        assert "heads_tp" in {each["code"] for each in invalid["diagnostics"]}
        assert {each["fact"] for each in incomplete["missing"]} == {"micro", "world_size"}
        assert [each["verdict"] for each in (invalid, incomplete)] == ["unknown"] * 2
        assert [each["verdict"] for each in (good, read)] == ["fits"] * 2
        assert all(value["side"] in {2, 3} for each in found["differences"] for value in each["values"])

    def test_a_plans_job_differs_from_another_only_in_what_it_says(self, api: TestClient) -> None:
        planned = api.post("/v1/plans", json=plan()).json()
        asked = {"plans": [planned["id"]], "items": [labelled("eight")], "targets": [{"device": DEVICE}]}
        values = [value["value"] for each in made(api, asked)["differences"] for value in each["values"]]
        assert [] not in values

    def test_plans_stand_for_their_first_candidate(self, api: TestClient) -> None:
        planned = api.post("/v1/plans", json=plan()).json()
        nowhere = api.post("/v1/plans", json=plan(job=open_job(model={"preset": "llama-3.1-405b"}))).json()
        found = made(api, {"plans": [planned["id"], nowhere["id"]]})
        (best,), (none,) = found["matrix"]
        first = planned["candidates"][0]
        assert best["peak_bytes"] == first["peak"]["device_bytes"]
        assert best["step_seconds"] == first["time"]["step_seconds"]
        assert (best["device"], best["world_size"]) == (planned["device"], planned["world_size"])
        assert (none["verdict"], none["peak_bytes"]) == ("does_not_fit", None)
        elsewhere = made(api, {"plans": [planned["id"]], "targets": [{"device": "a100-sxm-80gb", "world_size": 32}]})
        assert elsewhere["matrix"][0][0]["world_size"] == 32


class TestStore:
    """How a comparison is kept."""

    def test_the_same_question_finds_the_same_comparison(self, client: TestClient) -> None:
        first = made(client, question())
        assert made(client, question(), 200) == first
        assert client.get(f"{PATH}/{first['id']}").json() == first

    def test_a_caller_who_has_a_comparison_is_told_so(self, client: TestClient) -> None:
        path = f"{PATH}/{made(client, question())['id']}"
        tag = client.get(path).headers["etag"]
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 304

    def test_pages_show_every_comparison_once_newest_first(self, client: TestClient) -> None:
        ids = [made(client, question(items=[labelled(str(number))]))["id"] for number in range(3)]
        seen, path = [], f"{PATH}?limit=2"
        while path:
            page = client.get(path)
            seen += [each["id"] for each in page.json()["items"]]
            path = page.headers.get("link", "").partition(">")[0].removeprefix("<")
        assert seen == ids[::-1]
        item = client.get(PATH).json()["items"][-1]
        assert (item["sides"], item["targets"]) == (1, 2)

    def test_a_repeated_key_gives_the_first_answer(self, client: TestClient) -> None:
        sent = [client.post(PATH, json=question(), headers={"Idempotency-Key": "a"}) for _ in range(2)]
        assert [each.status_code for each in sent] == [201, 201]
        assert sent[0].content == sent[1].content
        assert sent[1].headers["idempotency-replayed"] == "true"


class TestRefusal:
    """What cannot be compared."""

    @pytest.mark.parametrize(
        ("asked", "code"),
        [
            ({}, "nothing_to_compare"),
            ({"targets": [{"device": DEVICE}]}, "nothing_to_compare"),
            ({"items": [labelled("a")]}, "no_targets"),
            ({"items": [labelled("")], "targets": [{"device": DEVICE}]}, "out_of_range"),
        ],
    )
    def test_a_question_without_sides_or_targets(self, api: TestClient, asked: dict[str, Any], code: str) -> None:
        answer = api.post(PATH, json=asked)
        assert answer.status_code == 422
        assert code in {each["code"] for each in answer.json()["errors"]}

    def test_an_unknown_device(self, api: TestClient) -> None:
        answer = api.post(PATH, json=question(targets=[{"device": DEVICE}, {"device": "h1000"}]))
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_device")
        assert answer.json()["errors"][0]["pointer"] == "/targets/1/device"

    @pytest.mark.parametrize("plan_id", ["pln_" + "0" * 32, "mine"])
    def test_a_plan_that_is_not_there(self, client: TestClient, plan_id: str) -> None:
        answer = client.post(PATH, json={"plans": [plan_id]})
        assert (answer.status_code, answer.json()["code"]) == (404, "plan_not_found")

    def test_a_comparison_that_is_not_there(self, client: TestClient) -> None:
        for wanted in ("cmp_" + "0" * 32, "x", "%00"):
            assert client.get(f"{PATH}/{wanted}").json()["code"] == "comparison_not_found"
