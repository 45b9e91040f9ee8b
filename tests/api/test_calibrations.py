"""What observed runs change: from the next request on, in their group only, and not where it is asked for without them.

On both databases.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.calibration.observed import FEWEST
from service.settings import Settings
from service.usecases import calibrations, predictions
from tests.api.questions import DEVICE, estimate, job, plan

H200 = "h200-sxm-141gb"


def estimated(client: TestClient, **changes: Any) -> dict[str, Any]:
    response = client.post("/v1/estimates", json=estimate() | changes)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def judged(client: TestClient, **changes: Any) -> dict[str, Any]:
    item = {"job": job(), "targets": [{"device": DEVICE}]}
    response = client.post("/v1/verdicts", json={"items": [item]} | changes)
    assert response.status_code == 200, response.text
    (found,) = response.json()["results"]
    return found  # type: ignore[no-any-return]


def groups(client: TestClient, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/v1/calibrations{query}")
    assert response.status_code == 200, response.text
    return response.json()["items"]  # type: ignore[no-any-return]


def observe(client: TestClient, run: str, ran: dict[str, Any], **measured: Any) -> dict[str, Any]:
    sent = {"run_id": run, "job": ran, "device": DEVICE, "measured": {"source": "torch"} | measured}
    response = client.post("/v1/observations", json=sent)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def jobs(count: int) -> list[dict[str, Any]]:
    """Different jobs of one group, all of which fit."""
    sizes = [(micro, length) for length in (1024, 2048, 3072, 4096, 5120) for micro in (1, 2, 4, 8)]
    return [job(batch={"micro": micro, "sequence_length": length}) for micro, length in sizes[:count]]


def observe_group(client: TestClient, count: int, ratio: float, **further: Any) -> None:
    """Runs of different jobs that reserved so much of what was predicted."""
    for number, ran in enumerate(jobs(count)):
        stages = estimated(client, job=ran, use_observations=False)["stages"]
        reserved = round(ratio * max(each["reserved_bytes"] for each in stages))
        observe(client, f"run-{ratio}-{number}", ran, reserved_bytes=reserved, **further)


class TestNextAnswer:
    """What the next answers of the group say."""

    def test_estimates_expect_what_runs_have_shown(self, client: TestClient) -> None:
        before = estimated(client)
        observe_group(client, 20, 1.3)
        found = estimated(client)
        peak, without = found["peak"], found["observations"].pop("without")
        assert peak["device_bytes"] == before["peak"]["device_bytes"] == sum(found["stages"][0]["categories"].values())
        assert peak["expected_bytes"] == pytest.approx(
            peak["device_bytes"] * (1 + found["observations"]["bias"]), rel=0.001
        )
        assert 0.2 < found["observations"].pop("bias") < 0.31
        assert peak["high_bytes"] > 1.3 * peak["device_bytes"]
        assert found["capacity"]["margin_bytes"] == found["capacity"]["usable_bytes"] - peak["expected_bytes"]
        assert found["observations"] == {
            "group": f"megatron-core (transformer_engine) on {DEVICE}",
            "runs": 20,
            "oom": 0,
            "same_job": 0,
        }
        assert without == {
            "verdict": before["verdict"],
            "peak_bytes": before["peak"]["device_bytes"],
            "low_bytes": before["peak"]["low_bytes"],
            "high_bytes": before["peak"]["high_bytes"],
        }
        assert found["interval"]["runs"] == 20
        assert found["digest"] == before["digest"]

    def test_asked_for_without_them_nothing_changes(self, client: TestClient) -> None:
        before, verdict = estimated(client), judged(client)
        observe_group(client, 20, 1.3)
        assert estimated(client, use_observations=False) == before
        assert judged(client, use_observations=False) == verdict
        assert before["observations"] is None

    def test_few_runs_change_nothing(self, client: TestClient) -> None:
        before = estimated(client)
        observe_group(client, FEWEST - 1, 1.3)
        assert estimated(client) == before
        (group,) = groups(client)
        assert (group["in_use"], group["runs"], group["needed"]) == (False, FEWEST - 1, 1)
        assert group["bias"] == pytest.approx(0.3, abs=0.001)
        assert group["interval"] == group["shipped"]

    def test_other_groups_are_as_they_were(self, client: TestClient) -> None:
        before = estimated(client, device=H200)
        observe_group(client, 20, 1.3)
        assert estimated(client, device=H200) == before

    def test_verdicts_are_those_of_estimates(self, client: TestClient) -> None:
        observe_group(client, 20, 1.3)
        found, expected = judged(client), estimated(client)
        assert found["peak_bytes"] == expected["peak"]["expected_bytes"]
        assert found["margin_bytes"] == expected["capacity"]["margin_bytes"]
        assert (found["low_bytes"], found["high_bytes"]) == (
            expected["peak"]["low_bytes"],
            expected["peak"]["high_bytes"],
        )
        assert found["observations"] == expected["observations"]
        assert (found["verdict"], found["digest"]) == (expected["verdict"], expected["digest"])

    def test_a_remembered_answer_is_forgotten(self, client: TestClient) -> None:
        answers = [judged(client) for _ in range(2)]
        observe_group(client, 20, 1.3)
        found = judged(client)
        assert found["peak_bytes"] > answers[-1]["peak_bytes"]
        assert judged(client) == found

    def test_what_is_removed_is_forgotten(self, client: TestClient) -> None:
        before = estimated(client)
        observe_group(client, FEWEST, 1.3)
        assert estimated(client) != before
        (one, *_) = client.get("/v1/observations").json()["items"]
        client.delete(f"/v1/observations/{one['id']}")
        assert estimated(client) == before

    def test_a_plan_is_made_anew_with_them(self, client: TestClient) -> None:
        first = client.post("/v1/plans", json=plan())
        observe_group(client, 20, 1.3)
        second, again = client.post("/v1/plans", json=plan()), client.post("/v1/plans", json=plan())
        without = client.post("/v1/plans", json=plan(use_observations=False))
        assert [each.status_code for each in (first, second, again, without)] == [201, 201, 200, 200]
        assert without.json() == first.json()
        assert second.json()["observations"]["runs"] == 20
        best = second.json()["candidates"][0]
        assert best["peak"]["expected_bytes"] > 1.2 * best["peak"]["device_bytes"]
        assert best["peak"]["margin_bytes"] >= 0
        again_estimated = estimated(client, job=best["job"])
        assert again_estimated["peak"]["expected_bytes"] == best["peak"]["expected_bytes"]
        assert again_estimated["verdict"] == best["verdict"]

    def test_a_comparison_is_made_anew_with_them(self, client: TestClient) -> None:
        asked = {"items": [{"label": "mine", "job": job()}], "targets": [{"device": DEVICE}, {"device": H200}]}
        first = client.post("/v1/comparisons", json=asked)
        observe_group(client, 20, 1.3)
        second, again = client.post("/v1/comparisons", json=asked), client.post("/v1/comparisons", json=asked)
        without = client.post("/v1/comparisons", json=asked | {"use_observations": False})
        assert [each.status_code for each in (first, second, again, without)] == [201, 201, 200, 200]
        assert without.json() == first.json()
        here, there = second.json()["matrix"][0]
        assert here["peak_bytes"] == estimated(client)["peak"]["expected_bytes"]
        assert here["observations"]["runs"] == 20
        assert there["observations"] is None
        assert client.get(second.headers["location"]).json() == second.json()

    def test_another_process_sees_them_soon(self, postgres_url: str) -> None:
        settings = Settings(database_url=postgres_url)
        with TestClient(create_app(settings)) as client, TestClient(create_app(settings)) as other:
            before = estimated(other)
            observe_group(client, 20, 1.3)
            expected = estimated(client)
            until = time.monotonic() + 20
            while estimated(other) != expected and time.monotonic() < until:
                time.sleep(0.1)
            assert estimated(other) == expected != before

    def test_another_start_knows_them(self, client: TestClient, settings: Settings) -> None:
        observe_group(client, FEWEST, 1.3)
        found = estimated(client)
        with TestClient(create_app(settings)) as other:
            assert estimated(other) == found


class TestOutOfMemory:
    """A run that was called `fits` and ran out of memory."""

    @pytest.fixture
    def bold(self) -> dict[str, Any]:
        """A job that is called `fits` at more than half of the GPU."""
        return job(batch={"micro": 4, "sequence_length": 16384})

    def test_once_it_is_counted_and_changes_no_verdict(self, client: TestClient, bold: dict[str, Any]) -> None:
        assert estimated(client, job=bold)["verdict"] == "fits"
        observe_group(client, 10, 1.0)
        observe(client, "dead", bold, oom=True)
        (group,) = groups(client)
        assert group["fits"] == {"runs": 11, "oom": 1, "share": pytest.approx(1 / 11, abs=1e-4)}
        assert group["oom"] == 1
        assert estimated(client, job=bold)["verdict"] == "fits"

    def test_twice_it_is_believed(self, client: TestClient, bold: dict[str, Any]) -> None:
        observe_group(client, 10, 1.0)
        for run in range(2):
            observe(client, f"dead-{run}", bold, oom=True)
        found = estimated(client, job=bold)
        assert found["verdict"] == "tight"
        assert found["peak"]["high_bytes"] > found["capacity"]["usable_bytes"]
        assert found["observations"]["oom"] == 2
        assert found["observations"]["without"]["verdict"] == "fits"

    def test_of_a_job_that_died_each_time_it_is_expected(self, client: TestClient, bold: dict[str, Any]) -> None:
        observe_group(client, 10, 1.0)
        for run in range(3):
            observe(client, f"dead-{run}", bold, oom=True)
        found = estimated(client, job=bold)
        assert found["verdict"] == "does_not_fit"
        assert found["observations"]["same_job"] == 3
        assert found["capacity"]["margin_bytes"] < 0
        (verdict,) = client.post(
            "/v1/verdicts", json={"items": [{"job": bold, "targets": [{"device": DEVICE}]}]}
        ).json()["results"]
        assert verdict["verdict"] == "does_not_fit"
        assert verdict["alternatives"]
        assert estimated(client)["verdict"] == "fits"

    def test_a_scheduler_that_knows_only_ends_counts(self, client: TestClient) -> None:
        for run in range(3):
            observe(client, f"run-{run}", job(), oom=False)
        (group,) = groups(client)
        assert group["fits"] == {"runs": 3, "oom": 0, "share": 0.0}
        assert (group["sized"], group["bias"], group["kind"], group["in_use"]) == (0, None, None, False)


class TestStepTimes:
    """Timed steps of the same cluster."""

    @pytest.fixture
    def timed(self, client: TestClient) -> TestClient:
        for number, ran in enumerate(jobs(4)):
            seconds = estimated(client, job=ran, use_observations=False)["time"]["step_seconds"]
            observe(client, f"timed-{number}", ran, step_seconds=1.3 * seconds)
        return client

    def test_they_move_step_times(self, timed: TestClient) -> None:
        found, without = (estimated(timed, use_observations=each)["time"] for each in (True, False))
        assert (found["observed_steps"], without["observed_steps"]) == (4, 0)
        assert found["step_seconds"] == pytest.approx(1.3 * without["step_seconds"], rel=0.06)
        assert found["tokens_per_second_per_gpu"] * found["step_seconds"] == pytest.approx(
            without["tokens_per_second_per_gpu"] * without["step_seconds"]
        )
        (group,) = groups(timed)
        (cluster,) = group["step_times"]
        assert (cluster["gpus_per_node"], cluster["steps"], cluster["layouts"]) == (8, 4, 4)

    def test_they_say_nothing_of_bytes(self, timed: TestClient) -> None:
        assert estimated(timed)["observations"] is None

    def test_plans_use_them(self, timed: TestClient) -> None:
        found, without = (timed.post("/v1/plans", json=plan(use_observations=each)).json() for each in (True, False))
        assert found["id"] != without["id"]
        times = [each["candidates"][0]["time"] for each in (found, without)]
        assert [each["observed_steps"] for each in times] == [4, 0]
        assert times[0]["step_seconds"] > times[1]["step_seconds"]

    def test_one_layout_alone_moves_nothing(self, client: TestClient) -> None:
        before = estimated(client)
        for run in range(6):
            observe(client, f"run-{run}", job(), step_seconds=2 * before["time"]["step_seconds"])
        assert estimated(client) == before


class TestReport:
    """What is said of the groups."""

    def test_nothing_is_said_of_nothing(self, client: TestClient) -> None:
        assert groups(client) == []

    def test_groups_are_told_apart_and_found(self, client: TestClient) -> None:
        observe_group(client, 2, 1.1)
        other = job(framework={"name": "megatron-core", "transformer_impl": "local"})
        observe(client, "local", other, reserved_bytes=10 << 30)
        assert [each["implementation"] for each in groups(client)] == ["local", "transformer_engine"]
        assert len(groups(client, f"?device={DEVICE}&framework=megatron-core")) == 2
        assert groups(client, f"?device={H200}") == []
        assert client.get("/v1/calibrations?devise=x").json()["code"] == "invalid_request"

    def test_the_interval_says_how_far_it_moved(self, client: TestClient) -> None:
        observe_group(client, 20, 1.1)
        (group,) = groups(client)
        assert (group["kind"], group["runs"], group["sized"], group["in_use"]) == ("reserved", 20, 20, True)
        assert group["bias"] == pytest.approx(0.1, abs=0.001)
        assert 0.05 < group["applied_bias"] <= group["bias"]
        assert group["interval"] != group["shipped"]
        assert 0 <= group["reached"] <= 1
        assert group["drift"] is None


class TestNewMethod:
    """After a release with another method the runs are predicted anew, and both versions are compared."""

    @pytest.fixture
    def upgraded(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
        with TestClient(create_app(settings)) as old:
            observe_group(old, FEWEST, 1.3)
        for module in (calibrations, predictions):
            monkeypatch.setattr(module, "METHOD_VERSION", "next")
        whole = predictions.predicted

        def heavier(*asked: Any) -> Any:
            found, estimate_ = whole(*asked)
            fields = {name: getattr(found, name) for name in type(found).__dataclass_fields__}
            for name in ("allocated_bytes", "reserved_bytes", "device_bytes"):
                fields[name] = round(1.3 * fields[name])
            return type(found)(**fields), estimate_

        monkeypatch.setattr(calibrations, "predicted", heavier)
        with TestClient(create_app(settings)) as new:
            until = time.monotonic() + 20
            while not (groups(new) and groups(new)[0]["outdated"] == 0) and time.monotonic() < until:
                time.sleep(0.1)
            yield new

    def test_the_drift_is_reported(self, upgraded: TestClient) -> None:
        (group,) = groups(upgraded)
        drift = group["drift"]
        assert (drift["runs"], group["outdated"]) == (FEWEST, 0)
        assert (drift["before"], drift["now"]) == (pytest.approx(0.3, abs=0.001), pytest.approx(0.0, abs=0.001))
        assert group["bias"] == drift["now"]

    def test_an_observation_shows_the_new_prediction(self, upgraded: TestClient) -> None:
        found = upgraded.get("/v1/observations").json()["items"]
        assert {each["method"]["version"] for each in found} == {"next"}
        assert [each["ratios"]["reserved"] for each in found] == [pytest.approx(1.0, abs=0.001)] * FEWEST
