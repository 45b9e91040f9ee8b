"""Layers of torch modules: what the measured layers do not show."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from service.calculator.activations.autograd.layer import autograd_tensors, head_tensors
from service.calculator.activations.saved import Saved
from service.calculator.checkpointing import stored_lines
from service.calculator.layout import Checkpointing
from service.calculator.ledger import Moment, total_bytes
from service.calculator.model import Attention, LatentAttention, LayerKind, Mlp, Model, Moe
from service.calculator.recipe import Adapters
from service.calculator.units import BYTES
from tests.builders import LLAMA_3_8B, layout, recipe

TITAN = {"transformer_impl": "titan", "attention": "sdpa", "norm_fused": False, "activation_fused": False}
TOKENS = 2048
H, Q, K, F, A = 4096, 4096, 1024, 14336, 32


def model_of(kind: LayerKind) -> Model:
    return replace(LLAMA_3_8B, kinds=(kind,), pattern=(0,))


def rows_of(model: Model = LLAMA_3_8B, kept: dict[str, Any] | None = None, **spread: Any) -> list[Saved]:
    return autograd_tensors(model.kinds[0], model, layout(model, **spread), recipe(**(TITAN | (kept or {}))))


def needed(rows: list[Saved]) -> int:
    return sum(int(each.tensor.bytes) * int(each.copies) for each in rows)


def cached(rows: list[Saved]) -> dict[str, int]:
    return {each.tensor.name: int(each.tensor.bytes) * int(each.cached) for each in rows if each.cached}


SAVED = Checkpointing("selective", op=("mm", "attention", "reduce_scatter", "all_to_all", "max", "topk"))


class TestOperationLevelCheckpointing:
    def test_every_second_product_and_the_attention_are_kept(self) -> None:
        """torchtitan's Llama: 2(q + k + q + f + h) + 4a bytes a token beside the input (memory_model.md, section 6)."""
        kept = cached(rows_of(checkpointing=SAVED))
        assert set(kept) == {
            "attention.projected_query",
            "attention.projected_value",
            "attention.output",
            "attention.log_sum_exp",
            "mlp.gate.output",
            "mlp.down",
        }
        assert sum(kept.values()) == TOKENS * (2 * (Q + K + Q + F + H) + 4 * A)

    def test_a_fused_first_projection_shifts_the_count(self) -> None:
        """Measured: 4512 bytes a token with the input, for h = q = 256, k = 64, f = 704 and 8 heads."""
        kind = LayerKind(Attention(8, 2, 32), Mlp(704, "swiglu", fused_projection=True))
        small = replace(model_of(kind), hidden_size=256)
        kept = cached(rows_of(small, {"transformer_impl": "hf"}, checkpointing=SAVED))
        assert sum(kept.values()) + 2 * TOKENS * 256 == 4512 * TOKENS

    def test_a_result_that_the_backward_does_not_read_is_stored_and_no_more(self) -> None:
        rows = {each.tensor.name: each for each in rows_of(checkpointing=SAVED)}
        assert (rows["mlp.down"].copies, rows["mlp.down"].cached) == (0, 1)
        assert (rows["mlp.gate.output"].copies, rows["mlp.gate.output"].cached) == (1, 1)

    @pytest.mark.parametrize("traced", [{"compiled": True}, {"traced": True}])
    def test_a_trace_of_both_passes_drops_the_layers_last_result(self, traced: dict[str, bool]) -> None:
        """torchtitan's 8B reserves 1.94 GiB less compiled (PRs 808, 822): 32 outputs of 8192 tokens are 2 GiB."""
        assert "mlp.down" not in cached(rows_of(kept=traced, checkpointing=SAVED))

    def test_modules_can_be_named(self) -> None:
        """graph_trainer's policies name outputs: wo adds 2h bytes a token and layer (torchtitan PR 4153)."""
        named = Checkpointing("selective", op=("wo",))
        assert cached(rows_of(checkpointing=named)) == {"attention.projection": 2 * TOKENS * H}

    def test_every_product_can_be_kept(self) -> None:
        every = Checkpointing("selective", op=("every_mm",))
        assert sum(cached(rows_of(checkpointing=every)).values()) == TOKENS * 2 * (Q + 2 * K + H + 2 * F + H)

    def test_the_routers_product_is_not_counted(self) -> None:
        kind = LayerKind(Attention(32, 8, 128), Moe(8, 2, 1024, "swiglu", shared_width=2048))
        kept = cached(rows_of(model_of(kind), {"grouped_gemm": True}, checkpointing=SAVED))
        assert "shared_experts.gate.output" in kept
        assert "shared_experts.up.output" not in kept
        assert "router.scores" not in kept


class TestTensorParallel:
    def test_projections_keep_the_gathered_input(self) -> None:
        """torch's DTensor: norms keep a share of the sequence, projections all of it."""
        rows = {each.tensor.name: each.tensor for each in rows_of(tensor=4, sequence_parallel=1)}
        assert rows["attention.norm.output"].shape == (1, TOKENS, H)
        assert rows["attention.norm.input_fp32"].shape == (1, TOKENS // 4, H)
        assert rows["attention.output"].shape == (1, TOKENS, A // 4, 128)

    def test_reduced_outputs_are_kept_only_where_they_are_reduced(self) -> None:
        alone = cached(rows_of(checkpointing=SAVED))
        shared = cached(rows_of(checkpointing=SAVED, tensor=4, sequence_parallel=1))
        assert "attention.reduced" not in alone
        assert shared["attention.reduced"] == 2 * TOKENS // 4 * H


class TestAdapters:
    def test_a_dropout_gives_every_adapter_its_own_input_and_mask(self) -> None:
        """2 + 1 bytes an element of each adapter's input, in place of one shared input."""
        modules = ("q", "k", "v", "o", "gate", "up", "down")
        plain, dropped = (
            needed(rows_of(kept={"adapters": Adapters(16, modules, "bf16", dropout=each)})) for each in (0.0, 0.05)
        )
        # Inputs: h for q, k, v and for gate, up; the attention's output stays for attention; f for down.
        assert dropped - plain == TOKENS * (3 * (3 * H + Q + 2 * H + F) - 2 * (H + H + F))

    def test_quantised_projections_kept_their_inputs_once(self) -> None:
        """bitsandbytes 0.42: LitGPT's 4-bit runs hold 1.4 to 2.4 GiB more than weights explain (resource-tables.md)."""
        kept = Adapters(16, ("q", "v"), "bf16", quantization="nf4", dropout=0.05, inputs_kept=True)
        plain, more = (needed(rows_of(kept={"adapters": replace(kept, inputs_kept=each)})) for each in (False, True))
        assert more - plain == TOKENS * 2 * (H + H + F)

    def test_inputs_of_quantised_projections_outlive_their_backward(self) -> None:
        """MatMul4Bit keeps them as an attribute of the graph's node, so that only the next loss frees them."""
        kept = Adapters(16, ("q", "v"), "bf16", quantization="nf4", inputs_kept=True, inputs_outlive_backward=True)
        lines = stored_lines(rows_of(kept={"adapters": kept}), layout(LLAMA_3_8B), [32], [1])
        before = [line for line in lines if line.tensor.name.startswith("before.")]
        assert {line.alive for line in before} == {(Moment.WARMUP_FORWARD, Moment.LOSS)}
        assert total_bytes(before) == 32 * TOKENS * 2 * (H + Q + H + F)

    def test_adapters_of_another_type_read_copies(self) -> None:
        """peft casts each adapter's input to the adapter's type."""
        same, wide = (needed(rows_of(kept={"adapters": Adapters(16, ("q", "v"), each)})) for each in ("bf16", "fp32"))
        assert wide - same == TOKENS * (2 * 4 * H - 2 * H) + TOKENS * 2 * 16 * 2

    def test_a_frozen_head_keeps_no_input_and_a_trained_one_does(self) -> None:
        def head(adapters: Adapters) -> set[str]:
            rows = head_tensors(LLAMA_3_8B, layout(LLAMA_3_8B), recipe(**TITAN, adapters=adapters), 128256)
            return {each.tensor.name for each in rows}

        assert "head.input" not in head(Adapters(16, ("q",), "bf16"))
        assert "head.input" in head(Adapters(16, ("q",), "bf16", trained=("head",)))
        assert "head.head_adapter.between" in head(Adapters(16, ("head",), "bf16"))


class TestNormsAndKeys:
    @pytest.mark.parametrize(
        ("form", "beyond"),
        [("cast_first", 4 * H), ("scale_first", 6 * H)],
    )
    def test_the_form_of_a_norm(self, form: str, beyond: int) -> None:
        """Beyond a kernel's 2h input: fp32 input and normalised tensor, in 16 bits or in fp32, for each norm."""
        fused = needed(rows_of(kept={"norm_fused": True}))
        eager = needed(rows_of(kept={"norm_form": form}))
        assert eager - fused == TOKENS * 2 * beyond

    def test_repeated_keys_are_as_wide_as_queries(self) -> None:
        """torchtitan before January 2026 copied keys and values to every query head."""
        assert needed(rows_of(kept={"keys_repeated": True})) - needed(rows_of()) == TOKENS * 4 * (Q - K)

    def test_a_head_in_autocast_keeps_its_weight_in_16_bits(self) -> None:
        """memory_model.md 3.2: 2Vh bytes for the head, beside the casts of its input."""
        kept = recipe(**TITAN, autocast=True, parameters="fp32")
        rows = {each.tensor.name: each.tensor for each in head_tensors(LLAMA_3_8B, layout(LLAMA_3_8B), kept, 128256)}
        assert rows["head.weight_cast"].bytes == 2 * 128256 * H
        assert rows["head.cast"].bytes == 2 * TOKENS * H


class TestLatentAttention:
    KIND = LayerKind(LatentAttention(16, 512, 256, 128, 64, 128), Mlp(F, "swiglu"))

    def test_values_keep_what_became_keys(self) -> None:
        rows = {each.tensor.name: each.tensor for each in rows_of(model_of(self.KIND))}
        assert rows["attention.kv_heads"].shape == (1, TOKENS, 16 * (128 + 128))
        assert rows["attention.query"].shape == (1, TOKENS, 16, 192)

    def test_without_a_query_rank_there_is_no_query_latent(self) -> None:
        kind = replace(self.KIND, attention=LatentAttention(16, 0, 256, 128, 64, 128))
        names = {each.tensor.name for each in rows_of(model_of(kind))}
        assert not [each for each in names if each.startswith("attention.query_")]


def test_a_layer_of_one_half_has_one_norm() -> None:
    mixer, mlp = Attention(32, 8, 128), Mlp(F, "relu2")
    halves = [rows_of(model_of(LayerKind(*half, norms=1))) for half in ((mixer, None), (None, mlp))]
    for rows in halves:
        assert [each.is_input for each in rows] == [True] + [False] * (len(rows) - 1)
    assert sum(map(needed, halves)) == needed(rows_of(model_of(LayerKind(mixer, mlp))))


def test_arrays_answer_as_single_layouts_do() -> None:
    tensor, batch = np.array([1, 2, 8, 8]), np.array([1, 4, 2, 1])
    split = np.array([0, 1, 1, 0])
    many = rows_of(tensor=tensor, micro_batch=batch, sequence_parallel=split, checkpointing=SAVED)
    for index in range(4):
        one = rows_of(
            tensor=int(tensor[index]),
            micro_batch=int(batch[index]),
            sequence_parallel=int(split[index]),
            checkpointing=SAVED,
        )
        assert _sizes(one, 0) == _sizes(many, index)


def _sizes(rows: list[Saved], index: int) -> dict[str, tuple[int, int]]:
    def pick(value: Any) -> int:
        return int(np.broadcast_to(value, (4,))[index])

    found = {}
    for each in rows:
        elements = 1
        for side in each.tensor.shape:
            elements *= pick(side)
        size = elements * BYTES[each.tensor.dtype]
        if pick(each.copies) or pick(each.cached):
            found[each.tensor.name] = (size * pick(each.copies), size * pick(each.cached))
    return found
