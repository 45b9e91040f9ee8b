"""torchtitan: both generations, what its names stand for, stages, defaults, and what it refuses."""

from typing import Any

import pytest

from service.formats.imported import Imported
from service.formats.registry import import_source
from service.formats.source import ConfigSource
from service.job.schema import ModelSection

LLAMA = '[model]\nname = "llama3"\nflavor = "8B"\n'


def read(text: str, **given: Any) -> Imported:
    return import_source(ConfigSource(text=text, format="torchtitan", **given))


def toml(training: str = "", parallelism: str = "", more: str = "", model: str = LLAMA) -> str:
    return f"{model}[training]\n{training}\n[parallelism]\n{parallelism}\n{more}\n"


def job(imported: Imported) -> Any:
    assert imported.job is not None
    return imported.job


def errors(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.errors}


def codes(imported: Imported) -> set[str]:
    return {each.code for each in imported.findings.diagnostics}


def only(imported: Imported, code: str) -> Any:
    (found,) = [each for each in imported.findings.diagnostics if each.code == code]
    return found


def test_the_world_size_is_never_in_the_file_unless_every_degree_is() -> None:
    rest = read(toml(parallelism="data_parallel_shard_degree = -1\ntensor_parallel_degree = 2"))
    whole = read(toml(parallelism="data_parallel_shard_degree = 8\ntensor_parallel_degree = 2"))

    assert {each.fact for each in rest.findings.missing} == {"world_size"}
    assert "multiple of 2" in only(rest, "world_must_be_multiple").message
    assert job(whole).world_size == 16


def test_degrees_and_the_gpus_that_run_must_agree() -> None:
    text = toml(parallelism="data_parallel_shard_degree = 8\ntensor_parallel_degree = 2")

    assert "world_size_mismatch" in errors(read(text, world_size=8))
    assert "world_size_not_divisible" in errors(read(toml(parallelism="tensor_parallel_degree = 4"), world_size=6))


def test_copies_and_shards_make_hybrid_sharding() -> None:
    text = toml(parallelism="data_parallel_replicate_degree = 2\ncontext_parallel_degree = 2")

    assert job(read(text, world_size=16)).sharding.degree == 8


def test_replicas_alone_are_data_parallel() -> None:
    text = toml(parallelism="data_parallel_replicate_degree = 8\ndata_parallel_shard_degree = 1")

    found = job(read(text))

    assert (found.framework.name, found.sharding.stage, found.world_size) == ("ddp", 0, 8)


def test_the_global_batch_is_one_local_batch_on_every_data_rank_unless_given() -> None:
    given = toml("local_batch_size = 2\nglobal_batch_size = 64", "tensor_parallel_degree = 2")

    assert job(read(toml("local_batch_size = 2"), world_size=8)).batch.global_ == 16
    assert job(read(given, world_size=8)).batch.global_ == 64
    assert "batch_triad" in errors(read(given.replace("64", "60"), world_size=8))


def test_a_pipeline_cuts_the_local_batch_into_micro_batches() -> None:
    text = toml("local_batch_size = 8", "pipeline_parallel_degree = 4\npipeline_parallel_microbatch_size = 2")

    found = job(read(text, world_size=4))

    assert (found.batch.micro, found.batch.global_) == (2, 8)


@pytest.mark.parametrize(
    ("schedule", "chunks", "layers"),
    [
        ("1F1B", 1, [8, 9, 8, 7]),
        ("Interleaved1F1B", 2, [4, 4, 5, 4, 4, 4, 4, 3]),
        ("ZBVZeroBubble", 2, [4, 3, 5, 4, 4, 4, 4, 4]),
    ],
)
def test_layers_and_both_ends_are_shared_by_the_stages(schedule: str, chunks: int, layers: list[int]) -> None:
    text = toml("local_batch_size = 8", f'pipeline_parallel_degree = 4\npipeline_parallel_schedule = "{schedule}"')

    found = job(read(text))

    assert found.parallelism.virtual_pipeline == chunks
    assert sum(found.stages.layers) == 32
    assert found.stages.layers == layers


@pytest.mark.parametrize(
    ("parallelism", "code"),
    [
        ('pipeline_parallel_schedule = "1F1B"\npipeline_parallel_layers_per_stage = 3', "schedule_conflict"),
        ('pipeline_parallel_schedule = "Interleaved1F1B"\npipeline_parallel_layers_per_stage = 9', "schedule_conflict"),
        ('pipeline_parallel_schedule = "Interleaved1F1B"\npipeline_parallel_layers_per_stage = 6', "vpp_remainder"),
        ("pipeline_parallel_microbatch_size = 3", "batch_triad"),
        ('pipeline_parallel_schedule = "1F2B"', "value_type"),
    ],
)
def test_stages_that_do_not_fit_are_refused(parallelism: str, code: str) -> None:
    text = toml("local_batch_size = 8", f"pipeline_parallel_degree = 4\n{parallelism}")

    assert code in errors(read(text))


def test_listed_modules_give_the_layers_of_each_stage() -> None:
    parts = '[["tok_embeddings", "layers.0"], ["layers.1", "layers.2", "norm", "output"]]'

    found = job(read(toml("", f"pipeline_parallel_degree = 2\nmodule_fqns_per_model_part = {parts}")))

    assert found.stages.layers == [1, 2]


def test_too_few_micro_batches_are_a_warning() -> None:
    text = toml("local_batch_size = 2", "pipeline_parallel_degree = 4")

    assert "micro_batches_too_few" in codes(read(text)) - errors(read(text))


@pytest.mark.parametrize(
    ("text", "divisor", "rule"),
    [
        (toml("seq_len = 4098", "tensor_parallel_degree = 4"), 8, "before 2026"),
        (
            toml(
                "num_tokens_per_microbatch_per_dp_rank = 4098\nmax_context_length = 4098", "tensor_parallel_degree = 4"
            ),
            4,
            "since 2026",
        ),
    ],
)
def test_lengths_fit_the_divisor_of_their_generation(text: str, divisor: int, rule: str) -> None:
    finding = only(read(text), "seq_divisor")

    assert f"multiple of {divisor}" in finding.message
    assert rule in finding.message
    assert finding.fixes == (
        ("training.seq_len: 4096", "training.seq_len: 4104")
        if divisor == 8
        else ("training.seq_len: 4096", "training.seq_len: 4100")
    )


def test_a_length_that_fits_tensor_and_context_is_accepted() -> None:
    text = toml("seq_len = 8192", "tensor_parallel_degree = 8\ncontext_parallel_degree = 4")

    assert not read(text).findings.errors


def test_key_value_heads_are_never_repeated() -> None:
    model = ModelSection(num_key_value_heads=2)

    finding = only(read(toml(parallelism="tensor_parallel_degree = 4"), model=model), "kv_heads_tp")

    assert "2 key/value heads, tensor degree 4" in finding.message
    assert [each.rsplit(" ", 1)[1] for each in finding.fixes] == ["1", "2"]


@pytest.mark.parametrize(("expert", "within", "refused"), [(4, 1, False), (4, 2, False), (4, 4, True), (3, 1, True)])
def test_experts_borrow_the_ranks_of_other_groups(expert: int, within: int, refused: bool) -> None:
    model = '[model]\nname = "qwen3"\nflavor = "30B-A3B"\n'
    degrees = f"tensor_parallel_degree = 2\nexpert_parallel_degree = {expert}\nexpert_tensor_parallel_degree = {within}"

    imported = read(toml(parallelism=degrees, model=model), world_size=8)

    assert ("expert_grid_not_divisible" in errors(imported)) is refused


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("", ("selective", None, 2)),
        ('[activation_checkpoint]\nmode = "selective"\nselective_ac_option = "op"', ("selective", "default", None)),
        ('[activation_checkpoint]\nmode = "selective"\nselective_ac_option = "3"', ("selective", None, 3)),
        ('[activation_checkpoint]\nmode = "full"\nselective_ac_option = "op"', ("full", None, None)),
        ('[activation_checkpoint]\nmode = "none"', ("none", None, None)),
    ],
)
def test_checkpointing_is_selective_unless_told_otherwise(section: str, expected: tuple[Any, ...]) -> None:
    found = job(read(toml(more=section))).checkpointing

    assert (found.granularity, found.op, found.every) == expected


def test_eight_bit_training_needs_a_converter() -> None:
    table = "[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true"
    named = LLAMA.replace("[model]", '[model]\nconverters = ["quantize.linear.float8"]')

    assert job(read(toml(more=table))).precision.fp8 is None
    assert job(read(toml(more=table, model=named))).precision.fp8.all_gather is True


def test_a_config_function_is_read_with_the_options_that_override_it() -> None:
    text = (
        "NGPU=16 MODULE=llama3 CONFIG=llama3_8b ./run_train.sh --parallelism.tensor_parallel_degree 2 \\\n"
        "  --training.num_tokens_per_train_step=1048576"
    )

    imported = import_source(ConfigSource(text=text))

    found = job(imported)
    assert imported.format == "torchtitan"
    assert (found.world_size, found.parallelism.tensor) == (16, 2)
    assert (found.batch.micro, found.batch.global_, found.batch.sequence_length) == (1, 128, 8192)
    assert found.framework.version == "torchtitan-2026-08"


def test_an_unknown_config_function_or_flavor_is_asked_for() -> None:
    function = read("MODULE=mine CONFIG=ablation_7 ./run_train.sh --training.steps 5")
    flavor = read(toml(model='[model]\nname = "llama3"\nflavor = "9B"\n'))

    assert "recipe" in {each.fact for each in function.findings.missing}
    assert "hidden_size" in {each.fact for each in flavor.findings.missing}
    assert "recipe_unknown" in codes(function) & codes(flavor)


def test_a_file_that_is_only_named_is_asked_for_and_nothing_is_guessed() -> None:
    argv = [
        "torchrun",
        "--nproc_per_node",
        "8",
        "--nnodes",
        "4",
        "train.py",
        "--job.config_file",
        "conf/llama3_8b.toml",
    ]

    imported = import_source(ConfigSource(argv=argv, format="torchtitan"))
    supplied = import_source(ConfigSource(argv=argv, format="torchtitan", files={"llama3_8b.toml": toml()}))

    assert {each.fact for each in imported.findings.missing} == {"llama3_8b.toml"}
    assert job(imported).batch.micro is None
    assert (job(supplied).world_size, job(supplied).batch.micro) == (32, 8)


def test_a_suffix_of_a_flavor_names_the_attention_kernel() -> None:
    found = job(read(toml(model=LLAMA.replace("8B", "8B_flex"))))

    assert (found.kernels.attention, found.model.hidden_size) == ("flex", 4096)


def test_unknown_keys_are_named_with_the_nearest_known_one() -> None:
    imported = read(toml("seq_length = 8192"))

    assert list(imported.unknown) == ["training.seq_length"]
    assert "training.seq_len" in only(imported, "unknown_keys").message


@pytest.mark.parametrize(
    "text", ["[model\nname = 1", 'a = "' + "x" * 10, "a" + ".a" * 5000 + " = 1", "a = " + "[" * 5000]
)
def test_what_is_no_toml_is_refused(text: str) -> None:
    imported = read(f"[training]\n{text}")

    assert errors(imported) & {"syntax", "too_deep"}


def test_options_over_a_file_that_is_not_supplied_are_read_and_only_the_file_is_asked_for() -> None:
    found = import_source(
        ConfigSource(
            text="#!/bin/bash\nsrun torchrun --nnodes 4 --nproc_per_node 8 -m torchtitan.train "
            "--job.config_file x/70b.toml --model.name llama3 --model.flavor 70B --training.seq_len 4096 "
            "--parallelism.tensor_parallel_degree=8\n"
        )
    )

    assert [each.fact for each in found.findings.missing] == ["70b.toml"]
    read_ = job(found)
    assert (read_.world_size, read_.model.num_hidden_layers, read_.batch.sequence_length) == (32, 80, 4096)
    assert (read_.parallelism.tensor, read_.parallelism.pipeline, read_.batch.micro) == (8, None, None)
