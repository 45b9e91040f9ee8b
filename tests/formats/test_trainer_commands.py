"""Commands that start a trainer of transformers and name no file: the launcher's and the trainer's options say all."""

from typing import Any

from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.usecases.imports import import_config

TRAINER = (
    "--model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 --gradient_accumulation_steps 4 "
    "--max_seq_length 4096 --bf16 --gradient_checkpointing --output_dir out"
)


def imported(text: str, **given: Any) -> Imported:
    return import_config(ConfigSource(text=f"#!/bin/bash\n{text}\n", **given))


def job(read: Imported) -> dict[str, Any]:
    assert read.job is not None
    return read.job.model_dump(by_alias=True)


def codes(read: Imported) -> set[str]:
    return {each.code for each in read.findings.diagnostics}


def test_options_of_the_launcher_stand_for_an_accelerate_file() -> None:
    found = imported(
        "accelerate launch --num_processes 8 --use_deepspeed --zero_stage 3 --gradient_accumulation_steps 4 "
        f"--mixed_precision bf16 train.py {TRAINER}"
    )

    assert found.outcome == "ok"
    read = job(found)
    assert (read["framework"]["name"], read["sharding"]["stage"], read["world_size"]) == ("deepspeed", 3, 8)
    assert read["batch"] | {"padding_mask": None} == {
        "micro": 2, "accumulation": 4, "global": 64, "sequence_length": 4096, "padding_mask": None,
    }  # fmt: skip


def test_a_launcher_of_replicas_shards_nothing() -> None:
    launcher = "accelerate launch --multi_gpu --num_machines 2 --num_processes 16 --mixed_precision bf16"
    found = imported(f"{launcher} dpo.py {TRAINER}")

    assert job(found)["framework"]["name"] == "hf-trainer"
    assert (job(found)["sharding"]["stage"], job(found)["precision"]["compute"]) == (0, "bf16")


def test_the_trainers_own_words_choose_fsdp_with_its_offload() -> None:
    found = imported(
        f"torchrun --nproc_per_node=8 train.py {TRAINER} --fsdp 'full_shard auto_wrap offload' "
        "--fsdp_transformer_layer_cls_to_wrap Qwen3DecoderLayer"
    )

    read = job(found)
    assert (read["framework"]["name"], read["sharding"]["stage"], read["world_size"]) == ("fsdp1", 3, 8)
    assert read["optimizer"]["parameter_offload"] == "cpu"
    assert "unknown_keys" not in codes(found)


def test_a_deepspeed_file_that_is_only_named_is_asked_for_and_the_rest_is_read() -> None:
    found = imported(f"deepspeed --num_gpus 8 train.py --deepspeed ds.json {TRAINER}")

    assert found.outcome == "incomplete"
    assert [each.fact for each in found.findings.missing] == ["ds.json"]
    assert (job(found)["batch"]["micro"], job(found)["precision"]["compute"]) == (2, "bf16")
    given = imported(
        f"deepspeed --num_gpus 8 train.py --deepspeed ds.json {TRAINER}",
        files={"ds.json": '{"zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"}, '
                          '"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"}'},
    )  # fmt: skip
    assert (given.outcome, job(given)["sharding"]["stage"]) == ("ok", 2)


def test_an_accelerate_file_that_is_only_named_leaves_what_it_decides_open() -> None:
    found = imported(f"accelerate launch --config_file zero3.yaml --num_processes 8 sft.py {TRAINER}")

    assert [each.fact for each in found.findings.missing] == ["zero3.yaml"]
    assert found.findings.sources["/framework/name"].origin == "assumed"
    assert job(found)["precision"]["parameters"] is None


def test_a_launch_without_a_number_of_processes_asks_for_it() -> None:
    found = imported(f"accelerate launch train.py {TRAINER}")

    assert [each.fact for each in found.findings.missing] == ["world_size"]


def test_a_command_that_only_names_a_file_is_incomplete_and_not_wrong() -> None:
    found = imported("FORCE_TORCHRUN=1 NNODES=2 llamafactory-cli train sft.yaml")

    assert found.outcome == "incomplete"
    assert {each.fact for each in found.findings.missing} == {"sft.yaml", "world_size"}
