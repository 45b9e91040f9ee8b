"""What a layer saves, against the closed forms of the papers."""

from dataclasses import replace

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.checkpointing import stored_lines
from service.calculator.layout import Checkpointing, Layout
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.units import GIB
from tests.builders import LLAMA_3_8B, gpt, layout, recipe

KORTHIKANTI = gpt(6144, 48, 64)
"""The 22B model of Korthikanti et al. 2022 (arXiv 2205.05198), table 3."""

OWN_EXTRA_LINES = ("statistics", "log_sum_exp")
"""Lines that the paper's formula neglects."""


def layer_bytes(model: Model, spread: Layout, kept: Recipe) -> int:
    rows = layer_tensors(model.kinds[0], model, spread, kept)
    return sum(int(each.tensor.bytes) * int(each.copies) for each in rows)


def stored_bytes(model: Model, spread: Layout, kept: Recipe) -> int:
    rows = layer_tensors(model.kinds[0], model, spread, kept)
    lines = stored_lines(rows, spread, [model.layers], [1])
    return sum(int(line.bytes) for line in lines if not line.tensor.name.endswith(OWN_EXTRA_LINES))


@pytest.mark.parametrize(
    ("sequence_parallel", "checkpointing", "gibibytes"),
    [
        pytest.param(0, Checkpointing(), 59.25, id="no recomputation, no sequence parallelism"),
        pytest.param(1, Checkpointing(), 39.5625, id="no recomputation, sequence parallelism"),
        pytest.param(1, Checkpointing("selective", modules=("core_attn",)), 9.5625, id="selective"),
    ],
)
def test_korthikanti_22b(sequence_parallel: int, checkpointing: Checkpointing, gibibytes: float) -> None:
    spread = layout(
        KORTHIKANTI, tensor=8, micro_batch=4, sequence_parallel=sequence_parallel, checkpointing=checkpointing
    )
    kept = recipe(attention="unfused", hidden_dropout=0.1, attention_dropout=0.1)
    assert stored_bytes(KORTHIKANTI, spread, kept) == gibibytes * GIB


def test_full_recomputation_keeps_two_bytes_per_token_and_width() -> None:
    spread = layout(KORTHIKANTI, tensor=8, checkpointing=Checkpointing("full", "uniform", 1))
    assert stored_bytes(KORTHIKANTI, spread, recipe()) == 48 * 2 * 2048 * 6144


def test_flash_llama_layer_is_the_fused_bracket() -> None:
    """(8h + 4q + 4k + 6f + 4a + 8) bytes a token: memory_model.md 3.1, measured with autograd hooks."""
    h, q, k, f, a = 4096, 4096, 1024, 14336, 32
    expected = 2048 * (8 * h + 4 * q + 4 * k + 6 * f + 4 * a + 8)
    assert layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B), recipe()) == expected


@pytest.mark.parametrize("tensor", [2, 4, 8])
def test_sequence_parallelism_divides_the_whole_bracket(tensor: int) -> None:
    whole = layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B), recipe())
    split = layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B, tensor=tensor, sequence_parallel=1), recipe())
    assert split == whole // tensor


@pytest.mark.parametrize(
    ("attention", "dropout", "per_token"),
    [
        pytest.param("unfused", 0.1, lambda h, a, s: 34 * h + 5 * a * s, id="unfused, dropout"),
        pytest.param("unfused", 0.0, lambda h, a, s: 32 * h + 2 * a * s, id="unfused"),
        pytest.param("fused", 0.0, lambda h, a, _: 32 * h + 4 * a, id="flash"),
    ],
)
def test_gpt_variants(attention: str, dropout: float, per_token: object) -> None:
    """memory_model.md 3.2, measured; 16 bytes a token of LayerNorm statistics in fp32."""
    assert callable(per_token)
    kept = recipe(attention=attention, hidden_dropout=dropout, attention_dropout=dropout)
    model = gpt(1024, 1, 16)
    assert layer_bytes(model, layout(model), kept) == 2048 * (per_token(1024, 16, 2048) + 16)


def test_fp32_softmax_is_kept_beside_the_probabilities() -> None:
    model = gpt(1024, 1, 16)
    kept = recipe(attention="unfused", softmax_fp32=True)
    assert layer_bytes(model, layout(model), kept) == 2048 * (32 * 1024 + 6 * 16 * 2048 + 16)


def test_an_eager_gate_keeps_one_branch_more() -> None:
    fused = layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B), recipe())
    eager = layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B), recipe(activation_fused=False))
    assert eager - fused == 2 * 2048 * 14336


def test_flash_attn_copies_its_output_into_megatrons_layout_for_more_than_one_sequence() -> None:
    """Megatron-LM CI: the automatic backend holds 2Tq a layer more on A100 than on H100, not at micro-batch 1."""

    def extra(micro_batch: int) -> int:
        spread = layout(LLAMA_3_8B, micro_batch=micro_batch)
        flash = layer_bytes(LLAMA_3_8B, spread, recipe(attention="flash"))
        return flash - layer_bytes(LLAMA_3_8B, spread, recipe())

    assert extra(1) == 0
    assert extra(4) == 2 * 4 * 2048 * 4096


def test_recomputing_fused_attention_keeps_the_packed_projection_alive() -> None:
    """Megatron-Bridge, PR 3880: 1.8 GB more for 48 layers of Qwen3-30B, 2(q + k) bytes a token and layer."""

    def kept(checkpointing: Checkpointing) -> int:
        spread = layout(LLAMA_3_8B, checkpointing=checkpointing)
        rows = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe(attention="flash"))
        return sum(int(line.bytes) for line in stored_lines(rows, spread, [1], [1]))

    again = kept(Checkpointing("selective", modules=("core_attn",)))
    assert again - kept(Checkpointing()) == 2048 * (2 * (4096 + 1024) - 4 * 32)


def test_exchanging_heads_for_sequence_keeps_attentions_output_twice() -> None:
    """SimuMax's B200 runs over eight context ranks, whole within 0.1 %."""
    ring, exchange = (layout(LLAMA_3_8B, context=2, context_method=method) for method in ("p2p", "a2a"))
    difference = layer_bytes(LLAMA_3_8B, exchange, recipe()) - layer_bytes(LLAMA_3_8B, ring, recipe())
    assert difference == 2 * 1024 * 4096


def test_a_rank_with_more_ranks_than_groups_holds_one_whole_group() -> None:
    spread = layout(LLAMA_3_8B, tensor=16)
    rows = {each.tensor.name: each.tensor for each in layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe())}
    assert rows["attention.key"].shape == (2048, 1, 1, 128)


def test_context_parallelism_without_rotary_keeps_a_copy_of_keys_and_values() -> None:
    """Transformer Engine's ring: 4Tk/t bytes (memory_model.md 3.6)."""
    model = gpt(1024, 1, 16)
    ring = layer_tensors(model.kinds[0], model, layout(model, context=2), recipe())
    copies = [
        int(each.tensor.bytes) * int(each.copies) for each in ring if each.tensor.name == "attention.context_copy"
    ]
    assert copies == [4 * 1024 * 1024]


def test_a_sandwich_keeps_the_input_of_each_norm_behind_a_block() -> None:
    kind = replace(LLAMA_3_8B.kinds[0], norms=4)
    plain = layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B), recipe())
    sandwich = layer_bytes(replace(LLAMA_3_8B, kinds=(kind,)), layout(LLAMA_3_8B), recipe())
    assert sandwich - plain == 2 * 2048 * (2 * 4096 + 4)


def test_a_parallel_layer_stores_its_input_once() -> None:
    kind = replace(LLAMA_3_8B.kinds[0], parallel_residual=True)
    plain = layer_bytes(LLAMA_3_8B, layout(LLAMA_3_8B), recipe())
    parallel = layer_bytes(replace(LLAMA_3_8B, kinds=(kind,)), layout(LLAMA_3_8B), recipe())
    assert plain - parallel == 2 * 2048 * 4096
