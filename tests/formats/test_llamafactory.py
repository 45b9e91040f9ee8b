"""LLaMA-Factory's file: its own defaults, engines, adapters, low-rank optimizers, and what it refuses."""

from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource

BASE = {
    "model_name_or_path": "Qwen/Qwen3-8B",
    "stage": "sft",
    "do_train": True,
    "finetuning_type": "full",
    "template": "qwen3",
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 4,
    "learning_rate": "1.0e-5",
    "bf16": True,
}


def read(changes: dict[str, Any] | None = None, **given: Any) -> Imported:
    document = {key: value for key, value in {**BASE, **(changes or {})}.items() if value != "gone"}
    return import_source(ConfigSource(text=yaml.safe_dump(document), format="llamafactory", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


def test_its_own_defaults_are_a_length_of_2048_and_checkpointing() -> None:
    found = job(read(world_size=8))

    assert found.batch.sequence_length == 2048
    assert found.checkpointing.granularity == "full"
    assert found.batch.global_ == 64
    assert job(read({"disable_gradient_checkpointing": True})).checkpointing.granularity == "none"


def test_an_absent_batch_is_the_trainers_default() -> None:
    gone = {"per_device_train_batch_size": "gone", "gradient_accumulation_steps": "gone"}

    found = job(read(gone)).batch

    assert (found.micro, found.accumulation) == (8, 1)


@pytest.mark.parametrize(
    ("name", "stage", "offload"),
    [("examples/deepspeed/ds_z3_config.json", 3, "none"), ("ds_z2_offload_config.json", 2, "cpu")],
)
def test_the_deepspeed_files_that_come_with_it_are_known(name: str, stage: int, offload: str) -> None:
    found = job(read({"deepspeed": name}))

    assert (found.framework.name, found.sharding.stage, found.optimizer.offload) == ("deepspeed", stage, offload)
    assert found.precision.compute == "bf16"


def test_a_supplied_file_of_the_same_name_decides() -> None:
    files = {"ds_z3_config.json": '{"zero_optimization": {"stage": 1}, "bf16": {"enabled": "auto"}}'}

    assert job(read({"deepspeed": "ds_z3_config.json"}, files=files)).sharding.stage == 1


@pytest.mark.parametrize(
    ("changes", "kind", "quantization"),
    [
        ({"finetuning_type": "lora"}, "lora", None),
        ({"finetuning_type": "gone"}, "lora", None),
        ({"finetuning_type": "lora", "quantization_bit": 4}, "qlora", "nf4_double"),
        ({"finetuning_type": "lora", "quantization_bit": 4, "double_quantization": False}, "qlora", "nf4"),
        ({"finetuning_type": "lora", "quantization_bit": 8}, "lora", "int8"),
    ],
)
def test_adapters_are_the_default(changes: dict[str, Any], kind: str, quantization: str | None) -> None:
    found = job(read(changes)).adapters

    assert (found.type, found.quantization, found.rank) == (kind, quantization, 8)


def test_pure_bf16_leaves_no_copy_in_fp32() -> None:
    found = job(read({"pure_bf16": True, "bf16": "gone"})).precision

    assert (found.compute, found.parameters, found.master) == ("bf16", "bf16", "none")
    assert job(read()).precision.parameters == "fp32"


def test_a_layerwise_optimizer_runs_on_one_gpu() -> None:
    changes = {"use_galore": True, "galore_layerwise": True, "pure_bf16": True}

    assert job(read(changes)).world_size == 1
    assert "layerwise_single_gpu" in errors(read(changes, world_size=8))


@pytest.mark.parametrize(
    "changes",
    [
        {"pure_bf16": True, "deepspeed": "ds_z3_config.json"},
        {"use_galore": True, "deepspeed": "ds_z2_config.json"},
        {"use_apollo": True, "finetuning_type": "lora"},
        {"quantization_bit": 4},
    ],
)
def test_what_it_refuses_is_refused(changes: dict[str, Any]) -> None:
    assert "option_conflict" in errors(read(changes))


def test_degrees_of_megatron_turn_its_own_trainer_on() -> None:
    changes = {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2, "use_distributed_optimizer": True}

    found = job(read(changes, world_size=8))

    assert (found.framework.name, found.parallelism.pipeline, found.sharding.stage) == ("megatron-core", 2, 1)
    assert "world_size_not_divisible" in errors(read(changes, world_size=6))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"stage": "sft"}, set()),
        ({"stage": "dpo", "finetuning_type": "lora"}, {"paired_samples"}),
        ({"stage": "dpo"}, {"paired_samples", "multiple_roles"}),
        ({"stage": "dpo", "pref_loss": "simpo"}, {"paired_samples"}),
        ({"stage": "kto"}, {"multiple_roles"}),
        ({"stage": "ppo", "finetuning_type": "lora"}, {"multiple_roles"}),
    ],
)
def test_pairs_and_models_beside_the_trained_one_are_said(changes: dict[str, Any], expected: set[str]) -> None:
    found = {each.code for each in read(changes).findings.diagnostics}

    assert found & {"paired_samples", "multiple_roles"} == expected
