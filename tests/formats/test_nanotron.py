"""nanotron's file: the number of GPUs, also with experts, the pipeline, precision, and keys given twice."""

from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource

LLAMA = {
    "is_llama_config": True,
    "hidden_size": 2048,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "intermediate_size": 8192,
    "vocab_size": 32000,
}


def config(parallelism: dict[str, Any], tokens: dict[str, Any] | None = None, **model: Any) -> dict[str, Any]:
    return {
        "model": {"dtype": "bfloat16", "model_config": {**LLAMA, **model}},
        "optimizer": {"accumulate_grad_in_fp32": True, "zero_stage": 1},
        "parallelism": {"dp": 2, "pp": 1, "tp": 2, **parallelism},
        "tokens": {
            "micro_batch_size": 2,
            "batch_accumulation_per_replica": 4,
            "sequence_length": 4096,
            **(tokens or {}),
        },
    }


def read(document: dict[str, Any] | str, **given: Any) -> Imported:
    text = document if isinstance(document, str) else yaml.safe_dump(document)
    return import_source(ConfigSource(text=text, format="nanotron", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


def test_the_product_of_all_degrees_is_the_number_of_gpus() -> None:
    assert job(read(config({"pp": 2, "context_parallel_size": 2}))).world_size == 16
    assert "world_size_mismatch" in errors(read(config({}), world_size=8))


def test_the_global_batch_is_the_product() -> None:
    assert job(read(config({}))).batch.global_ == 16


def test_experts_make_the_number_of_gpus_a_question_of_the_version() -> None:
    document = config({"expert_parallel_size": 2}, moe_config={"num_experts": 8, "layers": [1, 3]})

    imported = read(document)

    assert {"version", "world_size"} == {each.fact for each in imported.findings.missing}
    for world in (4, 8):
        assert read(document, world_size=world).outcome == "ok"
    assert "world_size_mismatch" in errors(read(document, world_size=16))
    assert job(imported).model.moe_layer_pattern[:4] == [0, 1, 0, 1]


@pytest.mark.parametrize(("mode", "tensor", "sequence"), [("REDUCE_SCATTER", 2, True), ("REDUCE_SCATTER", 1, False),
                                                          ("ALL_REDUCE", 2, False), (None, 2, False)])  # fmt: skip
def test_reduce_scatter_is_sequence_parallelism(mode: str | None, tensor: int, sequence: bool) -> None:
    assert job(read(config({"tp": tensor, "tp_mode": mode}))).parallelism.sequence is sequence


def test_one_forward_one_backward_needs_micro_batches() -> None:
    few = {"batch_accumulation_per_replica": 2}

    assert "micro_batches_too_few" in errors(read(config({"pp": 4, "pp_engine": "1f1b"}, few)))
    assert not errors(read(config({"pp": 4, "pp_engine": "afab"}, few)))
    assert job(read(config({"pp": 4}))).schedule == "gpipe"


def test_stages_need_not_be_even() -> None:
    assert job(read(config({"pp": 3, "pp_engine": "1f1b"}))).stages.layers == [10, 9, 9]


def test_ring_attention_needs_an_even_share_of_the_sequence() -> None:
    assert "seq_divisor" in errors(read(config({"context_parallel_size": 4}, {"sequence_length": 4100})))


def test_gradients_in_16_bits_leave_no_copy_in_fp32() -> None:
    document = config({})
    document["optimizer"]["accumulate_grad_in_fp32"] = False

    precision = job(read(document)).precision

    assert (precision.gradients, precision.master) == ("bf16", "none")


def test_recomputed_layers_are_all_of_them() -> None:
    found = job(read(config({"recompute_layer": True}))).checkpointing

    assert (found.granularity, found.method, found.num_layers) == ("full", "uniform", 1)


def test_a_key_given_twice_is_noted_and_the_last_one_counts() -> None:
    text = yaml.safe_dump(config({})).replace("  model_config:\n", "  model_config:\n    hidden_size: 7\n", 1)

    imported = read(text)

    assert "duplicate_key" in {each.code for each in imported.findings.diagnostics}
    assert job(imported).model.hidden_size == 2048


def test_another_parallelism_block_is_not_that_of_the_training() -> None:
    document = config({})
    document["lighteval"] = {"parallelism": {"dp": 16, "pp": 1, "tp": 1}}

    assert job(read(document)).world_size == 4


def test_a_class_that_cannot_be_described_is_named() -> None:
    document = config({}, is_llama_config=None, is_mamba_config=True)

    assert "unknown_architecture" in {each.code for each in read(document).findings.diagnostics}
