"""GET /v1/devices and /v1/models: what is known by name."""

from typing import Any

import pytest
from starlette.testclient import TestClient

# The devices that the interface promises by name.
DEVICES = {
    *("v100-sxm-32gb", "a100-sxm-40gb", "a100-sxm-80gb", "h100-sxm-80gb", "h100-pcie-80gb", "h200-sxm-141gb"),
    *("b200-sxm-180gb", "gb200-nvl72", "mi300x", "l40s", "rtx-4090"),
}


def items(api: TestClient, path: str) -> list[dict[str, Any]]:
    answer = api.get(path)
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_devices_have_sizes_links_and_sources(api: TestClient) -> None:
    devices = {each["id"]: each for each in items(api, "/v1/devices")}
    assert devices.keys() >= DEVICES
    h100 = devices["h100-sxm-80gb"]
    assert h100["usable_bytes"] < h100["total_bytes"]
    assert h100["peak_flops"]["bf16"] == 989e12  # NVIDIA's data sheet, dense
    assert h100["gpus_per_node"] == 8
    assert "h100" in h100["aliases"]
    for device in devices.values():
        for group in device["evidence"].values():
            assert group["source"]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # Published checkpoints, as in the accompanying config.json files.
        ("llama-3-8b", 8_030_261_248),
        ("llama-3-70b", 70_553_706_496),
        ("qwen3-8b", 8_190_735_360),
        ("gpt-2-small", 124_439_808),
    ],
)
def test_models_have_their_parameter_counts(api: TestClient, name: str, parameters: int) -> None:
    models = {each["name"]: each for each in items(api, "/v1/models")}
    assert models[name]["parameters"] == parameters
    assert models[name]["config"]["hidden_size"]
    assert models[name]["source"]


def test_a_model_of_the_list_can_be_named_in_a_job(api: TestClient) -> None:
    for name in [each["name"] for each in items(api, "/v1/models")][:3]:
        job = {
            "model": {"preset": name},
            "framework": {"name": "megatron-core"},
            "world_size": 8,
            "batch": {"micro": 1, "sequence_length": 2048},
        }
        answer = api.post("/v1/estimates", json={"job": job, "device": "h100-sxm-80gb"})
        assert answer.status_code == 200, answer.text
