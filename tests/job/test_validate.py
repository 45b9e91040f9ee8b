"""What is wrong with a stated job: every finding at once, each with its fields and fixes that really fix it."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.job.diagnostics import Diagnostic
from service.job.schema import Job
from service.job.validate import check

VALID: Mapping[str, Any] = {
    "model": {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
        "max_position_embeddings": 8192,
    },
    "framework": {"name": "megatron-core"},
    "world_size": 64,
    "parallelism": {"tensor": 4, "sequence": True, "pipeline": 4, "virtual_pipeline": 1, "context": 1, "expert": 1},
    "sharding": {"stage": 1},
    "schedule": "1f1b",
    "batch": {"micro": 1, "global": 64, "sequence_length": 8192},
    "checkpointing": {"granularity": "none"},
}


def job(changes: Mapping[str, Any]) -> Job:
    """The valid job with dotted fields changed; None removes a field."""
    document = deepcopy(dict(VALID))
    for dotted, value in changes.items():
        *parents, leaf = dotted.split(".")
        node: dict[str, Any] = document
        for part in parents:
            node = node.setdefault(part, {})
        node[leaf] = value
    return Job.model_validate(document)


def findings(**changes: Any) -> list[Diagnostic]:
    return check(job({name.replace("__", "."): value for name, value in changes.items()}))


def only(**changes: Any) -> Diagnostic:
    (finding,) = findings(**changes)
    return finding


def test_a_valid_job_has_no_findings() -> None:
    assert findings() == []


def test_every_problem_is_reported_at_once() -> None:
    found = findings(
        world_size=60,
        model__num_attention_heads=30,
        model__head_dim=128,
        model__num_hidden_layers=31,
        batch__sequence_length=8190,
        checkpointing__granularity="full",
    )
    assert {each.code for each in found} == {
        "world_size_not_divisible",
        "heads_tp",
        "layers_not_divisible",
        "seq_divisor",
        "checkpointing_incomplete",
    }


def test_a_finding_names_fields_values_rule_and_fixes() -> None:
    found = only(world_size=8, parallelism__tensor=8, parallelism__pipeline=16)
    assert found.code == "world_size_not_divisible"
    assert found.severity == "error"
    assert found.message == "world size 8 is not a multiple of tensor 8 x pipeline 16 x context 1 = 128"
    assert found.found == "world size 8, tensor 8, pipeline 16, context 1"
    assert found.rule == "the number of GPUs is a multiple of tensor x pipeline x context"
    assert found.fields == ("/world_size", "/parallelism/tensor", "/parallelism/pipeline", "/parallelism/context")
    assert found.fixes == ("world_size: 128", "parallelism.pipeline: 1")


@pytest.mark.parametrize(
    ("changes", "code", "message", "fixes"),
    [
        (
            {"parallelism.data": 8},
            "world_size_mismatch",
            "tensor 4 x pipeline 4 x context 1 x data 8 = 128, but the world size is 64",
            ("parallelism.data: 4", "world_size: 128"),
        ),
        (
            {"parallelism.tensor": 8, "parallelism.expert": 4, "model.num_experts": 8, "model.kv_lora_rank": None},
            "expert_grid_not_divisible",
            "expert tensor 8 (that of the dense layers) x expert 4 x pipeline 4 = 128 does not divide world size 64",
            ("parallelism.expert_tensor: 4", "parallelism.expert: 2", "world_size: 128"),
        ),
        (
            {"model.num_attention_heads": 40, "model.head_dim": 128, "model.num_key_value_heads": 8,
             "parallelism.tensor": 16, "world_size": 256},
            "heads_tp",
            "40 query heads cannot be shared by tensor degree 16",
            ("parallelism.tensor: 8",),
        ),
        (
            {"model.num_attention_heads": 48, "model.head_dim": 128, "model.num_key_value_heads": 6},
            "kv_heads_tp",
            "6 key/value heads, tensor degree 4: neither is a multiple of the other",
            ("parallelism.tensor: 2",),
        ),
        (
            {"parallelism.expert": 2},
            "experts_not_divisible",
            "expert degree 2 needs a model with experts",
            ("parallelism.expert: 1",),
        ),
        (
            {"model.num_hidden_layers": 30},
            "layers_not_divisible",
            "30 layers cannot be shared evenly by 4 stages; some releases would silently build fewer layers",
            ("parallelism.pipeline: 2", "stages.first: 7, stages.last: 7"),
        ),
        (
            {"model.num_hidden_layers": 61},
            "layers_not_divisible",
            "61 layers cannot be shared evenly by 4 stages; some releases would silently build fewer layers",
            ("parallelism.pipeline: 1", "stages.first: 15, stages.last: 14"),
        ),
        (
            {"stages": {"first": 7, "last": 6}},
            "uneven_stages",
            "with 7 on the first stage and 6 on the last stage, 19 of 32 layers are left for 2 stages in between",
            ("stages.first: 6", "stages.first: 8", "stages.last: 5", "stages.last: 7"),
        ),
        (
            {"model.num_hidden_layers": 20, "schedule": "interleaved", "parallelism.virtual_pipeline": 2},
            "vpp_remainder",
            "5 layers per stage cannot be cut into 2 chunks",
            ("parallelism.virtual_pipeline: 1", "parallelism.virtual_pipeline: 5"),
        ),
        (
            {"batch.global": 24, "batch.micro": 2, "schedule": "interleaved", "parallelism.virtual_pipeline": 2},
            "micro_batches_too_few",
            "3 micro-batches per step; interleaving over 4 stages needs a multiple of 4",
            ("batch.global: 32",),
        ),
        (
            {"batch.global": 63},
            "batch_triad",
            "global batch 63 must be a multiple of micro 1 x data 4 = 4",
            ("batch.global: 60", "batch.global: 64"),
        ),
        (
            {"batch.accumulation": 3},
            "batch_triad",
            "64 != micro 1 x accumulation 3 x data 4 = 12",
            ("batch.global: 12", "batch.accumulation: 16"),
        ),
        (
            {"batch.sequence_length": 4098},
            "seq_divisor",
            "sequence length 4098 must be a multiple of 4 (tensor 4 with sequence parallelism, context 1)",
            ("batch.sequence_length: 4096", "batch.sequence_length: 4100", "parallelism.tensor: 2"),
        ),
        (
            {"batch.sequence_length": 16384},
            "sequence_too_long",
            "sequence length 16384 is above the 8192 positions of the model",
            ("batch.sequence_length: 8192", "model.max_position_embeddings: 16384"),
        ),
        (
            {"model.hidden_size": 4100},
            "hidden_heads",
            "hidden size 4100 cannot be shared by 32 heads",
            ("model.hidden_size: 4096", "model.hidden_size: 4128"),
        ),
        (
            {"checkpointing.granularity": "full", "checkpointing.method": "block"},
            "checkpointing_incomplete",
            "full recomputation without num_layers",
            ("checkpointing.num_layers: 1",),
        ),
        (
            {"checkpointing.granularity": "selective", "checkpointing.num_layers": 2},
            "checkpointing_conflict",
            "num_layers given with granularity selective",
            ("checkpointing.num_layers: null", "checkpointing.granularity: full"),
        ),
        (
            {"checkpointing.granularity": "selective", "checkpointing.modules": ["core_attn", "norms"]},
            "checkpointing_modules",
            "norms cannot be recomputed by itself",
            ("checkpointing.modules: null",),
        ),
        (
            {"schedule": "1f1b", "parallelism.virtual_pipeline": 2},
            "schedule_conflict",
            "schedule 1f1b runs one chunk per rank, 2 are given",
            ("schedule: interleaved", "parallelism.virtual_pipeline: 1"),
        ),
        (
            {"stages": {"layers": [8, 8, 8, 7]}},
            "stage_layers",
            "the stages hold 31 layers, the model has 32",
            ("stages.layers: null",),
        ),
        (
            {"stages": {"layers": [16, 16]}},
            "stage_layers",
            "2 counts are given for 4 ranks of 1 chunks",
            ("stages.layers: null",),
        ),
        (
            {"stages": {"first": 8, "account_for_loss": True}, "model.num_hidden_layers": 35},
            "stage_split_conflict",
            "first/last and account_for are given together",
            ("stages: null",),
        ),
        (
            {"stages": {"layout": "Et*8|t*8|t*8|t*7L"}},
            "layout_string",
            "the layout holds 31 layers, the model has 32",
            ("stages.layout: null",),
        ),
        (
            {"stages": {"layout": "Et*16|t*16L"}},
            "layout_string",
            "2 groups are given for 4 ranks of 1 chunks",
            ("stages.layout: null",),
        ),
        (
            {"stages": {"layout": "Et*8|t*8|t*8L|t*8L"}},
            "layout_string",
            "the layout holds the loss 2 times",
            ("stages.layout: null",),
        ),
        (
            {"precision": {"compute": "bf16", "gradients": "fp16"}},
            "precision_conflict",
            "bf16 and fp16 are given together",
            (
                "precision.compute: bf16, precision.gradients: bf16",
                "precision.compute: fp16, precision.gradients: fp16",
            ),
        ),
        (
            {"precision": {"parameters": "fp8"}},
            "fp8_parameters",
            "weights in fp8 need fp8 compute",
            ("precision.parameters: bf16",),
        ),
        (
            {"model.kv_lora_rank": 512},
            "latent_groups",
            "multi-head latent attention with 8 key/value heads for 32 heads",
            ("model.num_key_value_heads: 32",),
        ),
        (
            {"sharding": {"stage": 0, "overlap_param_gather": True}},
            "overlap_without_sharding",
            "overlapped parameter gathering needs sharded optimizer states",
            ("sharding.stage: 1", "sharding.overlap_param_gather: false"),
        ),
    ],
)  # fmt: skip
def test_an_error_says_what_and_how_to_fix_it(
    changes: dict[str, Any], code: str, message: str, fixes: tuple[str, ...]
) -> None:
    (found,) = check(job(changes))
    assert (found.severity, found.code, found.message, tuple(found.fixes)) == ("error", code, message, fixes)
    assert all(field.startswith("/") for field in found.fields)


def test_an_interleaved_job_on_one_stage_has_nothing_to_interleave_with() -> None:
    found = only(parallelism__pipeline=1, parallelism__virtual_pipeline=2, schedule="interleaved", parallelism__data=16)
    assert found.code == "interleaving_without_pipeline"


@pytest.mark.parametrize(
    ("changes", "fix"),
    [
        ({"parallelism.tensor": 1}, "parallelism.sequence: false"),
        ({"world_size": 16}, "sharding.stage: 0"),
        ({"schedule": "interleaved"}, "schedule: 1f1b"),
    ],
)
def test_an_option_without_effect_is_a_warning(changes: dict[str, Any], fix: str) -> None:
    (found,) = check(job(changes))
    assert (found.severity, found.code, found.fixes) == ("warning", "ignored_option", (fix,))


def test_distributed_saves_name_everything_that_they_need() -> None:
    found = findings(checkpointing__distribute_saved=True)
    assert [each.fields[1] for each in found] == ["/checkpointing/granularity", "/parallelism/sequence"]


def test_layers_on_the_host_exclude_a_pipeline_and_recomputation() -> None:
    found = findings(checkpointing={"granularity": "full", "method": "uniform", "num_layers": 1, "offload_layers": 2})
    assert [each.code for each in found] == ["layer_offload", "layer_offload"]


def test_what_torch_fsdp2_refuses_megatrons_own_sharding_may_allow() -> None:
    torch = findings(sharding={"stage": 3, "implementation": "torch_fsdp2"}, model__tie_word_embeddings=True)
    assert [(each.severity, each.code) for each in torch] == [("error", "fsdp_excludes")] * 2
    assert torch[0].fixes == ("sharding.implementation: megatron_fsdp",)
    assert not findings(sharding__stage=3, model__tie_word_embeddings=True)


def test_errors_come_before_warnings() -> None:
    found = findings(parallelism__tensor=1, batch__global=63)
    assert [each.severity for each in found] == ["error", "warning"]


def test_positions_of_a_preset_bind_only_where_they_are_a_table() -> None:
    longer = {"batch.sequence_length": 16384, "model.preset": "llama-3-8b"}
    assert check(job(longer)) == []
    (found,) = check(job({**longer, "model.position_embedding": "learned"}))
    assert found.code == "sequence_too_long"


def test_a_job_with_an_open_layout_passes() -> None:
    open_job = {"model": VALID["model"], "framework": VALID["framework"], "batch": {"sequence_length": 8192}}
    assert check(Job.model_validate(open_job)) == []


def test_only_arithmetic_is_checked_for_other_frameworks() -> None:
    found = findings(framework__name="fsdp2", model__num_hidden_layers=31, batch__global=63)
    assert [each.code for each in found] == ["batch_triad"]


@settings(max_examples=30)
@given(
    tensor=st.sampled_from([1, 2, 3, 8]),
    pipeline=st.sampled_from([1, 3, 4, 5]),
    virtual=st.sampled_from([1, 2, 3]),
    context=st.sampled_from([1, 2, 3]),
    batch=st.sampled_from([7, 12, 64]),
    sequence=st.sampled_from([1000, 4096, 9000]),
)
def test_a_fix_satisfies_the_rule_that_it_is_for(
    tensor: int, pipeline: int, virtual: int, context: int, batch: int, sequence: int
) -> None:
    changes: dict[str, Any] = {
        "parallelism.tensor": tensor,
        "parallelism.pipeline": pipeline,
        "parallelism.virtual_pipeline": virtual,
        "parallelism.context": context,
        "schedule": "interleaved" if virtual > 1 else "1f1b",
        "batch.global": batch,
        "batch.sequence_length": sequence,
    }
    for finding in check(job(changes)):
        for fix in finding.fixes:
            fixed = check(job(changes | _parsed(fix)))
            assert finding.code not in {each.code for each in fixed if each.fields == finding.fields}


def _parsed(fix: str) -> dict[str, Any]:
    pairs = (each.split(": ") for each in fix.split(", "))
    return {name: int(value) if value.isdigit() else value == "true" for name, value in pairs}
