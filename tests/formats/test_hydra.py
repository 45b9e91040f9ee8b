"""Hydra overrides of verl: both engines, what overrides mean, and which role is planned."""

import shlex
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection
from tests.formats.config_corpus import expected, facts
from tests.formats.corpus import items

(GRPO,) = items("hydra_overrides")
FSDP = [
    "actor_rollout_ref.model.path=Qwen/Qwen3-8B",
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2",
    "actor_rollout_ref.actor.ppo_mini_batch_size=64",
    "actor_rollout_ref.rollout.n=4",
    "data.train_batch_size=256",
    "data.max_prompt_length=1024",
    "data.max_response_length=3072",
    "trainer.nnodes=2",
    "trainer.n_gpus_per_node=8",
]


def words() -> list[str]:
    """The published overrides; the path of the model, which is masked, is its variable's default."""
    joined = ["=".join(each) for each in GRPO["overrides"]]
    return [each.replace("model.path=<path>", f"model.path={GRPO['env_defaults']['MODEL_PATH']}") for each in joined]


def continued(overrides: Sequence[str]) -> ConfigSource:
    lines = " \\\n    ".join(map(shlex.quote, overrides))
    return ConfigSource(text=f"python3 -m verl.trainer.main_ppo \\\n    {lines}\n", format="hydra")


def quoted(overrides: Sequence[str]) -> ConfigSource:
    pairs = [each.partition("=") for each in overrides]
    text = " ".join(
        f"{key}={value!r}" if sign and not key.startswith("-") else key + sign + value for key, sign, value in pairs
    )
    return ConfigSource(text=f"python3 -m verl.trainer.main_ppo {text}  # 4 nodes", format="hydra")


def arguments(overrides: Sequence[str]) -> ConfigSource:
    return ConfigSource(argv=["python3", "-m", "verl.trainer.main_ppo", *reversed(overrides)])


def read(*overrides: str, base: Sequence[str] = FSDP, **given: Any) -> Imported:
    changed = {each.partition("=")[0] for each in overrides}
    kept = [each for each in base if each.partition("=")[0] not in changed]
    return import_source(ConfigSource(argv=[*kept, *overrides], format="hydra", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


@pytest.mark.parametrize("style", [continued, quoted, arguments])
def test_the_published_overrides_yield_their_facts(style: Callable[[Sequence[str]], ConfigSource]) -> None:
    imported = import_source(style(words()))

    found = facts(imported)
    assert {key: (value, found[key]) for key, value in expected(GRPO) if key in found and found[key] != value} == {}
    assert imported.format == "hydra"
    assert imported.outcome == "ok"
    assert {each["code"] for each in GRPO["expected"]["diagnostics"]} <= codes(imported)
    assert list(imported.unknown) == []


def test_only_the_actor_is_planned_and_it_says_so() -> None:
    imported = import_source(continued(words()))

    assert {"multiple_roles", "dynamic_batch", "offloaded_between_phases"} <= codes(imported)


def test_the_actor_on_fsdp_is_read() -> None:
    found = job(read())

    assert (found.framework.name, found.sharding.stage, found.world_size) == ("fsdp1", 3, 16)
    assert (found.batch.micro, found.batch.global_, found.batch.sequence_length) == (2, 256, 4096)
    assert found.precision.parameters == "fp32"


@pytest.mark.parametrize(
    ("strategy", "framework"), [("fsdp2", "fsdp2"), ("fsdp", "fsdp1"), ("megatron", "megatron-core")]
)
def test_the_strategy_decides_the_framework(strategy: str, framework: str) -> None:
    assert job(read(f"actor_rollout_ref.actor.strategy={strategy}")).framework.name == framework


@pytest.mark.parametrize(
    ("degree", "refused"),
    [(1, False), (2, False), (4, False), (8, False), (40, False), (5, True), (10, True), (16, True), (20, True)],
)
def test_ulysses_shares_heads_and_shares_or_repeats_key_value_heads(degree: int, refused: bool) -> None:
    """https://github.com/verl-project/verl/issues/1226"""
    model = ModelSection(num_attention_heads=40, num_key_value_heads=8)
    override = f"actor_rollout_ref.actor.ulysses_sequence_parallel_size={degree}"

    imported = read(override, "trainer.nnodes=10", "data.train_batch_size=1000", model=model)

    assert bool(errors(imported) & {"heads_tp", "kv_heads_tp"}) is refused


def test_a_token_budget_grows_with_ulysses() -> None:
    overrides = (
        "actor_rollout_ref.actor.use_dynamic_bsz=True",
        "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8192",
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2",
    )

    assert job(read(*overrides)).batch.sequence_length == 16384


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("actor_rollout_ref.actor.ppo_micro_batch_size=8", "option_conflict"),
        ("data.train_batch_size=255", "batch_triad"),
        ("actor_rollout_ref.actor.ulysses_sequence_parallel_size=3", "world_size_not_divisible"),
        ("actor_rollout_ref.actor.ppo_mini_batch_size=many", "value_type"),
    ],
)
def test_what_verl_refuses_is_refused(override: str, code: str) -> None:
    assert code in errors(read(override))


def test_a_key_given_twice_is_refused_as_hydra_does() -> None:
    imported = import_source(ConfigSource(argv=[*FSDP, "trainer.nnodes=4"], format="hydra"))

    assert "duplicate_key" in errors(imported)


def test_a_choice_of_a_group_asks_for_its_file() -> None:
    imported = import_source(ConfigSource(argv=["model=llama", "trainer.nnodes=4"], format="hydra"))

    assert "llama" in {each.fact for each in imported.findings.missing}


def test_numbers_of_answers_and_missing_lengths_are_asked_for() -> None:
    imported = import_source(ConfigSource(argv=["actor_rollout_ref.actor.strategy=fsdp"], format="hydra"))

    assert {"micro", "sequence_length", "world_size", "hidden_size"} <= {
        each.fact for each in imported.findings.missing
    }


def test_unknown_keys_of_the_actor_are_named() -> None:
    imported = read("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpus=3")

    assert "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpus" in imported.unknown


SCRIPT = """set -x
MODEL_PATH=${MODEL_PATH:-Qwen/Qwen3-8B}
max_prompt_length=$((1024 * 2))
max_response_length=$((1024 * 4))
train_files="['$HOME/data/train.parquet']"
OFFLOAD="\\
    actor_rollout_ref.actor.fsdp_config.param_offload=True \\
    actor_rollout_ref.actor.fsdp_config.optimizer_offload=True"

python3 -m verl.trainer.main_ppo \\
    data.train_files="$train_files" data.train_batch_size=1024 \\
    data.max_prompt_length=${max_prompt_length} data.max_response_length=${max_response_length} \\
    actor_rollout_ref.model.path=$MODEL_PATH \\
    actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
    actor_rollout_ref.rollout.n=5 trainer.n_gpus_per_node=8 trainer.nnodes=2 $OFFLOAD $@
"""


@pytest.mark.parametrize("head", ["", "#!/bin/bash\n", "#!/bin/bash\n#SBATCH --nodes=2\n", "# GRPO on 16 GPUs\n"])
def test_variables_of_a_script_around_the_command_are_followed(head: str) -> None:
    imported = import_source(ConfigSource(text=head + SCRIPT))

    assert (imported.outcome, imported.format, list(imported.unknown)) == ("ok", "hydra", [])
    found = job(imported)
    assert (found.world_size, found.batch.sequence_length, found.model.num_hidden_layers) == (16, 6144, 36)
    assert found.optimizer.offload == "cpu" or "offloaded_between_phases" in codes(imported)


def test_arguments_of_a_script_override_what_stands_before_them() -> None:
    imported = import_source(ConfigSource(text=SCRIPT.replace("trainer.nnodes=2 ", ""), argv=["trainer.nnodes=4"]))

    assert job(imported).world_size == 32


def test_supervised_fine_tuning_is_one_model_on_fsdp() -> None:
    text = (
        "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.max_length=2048 "
        "data.micro_batch_size_per_gpu=4 model.partial_pretrain=Qwen/Qwen2.5-0.5B "
        "model.enable_gradient_checkpointing=True model.lora_rank=32 model.target_modules=all-linear "
        "ulysses_sequence_parallel_size=2 use_remove_padding=true"
    )
    found = import_source(ConfigSource(text=text))

    assert (found.format, found.outcome) == ("hydra", "ok")
    assert found.job is not None
    assert (found.job.world_size, found.job.parallelism.context, found.job.batch.global_) == (8, 2, 256)
    assert (found.job.batch.micro, found.job.batch.sequence_length) == (4, 2048)
    assert {each.code for each in found.findings.diagnostics} == {"frozen_base"}
