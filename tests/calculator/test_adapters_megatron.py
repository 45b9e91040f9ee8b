"""Low-rank adapters on Megatron's dense layers, by what Megatron-Bridge and Transformer Engine keep.

Sources: memory_model.md 3.4; NVIDIA-NeMo/Megatron-Bridge @ 067f987d peft/utils.py; TransformerEngine @ d0067d0d
module/linear.py and layernorm_linear.py; Megatron-LM @ d98e8a64 tensor_parallel/layers.py.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.activations.layer import layer_tensors
from service.calculator.estimate import estimate
from service.calculator.ledger import Moment
from service.calculator.stage import stage_of
from service.calculator.states import held_parameters
from service.job.resolve import InvalidJob, Resolved, resolve
from service.job.schema import Job
from tests.builders import H100

H, Q, K, F, HEADS = 4096, 4096, 1024, 14336, 32
RANK = 16
TOKENS = 2048
EVERYTHING = ("q", "k", "v", "o", "gate", "up", "down")


def tuned(modules: tuple[str, ...], **changes: Any) -> Resolved:
    """Llama 3 8B in Megatron-Core on one sequence of 2048 tokens, with adapters on the named modules."""
    document: dict[str, Any] = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": "megatron-core"},
        "world_size": 8,
        "batch": {"micro": 1, "global": 32, "sequence_length": TOKENS, "padding_mask": False},
        "kernels": {"attention": "fused"},
        "dropout": {"hidden": 0.0, "attention": 0.0},
    }
    if modules:
        document["adapters"] = {"type": "lora", "rank": RANK, "modules": list(modules)}
    for section, values in changes.items():
        document[section] = {**document.get(section, {}), **values} if isinstance(values, dict) else values
    return resolve(Job.model_validate(document))


def saved_per_token(job: Resolved) -> float:
    rows = layer_tensors(job.model.kinds[0], job.model, job.layout, job.recipe)
    return sum(int(each.tensor.bytes * each.copies) for each in rows) / TOKENS


def saved_names(job: Resolved) -> set[str]:
    rows = layer_tensors(job.model.kinds[0], job.model, job.layout, job.recipe)
    return {each.tensor.name for each in rows if each.copies}


def adapter_shapes(job: Resolved) -> dict[str, tuple[int, ...]]:
    (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
    return {
        line.tensor.name: tuple(int(side) for side in line.tensor.shape)
        for line in stage.lines
        if line.tensor.name.startswith("adapter.") and line.tensor.name[-2:] in {".a", ".b"}
    }


FROZEN = 4 * H + 4 * Q + 4 * K + 4 * F + 4 * HEADS + 8
"""Bytes a token of a layer through which gradients only pass (memory_model.md 3.4)."""


def test_adapters_on_queries_and_values_keep_the_norms_output_and_two_ranks() -> None:
    assert saved_per_token(tuned(("q", "v"))) == FROZEN + 2 * H + 2 * 2 * RANK


def test_adapters_on_every_product_keep_what_full_training_does_and_four_ranks() -> None:
    """Megatron's fused products carry one adapter each."""
    assert saved_per_token(tuned(EVERYTHING)) == saved_per_token(tuned(())) + 4 * 2 * RANK


def test_an_adapter_on_the_output_projection_reads_what_attention_keeps_anyway() -> None:
    assert saved_per_token(tuned(("o",))) == FROZEN + 2 * RANK


def test_stored_scores_leave_the_attentions_output_to_the_adapter() -> None:
    scores = {"kernels": {"attention": "unfused"}}
    without, adapted = tuned(("down",), **scores), tuned(("down", "o"), **scores)
    assert saved_per_token(adapted) - saved_per_token(without) == 2 * Q + 2 * RANK


def test_flash_attentions_second_copy_of_its_output_is_the_projections() -> None:
    flash = {"kernels": {"attention": "flash"}, "batch": {"micro": 2}}
    assert "attention.output_copy" in saved_names(tuned(("o",), **flash))
    assert "attention.output_copy" not in saved_names(tuned(("q",), **flash))


def test_under_sequence_parallelism_adapters_keep_what_was_gathered_beside_the_share() -> None:
    """Four ranks: full training keeps a quarter of both norms' outputs, adapters a whole one more of each."""
    split = {"parallelism": {"tensor": 4, "sequence": True}}
    more = saved_per_token(tuned(EVERYTHING, **split)) - saved_per_token(tuned((), **split))
    assert more == 2 * 2 * H + 4 * 2 * RANK


def test_megatrons_own_norms_keep_nothing_for_frozen_products() -> None:
    local = {"framework": {"transformer_impl": "local"}, "parallelism": {"tensor": 4, "sequence": True}}
    assert "attention.norm.output" in saved_names(tuned((), **local))
    assert "attention.norm.output" not in saved_names(tuned(("q",), **local))
    assert "attention.norm.output.gathered" in saved_names(tuned(("q",), **local))


def test_a_dropout_before_an_adapter_keeps_its_result_and_a_mask() -> None:
    plain, dropping = tuned(("down",)), tuned(("down",), adapters={"dropout": 0.1})
    assert saved_per_token(dropping) - saved_per_token(plain) == 1 * F
    plain, dropping = tuned(("q", "k", "v")), tuned(("q", "k", "v"), adapters={"dropout": 0.1})
    assert saved_per_token(dropping) - saved_per_token(plain) == 3 * H


def test_products_in_8_bits_keep_what_they_return_a_second_time() -> None:
    """The norm's output once in 16 bits for the adapter and once in 8; no other product keeps an input."""
    eight = tuned(("q", "k", "v"), precision={"fp8": {"recipe": "current"}})
    assert saved_per_token(eight) == FROZEN + 2 * H + 1 * H + 2 * RANK
    assert saved_per_token(tuned(("down",), precision={"fp8": {"recipe": "current"}})) == FROZEN + 2 * F + 2 * RANK


def test_both_factors_are_split_over_the_tensor_group() -> None:
    shapes = adapter_shapes(tuned(EVERYTHING, parallelism={"tensor": 4, "sequence": True}))
    assert shapes == {
        "adapter.qkv.a": (RANK // 4, H),
        "adapter.qkv.b": ((Q + 2 * K) // 4, RANK),
        "adapter.o.a": (RANK, Q // 4),
        "adapter.o.b": (H // 4, RANK),
        "adapter.gate_up.a": (RANK // 4, H),
        "adapter.gate_up.b": (2 * F // 4, RANK),
        "adapter.down.a": (RANK, F // 4),
        "adapter.down.b": (H // 4, RANK),
    }


def test_only_adapters_have_gradients_and_states() -> None:
    job = tuned(EVERYTHING)
    elements = 32 * RANK * (H + Q + 2 * K + Q + H + H + 2 * F + F + H)
    (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
    named = {line.tensor.name: line for line in stage.lines}
    assert named["gradients.buffer"].bytes == 4 * elements
    assert named["optimizer.first_moment"].bytes == 4 * elements
    assert named["optimizer.master"].bytes == 4 * elements


def test_frozen_weights_are_not_moved_into_buffers_when_they_are_made() -> None:
    job = tuned(("q", "k", "v"), sharding={"stage": 1})
    (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
    moved = next(line for line in stage.lines if line.tensor.name == "weights.before_remapping")
    assert moved.alive == (Moment.INITIALIZATION,)
    assert moved.bytes == 2 * 32 * RANK * (H + Q + 2 * K)


def test_a_frozen_head_keeps_no_input() -> None:
    def head_inputs(job: Resolved) -> set[str]:
        (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
        return {line.tensor.name for line in stage.lines if line.tensor.name.startswith("head.input") and line.bytes}

    assert head_inputs(tuned(())) == {"head.input", "head.input_gradient"}
    assert head_inputs(tuned(("q",))) == {"head.input_gradient"}
    assert head_inputs(tuned(("q", "head"))) == {"head.input.gathered", "head.input_gradient"}
    assert head_inputs(tuned(("q",), adapters={"trained_modules": ["head"]})) == {"head.input", "head.input_gradient"}


@settings(max_examples=40, deadline=None)
@given(
    st.sets(st.sampled_from(EVERYTHING), min_size=1),
    st.sampled_from(EVERYTHING),
    st.sampled_from((1, 2, 4)),
    st.sampled_from(("fused", "flash", "unfused")),
)
def test_an_adapter_more_never_saves_less(modules: set[str], one: str, tensor: int, attention: str) -> None:
    changes: dict[str, Any] = {
        "parallelism": {"tensor": tensor, "sequence": tensor > 1},
        "kernels": {"attention": attention},
    }
    products = ({"q", "k", "v"}, {"gate", "up"})
    fewer = modules - {one}
    whole = [each for each in products if one in each and each <= {*modules, one}]
    if not fewer or whole:
        # The last part of a fused product turns several adapters into one.
        return
    less, more = tuned(tuple(sorted(fewer)), **changes), tuned(tuple(sorted({*fewer, one})), **changes)
    assert saved_per_token(less) <= saved_per_token(more)
    assert len(held_of(less)) <= len(held_of(more))


def held_of(job: Resolved) -> list[str]:
    held = held_parameters(stage_of(job.model, job.layout, 0), job.model, job.layout, job.recipe)
    return [each.parameter.name for each in held if each.trained]


@pytest.mark.parametrize(
    ("changes", "modules", "said"),
    [
        ({"model": {"preset": "mixtral-8x7b"}}, ("q",), "adapters on a mixture of experts in Megatron's layers"),
        ({"model": {"preset": "deepseek-v3"}}, ("q",), "adapters on latent attention in Megatron's layers"),
        ({"adapters": {"type": "qlora"}}, ("q",), "quantised weights beside adapters in Megatron's layers"),
        ({}, ("q", "embedding"), "an adapter on the embedding in Megatron's layers"),
        ({"schedule": "zb_h1", "parallelism": {"pipeline": 2}}, ("q",), "the schedule zb_h1 beside adapters"),
        (
            {"framework": {"name": "deepspeed", "transformer_impl": "local"}},
            ("q",),
            "adapters on Megatron's layers with deepspeed",
        ),
        ({"adapters": {"rank": 6}, "parallelism": {"tensor": 4}}, ("q",), "rank 6 cannot be shared by 4"),
    ],
)
def test_what_no_source_describes_is_refused_by_name(
    changes: dict[str, Any], modules: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InvalidJob, match=said):
        tuned(modules, **changes)
