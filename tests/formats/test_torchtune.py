"""torchtune's file: builders, one type for everything, what only the command knows, and what recipes refuse."""

from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource

FULL = {
    "model": {"_component_": "torchtune.models.llama3_1.llama3_1_8b"},
    "tokenizer": {"_component_": "torchtune.models.llama3.llama3_tokenizer", "max_seq_len": 4096},
    "batch_size": 2,
    "batch_size_val": "${batch_size}",
    "gradient_accumulation_steps": 1,
    "optimizer": {"_component_": "torch.optim.AdamW", "lr": "2e-5", "fused": True},
    "loss": {"_component_": "torchtune.modules.loss.LinearCrossEntropyLoss"},
    "enable_activation_checkpointing": True,
    "dtype": "bf16",
}
RUN = ["tune", "run", "--nproc_per_node", "8", "full_finetune_distributed", "--config", "x.yaml"]


def read(changes: dict[str, Any] | None = None, **given: Any) -> Imported:
    text = yaml.safe_dump({**FULL, **(changes or {})}, sort_keys=False)
    return import_source(ConfigSource(text=text, format="torchtune", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


@pytest.mark.parametrize(
    ("builder", "layers", "hidden"),
    [
        ("llama2.llama2_13b", 40, 5120),
        ("qwen2_5.qwen2_5_7b_instruct", 28, 3584),
        ("qwen3.lora_qwen3_8b_base", 36, 4096),
        ("qwen2.qwen2_0_5b", 24, 896),
        ("gemma2.qlora_gemma2_9b", 42, 3584),
        ("llama3_3.llama3_3_70b", 80, 8192),
        ("phi4.phi4_14b", 40, 5120),
        ("mistral.mistral_reward_7b", 32, 4096),
    ],
)
def test_a_builders_name_gives_the_dimensions(builder: str, layers: int, hidden: int) -> None:
    name = builder.replace("_reward", "")
    found = job(read({"model": {"_component_": f"torchtune.models.{name}"}})).model

    assert (found.num_hidden_layers, found.hidden_size) == (layers, hidden)


def test_an_unknown_builder_is_asked_for() -> None:
    imported = read({"model": {"_component_": "mine.models.tiny"}})

    assert "hidden_size" in {each.fact for each in imported.findings.missing}
    assert "recipe_unknown" in {each.code for each in imported.findings.diagnostics}


def test_the_command_says_how_many_processes_run_and_overrides_the_file() -> None:
    found = job(read(argv=[*RUN, "batch_size=4", "tokenizer.max_seq_len=8192"]))

    assert (found.world_size, found.batch.micro, found.batch.sequence_length) == (8, 4, 8192)
    assert found.framework.name == "fsdp2"


def test_a_recipe_for_a_single_device_shards_nothing() -> None:
    found = job(read(argv=["tune", "run", "full_finetune_single_device", "--config", "x.yaml"]))

    assert (found.world_size, found.framework.name, found.sharding.stage) == (1, "ddp", 0)


def test_everything_has_one_type_and_there_is_no_other_copy_of_the_weights() -> None:
    found = job(read())

    assert (found.precision.parameters, found.precision.gradients, found.precision.master) == ("bf16", "bf16", "none")
    assert found.optimizer.moments == ["bf16", "bf16"]


@pytest.mark.parametrize("length", [None, ""])
def test_an_unbounded_sequence_is_asked_for(length: Any) -> None:
    imported = read({"tokenizer": {"max_seq_len": length}})

    assert "sequence_length" in {each.fact for each in imported.findings.missing}
    assert "seq_length_unbounded" in {each.code for each in imported.findings.diagnostics}


def test_adapters_are_arguments_of_the_builder() -> None:
    model = {
        "_component_": "torchtune.models.llama3_1.qlora_llama3_1_8b",
        "lora_attn_modules": ["q_proj", "v_proj", "output_proj"],
        "apply_lora_to_mlp": True,
        "lora_rank": 64,
    }

    found = job(read({"model": model})).adapters

    assert (found.type, found.rank, found.quantization) == ("qlora", 64, "nf4_double")
    assert found.modules == ["q", "v", "o", "gate", "up", "down"]


@pytest.mark.parametrize(
    ("component", "name", "offload"),
    [
        ("bitsandbytes.optim.PagedAdamW8bit", "adamw8bit", None),
        ("torchao.prototype.low_bit_optim.CPUOffloadOptimizer", "adam", "cpu"),
        ("torch.optim.SGD", "sgd", None),
    ],
)
def test_optimizers_are_read_by_their_class(component: str, name: str, offload: str | None) -> None:
    found = job(read({"optimizer": {"_component_": component}})).optimizer

    assert (found.name, found.offload) == (name, offload)


@pytest.mark.parametrize(
    "changes",
    [
        {"enable_activation_offloading": True, "enable_activation_checkpointing": False},
        {"optimizer_in_bwd": True, "gradient_accumulation_steps": 8},
        {"tensor_parallel_dim": 2},
    ],
)
def test_what_the_recipes_refuse_is_refused(changes: dict[str, Any]) -> None:
    assert "option_conflict" in errors(read(changes))


def test_degrees_that_are_all_given_make_the_world() -> None:
    plan = {"_component_": "torchtune.models.llama3.base_llama_tp_plan"}
    degrees = {"tensor_parallel_dim": 2, "data_parallel_shard_dim": 4, "data_parallel_replicate_dim": 2}

    found = job(read({**degrees, "tensor_parallel_plan": plan}))

    assert (found.world_size, found.sharding.degree) == (16, 4)
