"""Low-rank adapters on latent attention and on mixtures of experts, against layers measured under peft."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.activations.layer import layer_tensors
from service.calculator.estimate import estimate
from service.calculator.ledger import Moment
from service.calculator.recipe import Adapters
from service.calculator.stage import stage_of
from service.calculator.states import StageParameters, held_parameters, state_lines
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job
from tests.builders import H100

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "saved_tensors_adapters.json").read_text("utf-8"))

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 128,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}
EXPERTS = {"moe_intermediate_size": 48, "num_experts": 8, "num_experts_per_tok": 2}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 16}
LATENT = {
    **SMALL,
    **EXPERTS,
    "model_type": "deepseek_v3",
    "num_key_value_heads": 4,
    "q_lora_rank": 24,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "n_shared_experts": 1,
    "intermediate_size": 96,
}
MODELS: dict[str, dict[str, Any]] = {
    "qwen3_moe": {**GROUPED, **EXPERTS, "model_type": "qwen3_moe", "intermediate_size": 96},
    "mixtral": {**GROUPED, **EXPERTS, "model_type": "mixtral", "intermediate_size": 48},
    "deepseek_v3": {**LATENT, "first_k_dense_replace": 0},
    "deepseek_v3_dense": {**LATENT, "first_k_dense_replace": 2},
}
RANK = 4
MODULES = ("q", "k", "v", "o", "gate", "up", "down")


def tuned(
    name: str, modules: tuple[str, ...], *, experts: str = "grouped_mm", attention: str = "sdpa", **changes: Any
) -> Resolved:
    """Two layers of a small model under DDP in bf16, two sequences of 32 tokens."""
    document: dict[str, Any] = {
        "model": MODELS[name],
        "framework": {"name": "ddp", "transformer_impl": "hf"},
        "world_size": 1,
        "batch": {"micro": 2, "sequence_length": 32},
        "kernels": {"attention": attention, "experts": experts, "grouped_gemm": experts == "grouped_mm"},
        "precision": {"parameters": "bf16", "compute": "bf16"},
    }
    if modules:
        document["adapters"] = {"type": "lora", "rank": RANK, "modules": list(modules), "dtype": "bf16"}
    for section, values in changes.items():
        document[section] = {**document.get(section, {}), **values}
    return resolve(Job.model_validate(document))


def saved_bytes(job: Resolved) -> int:
    rows = layer_tensors(job.model.kinds[0], job.model, job.layout, job.recipe)
    return sum(int(each.tensor.bytes * each.copies) for each in rows)


def held(job: Resolved) -> list[StageParameters]:
    return held_parameters(stage_of(job.model, job.layout, 0), job.model, job.layout, job.recipe)


def trained_in_a_layer(job: Resolved) -> int:
    return sum(int(each.unit_elements) for each in held(job) if each.trained and each.unit == "layer 0")


def named(row: dict[str, Any]) -> str:
    return f"{row['model']}, {row['experts']}: {' '.join(row['modules']) or 'trained whole'}"


def whole(row: dict[str, Any]) -> dict[str, Any]:
    """The row of the same layer trained whole."""
    return next(
        each
        for each in MEASURED
        if not each["modules"] and (each["model"], each["experts"]) == (row["model"], row["experts"])
    )


@pytest.mark.parametrize("row", MEASURED, ids=named)
def test_adapters_spare_and_train_what_was_measured(row: dict[str, Any]) -> None:
    as_measured = {"experts": row["experts"], "attention": row["attention"]}
    adapted, plain = (tuned(row["model"], modules, **as_measured) for modules in (tuple(row["modules"]), ()))
    assert saved_bytes(adapted) - saved_bytes(plain) == row["saved_bytes"] - whole(row)["saved_bytes"]
    assert trained_in_a_layer(adapted) == row["trained_elements"]


@pytest.mark.parametrize("row", MEASURED, ids=named)
def test_a_layer_saves_what_was_measured(row: dict[str, Any]) -> None:
    job = tuned(row["model"], tuple(row["modules"]), experts=row["experts"], attention=row["attention"])
    assert saved_bytes(job) == row["saved_bytes"]


def test_short_names_stand_for_the_projections_of_latent_attention() -> None:
    short, long = tuned("deepseek_v3", ("q", "k", "v")), tuned("deepseek_v3", ("q_a", "q_b", "kv_a", "kv_b"))
    assert held(short) == held(long)


def test_experts_that_are_modules_of_their_own_carry_their_own_adapters() -> None:
    """transformers 4: each of eight experts has three linear modules; its rows keep their input and rank columns."""
    version = {"framework": {"version": "transformers 4.57"}}
    plain, adapted = tuned("qwen3_moe", ("q",), **version), tuned("qwen3_moe", ("q", "gate", "up", "down"), **version)
    assert trained_in_a_layer(adapted) - trained_in_a_layer(plain) == 8 * 3 * RANK * (64 + 48)
    rows = 2 * 2 * 32
    assert saved_bytes(adapted) - saved_bytes(plain) == 2 * rows * (64 + 48 + 3 * RANK)


def test_a_change_of_stacked_experts_is_made_as_large_as_their_weights() -> None:
    """Two tensors of both branches in the adapters' type, and the change of the other projections, which waits."""
    stage = estimate(*parts(tuned("qwen3_moe", MODULES, adapters={"dtype": "fp32"}))).stages[0]
    changes = [line for line in stage.lines if line.tensor.name == "adapter.experts.change"]
    forward = sum(int(line.bytes) for line in changes if Moment.WARMUP_FORWARD in line.alive)
    backward = sum(int(line.bytes) for line in changes if Moment.LAYER_BACKWARD in line.alive)
    up, down = 8 * 96 * 64, 8 * 64 * 48
    assert (forward, backward) == (2 * 4 * up + 2 * down, 2 * 4 * up)


def parts(job: Resolved) -> tuple[Any, ...]:
    return (job.model, job.layout, job.recipe, H100)


def test_a_sum_of_stacked_weights_is_as_wide_as_gathered_ones() -> None:
    """FSDP2 keeps fp32 shards and gathers in bf16."""
    sharded = {"framework": {"name": "fsdp2"}, "sharding": {"stage": 3}, "precision": {"parameters": "fp32"}}
    kept = [tuned("qwen3_moe", modules, **sharded) for modules in (("q", "down"), ("q",))]
    assert saved_bytes(kept[0]) - saved_bytes(kept[1]) == 2 * (8 * 64 * 48 + 2 * 2 * 32 * 48)


@pytest.mark.parametrize(("version", "width"), [("transformers 5.24", 2.0), ("transformers 4.57", 0.5)])
def test_only_linear_modules_are_quantised(version: str, width: float) -> None:
    job = tuned("qwen3_moe", ("q",), framework={"version": version}, adapters={"type": "qlora", "quantization": "nf4"})
    stage = stage_of(job.model, job.layout, 0)
    lines = state_lines(held(job), stage, job.model, job.layout, job.recipe)
    found = sum(int(line.bytes) for line in lines if line.tensor.name == "experts.up.weight")
    assert found == width * 2 * 8 * 96 * 64


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(MODELS)), st.sets(st.sampled_from(("q", "k", "v", "o", "down"))), st.booleans())
def test_an_adapter_more_never_saves_less(model: str, modules: set[str], stacked: bool) -> None:
    version = "transformers 5.24" if stacked else "transformers 4.57"
    fewer = tuple(sorted({"o", *modules} - {"q"}))
    less, more = (tuned(model, names, framework={"version": version}) for names in (fewer, ("q", *fewer)))
    assert saved_bytes(less) <= saved_bytes(more)
    assert trained_in_a_layer(less) < trained_in_a_layer(more)


@pytest.mark.parametrize(
    ("changes", "modules", "said"),
    [
        ({"framework": {"name": "megatron-core", "transformer_impl": None}}, ("q",), "in Megatron's layers"),
        ({"framework": {"name": "fsdp2", "transformer_impl": "titan"}}, ("up",), "on experts with the implementation"),
        ({"adapters": {"dropout": 0.1}}, ("gate", "up"), "a dropout before adapters on stacked experts"),
        ({}, ("gate",), "one of gate and up on stacked experts"),
        ({"model": {"model_type": "gpt_oss"}}, ("gate", "up"), "PEFT finds by other names"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changes: dict[str, Any], modules: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidJob, match=said):
        tuned("qwen3_moe", modules, **changes)


def test_attention_of_a_mixture_of_experts_may_carry_adapters_in_torchtitan() -> None:
    job = tuned("qwen3_moe", ("q", "v"), framework={"name": "fsdp2", "transformer_impl": "titan"})
    assert isinstance(job.recipe.adapters, Adapters)
    assert trained_in_a_layer(job) == 896
