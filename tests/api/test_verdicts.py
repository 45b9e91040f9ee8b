"""Verdicts: short answers about many jobs and targets, in order, in time, and the same as the estimates'."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings
from service.usecases import verdicts
from tests.api.questions import DEVICE, job, open_job, script

PATH = "/v1/verdicts"
LARGE = {"model": {"preset": "llama-3-70b"}, "parallelism": {"pipeline": 1}}


def item(targets: Any = (DEVICE,), **changes: Any) -> dict[str, Any]:
    asked = [each if isinstance(each, dict) else {"device": each} for each in targets]
    return {"job": job(**changes), "targets": asked}


def results(api: TestClient, *items: dict[str, Any], query: str = "", **sent: Any) -> list[dict[str, Any]]:
    response = api.post(f"{PATH}{query}", json={"items": list(items)}, **sent)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["results"]
    for each in found:
        assert len(each["reason"]) <= 120
        assert each["verdict"] in {"fits", "tight", "does_not_fit", "unknown"}
        assert len(each["alternatives"]) <= 3
    return found


class TestAnswer:
    """What a verdict says."""

    @pytest.mark.parametrize("changes", [{}, LARGE, {"batch": {"micro": 4}}, {"parallelism": {"pipeline": 4}}])
    def test_a_verdict_is_that_of_the_estimate(self, api: TestClient, changes: dict[str, Any]) -> None:
        (found,) = results(api, item(**changes))
        estimated = api.post("/v1/estimates", json={"job": job(**changes), "device": DEVICE}).json()
        peak, capacity = estimated["peak"], estimated["capacity"]
        assert found["verdict"] == estimated["verdict"]
        assert found["reason"] == estimated["reason"]
        assert found["stage"] == peak["stage"]
        assert found["peak_bytes"] == peak["device_bytes"]
        assert (found["low_bytes"], found["high_bytes"]) == (peak["low_bytes"], peak["high_bytes"])
        assert (found["usable_bytes"], found["margin_bytes"]) == (capacity["usable_bytes"], capacity["margin_bytes"])
        assert found["method"] == estimated["method"]
        assert found["digest"] == estimated["digest"]

    def test_mib_are_rounded_up(self, api: TestClient) -> None:
        (found,) = results(api, item())
        assert 0 <= found["peak_mib"] * 2**20 - found["peak_bytes"] < 2**20

    def test_results_are_in_the_order_of_items_and_targets(self, api: TestClient) -> None:
        found = results(
            api, item(("A100_SXM_80GB", DEVICE)), item(), {"source": script(), "targets": [{"device": "h200"}]}
        )
        assert [(each["item"], each["target"]) for each in found] == [(0, 0), (0, 1), (1, 0), (2, 0)]
        assert [each["device"] for each in found] == ["a100-sxm-80gb", DEVICE, DEVICE, "h200-sxm-141gb"]
        assert found[1] == {**found[2], "item": 0, "target": 1}

    def test_a_target_with_other_gpus_is_the_job_on_so_many(self, api: TestClient) -> None:
        (found,) = results(api, item(({"device": DEVICE, "world_size": 128},), parallelism={"data": 4}))
        (same,) = results(api, item(world_size=128))
        assert found == same
        assert found["world_size"] == 128

    def test_a_target_says_the_gpus_that_a_config_leaves_open(self, api: TestClient) -> None:
        source = script(text=script()["text"].replace("NNODES=${NNODES:-8}\n", ""))
        targets = [{"device": DEVICE}, {"device": DEVICE, "world_size": 64}]
        unknown, known = results(api, {"source": source, "targets": targets})
        assert unknown["verdict"] == "unknown"
        assert known["verdict"] == "fits"

    def test_what_does_not_fit_is_told_what_would(self, api: TestClient) -> None:
        (found,) = results(api, item(**LARGE))
        assert found["verdict"] == "does_not_fit"
        assert len(found["alternatives"]) == 3
        assert any(each["changes"] for each in found["alternatives"])
        assert not all(each["changes"] for each in found["alternatives"])
        for each in found["alternatives"]:
            asked = job(**LARGE)
            for pointer, value in each["changes"].items():
                section, key = pointer.strip("/").split("/")
                asked[section] = {**asked.get(section, {}), key: value}
            target = {"device": each["device"], "world_size": each["world_size"]}
            (there,) = results(api, {"job": asked, "targets": [target]})
            assert each["verdict"] in {"fits", "tight"}
            same = each.keys() & there.keys() - {"device", "world_size"}
            assert {key: there[key] for key in same} == {key: each[key] for key in same}

    def test_a_change_says_what_it_saves_and_costs(self, api: TestClient) -> None:
        (found,) = results(api, item(**LARGE))
        change = found["alternatives"][0]
        assert change["saved_bytes"] == found["peak_bytes"] - change["peak_bytes"]
        assert change["step_ratio"] > 0
        assert change["change"] == "parallelism.pipeline = 2"

    def test_a_change_is_written_in_the_dialect_of_the_config(self, api: TestClient) -> None:
        text = script()["text"].replace("--micro-batch-size 1", "--micro-batch-size 32").replace("TP=8", "TP=4")
        (found,) = results(api, {"source": script(text=text), "targets": [{"device": DEVICE}]})
        assert found["verdict"] == "does_not_fit"
        changes = [each["change"] for each in found["alternatives"] if each["changes"]]
        assert changes
        assert all(each.startswith("--") for each in changes)

    def test_the_verdict_comes_even_if_there_is_no_time_for_alternatives(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(verdicts, "alternatives", lambda *_: time.sleep(2))
        (found,) = results(client, item(**LARGE), query="?timeout=1s")
        assert (found["verdict"], found["alternatives"]) == ("does_not_fit", [])
        monkeypatch.undo()
        assert results(client, item(**LARGE), query="?timeout=20s")[0]["alternatives"]

    def test_what_fits_needs_no_alternatives(self, api: TestClient) -> None:
        (found,) = results(api, item())
        assert (found["verdict"], found["alternatives"]) == ("fits", [])


class TestUnknown:
    """What cannot be judged, and what else is answered all the same."""

    def test_an_unknown_device_is_an_error_of_its_target_alone(self, api: TestClient) -> None:
        bad, good = results(api, item(("h100-sxm-80", DEVICE)))
        assert bad["verdict"] == "unknown"
        assert bad["error"]["code"] == "unknown_device"
        assert DEVICE in bad["error"]["fix"]
        assert bad["device"] == "h100-sxm-80"
        assert (good["verdict"], good["error"]) == ("fits", None)

    def test_an_incomplete_job_names_what_is_missing(self, api: TestClient) -> None:
        asked = {"job": open_job(), "targets": [{"device": DEVICE}, {"device": DEVICE, "world_size": 8}]}
        bare, sized = results(api, asked)
        assert {each["fact"] for each in bare["missing"]} == {"micro", "world_size"}
        assert {each["fact"] for each in sized["missing"]} == {"micro"}
        for each in (bare, sized):
            assert (each["verdict"], each["error"], each["peak_bytes"], each["digest"]) == ("unknown", None, None, None)
            assert "micro" in each["reason"]

    def test_an_invalid_job_names_the_rules_it_breaks(self, api: TestClient) -> None:
        bad, good = results(api, item(parallelism={"tensor": 7, "pipeline": 3}), item())
        assert bad["verdict"] == "unknown"
        assert {"heads_tp", "layers_not_divisible"} <= {each["code"] for each in bad["diagnostics"]}
        assert bad["reason"]
        assert good["verdict"] == "fits"

    def test_a_text_in_no_known_format(self, api: TestClient) -> None:
        (found,) = results(api, {"source": {"text": "Dear diary"}, "targets": [{"device": DEVICE}]})
        assert (found["verdict"], found["diagnostics"][0]["code"]) == ("unknown", "unknown_format")

    def test_a_device_whose_memory_is_not_known(self, api: TestClient) -> None:
        (found,) = results(api, item(("gaudi2",)))
        assert (found["verdict"], found["usable_bytes"], found["margin_bytes"]) == ("unknown", None, None)
        assert found["peak_bytes"] > 0

    def test_a_failure_in_one_item_leaves_the_others(self, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        judged = verdicts._judged

        def fail(accepted: Any, target: Any, device: Any) -> Any:
            if target.device == "h200":
                raise RuntimeError("a secret")
            return judged(accepted, target, device)

        with monkeypatch.context() as broken:
            broken.setattr(verdicts, "_judged", fail)
            bad, good = results(client, item(("h200", DEVICE)))
        assert (bad["verdict"], bad["error"]["code"], good["verdict"]) == ("unknown", "internal_error", "fits")
        assert "secret" not in str(bad)
        assert results(client, item(("h200", DEVICE)))[0]["error"] is None


class TestForm:
    """What is refused as a whole."""

    @pytest.mark.parametrize(
        ("question", "pointer"),
        [
            ({"items": []}, "/items"),
            ({"items": [item()] * 101}, "/items"),
            ({"items": [item([])]}, "/items/0/targets"),
            ({"items": [item([DEVICE] * 101)]}, "/items/0/targets"),
            ({"items": [item(), {"targets": [{"device": DEVICE}]}]}, "/items/1"),
            ({"items": [item(), item(tensor=8)]}, "/items/1/job/tensor"),
        ],
    )
    def test_a_wrong_body(self, api: TestClient, question: dict[str, Any], pointer: str) -> None:
        answer = api.post(PATH, json=question)
        assert answer.status_code == 422
        assert pointer in {each["pointer"] for each in answer.json()["errors"]}

    @pytest.mark.parametrize(
        ("query", "headers", "pointer"),
        [
            ("?timeout=soon", {}, "/timeout"),
            ("?timeout=-1s", {}, "/timeout"),
            ("", {"X-Deadline-Ms": "2s"}, "/x-deadline-ms"),
            ("", {"X-Deadline-Ms": "-1"}, "/x-deadline-ms"),
        ],
    )
    def test_a_wrong_deadline(self, api: TestClient, query: str, headers: dict[str, str], pointer: str) -> None:
        results(api, item())
        answer = api.post(f"{PATH}{query}", json={"items": [item()]}, headers=headers)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"].lower() == pointer


class TestDeadline:
    """What a caller in a hurry gets."""

    @pytest.fixture
    def slow(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
        """A service that takes 0.4 s for a verdict."""
        judged = verdicts._judged

        def slowly(*asked: Any) -> Any:
            time.sleep(0.4)
            return judged(*asked)

        monkeypatch.setattr(verdicts, "_judged", slowly)
        with TestClient(create_app(Settings(database_url=sqlite_url))) as opened:
            yield opened

    @pytest.mark.parametrize(
        ("query", "headers"),
        [
            ("?timeout=1500ms", {}),
            ("?timeout=1.5", {}),
            ("", {"X-Deadline-Ms": "1500"}),
            ("?timeout=1m30s", {"X-Deadline-Ms": "1500"}),
            ("?timeout=1.5s", {"X-Deadline-Ms": "5000"}),
        ],
    )
    def test_what_is_not_ready_in_time_is_unknown(self, slow: TestClient, query: str, headers: dict[str, str]) -> None:
        items = [item(world_size=64 * number) for number in range(1, 11)]
        began = time.monotonic()
        found = results(slow, *items, query=query, headers=headers)
        assert time.monotonic() - began < 1.5
        said = [each["verdict"] for each in found]
        ready = said.index("unknown")
        assert 1 <= ready <= 3
        assert said[ready:] == ["unknown"] * (10 - ready)
        assert found[-1]["error"]["code"] == "deadline"

    def test_what_was_late_is_answered_the_next_time(self, slow: TestClient) -> None:
        assert results(slow, item(), query="?timeout=300ms")[0]["verdict"] == "unknown"
        assert results(slow, item(), query="?timeout=5s")[0]["verdict"] == "fits"
        assert results(slow, item(), query="?timeout=300ms")[0]["verdict"] == "fits"

    def test_no_time_at_all(self, client: TestClient) -> None:
        assert results(client, item(), query="?timeout=0")[0]["verdict"] == "unknown"


class TestMemory:
    """Answers that are given again."""

    def test_the_same_request_is_answered_without_being_read(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = client.post(PATH, json={"items": [item(), item(**LARGE)]})
        monkeypatch.setattr(verdicts, "accept", None)
        again = client.post(PATH, json={"items": [item(), item(**LARGE)]})
        assert again.content == first.content
        assert again.headers["content-type"] == "application/json"
        assert again.headers["x-request-id"] != first.headers["x-request-id"]

    def test_the_same_job_in_another_request_is_not_judged_again(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (first,) = results(client, item())
        monkeypatch.setattr(verdicts, "accept", None)
        found = results(client, item((DEVICE, DEVICE)))
        assert found[1] == {**first, "target": 1}

    def test_what_is_wrong_with_a_request_is_found_each_time(self, client: TestClient) -> None:
        for _ in range(2):
            answer = client.post(PATH, content=b'{"items": ]', headers={"content-type": "application/json"})
            assert (answer.status_code, answer.json()["code"]) == (400, "malformed_json")
        body = b'{"items": []}'
        assert client.post(PATH, content=body, headers={"content-type": "text/plain"}).status_code == 415

    def test_a_service_without_a_database_still_answers(self, settings: Settings) -> None:
        with TestClient(create_app(settings)) as client:
            client.app.state.services.store.close()  # type: ignore[attr-defined]
            assert results(client, item())[0]["verdict"] == "fits"
