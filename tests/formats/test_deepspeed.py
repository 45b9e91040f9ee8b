"""DeepSpeed's JSON: derivations, `auto`, old spellings, and what the engine or the trainer would refuse."""

import json
from typing import Any

import pytest

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection

LLAMA = ModelSection(preset="llama-3-8b")
TRAINER = [
    "torchrun", "--nproc_per_node", "8", "run.py", "--per_device_train_batch_size", "2",
    "--gradient_accumulation_steps",
    "4", "--bf16", "True", "--max_seq_length", "4096", "--gradient_checkpointing", "--learning_rate", "1e-5",
]  # fmt: skip
AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "bf16": {"enabled": "auto"},
    "fp16": {"enabled": "auto"},
    "zero_optimization": {
        "stage": 3,
        "reduce_bucket_size": "auto",
        "stage3_prefetch_bucket_size": "auto",
        "stage3_param_persistence_threshold": "auto",
    },
}


def read(config: dict[str, Any] | str, **given: Any) -> Imported:
    text = config if isinstance(config, str) else json.dumps(config)
    return import_source(ConfigSource(text=text, format="deepspeed", **given))


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def missing(imported: Imported) -> set[str]:
    return {each.fact for each in imported.findings.missing}


def only(imported: Imported, code: str) -> Any:
    (found,) = [each for each in imported.findings.diagnostics if each.code == code]
    return found


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2}, (64, 2, 4)),
        ({"train_batch_size": 64, "gradient_accumulation_steps": 4}, (64, 2, 4)),
        ({"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4}, (64, 2, 4)),
        ({"train_batch_size": 64}, (64, 8, 1)),
        ({"train_micro_batch_size_per_gpu": 2}, (16, 2, 1)),
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4}, (64, 2, 4)),
    ],
)
def test_two_batch_numbers_give_the_third_and_one_means_no_accumulation(
    batch: dict[str, int], expected: tuple[int, int, int]
) -> None:
    found = job(read(batch, world_size=8)).batch

    assert (found.global_, found.micro, found.accumulation) == expected


def test_a_batch_that_is_not_the_product_is_refused_with_every_factor_and_the_nearest_that_fit() -> None:
    batch = {"train_batch_size": 256, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 18}

    imported = read(batch, argv=["deepspeed", "--num_gpus", "7", "train.py"])

    finding = only(imported, "batch_triad")
    assert imported.outcome == "invalid"
    assert "256 != micro 2 x accumulation 18 x world 7 = 252" in finding.message
    assert "--num_gpus" in finding.message
    assert "multiple of 14" in finding.message
    assert [each.split(",")[0] for each in finding.fixes] == ["/train_batch_size: 252", "/train_batch_size: 266"]


def test_a_script_without_a_launcher_runs_alone_and_the_message_says_so() -> None:
    batch = {"train_batch_size": 8, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1}

    imported = read(batch, argv=["python", "train.py"])

    assert job(imported).world_size == 1
    assert "no launcher found in the command" in only(imported, "batch_triad").message


def test_ranks_of_a_tensor_group_share_their_batch() -> None:
    config = {"train_micro_batch_size_per_gpu": 1, "tensor_parallel": {"autotp_size": 2}}

    assert job(read(config, world_size=8)).batch.global_ == 4


@pytest.mark.parametrize("value", [0, -1])
def test_batch_numbers_are_positive(value: int) -> None:
    finding = only(read({"train_batch_size": value}), "value_type")

    assert finding.severity == "error"
    assert finding.fields == ("/batch/global",)


def test_no_batch_number_at_all_is_an_error() -> None:
    assert "batch_missing" in codes(read({"zero_optimization": {"stage": 1}}))


def test_auto_is_resolved_from_the_trainer() -> None:
    imported = read(AUTO, argv=TRAINER, model=LLAMA)

    found = job(imported)
    assert (found.batch.micro, found.batch.accumulation, found.batch.global_) == (2, 4, 64)
    assert found.batch.sequence_length == 4096
    assert found.precision.compute == "bf16"
    assert found.checkpointing.granularity == "full"
    assert imported.outcome == "ok"


def test_auto_buckets_follow_the_width_of_the_model() -> None:
    buckets = job(read(AUTO, argv=TRAINER, model=LLAMA)).sharding.buckets

    assert buckets.reduce == 4096 * 4096
    assert buckets.prefetch == 15_099_494
    assert buckets.persistence_threshold == 40_960
    assert buckets.max_live_parameters == 1_000_000_000


def test_trainer_arguments_may_come_from_a_file_and_absent_ones_are_the_trainers_defaults() -> None:
    files = {"args.yaml": "output_dir: x\nbf16: true\nlearning_rate: 1e-5\n"}

    found = job(read(AUTO, files=files, world_size=8, model=LLAMA))

    assert (found.batch.micro, found.batch.accumulation) == (8, 1)


def test_auto_without_a_trainer_is_never_a_number() -> None:
    imported = read(AUTO, world_size=8, model=LLAMA)

    assert job(imported).batch.micro is None
    assert job(imported).precision.compute is None
    assert missing(imported) == {"micro", "compute", "sequence_length"}
    assert "gradient_accumulation_steps" in only(imported, "auto_unresolved").message


def test_all_values_that_differ_from_the_trainers_are_one_error() -> None:
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 1,
        "bf16": {"enabled": False},
        "optimizer": {"type": "AdamW", "params": {"lr": 3e-4}},
    }

    finding = only(read(config, argv=TRAINER), "trainer_mismatch")

    for key in config:
        assert key in finding.message


@pytest.mark.parametrize(
    ("zero", "pointer", "value"),
    [
        ({"stage": 2, "cpu_offload": True}, "optimizer.offload", "cpu"),
        ({"stage": 3, "cpu_offload_params": True}, "optimizer.parameter_offload", "cpu"),
        ({"stage": 3, "offload_param": {"device": "nvme"}}, "optimizer.parameter_offload", "nvme"),
        ({"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.5}}, "optimizer.offload.fraction", 0.5),
        ({"stage": 3, "prefetch_bucket_size": 7}, "sharding.buckets.prefetch", 7),
        ({"stage": 3, "stage3_prefetch_bucket_size": "5e7"}, "sharding.buckets.prefetch", 50_000_000),
        ({"stage": 3}, "sharding.overlap_grad_reduce", True),
        ({"stage": 2}, "sharding.overlap_grad_reduce", False),
        ({"stage": "2"}, "sharding.stage", 2),
        (True, "sharding.stage", 1),
        ({"stage": 3, "mics_shard_size": 4}, "sharding.degree", 4),
    ],
)
def test_every_spelling_of_the_zero_section_is_read(zero: Any, pointer: str, value: Any) -> None:
    node = job(read({"train_micro_batch_size_per_gpu": 1, "zero_optimization": zero}))

    for part in pointer.split("."):
        node = getattr(node, part)
    assert node == value


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"bf16": {"enabled": True}, "fp16": {"enabled": True}}, "precision_conflict"),
        ({"zero_optimization": {"stage": 4}}, "value_type"),
        ({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}}, "offload_stage"),
        ({"zero_optimization": {"stage": 0, "offload_optimizer": {"device": "cpu"}}}, "offload_stage"),
        ({"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu", "ratio": 0.5}}}, "offload_stage"),
        ({"zero_optimization": {"stage": 2}, "pipeline": {"stages": 4}}, "zero_pipeline"),
        ({"zero_optimization": []}, "value_type"),
        ({"train_micro_batch_size_per_gpu": "eight"}, "value_type"),
    ],
)
def test_what_the_engine_refuses_is_refused(config: dict[str, Any], code: str) -> None:
    imported = read({"train_micro_batch_size_per_gpu": 1, **config})

    assert code in {each.code for each in imported.findings.errors}
    assert imported.outcome == "invalid"


def test_sharding_over_one_rank_has_no_effect_and_says_so() -> None:
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": 2},
        "tensor_parallel": {"autotp_size": 8},
    }

    imported = read(config, world_size=8)

    assert "data-parallel size is 1 (8 / tensor 8" in only(imported, "ignored_option").message


def test_unknown_keys_are_named_with_the_nearest_known_one() -> None:
    config = {"train_batch_size": 8, "zero_optimization": {"stage": 1, "reduce_bucket_sizes": 5}, "_comment": "x"}

    imported = read(config)

    assert list(imported.unknown) == ["zero_optimization.reduce_bucket_sizes"]
    assert "did you mean zero_optimization.reduce_bucket_size?" in only(imported, "unknown_keys").message


@pytest.mark.parametrize(
    ("text", "where", "hint"),
    [
        ('{"train_batch_size": 8, // all\n "steps_per_print": 1}', "line 1, column 25", "comments"),
        ('{"train_batch_size": 8,\n "steps_per_print": 1,}', "line 2", "comma"),
        ('{"train_batch_size": 8,\n /* old */ "steps_per_print": 1}', "line 2, column 2", "comments"),
    ],
)
def test_what_is_no_json_is_refused_with_its_position_and_a_fix(text: str, where: str, hint: str) -> None:
    finding = only(read(text), "syntax")

    assert where in finding.message
    assert hint in finding.fixes[0]


TEMPLATE = (
    '{"train_batch_size": BATCH_SIZE, "train_micro_batch_size_per_gpu": ${MICRO}, "fp16": {"enabled": {{ half }}}}'
)


def test_a_template_names_every_place_that_is_to_be_filled_in() -> None:
    imported = read(TEMPLATE)

    finding = only(imported, "template_not_json")
    assert all(name in finding.message for name in ("BATCH_SIZE", "MICRO", "half"))
    assert {"BATCH_SIZE", "MICRO", "half"} <= missing(imported)
    assert imported.outcome == "invalid"


def test_a_template_is_read_once_its_places_are_given() -> None:
    imported = read(TEMPLATE, env={"BATCH_SIZE": "16", "MICRO": "2", "half": "true"}, world_size=8)

    assert job(imported).batch.global_ == 16
    assert job(imported).precision.compute == "fp16"
    assert not imported.findings.errors


def test_buffers_of_what_is_on_disk_are_read_where_something_is() -> None:
    """offload_config.py @ edaa7221; sizes of what stays on the host mean nothing."""
    swapped = {
        "stage": 3,
        "offload_optimizer": {"device": "nvme", "nvme_path": "/local", "buffer_count": 5},
        "offload_param": {"device": "nvme", "nvme_path": "/local", "buffer_size": 1e8, "max_in_cpu": 2e9},
    }
    base = {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}}
    found = job(read({**base, "zero_optimization": swapped}, model=LLAMA, world_size=8)).optimizer
    assert (found.offload, found.parameter_offload) == ("nvme", "nvme")
    assert found.swap.model_dump(exclude_none=True) == {
        "states": 5, "weights_size": 100_000_000, "weights_in_cpu": 2_000_000_000,
    }  # fmt: skip
    held = {**swapped, "offload_optimizer": {"device": "cpu", "buffer_count": 5}, "offload_param": {"device": "none"}}
    assert job(read({**base, "zero_optimization": held}, model=LLAMA, world_size=8)).optimizer.swap is None
