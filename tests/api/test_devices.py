"""PUT and DELETE of devices: what an operator says of them counts at once, and can be taken back."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.calculator.units import GIB
from service.settings import Settings
from service.usecases import current
from tests.api.questions import DEVICE, estimate, job, plan

PATH = f"/v1/devices/{DEVICE}"
OWN: dict[str, Any] = {"base": "a100-sxm-80gb", "usable_bytes": 70 * GIB, "labels": {"gres_types": ["a100-b"]}}


def verdict(client: TestClient, device: str = DEVICE) -> dict[str, Any]:
    answer = client.post("/v1/verdicts", json={"items": [{"job": job(), "targets": [{"device": device}]}]})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["results"][0]
    return found


def put(client: TestClient, path: str = PATH, **said: Any) -> httpx2.Response:
    answer: httpx2.Response = client.put(path, json=said)
    assert answer.status_code in {200, 201}, answer.text
    return answer


def refused(answer: httpx2.Response, status: int, code: str) -> list[str]:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    return [each["pointer"] for each in answer.json()["errors"]]


@contextmanager
def another_process(client: TestClient) -> Iterator[TestClient]:
    settings: Settings = client.app.state.services.settings  # type: ignore[attr-defined]
    with TestClient(create_app(settings)) as other:
        yield other


def test_what_is_said_of_a_device_counts_from_the_next_answer_on(client: TestClient) -> None:
    before, capacity = verdict(client), client.post("/v1/estimates", json=estimate()).json()["capacity"]
    assert before["verdict"] == "fits"
    said = put(client, usable_bytes=10 * GIB, reserve_bytes=2 * GIB).json()
    assert (said["usable_bytes"], said["reserve_bytes"], said["origin"]) == (8 * GIB, 2 * GIB, "override")
    assert said["evidence"]["memory"]["confidence"] == "stated"
    after = verdict(client)
    assert (after["verdict"], after["usable_bytes"]) == ("does_not_fit", 8 * GIB)
    assert after["peak_bytes"] == before["peak_bytes"]
    assert after["digest"] != before["digest"]
    assert client.post("/v1/estimates", json=estimate()).json()["capacity"]["usable_bytes"] == 8 * GIB
    assert client.delete(PATH).status_code == 204
    assert verdict(client) == before
    assert client.post("/v1/estimates", json=estimate()).json()["capacity"] == capacity


def test_a_plan_of_other_figures_is_another_plan(client: TestClient) -> None:
    first = client.post("/v1/plans", json=plan())
    put(client, usable_bytes=40 * GIB)
    second = client.post("/v1/plans", json=plan())
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json()["digest"] != first.json()["digest"]
    assert client.delete(PATH).status_code == 204
    again = client.post("/v1/plans", json=plan())
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


def test_labels_alone_change_no_answer_but_lead_to_it(client: TestClient) -> None:
    before = verdict(client)
    put(client, labels={"gres_types": ["gpu-big"], "kubernetes_products": ["Site/H100"]})
    assert verdict(client)["digest"] == before["digest"]
    for name in ("gpu-big", "GPU_big", "site-h100", "h100"):
        assert verdict(client, name) == before
    assert client.get("/v1/devices/gpu-big").json()["id"] == DEVICE


def test_a_stated_name_wins_over_one_that_several_devices_of_the_catalogue_share(client: TestClient) -> None:
    assert verdict(client, "a100")["error"]["code"] == "unknown_device"
    put(client, "/v1/devices/a100-sxm-40gb", reserve_bytes=GIB)
    assert verdict(client, "a100")["error"]["code"] == "unknown_device"  # an inherited name is not a stated one
    put(client, "/v1/devices/a100-sxm-80gb", aliases=["a100"])
    assert verdict(client, "a100")["device"] == "a100-sxm-80gb"


def test_an_operators_own_device_is_used_like_any_other(client: TestClient) -> None:
    made = put(client, "/v1/devices/site-a100", **OWN)
    assert (made.status_code, made.headers["location"]) == (201, "/v1/devices/site-a100")
    assert (made.json()["origin"], made.json()["aliases"]) == ("operator", [])
    assert put(client, "/v1/devices/site-a100", **OWN).status_code == 200
    assert verdict(client, "a100-b")["usable_bytes"] == 70 * GIB
    found = client.post("/v1/plans", json=plan(cluster={"device": "a100-b"})).json()
    assert found["device"] == "site-a100"
    assert "gpus-per-node=a100-b:8" in client.get(f"/v1/plans/{found['id']}/exports/slurm").text
    listed = [each["id"] for each in client.get("/v1/devices").json()["items"]]
    assert listed[-1] == "site-a100"
    assert client.get("/readyz").json()["devices"] == len(listed)
    for name in ("a100-b", "site-a100"):
        assert [each["id"] for each in client.get(f"/v1/plans?device={name}").json()["items"]] == [found["id"]]
    assert client.delete("/v1/devices/site-a100").status_code == 204
    assert client.get("/v1/plans?device=site-a100").json()["items"]
    assert verdict(client, "a100-b")["error"]["code"] == "unknown_device"
    assert client.get(f"/v1/plans/{found['id']}").status_code == 200  # what is stored stays


def test_a_device_without_a_base_states_its_figures(client: TestClient) -> None:
    path, said = "/v1/devices/accelerator-x", {"usable_bytes": 90 * GIB, "gpus_per_node": 4}
    pointers = refused(client.put(path, json=said), 422, "invalid_device")
    assert pointers == ["/vendor", "/architecture", "/memory_bytes_per_second", "/peak_flops"]
    rates = {"memory_bytes_per_second": 2e12, "peak_flops": {"bf16": 3e14}}
    put(client, path, vendor="X", architecture="x1", **said, **rates)
    assert verdict(client, "accelerator-x")["verdict"] == "fits"
    assert client.post("/v1/estimates", json={**estimate(), "device": "accelerator-x"}).json()["time"] is None


def test_slices_are_devices_of_their_own(client: TestClient) -> None:
    labels = {"gres_types": ["half"]}
    slices = [{"name": "3g.40gb", "kind": "mig", "usable_bytes": 39 * GIB, "count": 2, "labels": labels}]
    put(client, slices=slices)
    found = client.get(f"{PATH}-3g.40gb").json()
    assert (found["slice_of"], found["usable_bytes"], found["gpus_per_node"]) == (DEVICE, 39 * GIB, 16)
    # As the GPU feature discovery of NVIDIA names a node whose GPUs are all divided alike.
    for name in (f"{DEVICE}-3g.40gb", "half", "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb", "h100-3g.40gb"):
        assert verdict(client, name)["usable_bytes"] == 39 * GIB
    assert verdict(client)["usable_bytes"] == client.get(PATH).json()["usable_bytes"] > 70 * GIB
    put(client, usable_bytes=9 * GIB, slices=slices[:0])
    larger = [each["device"] for each in verdict(client)["alternatives"]]
    assert not any("3g" in each for each in larger)
    assert client.get(f"{PATH}-3g.40gb").status_code == 404


@pytest.mark.parametrize(
    ("said", "pointers"),
    [
        ({"usable_bytes": 90 * GIB}, ["/usable_bytes"]),
        ({"reserve_bytes": 80 * GIB}, ["/reserve_bytes"]),
        ({"base": "a100-sxm-80gb"}, ["/base"]),
        ({"aliases": ["mine", "A100-SXM-80GB"]}, ["/aliases/1"]),
        (
            {"slices": [{"name": "a", "kind": "mig", "usable_bytes": 90 * GIB}]},
            ["/slices/0/usable_bytes"],
        ),
        (
            {"slices": [{"name": "a", "kind": "vgpu", "usable_bytes": GIB}] * 2},
            ["/slices/1/name"],
        ),
    ],
)
def test_a_definition_that_cannot_stand_is_refused_and_changes_nothing(
    api: TestClient, said: dict[str, Any], pointers: list[str]
) -> None:
    before = api.get(PATH).json()
    assert refused(api.put(PATH, json=said), 422, "invalid_device") == pointers
    assert api.get(PATH).json() == before


def test_two_devices_cannot_state_the_same_name(client: TestClient) -> None:
    put(client, "/v1/devices/site-a100", **OWN)
    answer = client.put("/v1/devices/site-b", json={**OWN, "aliases": ["x"]})
    assert refused(answer, 422, "invalid_device") == ["/labels/gres_types/0"]
    put(client, "/v1/devices/site-b", **{**OWN, "labels": {}})
    # A base is a device of the catalogue: one of the operator's could vanish.
    assert refused(client.put("/v1/devices/site-c", json={"base": "site-b"}), 422, "invalid_device") == ["/base"]


def test_a_definition_of_the_wrong_form_says_where(api: TestClient) -> None:
    said = {"usable_byte": 1, "reserve_bytes": -1, "peak_flops": {"bf16": 0}, "slices": [{"name": "A B"}]}
    pointers = refused(api.put(PATH, json=said), 422, "invalid_request")
    assert {"/usable_byte", "/reserve_bytes", "/peak_flops/bf16", "/slices/0/name"} <= set(pointers)
    assert refused(api.put("/v1/devices/H100 X", json={}), 422, "invalid_request") == ["/device_id"]


def test_names_of_a_device_are_not_ids_of_another(client: TestClient) -> None:
    refused(client.put("/v1/devices/h100", json={}), 409, "device_name_taken")
    refused(client.put("/v1/devices/a100", json=OWN), 409, "device_name_taken")  # a name that several share
    put(client, slices=[{"name": "half", "kind": "mig", "usable_bytes": 39 * GIB}])
    refused(client.put(f"{PATH}-half", json=OWN), 409, "device_name_taken")
    refused(client.delete(f"{PATH}-half"), 409, "device_not_removable")


def test_a_device_of_the_catalogue_cannot_vanish(client: TestClient) -> None:
    answer = client.delete(PATH)
    refused(answer, 409, "device_not_removable")
    assert "nothing is stored over it" in answer.json()["detail"]
    refused(client.delete("/v1/devices/never-was"), 404, "device_not_found")
    refused(client.get("/v1/devices/never-was"), 404, "device_not_found")


def test_changes_can_be_bound_to_what_was_seen(client: TestClient) -> None:
    seen = client.get(PATH)
    tag = seen.headers["etag"]
    assert client.get(PATH, headers={"If-None-Match": tag}).status_code == 304
    first = client.put(PATH, json={"reserve_bytes": GIB}, headers={"If-Match": tag})
    assert first.status_code == 200
    assert first.headers["etag"] == client.get(PATH).headers["etag"] != tag
    late = client.put(PATH, json={"reserve_bytes": 2 * GIB}, headers={"If-Match": tag})
    refused(late, 412, "precondition_failed")
    refused(client.delete(PATH, headers={"If-Match": tag}), 412, "precondition_failed")
    refused(client.put("/v1/devices/new", json=OWN, headers={"If-Match": "*"}), 412, "precondition_failed")
    refused(client.put(PATH, json={}, headers={"If-None-Match": "*"}), 412, "precondition_failed")
    assert client.put("/v1/devices/new", json=OWN, headers={"If-None-Match": "*"}).status_code == 201
    assert client.delete(PATH, headers={"If-Match": first.headers["etag"]}).status_code == 204


def test_what_is_read_can_be_changed_and_sent_again(client: TestClient) -> None:
    put(client, reserve_bytes=GIB, slices=[{"name": "half", "kind": "mig", "usable_bytes": 39 * GIB}])
    seen = client.get(PATH)
    definition = {**seen.json()["definition"], "notes": "changed"}
    again = client.put(PATH, json=definition, headers={"If-Match": seen.headers["etag"]})
    changed = {"notes", "definition", "updated_at"}
    assert again.status_code == 200
    assert {key for key, value in again.json().items() if value != seen.json()[key]} == changed


def test_of_many_that_create_the_same_device_one_does(client: TestClient) -> None:
    def create(_: int) -> int:
        headers = {"If-None-Match": "*"}
        return int(client.put("/v1/devices/site-a100", json=OWN, headers=headers).status_code)

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(create, range(8))) == [201, *[412] * 7]


def test_it_is_there_after_a_restart(client: TestClient) -> None:
    put(client, reserve_bytes=GIB)
    said = client.get(PATH).json()
    with another_process(client) as restarted:
        assert restarted.get(PATH).json() == said


def test_other_processes_follow_within_seconds(postgres_url: str) -> None:
    with TestClient(create_app(Settings(database_url=postgres_url))) as first, another_process(first) as second:
        before = verdict(second)
        put(first, usable_bytes=9 * GIB)
        until = time.monotonic() + 10
        while verdict(second) == before and time.monotonic() < until:
            time.sleep(0.05)
        assert verdict(second)["usable_bytes"] == 9 * GIB


def test_an_answer_that_was_begun_before_a_change_is_not_remembered_after_it(client: TestClient) -> None:
    """The memory is by the devices that an answer was computed with, not by those of the moment it was ready."""
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(verdict, client) for _ in range(40)]
        put(client, usable_bytes=9 * GIB)
        for each in asked:
            each.result()
    assert verdict(client)["usable_bytes"] == 9 * GIB


def test_there_is_a_bound_on_what_is_stored(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "MOST", 2)
    for name in ("site-a", "site-b"):
        put(client, f"/v1/devices/{name}", base="a100-sxm-80gb")
    refused(client.put("/v1/devices/site-c", json={"base": "a100-sxm-80gb"}), 409, "definitions_full")
    assert put(client, "/v1/devices/site-b", base="h100-sxm-80gb").status_code == 200
