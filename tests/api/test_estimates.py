"""POST /v1/estimates: the itemised memory of a job, tensor by tensor."""

from math import prod
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.calculator.ledger import LOADING, Category, Moment
from service.calculator.units import BYTES
from tests.api.questions import DEVICE, estimate, job, script

CATEGORIES = {
    "weights",
    "gradients",
    "optimizer",
    "activations",
    "logits",
    "communication",
    "workspace",
    "allocator",
    "context",
}


def answer(api: TestClient, question: dict[str, Any]) -> dict[str, Any]:
    response = api.post("/v1/estimates", json=question)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


@pytest.fixture(scope="module")
def found(api: TestClient) -> dict[str, Any]:
    return answer(api, estimate())


def test_uneven_routing_is_told_how_far_it_may_go(api: TestClient) -> None:
    """Experts on 16 ranks: the fullest may receive some more than its share before the device is full."""
    routed = {
        "model": {"preset": "qwen3-30b-a3b"},
        "framework": {"name": "megatron-core"},
        "world_size": 16,
        "parallelism": {"expert": 16, "expert_tensor": 1},
        "sharding": {"stage": 1},
        "batch": {"micro": 1, "global": 16, "sequence_length": 4096},
        "dropout": {"hidden": 0.0},
    }
    found = answer(api, {"job": routed, "device": "h100-sxm-80gb"})
    assert found["verdict"] in {"fits", "tight"}
    assert 1.0 < found["capacity"]["break_even_imbalance"] < 16.0


def test_every_field_of_the_contract_is_there(found: dict[str, Any]) -> None:
    assert {
        *(
            "verdict",
            "reason",
            "peak",
            "capacity",
            "stages",
            "time",
            "job",
            "sources",
            "diagnostics",
            "method",
            "digest",
        )
    } <= found.keys()
    assert {
        *("stage", "moment", "allocated_bytes", "reserved_bytes", "device_bytes", "low_bytes", "high_bytes")
    } <= found["peak"].keys()
    assert {"device", "total_bytes", "usable_bytes", "margin_bytes"} <= found["capacity"].keys()
    stage = found["stages"][0]
    assert {
        *("stage", "layers", "parameters", "in_flight_microbatches", "moment", "allocated_bytes", "reserved_bytes"),
        *("device_bytes", "moments", "categories", "ledger"),
    } <= stage.keys()
    assert {
        *("name", "category", "shape", "dtype", "count", "bytes", "sharded_by", "alive", "source", "modelled", "scope")
    } <= stage["ledger"][0].keys()
    assert {*("step_seconds", "tokens_per_second_per_gpu", "bubble_fraction", "recompute_fraction")} <= found[
        "time"
    ].keys()
    assert {"version", "profile"} <= found["method"].keys()


def test_lines_sum_to_categories_and_categories_to_the_device_to_the_byte(found: dict[str, Any]) -> None:
    for stage in found["stages"]:
        assert stage["categories"].keys() == CATEGORIES == {each.value for each in Category}
        for category, size in stage["categories"].items():
            assert size == sum(line["bytes"] for line in stage["ledger"] if line["category"] == category)
        assert sum(stage["categories"].values()) == stage["device_bytes"]


def test_a_line_is_its_shape_times_its_type_times_its_count(found: dict[str, Any]) -> None:
    for stage in found["stages"]:
        for line in stage["ledger"]:
            assert line["bytes"] == prod(line["shape"]) * BYTES[line["dtype"]] * line["count"] > 0
            assert stage["moment"] in line["alive"]
            assert line["source"]


def test_a_stage_is_shown_at_the_largest_of_its_steps_moments(found: dict[str, Any]) -> None:
    for stage in found["stages"]:
        assert stage["moments"].keys() == {each.value for each in Moment}
        of_a_step = [size for moment, size in stage["moments"].items() if moment not in LOADING]
        assert max(of_a_step) == stage["moments"][stage["moment"]] == stage["device_bytes"]


def test_the_three_totals_are_sums_of_what_each_observer_sees(found: dict[str, Any]) -> None:
    for stage in found["stages"]:
        seen = {
            scope: sum(line["bytes"] for line in stage["ledger"] if line["scope"] == scope)
            for scope in ("allocated", "reserved", "device")
        }
        assert stage["allocated_bytes"] == seen["allocated"]
        assert stage["reserved_bytes"] == seen["allocated"] + seen["reserved"]
        assert stage["device_bytes"] == sum(seen.values())


def test_the_peak_is_the_worst_stage_with_an_interval_and_its_origin(found: dict[str, Any]) -> None:
    peak = found["peak"]
    assert peak["device_bytes"] == max(max(stage["moments"].values()) for stage in found["stages"])
    assert peak["host_bytes_per_node"] is None
    assert peak["low_bytes"] <= peak["device_bytes"] <= peak["high_bytes"]
    assert found["interval"]["runs"] > 0
    assert found["interval"]["group"]
    capacity = found["capacity"]
    assert capacity["margin_bytes"] == capacity["usable_bytes"] - peak["device_bytes"]


def test_all_layers_are_on_some_stage_and_parameters_are_those_of_one_gpu(found: dict[str, Any]) -> None:
    assert sorted(layer for stage in found["stages"] for layer in stage["layers"]) == list(range(32))
    # 8 030 261 248 parameters of the model, 2 embeddings of 128 256 rows padded to 129 024 (Megatron: multiples of
    # 128 x tensor), norms on every rank of the tensor group: 65 x 4096 vectors.
    norms = 65 * 4096
    split = (8_030_261_248 - norms + 2 * (129_024 - 128_256) * 4096) // 8
    assert sum(stage["parameters"] for stage in found["stages"]) == split + norms


def test_what_the_caller_did_not_write_is_in_the_job_with_its_source(found: dict[str, Any]) -> None:
    assert found["job"]["parallelism"]["data"] == 4
    assert found["sources"]["/parallelism/data"] == "derived"
    assert found["sources"]["/model/hidden_size"] == "default"
    assert found["sources"]["/parallelism/tensor"] == "given"


def test_a_job_that_does_not_fit_is_an_answer(api: TestClient) -> None:
    found = answer(api, {"job": job(), "device": "rtx-3090"})
    assert found["verdict"] in {"fits", "tight"}
    found = answer(api, {**estimate(parallelism={"tensor": 1, "sequence": False}), "device": "rtx-3090"})
    assert found["verdict"] == "does_not_fit"
    assert found["capacity"]["margin_bytes"] < 0
    assert "short by" in found["reason"]


def test_without_a_figure_of_the_usable_memory_the_verdict_is_unknown_and_says_so(api: TestClient) -> None:
    found = answer(api, {**estimate(), "device": "gaudi2"})
    assert found["verdict"] == "unknown"
    assert "usable" in found["reason"] or "can use" in found["reason"]
    assert found["capacity"]["usable_bytes"] is None
    assert found["capacity"]["margin_bytes"] is None


def test_without_figures_of_the_links_there_is_no_time(api: TestClient) -> None:
    assert answer(api, {**estimate(), "device": "tpu-v5p"})["time"] is None


@pytest.mark.parametrize("name", ["h100", "H100-SXM-80GB", "NVIDIA-H100-80GB-HBM3"])
def test_a_device_has_its_aliases_and_labels(api: TestClient, name: str) -> None:
    assert answer(api, {**estimate(), "device": name})["capacity"]["device"] == DEVICE


def test_the_same_question_has_the_same_answer_and_digest(api: TestClient, found: dict[str, Any]) -> None:
    again = answer(api, estimate())
    assert again == found
    spelt_out = answer(api, {"job": found["job"], "device": DEVICE})
    assert spelt_out["digest"] == found["digest"]
    assert spelt_out["stages"] == found["stages"]
    other = answer(api, estimate(batch={"micro": 2}))
    assert other["digest"] != found["digest"]


def test_a_launch_script_gives_the_bytes_of_the_job_that_it_says(api: TestClient, found: dict[str, Any]) -> None:
    read = answer(api, {"source": script(), "device": DEVICE})
    assert read["stages"] == found["stages"]
    assert read["sources"]["/parallelism/tensor"] == "flag"


def test_the_environment_of_a_script_completes_it(api: TestClient) -> None:
    read = answer(api, {"source": script(env={"NNODES": "4"}), "device": DEVICE})
    assert read["job"]["world_size"] == 32


def test_the_worked_example_is_read_off_the_ledger(api: TestClient) -> None:
    """A boundary tensor of 67 MB: 8.4 MB per GPU with tensor and sequence parallelism, 4.2 MB per layer of the model
    over two stages, 8.4 MB again with the two micro-batches that 1F1B keeps in flight on the first stage."""
    layers, boundary = 32, 8 * 1024 * 4096 * 2
    assert boundary == 67_108_864

    def inputs(**parallelism: Any) -> dict[str, Any]:
        """The stored inputs of the layers on the first stage."""
        question = estimate(
            parallelism={"data": None, **parallelism},
            batch={"micro": 8, "global": 512, "sequence_length": 1024},
            checkpointing={"granularity": "full", "method": "uniform", "num_layers": 1},
        )
        lines = answer(api, question)["stages"][0]["ledger"]
        (line,) = [each for each in lines if each["name"] == "attention.input"]
        return line

    alone = inputs(tensor=1, sequence=False, pipeline=1)
    assert alone["bytes"] // alone["count"] == boundary
    tensor = inputs(tensor=8, sequence=True, pipeline=1)
    assert tensor["bytes"] // tensor["count"] == boundary // 8 == 8_388_608
    piped = inputs(tensor=8, sequence=True, pipeline=2)
    one_micro_batch = piped["bytes"] // 2
    assert one_micro_batch == layers * (boundary // 8) // 2
    assert one_micro_batch // layers == 4_194_304
    assert piped["bytes"] // layers == 8_388_608


def test_interleaving_raises_the_first_stage_and_cuts_the_bubble(api: TestClient) -> None:
    plain = answer(api, estimate(parallelism={"pipeline": 4, "tensor": 2}))
    cut = answer(api, estimate(parallelism={"pipeline": 4, "tensor": 2, "virtual_pipeline": 2}))
    # p and p + (p - 1) / v, memory_model.md section 5
    assert plain["stages"][0]["in_flight_microbatches"] == 4
    assert cut["stages"][0]["in_flight_microbatches"] == 4 + 3 / 2
    assert cut["time"]["bubble_fraction"] < plain["time"]["bubble_fraction"]
