"""From a job to model, layout and recipe: defaults with their sources, and every problem at once."""

from typing import Any

import pytest

from service.job.resolve import InvalidJob, Resolved, job_with_layout, resolve, resolve_model
from service.job.schema import Job

BASE: dict[str, Any] = {
    "model": {"preset": "llama-3-8b"},
    "framework": {"name": "megatron-core"},
    "world_size": 64,
    "parallelism": {"tensor": 8, "sequence": True, "pipeline": 2},
    "sharding": {"stage": 1},
    "batch": {"micro": 1, "global": 512, "sequence_length": 8192},
    "kernels": {"attention": "flash"},
}


def job(**changes: Any) -> Job:
    return Job.model_validate(BASE | changes)


def source(resolved: Resolved, pointer: str) -> str:
    return resolved.findings.sources[pointer].origin


def refused(**changes: Any) -> InvalidJob:
    with pytest.raises(InvalidJob) as caught:
        resolve(job(**changes))
    return caught.value


def codes(error: InvalidJob) -> set[str]:
    return {each.code for each in error.findings.errors}


def test_what_is_absent_is_derived_or_the_frameworks_default_and_says_so() -> None:
    resolved = resolve(job())
    assert resolved.layout.data == 4
    assert resolved.layout.micro_batches == 128
    assert resolved.layout.schedule == "1f1b"
    assert resolved.layout.shards == 4
    assert source(resolved, "/parallelism/tensor") == "given"
    assert source(resolved, "/parallelism/data") == "derived"
    assert source(resolved, "/model/hidden_size") == "default"
    assert source(resolved, "/precision/gradients") == "default"


def test_absent_dropout_is_megatrons() -> None:
    recipe = resolve(job()).recipe
    assert (recipe.hidden_dropout, recipe.attention_dropout) == (0.1, 0.1)


def test_every_value_of_the_canonical_job_has_a_source() -> None:
    resolved = resolve(job())

    def leaves(pointer: str, value: Any) -> list[str]:
        if isinstance(value, dict):
            return [leaf for key, below in value.items() for leaf in leaves(f"{pointer}/{key}", below)]
        return [pointer]

    document = resolved.job.model_dump(by_alias=True, exclude_none=True)
    assert set(leaves("", document)) == set(resolved.findings.sources)


def test_a_resolved_job_resolves_to_itself() -> None:
    once = resolve(job())
    again = resolve(once.job)
    assert (again.job, again.model, again.layout, again.recipe) == (once.job, once.model, once.layout, once.recipe)


def test_keys_beside_a_preset_override_it() -> None:
    resolved = resolve(job(model={"preset": "llama-3-8b", "vocab_size": 32000, "num_hidden_layers": 16}))
    assert (resolved.model.vocab_size, resolved.model.layers, resolved.model.hidden_size) == (32000, 16, 4096)


def test_linear_bias_sets_all_three() -> None:
    kind = resolve(job(model={"preset": "llama-3-8b", "linear_bias": True})).model.kinds[0]
    assert (kind.attention.qkv_bias, kind.attention.output_bias, kind.mlp.bias) == (True, True, True)


def test_a_model_of_no_known_family_is_assumed_to_be_llama_like_and_says_so() -> None:
    dimensions = {
        "hidden_size": 1024,
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "intermediate_size": 4096,
        "vocab_size": 32000,
    }
    resolved = resolve(job(model=dimensions))
    assert resolved.findings.sources["/model/normalization"].origin == "assumed"
    assert resolved.model.kinds[0].mlp.kind == "swiglu"


def test_more_than_one_chunk_is_interleaved_in_groups_of_the_pipeline_degree() -> None:
    layout = resolve(job(parallelism={"tensor": 8, "pipeline": 2, "virtual_pipeline": 2})).layout
    assert (layout.schedule, layout.group) == ("interleaved", 2)


def test_the_distributed_optimizer_shards_over_data_and_context() -> None:
    assert resolve(job(parallelism={"tensor": 4, "context": 4})).layout.shards == 16
    assert resolve(job(sharding={"stage": 0})).layout.shards == 1
    assert resolve(job(sharding={"stage": 1, "optimizer_instances": 2})).layout.shards == 2


def test_sequence_parallelism_needs_a_tensor_group() -> None:
    assert resolve(job(parallelism={"tensor": 1, "sequence": True})).layout.sequence_parallel == 0


@pytest.mark.parametrize(
    ("compute", "gradients", "master"), [("bf16", "fp32", "fp32"), ("fp16", "fp16", "fp32"), ("fp32", "fp32", None)]
)
def test_precision_follows_the_compute_type(compute: str, gradients: str, master: str | None) -> None:
    recipe = resolve(job(precision={"compute": compute})).recipe
    assert (recipe.gradients, recipe.master, recipe.parameters) == (gradients, master, compute)


def test_automatic_attention_is_said_to_be_assumed() -> None:
    resolved = resolve(job(kernels={}))
    assert [each.code for each in resolved.findings.diagnostics] == ["assumed"]


def test_all_problems_come_at_once() -> None:
    error = refused(parallelism={"tensor": 3, "pipeline": 5}, batch={"micro": 1, "global": 512})
    assert {"world_size_not_divisible", "heads_tp", "layers_not_divisible"} <= codes(error)
    assert [each.fact for each in error.findings.missing] == ["sequence_length"]


def test_missing_dimensions_are_named() -> None:
    facts = {each.fact for each in refused(model={"model_type": "llama", "hidden_size": 4096}).findings.missing}
    assert facts == {"num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}


def test_a_world_of_unknown_size_is_missing() -> None:
    assert [each.fact for each in refused(world_size=None).findings.missing] == ["world_size"]


def test_an_unknown_preset_gets_near_names_and_no_list_of_missing_dimensions() -> None:
    error = refused(model={"preset": "llama-9"})
    assert codes(error) == {"unknown_model"}
    assert "llama-3-8b" in " ".join(error.findings.errors[0].fixes)
    assert not error.findings.missing


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param(
            {"model": {"preset": "llama-3-8b", "layer_types": ["retention"] * 32}},
            "unknown_architecture",
            id="retention",
        ),
        pytest.param({"framework": {"name": "ddp"}, "sharding": {"stage": 1}}, "unsupported_option", id="sharded DDP"),
        pytest.param({"optimizer": {"offload": "nvme"}}, "unsupported_option", id="offload to disk"),
        pytest.param({"optimizer": {"parameter_offload": "cpu"}}, "unsupported_option", id="offload of weights"),
        pytest.param({"optimizer": {"in_backward": True}}, "unsupported_option", id="optimizer in the backward"),
        pytest.param({"sharding": {"stage": 3}}, "unsupported_option", id="sharded weights"),
        pytest.param({"precision": {"fp8": {"backend": "torchao"}}}, "unsupported_option", id="torchao in Megatron"),
        pytest.param({"precision": {"fp8": {"backend": "msamp"}}}, "unsupported_option", id="MS-AMP"),
        pytest.param(
            {"model": {"preset": "mixtral-8x7b"}, "adapters": {"type": "lora", "rank": 8, "modules": ["q"]}},
            "unsupported_option",
            id="adapters on experts",
        ),
    ],
)
def test_what_is_not_itemised_is_refused_rather_than_left_out(changes: dict[str, Any], code: str) -> None:
    assert code in codes(refused(**changes))


def test_another_version_is_estimated_with_the_nearest_profile_and_says_so() -> None:
    resolved = resolve(job(framework={"name": "megatron-core", "version": "0.14"}))
    assert [each.code for each in resolved.findings.diagnostics] == ["nearest_profile"]


def test_a_search_needs_no_layout() -> None:
    found = resolve_model(job(parallelism={}, batch={"sequence_length": 4096}, world_size=None))
    assert found.model.layers == 32


def test_a_search_needs_a_sequence_length() -> None:
    with pytest.raises(InvalidJob) as caught:
        resolve_model(job(batch={}))
    assert [each.fact for each in caught.value.findings.missing] == ["sequence_length"]


def test_a_found_layout_written_into_the_job_resolves_to_that_layout() -> None:
    resolved = resolve(
        job(
            parallelism={"tensor": 4, "sequence": True, "pipeline": 4, "virtual_pipeline": 2, "context": 2},
            checkpointing={"granularity": "full", "method": "block", "num_layers": 2},
        )
    )
    written = job_with_layout(job(parallelism={}, batch={"sequence_length": 8192}), resolved.layout)
    assert resolve(written).layout == resolved.layout


def test_a_job_that_does_not_say_how_many_micro_batches_fills_its_pipeline() -> None:
    resolved = resolve(job(batch={"micro": 1, "sequence_length": 4096}, parallelism={"tensor": 8, "pipeline": 4}))
    assert resolved.layout.micro_batches == 8
    assert source(resolved, "/batch/global") == "assumed"


@pytest.mark.parametrize(("schedule", "chunks"), [("zbv", 2), ("dualpipe", 2), ("zb_h1", 1), ("gpipe", 1)])
def test_a_schedule_brings_its_number_of_chunks(schedule: str, chunks: int) -> None:
    assert resolve(job(schedule=schedule)).layout.virtual == chunks


def test_torch_pipelines_group_micro_batches_their_own_way() -> None:
    """G = m // max(1, m // p)."""
    batch = {**BASE["batch"], "global": 9}
    parallelism = {"pipeline": 4, "virtual_pipeline": 2}
    torch = job(framework={"name": "fsdp2"}, world_size=4, sharding={}, parallelism=parallelism, batch=batch)
    assert resolve(torch).layout.group == 4
    assert resolve(torch.model_copy(update={"batch": torch.batch.model_copy(update={"global_": 10})})).layout.group == 5


def test_a_derived_value_beyond_its_bound_is_an_error_of_the_job() -> None:
    error = refused(batch={"micro": 65536, "accumulation": 1 << 20, "sequence_length": 1})
    assert codes(error) == {"out_of_range"}
    assert error.findings.errors[0].fields == ("/batch/global",)


@pytest.mark.parametrize("framework", ["megatron-core", "fsdp2", "deepspeed"])
def test_a_schedule_with_another_number_of_chunks_is_refused(framework: str) -> None:
    parallelism = {"pipeline": 2, "virtual_pipeline": 4}
    error = refused(framework={"name": framework}, sharding={}, parallelism=parallelism, schedule="zbv")
    assert "schedule_conflict" in codes(error)


HYBRID = {
    "model_type": "custom",
    "hidden_size": 1024,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "intermediate_size": 4096,
    "vocab_size": 32000,
    "mlp": "gelu",
    "mamba_d_state": 64,
    "mamba_d_conv": 4,
    "mamba_n_groups": 1,
    "mamba_n_heads": 32,
    "mamba_d_head": 64,
    "linear_num_value_heads": 8,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
}


@pytest.mark.parametrize(
    ("blocks", "framework", "kernels", "message"),
    [
        (["mamba", "attention"], {"name": "fsdp2"}, {}, "Mamba-2 layers with the implementation titan"),
        (["mlp", "attention"], {"name": "fsdp2"}, {}, "hybrid layers with the implementation titan"),
        (["mamba", "attention"], {"name": "hf-trainer"}, {"linear_attention": "eager"}, "in torch's own operations"),
        (["G", "attention"], {"name": "megatron-core", "transformer_impl": "local"}, {}, "net layers with the impl"),
        (["G", "attention"], {"name": "megatron-core"}, {"deterministic": True}, "gated delta nets of Megatron in"),
        (["G", "attention"], {"name": "fsdp2", "transformer_impl": "torch"}, {}, "net layers with the implementation"),
    ],
)
def test_layers_with_a_state_are_refused_where_nobody_described_them(
    blocks: list[str], framework: dict[str, str], kernels: dict[str, Any], message: str
) -> None:
    model = {**HYBRID, "layers_block_type": blocks}
    error = refused(model=model, framework=framework, kernels=kernels, parallelism={}, sharding={})
    assert message in str(error)


@pytest.mark.parametrize("framework", ["hf-trainer", "deepspeed", "fsdp2", "megatron-core"])
def test_layers_with_a_state_run_on_kernels_that_are_assumed_to_be_installed(framework: str) -> None:
    implementation = {"fsdp2": "hf"}.get(framework)
    model = {**HYBRID, "layers_block_type": ["mamba", "G"]}
    stated = {"name": framework, "transformer_impl": implementation}
    found = resolve(job(model=model, framework=stated, parallelism={}, sharding={}))
    assert found.recipe.recurrence_fused
    assert source(found, "/kernels/linear_attention") == "assumed"


@pytest.mark.parametrize(
    ("degrees", "broken"), [({"tensor": 4, "context": 2}, False), ({"tensor": 8, "context": 2}, True)]
)
def test_heads_of_linear_attention_are_shared_by_tensor_and_context(degrees: dict[str, int], *, broken: bool) -> None:
    """megatron transformer_config.py: both kinds of heads are multiples of tensor x context; 8 here."""
    model = {**HYBRID, "num_attention_heads": 16, "layers_block_type": ["G", "attention"]}
    asked = {"model": model, "framework": {"name": "megatron-core"}, "parallelism": degrees, "sharding": {}}
    found = codes(refused(**asked)) if broken else set()
    assert ("linear_heads_tp" in found) is broken
    if not broken:
        resolve(job(**asked))


@pytest.mark.parametrize("stated", [{}, {"recipe": None}])
def test_eight_bits_without_a_recipe_take_that_of_the_framework(stated: dict[str, Any]) -> None:
    unnamed, named = (resolve(job(precision={"fp8": each})) for each in (stated, {"recipe": "delayed"}))
    assert named.recipe.fp8 is not None
    assert (unnamed.recipe, unnamed.job) == (named.recipe, named.job)
    assert source(unnamed, "/precision/fp8/recipe") == "default"


@pytest.mark.parametrize(
    ("stated", "backend", "recipe", "origin"),
    [
        ({}, "torchao", "current", "assumed"),
        ({"recipe": "delayed"}, "transformer_engine", "delayed", "derived"),
        ({"recipe": "mxfp8"}, "transformer_engine", "mxfp8", "derived"),
        ({"backend": "transformer_engine"}, "transformer_engine", "delayed", "given"),
    ],
)
def test_accelerates_library_is_torchao_unless_said(
    stated: dict[str, Any], backend: str, recipe: str, origin: str
) -> None:
    """accelerate takes torchao where it is installed, by tensor; other scaling it leaves to Transformer Engine."""
    replicas = {"framework": {"name": "ddp"}, "parallelism": {}, "sharding": {"stage": 0}}
    found = resolve(job(precision={"fp8": stated}, **replicas))
    assert found.recipe.fp8 is not None
    assert (found.recipe.fp8.backend, found.recipe.fp8.recipe) == (backend, recipe)
    assert source(found, "/precision/fp8/backend") == origin


def test_torchtitans_library_is_torchao() -> None:
    titan = {"framework": {"name": "fsdp2"}, "parallelism": {}, "sharding": {"stage": 3}}
    found = resolve(job(precision={"fp8": {"recipe": "mxfp8"}}, **titan))
    assert found.recipe.fp8 is not None
    assert (found.recipe.fp8.backend, source(found, "/precision/fp8/backend")) == ("torchao", "default")
