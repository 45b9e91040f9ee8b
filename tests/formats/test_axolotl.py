"""axolotl's file: engines, adapters, batch numbers, names of models and files, and what axolotl refuses."""

from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource

BASE = {
    "base_model": "meta-llama/Llama-3.2-1B",
    "sequence_len": 4096,
    "micro_batch_size": 2,
    "gradient_accumulation_steps": 4,
    "optimizer": "adamw_torch_fused",
    "learning_rate": "2e-5",
    "bf16": True,
    "gradient_checkpointing": True,
}


def read(changes: dict[str, Any] | None = None, **given: Any) -> Imported:
    document = {key: value for key, value in {**BASE, **(changes or {})}.items() if value != "gone"}
    return import_source(ConfigSource(text=yaml.safe_dump(document), format="axolotl", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


def test_a_single_file_and_a_world_size_are_complete() -> None:
    imported = read(world_size=8)

    assert imported.outcome == "ok"
    assert job(imported).batch.global_ == 64
    assert job(imported).model.hidden_size == 2048


@pytest.mark.parametrize(
    ("section", "framework", "stage"),
    [
        ({"fsdp": ["full_shard", "auto_wrap"], "fsdp_config": {"fsdp_offload_params": False}}, "fsdp1", 3),
        ({"fsdp": ["shard_grad_op"]}, "fsdp1", 2),
        ({"fsdp_version": 2, "fsdp_config": {"reshard_after_forward": True}}, "fsdp2", 3),
        ({"deepspeed": "deepspeed_configs/zero2.json"}, "deepspeed", 2),
        ({"deepspeed": {"zero_optimization": {"stage": 1}}}, "deepspeed", 1),
        ({"deepspeed": None, "fsdp": None}, "hf-trainer", 0),
    ],
)
def test_every_engine_is_read(section: dict[str, Any], framework: str, stage: int) -> None:
    found = job(read(section))

    assert (found.framework.name, found.sharding.stage) == (framework, stage)


def test_a_deepspeed_file_of_ones_own_is_asked_for_and_read_when_supplied() -> None:
    named = {"deepspeed": "conf/mine.json"}

    imported = read(named)
    supplied = read(named, files={"mine.json": '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}'})

    assert "mine.json" in {each.fact for each in imported.findings.missing}
    assert job(supplied).sharding.stage == 3
    assert (job(supplied).batch.micro, job(supplied).batch.accumulation) == (2, 4)


@pytest.mark.parametrize(
    ("changes", "kind", "quantization", "modules"),
    [
        ({"adapter": "lora", "lora_r": 16, "lora_target_modules": ["q_proj", "v_proj"]}, "lora", None, ["q", "v"]),
        ({"adapter": "qlora", "load_in_4bit": True, "lora_target_linear": True}, "qlora", "nf4_double", 7),
        ({"adapter": "lora", "load_in_8bit": True, "lora_target_linear": True}, "lora", "int8", 7),
    ],
)
def test_adapters_are_read(changes: dict[str, Any], kind: str, quantization: str | None, modules: Any) -> None:
    found = job(read(changes)).adapters

    assert (found.type, found.quantization) == (kind, quantization)
    assert found.modules == modules or len(found.modules) == modules


@pytest.mark.parametrize(
    ("word", "compute", "parameters"), [("auto", "bf16", None), ("full", "bf16", "bf16"), (False, "fp32", None)]
)
def test_the_words_of_bf16(word: Any, compute: str, parameters: str | None) -> None:
    found = job(read({"bf16": word})).precision

    assert (found.compute, found.parameters) == (compute, parameters)


def test_degrees_that_are_all_given_make_the_world() -> None:
    degrees = {"dp_shard_size": 2, "dp_replicate_size": 2, "tensor_parallel_size": 2, "context_parallel_size": 2}

    assert job(read({**degrees, "fsdp_version": 2, "fsdp_config": {"offload_params": False}})).world_size == 16
    assert "world_size_mismatch" in errors(read(degrees, world_size=8))


def test_the_accumulation_may_follow_from_a_batch_size() -> None:
    assert job(read({"batch_size": 8, "gradient_accumulation_steps": "gone"})).batch.accumulation == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"gradient_accumulation_steps": "gone"},
        {"batch_size": 8},
        {"deepspeed": "deepspeed_configs/zero2.json", "fsdp": ["full_shard"]},
        {"warmup_steps": 10, "warmup_ratio": 0.1},
        {"optimizer": "adamw_bnb_8bit", "fsdp_version": 2, "fsdp_config": {"offload_params": False}},
        {"optimizer": "adamw_torch_8bit", "fsdp_version": 2, "fsdp_config": {"offload_params": True}},
        {"activation_offloading": True, "gradient_checkpointing": False},
    ],
)
def test_what_axolotl_refuses_is_refused(changes: dict[str, Any]) -> None:
    assert "option_conflict" in errors(read(changes))


def test_a_model_that_is_not_in_the_table_is_asked_for_unless_its_config_is_supplied() -> None:
    named = {"base_model": "nobody/tiny-3b"}
    config = '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}'

    imported = read(named)
    supplied = read(named, files={"config.json": config})

    assert {"hidden_size", "num_hidden_layers"} <= {each.fact for each in imported.findings.missing}
    assert job(supplied).model.hidden_size == 64


def test_a_loss_that_cuts_its_logits_is_a_plugin() -> None:
    plugins = {"plugins": ["axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin"]}

    assert job(read(plugins)).kernels.cross_entropy == "cut"
