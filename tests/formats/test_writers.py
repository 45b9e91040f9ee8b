"""Jobs out and back: what a form says of a job is what is read from it."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from service.api.schemas.examples import JOB
from service.formats.source import ConfigSource
from service.formats.writers.export import Cluster, ExportFormat, changes_between, export_job
from service.job.digest import digest
from service.job.resolve import resolve
from service.job.schema import Job
from service.usecases.estimates import canonical
from service.usecases.imports import import_config
from tests.formats.roundtrip import DENSE, EXPERTS, engine_jobs, lost, megatron_jobs, sharded_jobs, titan_jobs

FORMS: tuple[ExportFormat, ...] = ("megatron", "nemo", "slurm")
SLOW = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
LLAMA = Job.model_validate(JOB)


def changed(job: Job, **sections: dict[str, object]) -> Job:
    document = canonical(job)
    for name, values in sections.items():
        document[name] = {**document.get(name, {}), **values}  # type: ignore[dict-item]
    return Job.model_validate(document)


@SLOW
@given(megatron_jobs())
def test_megatron_s_flags_say_the_whole_job(job: Job) -> None:
    assert lost(job, "megatron", world_size=job.world_size) == {}
    assert export_job(job, "megatron").unsaid == ("/world_size",)


@SLOW
@given(megatron_jobs())
def test_a_batch_script_says_the_whole_job_and_its_size(job: Job) -> None:
    assert lost(job, "slurm") == {}
    assert export_job(job, "slurm").unsaid == ()


@SLOW
@given(megatron_jobs())
def test_nemo_s_file_says_the_model_the_layout_and_the_recipe(job: Job) -> None:
    assert lost(job, "nemo") == {}
    assert export_job(job, "nemo").unsaid == ()


@SLOW
@given(sharded_jobs(("deepspeed",)))
def test_deepspeed_s_file_says_batch_states_and_precision(job: Job) -> None:
    assert lost(job, "deepspeed", world_size=job.world_size, model=job.model) == {}


@SLOW
@given(engine_jobs())
def test_deepspeed_s_file_says_its_own_degrees_buckets_and_types(job: Job) -> None:
    beside = {"world_size": job.world_size, "model": job.model}
    assert lost(job, "deepspeed", **beside) == {}
    unsaid = {each for each in export_job(job, "deepspeed").unsaid if not each.startswith("/model/")}
    assert unsaid == {"/batch/sequence_length", "/framework/transformer_impl", "/world_size"}


@SLOW
@given(megatron_jobs())
def test_accelerate_s_file_says_the_degrees_of_a_megatron_job(job: Job) -> None:
    assert lost(job, "accelerate", model=job.model) == {}
    assert not {f"/parallelism/{each}" for each in ("tensor", "pipeline", "context", "expert")} & set(
        export_job(job, "accelerate").unsaid
    )


@SLOW
@given(sharded_jobs(("fsdp1", "fsdp2", "deepspeed")))
def test_accelerate_s_file_says_processes_sharding_and_precision(job: Job) -> None:
    assert lost(job, "accelerate", model=job.model) == {}


@SLOW
@given(titan_jobs())
def test_torchtitan_s_file_says_the_whole_job_of_one_of_its_models(job: Job) -> None:
    assert lost(job, "torchtitan", world_size=job.world_size) == {}
    assert lost(job, "torchtitan-cli", world_size=job.world_size) == {}
    # Not every flavor has a config function, nor every function the job's 8 bits; the model is given then.
    unnamed = any(each.startswith("/model/") for each in export_job(job, "torchtitan-registry").unsaid)
    assert lost(job, "torchtitan-registry", world_size=job.world_size, model=job.model if unnamed else None) == {}
    assert export_job(job, "torchtitan").unsaid == ("/world_size",)


@SLOW
@given(sharded_jobs(("fsdp2",)))
def test_torchtitan_s_file_and_options_say_the_layout_and_the_flavor(job: Job) -> None:
    assert lost(job, "torchtitan", world_size=job.world_size) == {}
    assert lost(job, "torchtitan-cli", world_size=job.world_size) == {}
    # Not every flavor has a config function, nor every function the job's 8 bits; the model is given then.
    unnamed = any(each.startswith("/model/") for each in export_job(job, "torchtitan-registry").unsaid)
    assert lost(job, "torchtitan-registry", world_size=job.world_size, model=job.model if unnamed else None) == {}
    assert lost(job, "slurm") == {}


@SLOW
@given(megatron_jobs())
def test_flags_nemo_s_file_and_a_batch_script_of_a_job_have_the_same_digest(job: Job) -> None:
    texts = {form: export_job(job, form).text for form in FORMS}
    digests = set()
    for form, text in texts.items():
        imported = import_config(ConfigSource(text=text, world_size=job.world_size if form == "megatron" else None))
        assert imported.job is not None
        digests.add(digest(canonical(resolve(imported.job).job)))

    assert len(digests) == 1


@pytest.mark.parametrize(
    "form",
    ["megatron", "slurm", "nemo", "deepspeed", "accelerate", "torchtitan", "torchtitan-cli", "torchtitan-registry"],
)
def test_what_is_not_said_is_named(form: ExportFormat) -> None:
    written = export_job(resolve(LLAMA).job, form)

    assert not written.said & set(written.unsaid)
    assert ("/parallelism/tensor" in written.unsaid) == (form == "deepspeed")


def test_a_script_sets_what_only_the_environment_says_and_flags_name_it() -> None:
    job = changed(LLAMA, kernels={"expandable_segments": True})

    assert lost(job, "slurm") == {}
    assert "/kernels/expandable_segments" in export_job(job, "slurm").said
    assert "/kernels/expandable_segments" in export_job(job, "megatron").unsaid


def test_a_number_of_shared_experts_and_every_second_layer_come_back_in_megatron_s_terms() -> None:
    model = {**DENSE, **EXPERTS, "n_shared_experts": 2, "moe_layer_freq": 2}
    written = export_job(changed(LLAMA, model={"preset": None, **model}), "megatron").text

    assert "--moe-shared-expert-intermediate-size 1024\n" in written
    assert "--moe-layer-freq 2\n" in written


def test_a_script_asks_for_the_device_in_slurm_s_words_where_the_catalogue_has_them() -> None:
    text = export_job(LLAMA, "slurm", Cluster(4, "no-such-gpu")).text

    assert "#SBATCH --nodes=16\n" in text
    assert "#SBATCH --gpus-per-node=4\n" in text
    assert "--nnodes 16 --nproc_per_node 4 " in text


@pytest.mark.parametrize(
    ("form", "after", "texts"),
    [
        ("megatron", {"parallelism": {"tensor": 4, "sequence": False}},
         ["--tensor-model-parallel-size 4", "remove --sequence-parallel"]),
        ("megatron", {"checkpointing": {"granularity": "full", "method": "block", "num_layers": 2}},
         ["--recompute-granularity full", "--recompute-method block", "--recompute-num-layers 2"]),
        ("nemo", {"parallelism": {"pipeline": 4}}, ["model.pipeline_model_parallel_size=4"]),
        ("nemo", {"checkpointing": {"granularity": "full", "method": "block"}},
         ["++model.activations_checkpoint_granularity=full", "++model.activations_checkpoint_method=block"]),
        ("torchtitan", {"batch": {"micro": 2}}, ["parallelism.pipeline_parallel_microbatch_size=2"]),
        ("torchtitan-cli", {"kernels": {"compile": True}}, ["--compile.enable", "--compile.components=model"]),
        ("accelerate", {"precision": {"compute": "fp16"}}, ["mixed_precision=fp16"]),
        ("slurm", {"framework": {"name": "ddp"}}, []),
    ],
)  # fmt: skip
def test_a_change_is_only_what_differs_in_the_dialect_s_own_words(
    form: ExportFormat, after: dict[str, dict[str, object]], texts: list[str]
) -> None:
    assert [each.text for each in changes_between(LLAMA, changed(LLAMA, **after), form)] == texts


def test_a_change_to_a_json_file_is_a_patch() -> None:
    sharded = changed(LLAMA, sharding={"stage": 3, "buckets": {"reduce": 1000}}, optimizer={"offload": "cpu"})

    patch = [json.loads(each.text) for each in changes_between(LLAMA, sharded, "deepspeed")]

    assert patch == [
        {"op": "replace", "path": "/zero_optimization/stage", "value": 3},
        {"op": "add", "path": "/zero_optimization/reduce_bucket_size", "value": 1000},
        {"op": "add", "path": "/zero_optimization/offload_optimizer", "value": {"device": "cpu"}},
    ]


def test_nothing_changes_between_a_job_and_itself() -> None:
    for form in ("megatron", "nemo", "deepspeed", "accelerate", "torchtitan", "slurm"):
        assert changes_between(LLAMA, LLAMA, form) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fp8", [{"backend": "torchao", "all_gather": True}, {"recipe": "mxfp8"}, {"recipe": "delayed"}]
)
def test_accelerate_s_file_says_the_library_of_8_bit_products(fp8: dict[str, object]) -> None:
    stated = changed(LLAMA, precision={"fp8": fp8}).model_dump(by_alias=True, exclude_none=True)
    stated |= {"framework": {"name": "hf-trainer"}, "parallelism": {}, "sharding": {}, "kernels": {}, "schedule": None}
    written = resolve(Job.model_validate(stated)).job
    text = export_job(written, "accelerate").text
    read = import_config(ConfigSource(text=text, format="accelerate")).job
    assert read is not None
    assert read.precision.fp8 == written.precision.fp8


@pytest.mark.parametrize(
    "sharding",
    [
        {"stage": 3, "implementation": "torch_fsdp2", "reshard_after_forward": "never"},
        {"stage": 2, "implementation": "megatron_fsdp", "double_buffer": True},
        {"stage": 3, "implementation": "megatron_fsdp", "buckets": {"reduce": 1000, "prefetch": 500}},
    ],
)
def test_megatron_s_flags_say_what_shards_weights(sharding: dict[str, object]) -> None:
    stated = changed(LLAMA, sharding={"optimizer_instances": None, **sharding}, parallelism={"pipeline": 1})
    flags = export_job(stated, "megatron").text
    read = import_config(ConfigSource(text=flags, format="megatron")).job
    assert read is not None
    found = read.sharding.model_dump(exclude_none=True)
    assert {key: found[key] for key in sharding} == sharding


def test_the_newer_command_line_of_torchtitan_names_a_config_function_and_counts_tokens() -> None:
    job = Job.model_validate(
        {
            "model": {"preset": "llama-3.1-70b"}, "framework": {"name": "fsdp2"}, "world_size": 256,
            "parallelism": {"tensor": 8, "pipeline": 2, "context": 1, "sequence": True, "virtual_pipeline": 1},
            "schedule": "1f1b", "sharding": {"stage": 3}, "batch": {"micro": 1, "global": 64, "sequence_length": 8192},
            "checkpointing": {"granularity": "selective", "every": 2},
        }
    )  # fmt: skip
    written = export_job(job, "torchtitan-registry")

    assert written.text.startswith("--module=llama3\n--config=llama3_70b\n")
    assert "--training.num_tokens_per_microbatch_per_dp_rank=8192\n" in written.text
    assert "--training.num_tokens_per_train_step=524288\n" in written.text
    assert "--parallelism.num_pp_microbatches=4\n" in written.text
    # Whole layers cannot be chosen there.
    assert set(written.unsaid) == {"/world_size", "/checkpointing/granularity", "/checkpointing/every"}
