"""What other checkpointing than Megatron's stores, recomputes and moves to the host."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.activations.saved import Saved
from service.calculator.checkpointing import offloaded_lines, recompute_lines, stored_lines
from service.calculator.estimate import estimate
from service.calculator.layout import Checkpointing
from service.calculator.ledger import Line, Moment, total_bytes
from service.calculator.recipe import Fp8
from tests.builders import A100, LLAMA_3_8B, layout, recipe

TITAN = recipe(transformer_impl="titan", attention="sdpa", norm_fused=False, activation_fused=False)
INPUT = 2 * 2048 * 4096
NO_CHECKPOINTING = Checkpointing()


def rows(checkpointing: Checkpointing = NO_CHECKPOINTING) -> list[Saved]:
    return layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, layout(LLAMA_3_8B, checkpointing=checkpointing), TITAN)


def stored(checkpointing: Checkpointing, layers: Sequence[int] = (12,), in_flight: Sequence[int] = (1,)) -> list[Line]:
    return stored_lines(rows(checkpointing), layout(LLAMA_3_8B, checkpointing=checkpointing), layers, in_flight)


def recomputed(checkpointing: Checkpointing, layers: Sequence[int] = (12,)) -> int:
    lines = recompute_lines(rows(checkpointing), layout(LLAMA_3_8B, checkpointing=checkpointing), layers)
    return int(total_bytes(lines))


def size(lines: Sequence[Line]) -> int:
    return int(total_bytes(lines))


WHOLE = size(stored(NO_CHECKPOINTING, (1,)))
"""All that one layer saves. Its eager norm keeps an fp32 copy of the input, so the input itself is not among it."""


class TestTorchCheckpoint:
    def test_a_checkpointed_layer_keeps_its_input_alone(self) -> None:
        """Measured: one 16-bit input a layer, reentrant or not."""
        assert size(stored(Checkpointing("full"))) == 12 * INPUT

    def test_its_recomputation_brings_all_of_it_back(self) -> None:
        assert recomputed(Checkpointing("full")) == WHOLE

    @pytest.mark.parametrize(("every", "checkpointed"), [(1, 12), (2, 6), (5, 2), (12, 1), (13, 0)])
    def test_every_nth_layer(self, every: int, checkpointed: int) -> None:
        """torchtitan's `selective_ac_option`: a layer is checkpointed when its count, from 1, divides by n."""
        found = size(stored(Checkpointing("selective", every=every)))
        assert found == checkpointed * INPUT + (12 - checkpointed) * WHOLE

    def test_the_count_runs_on_through_the_chunks_of_a_rank(self) -> None:
        """5 + 5 layers, every third: one of the first chunk (3) and two of the second (6 and 9)."""
        found = size(stored(Checkpointing("selective", every=3), (5, 5), (4, 1)))
        assert found == 4 * (INPUT + 4 * WHOLE) + 1 * (2 * INPUT + 3 * WHOLE)

    def test_partitioned_inputs_are_split_over_the_tensor_group(self) -> None:
        """DeepSpeed's `partition_activations`."""
        split = Checkpointing("full", distribute_saved=True)
        spread = layout(LLAMA_3_8B, checkpointing=split, tensor=4)
        assert size(stored_lines(rows(), spread, (12,), (1,))) == 12 * INPUT // 4

    def test_autocast_caches_every_cast_weight_until_the_forward_ends(self) -> None:
        """2 bytes a linear weight of all layers, though a checkpointed layer keeps its input alone."""
        cast = replace(TITAN, autocast=True, parameters="fp32")
        full = Checkpointing("full")
        spread = layout(LLAMA_3_8B, checkpointing=full)
        lines = stored_lines(layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, cast), spread, (12,), (3,))
        cached = [each for each in lines if each.tensor.name.endswith("weight_cast") and each.bytes]
        linear = 4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 14336
        assert size([each for each in cached if Moment.LOSS in each.alive]) == 12 * 2 * linear
        assert not [each for each in cached if Moment.RECOMPUTE in each.alive]


class TestOperations:
    SAVED = Checkpointing("selective", op=("mm", "attention"))

    def test_a_layer_stores_its_input_and_the_kept_results(self) -> None:
        per_token = 2 * (4096 + 4096 + 1024 + 4096 + 14336 + 4096) + 4 * 32
        assert size(stored(self.SAVED, (12,), (3,))) == 3 * 12 * 2048 * per_token

    def test_only_what_is_not_kept_comes_back(self) -> None:
        kept = sum(int(each.tensor.bytes) for each in rows(self.SAVED) if each.cached and each.copies)
        assert recomputed(self.SAVED) == WHOLE - kept

    @pytest.mark.parametrize(("names", "kept"), [(("mm",), 0), (("mm", "abs"), 344 << 20)])
    def test_magnitudes_of_repeated_8_bit_products(self, names: tuple[str, ...], kept: int) -> None:
        """Rowwise float8: of key, output and up projections, inputs of 64 MiB each and weights of 8, 32 and 112 MiB.

        torchtitan's 8B reserved 10.8 GiB more with `abs` in its list (PR 820): 32 layers of this make 10.75.
        """
        spread = layout(LLAMA_3_8B, sequence_length=8192, checkpointing=Checkpointing("selective", op=names))
        eight = replace(TITAN, compiled=True, fp8=Fp8("current", "torchao"))
        found = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, eight)
        lines = stored_lines(found, spread, (1,), (1,))
        assert size([each for each in lines if each.tensor.name.endswith("magnitude")]) == kept

    @pytest.mark.parametrize("fp8", [None, Fp8("mxfp8", "torchao"), Fp8("current", "torchao", all_gather=True)])
    def test_other_products_have_no_magnitudes(self, fp8: Fp8 | None) -> None:
        kept = Checkpointing("selective", op=("mm", "abs"))
        spread = layout(LLAMA_3_8B, checkpointing=kept)
        found = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, replace(TITAN, fp8=fp8))
        assert not [each for each in found if each.tensor.name.endswith("magnitude")]


class TestBudget:
    @pytest.mark.parametrize("permille", [0, 250, 1000])
    def test_the_budget_is_a_share_of_what_no_checkpointing_stores(self, permille: int) -> None:
        budget = Checkpointing("selective", budget_permille=permille)
        assert size(stored(budget)) == 12 * (INPUT + WHOLE * permille // 1000)
        assert recomputed(budget) == WHOLE * (1000 - permille) // 1000


class TestOffload:
    def test_layer_inputs_leave_one_behind_on_its_way(self) -> None:
        """torchtune's activation offloading with checkpointing."""
        moved = Checkpointing("full", offload=("inputs",))
        spread = layout(LLAMA_3_8B, checkpointing=moved)
        assert size(stored(moved, (12,), (2,))) == INPUT
        host = offloaded_lines(rows(), spread, (12,), (2,))
        assert {each.tensor.name for each in host} == {"host.attention.input"}
        assert size(host) == 24 * INPUT

    def test_everything_of_some_layers(self) -> None:
        """Transformer Engine's layer offload: `--cpu-offloading-num-layers`."""
        moved = Checkpointing(offload=("all",), offload_layers=9)
        spread = layout(LLAMA_3_8B, checkpointing=moved)
        assert size(offloaded_lines(rows(), spread, (12,), (1,))) == 9 * WHOLE
        assert size(stored(moved)) == (3 + 1) * WHOLE

    def test_more_layers_than_there_are_is_all(self) -> None:
        moved = Checkpointing(offload=("all",), offload_layers=99)
        assert size(stored(moved)) == WHOLE

    def test_inputs_of_named_modules(self) -> None:
        """Megatron's fine-grained offload."""
        moved = Checkpointing(offload=("core_attn", "attn_proj"))
        spread = layout(LLAMA_3_8B, checkpointing=moved)
        saved = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, spread, recipe())
        names = {each.tensor.name for each in offloaded_lines(saved, spread, (4,), (1,))}
        assert names == {f"host.attention.{each}" for each in ("query", "key", "value", "output")}

    def test_nothing_is_moved_unless_asked(self) -> None:
        assert offloaded_lines(rows(), layout(LLAMA_3_8B), (12,), (1,)) == []

    def test_the_host_of_a_stage_holds_what_was_moved(self) -> None:
        moved = Checkpointing("full", offload=("inputs",))
        spread = layout(LLAMA_3_8B, checkpointing=moved, micro_batches=1)
        found = estimate(LLAMA_3_8B, spread, TITAN, A100)
        assert found.stages[0].host_bytes == found.host_bytes_per_node == 32 * INPUT

    def test_arrays_answer_as_single_layouts_do(self) -> None:
        moved = Checkpointing("full", offload=("inputs",))
        batches = np.array([1, 2, 4])
        saved = layer_tensors(LLAMA_3_8B.kinds[0], LLAMA_3_8B, layout(LLAMA_3_8B, micro_batch=batches), TITAN)
        many = total_bytes(stored_lines(saved, layout(LLAMA_3_8B, checkpointing=moved), (12,), (batches,)))
        assert list(np.asarray(many)) == [INPUT, 2 * INPUT, 4 * INPUT]
