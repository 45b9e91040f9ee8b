"""Mixers beside plain attention: latent attention, Mamba-2, delta nets; layers with one half; models of every kind."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.activations.layer import layer_tensors
from service.calculator.activations.saved import Saved
from service.calculator.checkpointing import stored_lines
from service.calculator.estimate import estimate, peak_device_bytes
from service.calculator.layout import Checkpointing, Layout
from service.calculator.model import (
    Attention,
    DeltaNet,
    LatentAttention,
    LayerKind,
    Mamba,
    Mixer,
    Mlp,
    Model,
    Moe,
    Prediction,
)
from service.calculator.parameters import count, layer_parameters
from service.calculator.recipe import Recipe
from tests.builders import H100, LLAMA_3_8B, layout, recipe

TOY = LatentAttention(heads=8, query_rank=96, latent_rank=64, nope_dim=32, rope_dim=16, value_dim=32)
DEEPSEEK_V3 = LatentAttention(128, 1536, 512, 128, 64, 128)
MAMBA = Mamba(heads=80, head_dim=64, state=128, groups=8, conv=4)
QWEN3_NEXT = DeltaNet(key_heads=16, value_heads=32, key_dim=128, value_dim=128, conv=4)


def with_mixer(mixer: Mixer, hidden: int) -> Model:
    """A model of layers that are a mixer alone."""
    return replace(LLAMA_3_8B, hidden_size=hidden, kinds=(LayerKind(mixer, None, norms=1),), pattern=(0,))


def saved_rows(model: Model, spread: Layout, kept: Recipe) -> list[Saved]:
    return layer_tensors(model.kinds[0], model, spread, kept)


def saved_bytes(model: Model, spread: Layout, kept: Recipe) -> int:
    return sum(int(each.tensor.bytes) * int(each.copies) for each in saved_rows(model, spread, kept))


def test_latent_attention_saves_what_autograd_was_seen_to_save() -> None:
    """`own.mla.fused`: 1,100,800 bytes, b 2, s 128, h 256, its own input included."""
    spread = layout(LLAMA_3_8B, micro_batch=2, sequence_length=128)
    assert saved_bytes(with_mixer(TOY, 256), spread, recipe()) == 1_100_800


def test_latents_save_parameters_and_no_activations() -> None:
    """DeepSeek-V3: 201 kB for a token and layer of attention alone (memory_model.md 3.3)."""
    per_token = saved_bytes(with_mixer(DEEPSEEK_V3, 7168), layout(LLAMA_3_8B), recipe()) / 2048
    assert per_token == pytest.approx(201e3, rel=0.01)


def test_queries_without_a_rank_are_projected_from_the_norms_output() -> None:
    direct = replace(TOY, query_rank=0)
    less = saved_bytes(with_mixer(TOY, 256), layout(LLAMA_3_8B), recipe()) - saved_bytes(
        with_mixer(direct, 256), layout(LLAMA_3_8B), recipe()
    )
    assert less == 2048 * (2 * 2 * 96 + 4)


def test_tensor_parallelism_splits_the_heads_and_not_the_latents() -> None:
    model = with_mixer(DEEPSEEK_V3, 7168)
    latents = 7168 * 2 + 1536 * 2 + 512 * 2 + 64
    whole, split = (saved_bytes(model, layout(LLAMA_3_8B, tensor=tensor), recipe()) for tensor in (1, 4))
    assert split == 2048 * (2 * latents + 3 * 4) + (whole - 2048 * (2 * latents + 3 * 4)) // 4


def test_sequence_parallelism_splits_the_tokens_of_the_latents() -> None:
    model = with_mixer(DEEPSEEK_V3, 7168)
    whole = saved_bytes(model, layout(LLAMA_3_8B), recipe())
    assert saved_bytes(model, layout(LLAMA_3_8B, tensor=4, sequence_parallel=1), recipe()) == whole // 4


def test_recomputing_the_up_projections_keeps_the_latents_and_the_output() -> None:
    model = with_mixer(DEEPSEEK_V3, 7168)
    spread = layout(LLAMA_3_8B, checkpointing=Checkpointing("selective", modules=("mla_up_proj",)))
    names = {
        line.tensor.name for line in stored_lines(saved_rows(model, spread, recipe()), spread, [1], [1]) if line.bytes
    }
    assert names == {
        "attention.input",
        "attention.norm.statistics",
        "attention.norm.output",
        "attention.query_latent",
        "attention.kv_latent",
        "attention.output",
        "attention.log_sum_exp",
    }


def test_the_norm_before_latents_is_separate_and_recomputed_by_itself() -> None:
    model = with_mixer(DEEPSEEK_V3, 7168)

    def stored(modules: tuple[str, ...]) -> int:
        spread = layout(LLAMA_3_8B, checkpointing=Checkpointing("selective", modules=modules))
        return sum(int(line.bytes) for line in stored_lines(saved_rows(model, spread, recipe()), spread, [1], [1]))

    assert stored(()) - stored(("layernorm",)) == 2048 * (2 * 7168 + 4)


def test_latent_heads_run_in_cudnn_which_copies_no_output() -> None:
    """Transformer Engine takes no flash-attn for values of another width than keys."""
    model, spread = with_mixer(DEEPSEEK_V3, 7168), layout(LLAMA_3_8B, micro_batch=4)
    assert saved_bytes(model, spread, recipe(attention="flash")) == saved_bytes(model, spread, recipe())


def test_an_eager_rotary_embedding_keeps_its_tables_in_every_layer() -> None:
    """Cosine and sine, of queries and of keys: megatron rope_utils.py."""
    model = with_mixer(DEEPSEEK_V3, 7168)
    eager = saved_bytes(model, layout(LLAMA_3_8B), recipe(rope_fused=False))
    assert eager - saved_bytes(model, layout(LLAMA_3_8B), recipe()) == 2048 * 4 * 64 * 2


def test_a_mamba_mixer_saves_its_projection_and_both_sides_of_its_gated_norm() -> None:
    model, inner = with_mixer(MAMBA, 2560), 80 * 64
    projected = 2 * inner + 2 * 8 * 128 + 80
    per_token = 4 * 2560 + 4 + 2 * projected + 4 * inner + 4 * 8
    assert saved_bytes(model, layout(LLAMA_3_8B), recipe()) == 2048 * per_token


def test_a_mamba_mixer_holds_the_parameters_of_the_table() -> None:
    """memory_model.md 1.1: h(2d_in + 2Gn + H), (d_in + 2Gn)(w + 1), 3H, d_in, d_in·h, and the layer's norm."""
    model, inner, state = with_mixer(MAMBA, 2560), 80 * 64, 2 * 8 * 128
    expected = 2560 * (2 * inner + state + 80) + (inner + state) * 5 + 3 * 80 + inner + inner * 2560 + 2560
    assert count(layer_parameters(model.kinds[0], model, 1)) == expected


def test_a_delta_net_saves_what_its_kernels_keep() -> None:
    """megatron gdn.py and flash-linear-attention's chunked rule, tensor by tensor, for a token of Qwen3-Next."""
    model, keys, values, heads = with_mixer(QWEN3_NEXT, 2048), 16 * 128, 32 * 128, 32
    projection = 2 * (2 * keys + 2 * values + 2 * heads)
    normalised = 2 * 2 * keys + 4 * 2 * 16
    kernel = 2 * 2 * heads * 128 + 2 * values + 4 * heads + 2 * heads + 2 * 64 * heads
    gated_norm = 2 * values + 2 * values + 4 * heads + 2 * values + 2 * values
    per_token = 4 * 2048 + 4 + projection + normalised + kernel + gated_norm
    assert saved_bytes(model, layout(LLAMA_3_8B), recipe()) == 2048 * per_token


def test_recomputing_the_gated_norm_keeps_its_operands() -> None:
    """megatron common.py, recompute_norm_out: statistics, the norm's output and the projection's input go."""
    model = with_mixer(QWEN3_NEXT, 2048)

    def stored(modules: tuple[str, ...]) -> int:
        spread = layout(LLAMA_3_8B, checkpointing=Checkpointing("selective", modules=modules))
        return sum(int(line.bytes) for line in stored_lines(saved_rows(model, spread, recipe()), spread, [1], [1]))

    assert stored(()) - stored(("gdn_norm_out",)) == 2048 * (2 * 2 * 32 * 128 + 4 * 32)


def test_the_heads_of_a_delta_net_are_split_over_both_groups() -> None:
    model = with_mixer(QWEN3_NEXT, 2048)
    norms = 2048 * (4 * 2048 + 4)
    whole, tensor, context = (
        saved_bytes(model, layout(LLAMA_3_8B, **degrees), recipe()) for degrees in ({}, {"tensor": 4}, {"context": 4})
    )
    assert tensor - norms == (whole - norms) // 4
    assert context == whole // 4


def test_a_delta_net_holds_the_parameters_of_the_published_model() -> None:
    """36 layers of Qwen3-Next-80B: transformers 5.24.0, Qwen3NextGatedDeltaNet, and the layer's norm."""
    model, keys, values = with_mixer(QWEN3_NEXT, 2048), 16 * 128, 32 * 128
    expected = 2048 * (2 * keys + 2 * values + 64) + (2 * keys + values) * 4 + 64 + 128 + values * 2048 + 2048
    assert count(layer_parameters(model.kinds[0], model, 1)) == expected


def test_a_gate_keeps_the_packed_projection_and_its_product_with_the_output() -> None:
    """megatron attention.py: the gate is a view of the projection, and the projection back reads the product."""
    plain, gated = (
        with_mixer(Attention(16, 2, 256, qk_norm="per_head", output_gate=gate), 2048) for gate in (False, True)
    )
    query, key = 16 * 256, 2 * 256
    more = saved_bytes(gated, layout(LLAMA_3_8B), recipe()) - saved_bytes(plain, layout(LLAMA_3_8B), recipe())
    assert more == 2048 * 2 * (2 * query + 2 * key + query)
    parameters = [count(layer_parameters(each.kinds[0], each, 1)) for each in (plain, gated)]
    assert parameters[1] - parameters[0] == 2048 * query


@pytest.mark.parametrize("kind", [LayerKind(Attention(8, 8, 32), None, 1), LayerKind(None, Mlp(1024, "relu2"), 1)])
def test_a_layer_of_one_half_has_one_norm_and_one_input(kind: LayerKind) -> None:
    model = replace(LLAMA_3_8B, hidden_size=256, kinds=(kind,), pattern=(0,))
    rows = saved_rows(model, layout(LLAMA_3_8B), recipe())
    assert [each.is_input for each in rows] == [True] + [False] * (len(rows) - 1)
    assert sum(each.tensor.name.endswith("norm.output") for each in rows) == 1
    whole = replace(model, kinds=(LayerKind(Attention(8, 8, 32), Mlp(1024, "relu2")),))
    assert saved_bytes(model, layout(LLAMA_3_8B), recipe()) < saved_bytes(whole, layout(LLAMA_3_8B), recipe())


EVERY_KIND = replace(
    LLAMA_3_8B,
    hidden_size=2048,
    kinds=(
        LayerKind(Attention(16, 4, 128, qk_norm="per_head"), Mlp(8192, "swiglu"), norms=4),
        LayerKind(LatentAttention(16, 512, 256, 128, 64, 128), Moe(32, 4, 512, "swiglu", 1024, shared_gate=True)),
        LayerKind(Mamba(64, 64, 128, 8, 4), None, norms=1),
        LayerKind(DeltaNet(8, 16, 128, 128, 4), Mlp(8192, "swiglu")),
        LayerKind(Attention(16, 4, 128, output_gate=True), Mlp(8192, "swiglu")),
        LayerKind(None, Moe(32, 4, 512, "relu2"), norms=1),
    ),
    pattern=(0, 1, 2, 3, 4, 5) * 4,
    prediction=Prediction(depths=2, kind=1),
)
"""A model of every kind of layer, with prediction depths."""


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(*(st.sampled_from([1, 2, 4]) for _ in range(4))), min_size=1, max_size=4),
    st.sampled_from(["alltoall", "allgather", "deepep", "hybridep"]),
    st.sampled_from(["fused", "flash", "unfused"]),
    st.sampled_from(
        [Checkpointing(), Checkpointing("full", "uniform"), Checkpointing("selective", modules=("moe", "mla_up_proj"))]
    ),
    st.booleans(),
)
def test_every_kind_is_the_same_one_by_one_and_all_at_once(
    degrees: list[tuple[int, int, int, int]],
    dispatcher: str,
    attention: str,
    checkpointing: Checkpointing,
    fusion: bool,
) -> None:
    kept = recipe(
        dispatcher=dispatcher,
        attention=attention,
        gradient_accumulation_fusion=fusion,
        grouped_gemm=fusion,
        rope_fused=not fusion,
        deterministic=fusion,
    )
    one = layout(EVERY_KIND, pipeline=2, checkpointing=checkpointing, sharding_stage=1)

    def spread(tensor: Any, expert: Any, micro: Any, sequence: Any) -> Layout:
        return replace(
            one,
            tensor=tensor,
            expert=expert,
            expert_tensor=tensor,
            micro_batch=micro,
            sequence_parallel=np.minimum(sequence - 1, 1) if isinstance(sequence, np.ndarray) else min(sequence - 1, 1),
            data=4 * expert,
            shards=4 * expert,
        )

    single = [int(peak_device_bytes(EVERY_KIND, spread(*each), kept, H100)) for each in degrees]
    columns = [np.array(column, dtype=np.int64) for column in zip(*degrees, strict=True)]
    together = peak_device_bytes(EVERY_KIND, spread(*columns), kept, H100)
    assert np.broadcast_to(np.asarray(together), (len(degrees),)).tolist() == single


def test_the_ledger_of_every_kind_adds_up() -> None:
    spread = layout(EVERY_KIND, pipeline=2, data=4, expert=4, sharding_stage=1)
    found = estimate(EVERY_KIND, spread, recipe(dispatcher="alltoall"), H100)
    for stage in found.stages:
        assert stage.device_bytes == sum(line.bytes for line in stage.ledger)
        assert all(line.bytes >= 0 for line in stage.lines)


def test_a_mixer_that_needs_more_than_the_mlp_has_freed_says_how_much_more() -> None:
    """Stored scores: their gradient before and after the softmax, against what a small MLP held."""
    narrow = replace(LLAMA_3_8B, kinds=(LayerKind(Attention(32, 8, 128), Mlp(256, "swiglu")),))

    def beyond(model: Model) -> int:
        stage = estimate(model, layout(model, pipeline=4), recipe(attention="unfused"), H100).stages[0]
        return sum(int(line.bytes) for line in stage.lines if line.tensor.name == "backward.mixer_excess")

    scores = 2 * 2 * 2048 * 32 * 2048
    mlp = 2048 * (4 * 4096 + 4 + 6 * 256) + 2048 * 4 * 256
    assert beyond(narrow) == scores - mlp
    assert beyond(replace(narrow, kinds=(LayerKind(Attention(32, 8, 128), Mlp(1 << 18, "swiglu")),))) == 0
