"""accelerate's file: words and numbers of both FSDP versions, DeepSpeed inside it, degrees, and its launcher."""

from typing import Any

import pytest
import yaml

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection

LLAMA = ModelSection(preset="llama-3-8b")
BASE = {"compute_environment": "LOCAL_MACHINE", "mixed_precision": "bf16", "num_machines": 1, "num_processes": 8}
TRAINER = {
    "args.yaml": "per_device_train_batch_size: 16\ngradient_accumulation_steps: 2\nmax_seq_length: 2048\nbf16: true\n"
}


def read(config: dict[str, Any], **given: Any) -> Imported:
    return import_source(ConfigSource(text=yaml.safe_dump({**BASE, **config}), format="accelerate", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


@pytest.mark.parametrize(
    ("section", "stage", "reshard", "framework"),
    [
        ({"fsdp_sharding_strategy": "FULL_SHARD"}, 3, None, "fsdp1"),
        ({"fsdp_sharding_strategy": 2}, 2, None, "fsdp1"),
        ({"sharding_strategy": "no_shard"}, 0, None, "fsdp1"),
        ({"fsdp_reshard_after_forward": "SHARD_GRAD_OP"}, 2, None, "fsdp1"),
        ({"fsdp_version": 2, "fsdp_reshard_after_forward": True}, 3, "always", "fsdp2"),
        ({"fsdp_version": 2, "reshard_after_forward": "false"}, 3, "never", "fsdp2"),
        ({"fsdp_version": "2"}, 3, None, "fsdp2"),
        ({"fsdp_version": 1}, 3, None, "fsdp1"),
    ],
)
def test_both_versions_and_all_spellings_of_sharding_are_read(
    section: dict[str, Any], stage: int, reshard: str | None, framework: str
) -> None:
    found = job(read({"distributed_type": "FSDP", "fsdp_config": section}))

    assert (found.sharding.stage, found.sharding.reshard_after_forward) == (stage, reshard)
    assert found.framework.name == framework


def test_hybrid_sharding_keeps_a_copy_on_every_node() -> None:
    config = {
        "distributed_type": "FSDP",
        "num_processes": 16,
        "num_machines": 2,
        "fsdp_config": {"sharding_strategy": 4},
    }

    assert job(read(config)).sharding.degree == 8


def test_offload_and_checkpointing_of_the_section_are_read() -> None:
    section = {"fsdp_offload_params": True, "fsdp_activation_checkpointing": "true"}

    found = job(read({"distributed_type": "FSDP", "fsdp_config": section}))

    assert (found.optimizer.offload, found.optimizer.parameter_offload) == ("cpu", "cpu")
    assert found.checkpointing.granularity == "full"


@pytest.mark.parametrize("word", ["no", False, "NO", "False"])
def test_the_precision_no_is_a_word_and_not_false(word: Any) -> None:
    assert job(read({"distributed_type": "MULTI_GPU", "mixed_precision": word})).precision.compute == "fp32"


@pytest.mark.parametrize("sections", [{"fsdp_config": {}, "deepspeed_config": {}}, {}])
def test_empty_sections_switch_nothing_on(sections: dict[str, Any]) -> None:
    found = job(read({"distributed_type": "NO", "num_processes": 1, **sections}))

    assert found.framework.name == "hf-trainer"
    assert found.sharding.stage == 0


@pytest.mark.parametrize(
    ("sizes", "processes", "code"),
    [
        ({"tp_size": 2, "dp_shard_size": 2}, 8, "world_size_mismatch"),
        ({"parallelism_config_tp_size": 0}, 8, "value_type"),
        ({"cp_size": 2, "sp_size": 2, "dp_shard_size": 2}, 8, "parallelism_conflict"),
        ({"tp_size": 2, "dp_replicate_size": 4}, 8, "parallelism_conflict"),
        ({"tp_size": 3, "dp_shard_size": 2}, 6, "heads_tp"),
        ({"tp_size": 16}, 16, "kv_heads_tp"),
    ],
)
def test_degrees_that_do_not_fit_are_refused(sizes: dict[str, int], processes: int, code: str) -> None:
    config = {
        "distributed_type": "FSDP",
        "num_processes": processes,
        "fsdp_config": {"fsdp_version": 2},
        "parallelism_config": sizes,
    }

    assert code in errors(read(config, model=LLAMA))


def test_degrees_need_the_second_version() -> None:
    config = {"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 1}, "parallelism_config": {"tp_size": 8}}

    assert "parallelism_conflict" in errors(read(config))


@pytest.mark.parametrize(
    ("sp", "refused"), [(1, False), (2, False), (4, False), (8, False), (5, True), (16, True), (20, True)]
)
def test_sequence_parallelism_shares_the_heads(sp: int, refused: bool) -> None:
    model = ModelSection(num_attention_heads=40, num_key_value_heads=8)
    config = {"distributed_type": "DEEPSPEED", "num_processes": 80, "parallelism_config": {"sp_size": sp}}

    imported = read(config, model=model)

    assert bool(errors(imported) & {"heads_tp", "kv_heads_tp"}) is refused


def test_a_trainers_file_beside_it_completes_the_batch() -> None:
    config = {"distributed_type": "DEEPSPEED", "deepspeed_config": {"zero_stage": 3, "offload_param_device": "none"}}

    imported = read(config, files=TRAINER, model=LLAMA)

    found = job(imported)
    assert (found.batch.micro, found.batch.accumulation, found.batch.global_) == (16, 2, 256)
    assert found.sharding.stage == 3
    assert imported.outcome == "ok"


def test_a_deepspeed_file_that_is_only_named_is_asked_for() -> None:
    config = {"distributed_type": "DEEPSPEED", "deepspeed_config": {"deepspeed_config_file": "../conf/zero3.json"}}

    imported = read(config)

    assert "zero3.json" in {each.fact for each in imported.findings.missing}
    assert "missing_file" in codes(imported)


def test_a_deepspeed_file_that_is_supplied_decides() -> None:
    config = {"distributed_type": "DEEPSPEED", "deepspeed_config": {"deepspeed_config_file": "conf/zero1.json"}}
    files = {"zero1.json": '{"zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 3}'}

    found = job(read(config, files=files))

    assert (found.sharding.stage, found.batch.micro) == (1, 3)


def test_a_deepspeed_file_and_its_keys_beside_it_are_refused() -> None:
    section = {"deepspeed_config_file": "zero3.json", "zero_stage": 2}

    assert "config_conflict" in errors(read({"distributed_type": "DEEPSPEED", "deepspeed_config": section}))


def test_the_launcher_overrides_the_file() -> None:
    argv = ["accelerate", "launch", "--num_processes", "16", "--config_file", "x.yaml", "train.py", "--bf16", "True"]

    assert job(read({"distributed_type": "FSDP"}, argv=argv)).world_size == 16


def test_unknown_keys_of_a_section_are_a_warning_and_those_at_the_top_an_error() -> None:
    inside = read({"distributed_type": "FSDP", "fsdp_config": {"fsdp_shardin_strategy": 1}})
    top = read({"distributed_type": "FSDP", "num_proceses": 8})

    assert "unknown_keys" in codes(inside) - errors(inside)
    assert "did you mean num_processes?" in next(each.message for each in top.findings.errors)


def test_a_job_without_gpus_is_not_planned() -> None:
    assert "not_training" in errors(read({"distributed_type": "MULTI_CPU", "use_cpu": True}))


@pytest.mark.parametrize(
    ("section", "backend", "recipe", "gathered"),
    [
        ({}, "torchao", "current", None),
        ({"backend": "TE"}, "transformer_engine", "delayed", None),
        ({"backend": "TE", "use_mxfp8_block_scaling": True}, "transformer_engine", "mxfp8", None),
        ({"backend": "AO", "enable_fsdp_float8_all_gather": True}, "torchao", "current", True),
        ({"backend": "MSAMP", "opt_level": "O2"}, "msamp", "current", None),
    ],
)
def test_the_library_of_8_bit_products_is_read(
    section: dict[str, Any], backend: str, recipe: str, gathered: bool | None
) -> None:
    """accelerate looks for torchao first (accelerator.py @ 16cb6eb8); its engine's scaling is delayed."""
    fp8 = job(read({"mixed_precision": "fp8", "fp8_config": section})).precision.fp8
    assert (fp8.backend, fp8.recipe, fp8.all_gather) == (backend, recipe, gathered)


def test_an_unknown_library_is_refused() -> None:
    assert "value_type" in errors(read({"mixed_precision": "fp8", "fp8_config": {"backend": "apex"}}))
