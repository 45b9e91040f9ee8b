"""Bytes of weights, gradients and optimizer states under each framework (memory_model.md, section 2)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from service.calculator.estimate import estimate
from service.calculator.layout import Layout
from service.calculator.ledger import Category, Line, Moment, alive_at
from service.calculator.model import Model
from service.calculator.recipe import Adapters, Fp8, Optimizer, Recipe, Sharding
from service.calculator.stage import stage_of
from service.calculator.states import held_parameters, host_lines, state_lines
from tests.builders import H100, LLAMA_3_8B, gpt, layout, recipe

PARAMETERS = 8_030_261_248
EMBEDDING = 128256 * 4096
LAYER = 218_112_000
HEAD = EMBEDDING + 4096
RANKS = 8

IN_FULL_PRECISION = {"parameters": "fp32", "master": None, "gradients": "fp32", "moments": ("fp32", "fp32")}
IN_SIXTEEN_BITS = {"parameters": "bf16", "master": None, "gradients": "bf16", "moments": ("bf16", "bf16")}


def states(model: Model, spread: Layout, kept: Recipe) -> list[Line]:
    stage = stage_of(model, spread, 0)
    return state_lines(held_parameters(stage, model, spread, kept), stage, model, spread, kept)


def on_the_host(model: Model, spread: Layout, kept: Recipe) -> list[Line]:
    return host_lines(held_parameters(stage_of(model, spread, 0), model, spread, kept), spread, kept)


def lines(kept: Recipe, **changes: Any) -> list[Line]:
    spread = layout(LLAMA_3_8B, **({"data": RANKS, "micro_batches": 1} | changes))
    return states(LLAMA_3_8B, spread, kept)


def at(found: list[Line], moment: Moment, *, named: str = "", category: Category | None = None) -> int:
    """Bytes alive at a moment, of lines whose name starts as given."""
    return sum(
        int(line.bytes)
        for line in alive_at(found, moment)
        if line.tensor.name.startswith(named) and category in {None, line.tensor.category}
    )


def per_parameter(found: list[Line], moment: Moment) -> float:
    return at(found, moment) / PARAMETERS


class TestMegatron:
    """Flat buffers: 18 bytes a parameter, or 6 + 12/N."""

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            pytest.param({}, 2 + 4 + 12 / RANKS, id="distributed optimizer"),
            pytest.param({"gradients": "bf16"}, 2 + 2 + 12 / RANKS + 4 / RANKS, id="gradients reduced in bf16"),
            pytest.param({"master": "int16"}, 2 + 4 + (2 + 8) / RANKS, id="16-bit remainders as masters"),
            pytest.param({"moments": ("bf16", "fp8")}, 2 + 4 + (4 + 2 + 1) / RANKS, id="precision-aware moments"),
        ],
    )
    def test_bytes_per_parameter_at_the_step(self, changes: dict[str, Any], expected: float) -> None:
        found = lines(recipe(**changes), sharding_stage=1)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx(expected)

    def test_fewer_ranks_share_states_when_the_optimizer_has_instances(self) -> None:
        found = lines(recipe(), sharding_stage=1, shards=4)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx(2 + 4 + 12 / 4)

    def test_the_buffers_are_made_while_the_weights_are_still_outside(self) -> None:
        """8 bytes a parameter for a moment, above 6 + 12/N beyond six ranks."""
        assert per_parameter(lines(recipe(), sharding_stage=1), Moment.INITIALIZATION) == pytest.approx(8)
        assert per_parameter(lines(recipe()), Moment.INITIALIZATION) == pytest.approx(6)

    @pytest.mark.parametrize(
        ("scaling", "copies", "expected"),
        [("current", 2, 2.0), ("delayed", 1, 1.0), ("mxfp8", 2, 2 * 33 / 32)],
    )
    def test_eight_bit_copies_of_linear_weights(self, scaling: str, copies: int, expected: float) -> None:
        kept = recipe(fp8=Fp8(scaling, copies=copies))
        linear = 32 * (LAYER - 2 * 4096)
        plain = at(lines(recipe()), Moment.LOSS)
        assert at(lines(kept), Moment.LOSS) - plain == pytest.approx(expected * linear)

    def test_layers_at_the_ends_may_stay_in_sixteen_bits(self) -> None:
        ends = LLAMA_3_8B.with_16_bit_ends(1, 1)
        found = states(ends, layout(ends, data=RANKS), recipe(fp8=Fp8("current")))
        assert at(found, Moment.LOSS, named="weights.narrow") == 2 * 30 * (LAYER - 2 * 4096)

    def test_weights_of_eight_bits(self) -> None:
        """One byte and a transposed copy for linear weights; the master, gradients and moments stay."""
        found = lines(recipe(fp8=Fp8("current", parameters=True)), sharding_stage=1)
        linear = 32 * (LAYER - 2 * 4096)
        rest = PARAMETERS - linear
        assert at(found, Moment.LOSS, category=Category.WEIGHTS) == 2 * linear + 2 * rest

    def test_a_blackwell_gpu_needs_no_transposed_copy_of_a_weight_with_one_scale(self) -> None:
        blackwell = replace(H100, architecture="sm100")
        assert Fp8("current").on(blackwell).copies == 1
        assert Fp8("mxfp8").on(blackwell).copies == Fp8("current").on(H100).copies == 2

    def test_a_part_of_the_optimizer_moves_to_the_host(self) -> None:
        kept = recipe(optimizer=Optimizer(offload_percent=50))
        spread = layout(LLAMA_3_8B, data=RANKS, sharding_stage=1)
        on_device = states(LLAMA_3_8B, spread, kept)
        assert per_parameter(on_device, Moment.LOSS) == pytest.approx(6 + 6 / RANKS)
        on_host = on_the_host(LLAMA_3_8B, spread, kept)
        assert sum(int(line.bytes) for line in on_host) == pytest.approx(PARAMETERS * (12 + 4) / RANKS / 2)


class TestZero:
    """DeepSpeed's stages, 16-bit gradients unless said otherwise."""

    KEPT = recipe(framework="deepspeed", gradients="bf16", sharding=Sharding(reduce=1000, persistence=5000))

    def at_the_end(self, stage: int, **changes: Any) -> float:
        found = lines(replace(self.KEPT, **changes), sharding_stage=stage, micro_batches=2)
        states = [line for line in found if line.tensor.category is not Category.COMMUNICATION]
        arriving = at(states, Moment.OPTIMIZER_STEP, named="gradients.arriving")
        assert arriving == 0
        return (
            at([line for line in states if "arriving" not in line.tensor.name], Moment.EMBEDDING_BACKWARD) / PARAMETERS
        )

    def test_stage_1_keeps_whole_gradients(self) -> None:
        assert self.at_the_end(1) == pytest.approx(2 + 2 + 12 / RANKS)

    def test_stage_1_with_fp32_accumulation_keeps_an_fp32_buffer(self) -> None:
        """BF16_Optimizer."""
        assert self.at_the_end(1, gradients="fp32") == pytest.approx(2 + 4 + 12 / RANKS)

    @pytest.mark.parametrize(("gradients", "width"), [("bf16", 2), ("fp32", 4)])
    def test_stage_2_keeps_a_partition_of_the_gradients(self, gradients: str, width: int) -> None:
        assert self.at_the_end(2, gradients=gradients) == pytest.approx(2 + (width + 12) / RANKS)

    def test_stage_3_keeps_partitions_and_what_is_too_small_to_partition(self) -> None:
        found = lines(self.KEPT, sharding_stage=3)
        kept = [line for line in found if line.tensor.category is not Category.COMMUNICATION]
        resting = at([line for line in kept if Moment.OPTIMIZER_STEP in line.alive], Moment.LOSS)
        small = 2 * (2 * 32 + 1) * 4096
        assert resting == pytest.approx(PARAMETERS * 16 / RANKS + small, rel=1e-6)

    def test_the_step_flattens_and_casts_the_partitions_gradients(self) -> None:
        """(4 + G)P/N beside the gradients that it updates."""
        for stage in (1, 2):
            found = lines(self.KEPT, sharding_stage=stage)
            expected = 2 + 12 / RANKS + (2 + 2 + 4) / RANKS
            assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx(expected)

    @pytest.mark.parametrize(("implementation", "held"), [("fused", 8), ("foreach", 8), ("loop", 16)])
    def test_the_update_runs_when_only_its_fp32_gradients_are_left(self, implementation: str, held: int) -> None:
        found = lines(replace(self.KEPT, optimizer=Optimizer(implementation=implementation)), sharding_stage=2)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx(2 + (12 + held) / RANKS)

    def test_stage_3_casts_one_sub_group_at_a_time(self) -> None:
        spread = layout(LLAMA_3_8B, data=2, sharding_stage=3, micro_batches=1)
        found = states(LLAMA_3_8B, spread, self.KEPT)
        assert at(found, Moment.OPTIMIZER_STEP, named="gradients.in_fp32") == 4_000_000_000

    @pytest.mark.parametrize(("overlap", "buckets"), [(False, 1), (True, 2)])
    def test_buckets_exist_in_the_backward(self, overlap: bool, buckets: int) -> None:
        kept = replace(self.KEPT, sharding=Sharding(reduce=500_000_000, overlap=overlap))
        found = lines(kept, sharding_stage=2)
        assert at(found, Moment.LOSS, named="gradients.bucket") == 0
        assert at(found, Moment.FIRST_BACKWARD, named="gradients.bucket") == buckets * 1_000_000_000

    def test_the_bucket_of_stage_3_is_permanent(self) -> None:
        assert at(lines(self.KEPT, sharding_stage=3), Moment.LOSS, named="gradients.bucket") == 2 * 1000

    def test_the_cap_on_live_weights_is_no_allocation(self) -> None:
        """A small stage gathers what it has, whatever the cap."""
        kept = replace(self.KEPT, sharding=Sharding(live=1_000_000_000, prefetch=50_000_000))
        tiny = gpt(512, 4, 8, vocabulary=1024)
        found = states(tiny, layout(tiny, data=RANKS, sharding_stage=3), kept)
        assert at(found, Moment.LOSS, named="gathered") < 2 * 20_000_000

    def test_offload_takes_optimizer_and_gradients_off_the_gpu(self) -> None:
        kept = replace(self.KEPT, optimizer=Optimizer(offload_percent=100))
        spread = layout(LLAMA_3_8B, data=RANKS, sharding_stage=2, micro_batches=2)
        found = states(LLAMA_3_8B, spread, kept)
        resting = at(found, Moment.OPTIMIZER_STEP)
        assert resting == 2 * PARAMETERS + 2 * EMBEDDING
        held = {line.tensor.name: int(line.bytes) for line in on_the_host(LLAMA_3_8B, spread, kept)}
        assert held.pop("host.largest_gradient") == 2 * 128_256 * 4096
        assert sum(held.values()) == pytest.approx(PARAMETERS * (4 + 8 + 4 + 2 + 2) / RANKS)

    def test_building_never_needs_a_second_copy_of_the_weights(self) -> None:
        """stage_1_and_2.py flattens on the host where the GPU has no room for two copies (flatten_on_accelerator)."""
        found = states(LLAMA_3_8B, layout(LLAMA_3_8B, data=RANKS, sharding_stage=2), self.KEPT)
        assert at(found, Moment.INITIALIZATION, category=Category.WEIGHTS) == 2 * PARAMETERS

    def test_one_micro_batch_sums_no_gradients_on_the_host(self) -> None:
        """stage_1_and_2.py: earlier micro-batches' gradients are kept in 16 bits; stage 3 has its flat buffer."""
        kept = replace(self.KEPT, optimizer=Optimizer(offload_percent=100))

        def summed(**changes: int) -> int:
            spread = layout(LLAMA_3_8B, data=RANKS, **changes)
            found = on_the_host(LLAMA_3_8B, spread, kept)
            return sum(int(line.bytes) for line in found if line.tensor.name == "host.accumulated")

        assert summed(sharding_stage=2, micro_batches=1) == summed(sharding_stage=3) == 0
        assert summed(sharding_stage=2, micro_batches=2) == pytest.approx(2 * PARAMETERS / RANKS)

    def test_weights_too_move_to_the_host(self) -> None:
        kept = replace(self.KEPT, optimizer=Optimizer(offload_percent=100, parameters_on_host=True))
        spread = layout(LLAMA_3_8B, data=RANKS, sharding_stage=3, micro_batches=2)
        on_host = sum(int(line.bytes) for line in on_the_host(LLAMA_3_8B, spread, kept))
        assert on_host == pytest.approx(PARAMETERS * (4 + 8 + 4 + 2 + 2) / RANKS)

    def test_sixteen_bit_training_without_sharding_casts_every_gradient_at_the_step(self) -> None:
        """FP16_Optimizer: 2 + 2 + 12, then a cast and a flat copy of every gradient."""
        kept = replace(self.KEPT, compute="fp16", parameters="fp16", gradients="fp16")
        assert per_parameter(lines(kept), Moment.OPTIMIZER_STEP) == pytest.approx(2 + 12 + 2 + 4 + 4)


class TestFullySharded:
    """FSDP2 as torchtitan uses it: fp32 shards, bf16 units, fp32 reductions."""

    KEPT = recipe(framework="fsdp2", **IN_FULL_PRECISION)

    def test_states_rest_sharded(self) -> None:
        found = lines(self.KEPT, sharding_stage=3)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx(16 / RANKS, rel=1e-3)

    def test_replicas_of_a_sharding_group_add_nothing(self) -> None:
        found = lines(self.KEPT, sharding_stage=3, data=2 * RANKS, shards=RANKS)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx(16 / RANKS, rel=1e-3)

    def test_the_forward_holds_a_layer_twice(self) -> None:
        """Its weights, and the flat buffer until the next copy-out: 4 P_u."""
        found = lines(self.KEPT, sharding_stage=3)
        units = [line for line in found if line.tensor.name.startswith(("gathered", "all_gather"))]
        assert at(units, Moment.WARMUP_FORWARD) == 4 * LAYER

    @pytest.mark.parametrize(("reduce", "expected"), [("fp32", 10), ("bf16", 8)])
    def test_the_backward_of_a_layer_holds_ten_bytes_a_parameter_of_a_unit(self, reduce: str, expected: int) -> None:
        """Weights, the unit before, gradients, and the reduction of the unit after (measured with FSDPMemTracker)."""
        tiny = replace(LLAMA_3_8B, vocab_size=64)
        spread = layout(tiny, data=RANKS, sharding_stage=3, micro_batches=1)
        found = states(tiny, spread, replace(self.KEPT, reduce=reduce))
        units = [
            line for line in found if line.tensor.name.startswith(("gathered", "all_gather", "gradient.", "reduce"))
        ]
        assert at(units, Moment.RECOMPUTE) == expected * LAYER

    def test_the_head_stays_gathered_until_its_backward(self) -> None:
        found = lines(self.KEPT, sharding_stage=3)
        assert at(found, Moment.FIRST_BACKWARD, named="gathered") == 2 * HEAD
        assert at(found, Moment.LAYER_BACKWARD, named="reduce_scatter") == 4 * HEAD

    def test_always_resharding_frees_the_head_too(self) -> None:
        kept = replace(self.KEPT, sharding=Sharding(reshard="always"))
        assert at(lines(kept, sharding_stage=3), Moment.FIRST_BACKWARD, named="gathered") == 0

    def test_never_resharding_keeps_every_unit(self) -> None:
        kept = replace(self.KEPT, sharding=Sharding(reshard="never"))
        assert at(lines(kept, sharding_stage=3), Moment.FIRST_BACKWARD, named="gathered") == 2 * PARAMETERS

    def test_a_pipeline_keeps_weights_and_whole_gradients(self) -> None:
        """Like ZeRO-1: 2 + 4 bytes a parameter beside the shards."""
        spread = layout(LLAMA_3_8B, data=RANKS, sharding_stage=3, pipeline=2, micro_batches=4)
        found = states(LLAMA_3_8B, spread, self.KEPT)
        stage = EMBEDDING + 16 * LAYER
        assert at(found, Moment.FIRST_BACKWARD, named="gathered") == 2 * stage
        assert at(found, Moment.FIRST_BACKWARD, named="gradients.unsharded") == 4 * stage

    def test_without_synchronisation_whole_gradients_wait(self) -> None:
        kept = replace(self.KEPT, sharding=Sharding(no_sync=True))
        found = lines(kept, sharding_stage=3, micro_batches=4)
        assert at(found, Moment.LOSS, category=Category.GRADIENTS) == 4 * PARAMETERS

    def test_waiting_gradients_give_way_to_their_shards(self) -> None:
        kept = replace(self.KEPT, sharding=Sharding(no_sync=True))
        found = [line for line in lines(kept, sharding_stage=3, micro_batches=4) if "gradients." in line.tensor.name]
        assert at(found, Moment.LAST_BACKWARD) == 4 * PARAMETERS
        assert at(found, Moment.OPTIMIZER_STEP) == pytest.approx(4 * PARAMETERS / RANKS, rel=1e-3)

    def test_wider_copies_of_sixteen_bit_shards_need_gradients_as_wide(self) -> None:
        kept = replace(self.KEPT, parameters="bf16", gradients="bf16", master="fp32")
        found = lines(kept, sharding_stage=3)
        assert per_parameter(found, Moment.LOSS) - per_parameter(
            lines(replace(kept, master=None), sharding_stage=3), Moment.LOSS
        ) == pytest.approx(4 / RANKS, rel=1e-3)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == pytest.approx((2 + 2 + 4 + 8 + 4) / RANKS, rel=1e-3)

    def test_gradients_of_one_micro_batch_appear_in_the_backward(self) -> None:
        one, four = (lines(self.KEPT, sharding_stage=3, micro_batches=m) for m in (1, 4))
        assert at(one, Moment.LOSS, category=Category.GRADIENTS) == 0
        assert at(four, Moment.LOSS, category=Category.GRADIENTS) == pytest.approx(4 * PARAMETERS / RANKS, rel=1e-3)

    def test_offload_leaves_only_gathered_units(self) -> None:
        kept = replace(self.KEPT, optimizer=Optimizer(parameters_on_host=True))
        spread = layout(LLAMA_3_8B, data=RANKS, sharding_stage=3, micro_batches=1)
        assert at(states(LLAMA_3_8B, spread, kept), Moment.OPTIMIZER_STEP) == 0
        on_host = sum(int(line.bytes) for line in on_the_host(LLAMA_3_8B, spread, kept))
        assert on_host == pytest.approx(PARAMETERS * 16 / RANKS, rel=1e-3)

    def test_the_root_of_fsdp1_holds_embedding_and_head_throughout(self) -> None:
        found = lines(recipe(framework="fsdp1", **IN_FULL_PRECISION), sharding_stage=3)
        for moment in (Moment.WARMUP_FORWARD, Moment.FIRST_BACKWARD, Moment.LAST_BACKWARD):
            assert at(found, moment, named="gathered.root") == 2 * (EMBEDDING + HEAD)

    @pytest.mark.parametrize("apart", [True, False])
    def test_adapters_in_a_flat_parameter_need_gradients_of_all_of_it(self, *, apart: bool) -> None:
        """A 7B on two GPUs with LitGPT peaks at 20.7 GiB, of which these are 12.5 (its resource-tables.md)."""
        adapters = Adapters(rank=16, modules=("q", "v"), dtype="bf16")
        elements = 32 * 16 * ((4096 + 4096) + (4096 + 1024))
        kept = recipe(
            framework="fsdp1",
            adapters=adapters,
            sharding=Sharding(no_sync=True, adapters_apart=apart),
            **IN_SIXTEEN_BITS,
        )
        found = lines(kept, sharding_stage=3, micro_batches=4)
        expected = elements if apart else 32 * LAYER + elements
        assert at(found, Moment.LOSS, named="gradients.unsharded") == 2 * expected

    def test_eight_bit_gathers_halve_the_gathered_layers(self) -> None:
        """The head is no 8-bit product: torchtitan leaves it out."""
        found = lines(replace(self.KEPT, fp8=Fp8("current", all_gather=True)), sharding_stage=3)
        assert at(found, Moment.FIRST_BACKWARD, named="gathered") == 2 * HEAD
        assert at(found, Moment.LAYER_BACKWARD, named="gathered.layer") == LAYER


class TestReplicas:
    """DDP, the HF Trainer, and one GPU."""

    @pytest.mark.parametrize(
        ("types", "expected"),
        [
            pytest.param(IN_FULL_PRECISION, 4 + 4 + 8, id="fp32"),
            pytest.param(IN_SIXTEEN_BITS, 2 + 2 + 4, id="moments follow bf16 weights"),
        ],
    )
    def test_one_gpu(self, types: dict[str, Any], expected: int) -> None:
        found = lines(recipe(framework="ddp", **types), data=1)
        assert per_parameter(found, Moment.OPTIMIZER_STEP) == expected

    @pytest.mark.parametrize(("viewed", "width"), [(False, 8), (True, 4)])
    def test_buckets_are_a_second_copy_unless_gradients_are_views(self, viewed: bool, width: int) -> None:
        kept = recipe(framework="ddp", sharding=Sharding(bucket_view=viewed), **IN_FULL_PRECISION)
        found = lines(kept)
        buckets = at(found, Moment.OPTIMIZER_STEP, named="gradients")
        assert buckets == width * PARAMETERS
        assert at(found, Moment.LOSS, named="gradients") == 4 * PARAMETERS

    def test_gradients_grow_from_the_head_on(self) -> None:
        found = lines(recipe(framework="ddp", **IN_SIXTEEN_BITS), data=1)
        assert at(found, Moment.FIRST_BACKWARD, named="gradients") == 0
        assert at(found, Moment.HEAD_BACKWARD, named="gradients") == 2 * HEAD
        assert at(found, Moment.LAYER_BACKWARD, named="gradients") == 2 * (HEAD + LAYER)
        assert at(found, Moment.LAST_BACKWARD, named="gradients") == 2 * (PARAMETERS - EMBEDDING)
        assert at(found, Moment.EMBEDDING_BACKWARD, named="gradients") == 2 * PARAMETERS

    def test_an_optimizer_inside_the_backward_keeps_one_gradient(self) -> None:
        kept = recipe(framework="ddp", optimizer=Optimizer(in_backward=True), **IN_SIXTEEN_BITS)
        found = lines(kept, data=1)
        assert at(found, Moment.EMBEDDING_BACKWARD, named="gradients") == 2 * EMBEDDING
        (stage,) = estimate(LLAMA_3_8B, layout(LLAMA_3_8B), kept, H100).stages
        assert Moment.OPTIMIZER_STEP not in stage.moments


class TestOptimizers:
    """States of one replica in fp32, and what the step needs beside them (measured: memory_model.md 2.5)."""

    @staticmethod
    def of(**changes: Any) -> list[Line]:
        optimizer = Optimizer(**changes)
        found = lines(recipe(framework="ddp", optimizer=optimizer, **IN_FULL_PRECISION), data=1)
        return [line for line in found if line.tensor.category is Category.OPTIMIZER]

    @pytest.mark.parametrize(
        ("changes", "states"),
        [
            pytest.param({}, 8, id="adam"),
            pytest.param({"name": "sgd"}, 0, id="sgd"),
            pytest.param({"name": "sgd", "momentum": True}, 4, id="sgd with momentum"),
            pytest.param({"name": "lion"}, 4, id="lion"),
            pytest.param({"name": "none"}, 0, id="none"),
        ],
    )
    def test_state_bytes_per_parameter(self, changes: dict[str, Any], states: int) -> None:
        assert per_parameter(self.of(**changes), Moment.LOSS) == states

    def test_eight_bit_adam_needs_two_bytes_and_a_scale_for_each_block(self) -> None:
        assert per_parameter(self.of(name="adamw8bit"), Moment.LOSS) == pytest.approx(2 + 2 * 4 / 256, rel=1e-4)

    def test_eight_bit_adam_keeps_small_tensors_in_full_precision(self) -> None:
        tiny = gpt(512, 1, 8, vocabulary=1024)
        kept = recipe(framework="ddp", optimizer=Optimizer(name="adamw8bit"), **IN_FULL_PRECISION)
        found = states(tiny, layout(tiny), kept)
        (small,) = [line for line in found if line.tensor.name == "optimizer.moments_of_small_tensors"]
        vectors = 2 * 512 * 3 + 512 * 3 + 512 + 4 * 512 + 512
        assert small.bytes == 2 * 4 * vectors

    def test_adafactor_keeps_rows_and_columns(self) -> None:
        a_layer = (4096 + 6144) + (4096 + 4096) + (4096 + 28672) + (14336 + 4096) + 2 * 4096
        ends = 2 * (128256 + 4096) + 4096
        assert at(self.of(name="adafactor"), Moment.LOSS) == 4 * (32 * a_layer + ends)

    def test_muon_keeps_one_momentum_for_matrices_of_layers(self) -> None:
        matrices = 32 * (LAYER - 2 * 4096)
        expected = 4 * matrices + 8 * (PARAMETERS - matrices)
        assert at(self.of(name="muon"), Moment.LOSS) == expected

    @pytest.mark.parametrize(
        ("implementation", "elements"), [("fused", 0), ("foreach", PARAMETERS), ("loop", 3 * EMBEDDING)]
    )
    def test_memory_of_adams_step(self, implementation: str, elements: int) -> None:
        found = self.of(implementation=implementation)
        assert at(found, Moment.OPTIMIZER_STEP) - at(found, Moment.LOSS) == 4 * elements

    def test_the_first_iteration_runs_without_states(self) -> None:
        kept = recipe(framework="ddp", **IN_SIXTEEN_BITS)
        (stage,) = estimate(LLAMA_3_8B, layout(LLAMA_3_8B, micro_batches=1), kept, H100).stages
        later = max(stage.moments[each] for each in stage.moments if each is not Moment.OPTIMIZER_STEP)
        assert later - stage.moments[Moment.FIRST_ITERATION] == pytest.approx(4 * PARAMETERS, rel=1e-6)


class TestAdapters:
    """LoRA and QLoRA: frozen weights without gradient or state."""

    @staticmethod
    def of(**changes: Any) -> list[Line]:
        adapters = replace(Adapters(rank=16, modules=("q", "v"), dtype="bf16"), **changes)
        return lines(recipe(framework="hf-trainer", adapters=adapters, **IN_SIXTEEN_BITS), data=1)

    def test_an_adapter_has_two_factors_with_gradients_and_moments(self) -> None:
        elements = 32 * 16 * ((4096 + 4096) + (4096 + 1024))
        assert at(self.of(), Moment.OPTIMIZER_STEP) == 2 * PARAMETERS + elements * (2 + 2 + 4)

    def test_adapters_fit_on_every_linear_module_and_the_ends(self) -> None:
        everything = ("q", "k", "v", "o", "gate", "up", "down", "embedding", "head")
        layer = (8192 + 5120 + 5120 + 8192) + 3 * (4096 + 14336)
        elements = 16 * (32 * layer + 2 * (128256 + 4096))
        found = at(self.of(modules=everything), Moment.OPTIMIZER_STEP)
        assert found == 2 * PARAMETERS + elements * (2 + 2 + 4)

    @pytest.mark.parametrize(
        ("kind", "width"),
        [("nf4", 0.5 + 4 / 64), ("nf4_double", 0.5 + 1 / 64 + 4 / 64 / 256), ("int8", 1.0)],
    )
    def test_quantised_weights(self, kind: str, width: float) -> None:
        linear = 32 * (LAYER - 2 * 4096)
        rest = PARAMETERS - linear
        found = [line for line in self.of(quantization=kind) if "adapter" not in line.tensor.name]
        weights = at(found, Moment.OPTIMIZER_STEP, category=Category.WEIGHTS)
        assert weights == pytest.approx(width * linear + 2 * rest, rel=2e-3)

    def test_one_quantised_weight_at_a_time_is_whole(self) -> None:
        assert at(self.of(quantization="nf4"), Moment.LOSS, named="weights.dequantised") == 2 * 2 * 14336 * 4096

    def test_modules_trained_in_full_have_gradients_and_moments(self) -> None:
        plain, trained = self.of(), self.of(trained=("embedding", "head"))
        added = at(trained, Moment.OPTIMIZER_STEP) - at(plain, Moment.OPTIMIZER_STEP)
        assert added == 2 * EMBEDDING * (2 + 4)


ALL = [
    pytest.param(recipe(gradients="bf16"), 1, id="megatron"),
    *(
        pytest.param(
            recipe(framework="deepspeed", gradients="bf16", sharding=Sharding(500, 500, 500, 500)),
            stage,
            id=f"zero {stage}",
        )
        for stage in range(4)
    ),
    pytest.param(recipe(framework="fsdp2", **IN_FULL_PRECISION), 3, id="fsdp2"),
    pytest.param(recipe(framework="fsdp1", **IN_FULL_PRECISION), 3, id="fsdp1"),
    pytest.param(recipe(framework="ddp", optimizer=Optimizer("adamw8bit"), **IN_SIXTEEN_BITS), 0, id="ddp"),
]


@pytest.mark.parametrize(("kept", "stage"), ALL)
def test_an_array_of_layouts_has_the_lines_of_each(kept: Recipe, stage: int) -> None:
    data, tensor, micro = np.array([1, 2, 6, 8]), np.array([1, 2, 4, 8]), np.array([1, 2, 1, 4])
    shards = data if stage else np.ones(4, dtype=np.int64)
    many = layout(LLAMA_3_8B, data=data, tensor=tensor, micro_batches=micro, sharding_stage=stage, shards=shards)
    together = states(LLAMA_3_8B, many, kept)
    for index in range(4):
        one = layout(
            LLAMA_3_8B,
            data=int(data[index]),
            tensor=int(tensor[index]),
            micro_batches=int(micro[index]),
            sharding_stage=stage,
            shards=int(shards[index]),
        )
        for moment in (Moment.INITIALIZATION, Moment.LOSS, Moment.LAYER_BACKWARD, Moment.OPTIMIZER_STEP):
            alone = at(states(LLAMA_3_8B, one, kept), moment)
            assert sum(np.broadcast_to(line.bytes, 4)[index] for line in alive_at(together, moment)) == alone


def test_the_stages_of_zero_can_be_searched_together() -> None:
    kept = recipe(framework="deepspeed", gradients="bf16", sharding=Sharding(500, 500, 500, 500))
    stages = np.arange(4)
    many = replace(layout(LLAMA_3_8B, data=8), sharding_stage=stages, shards=np.where(stages > 0, 8, 1))
    for stage in range(4):
        alone = lines(kept, sharding_stage=stage, micro_batches=8)
        for moment in (Moment.LOSS, Moment.FIRST_BACKWARD, Moment.OPTIMIZER_STEP):
            together = alive_at(states(LLAMA_3_8B, many, kept), moment)
            assert sum(np.broadcast_to(line.bytes, 4)[stage] for line in together) == at(alone, moment)


def test_a_nodes_host_memory_holds_its_ranks_offloaded_states() -> None:
    kept = recipe(optimizer=Optimizer(offload_percent=100))
    spread = layout(LLAMA_3_8B, data=16, pipeline=2, sharding_stage=1)
    found = estimate(LLAMA_3_8B, spread, kept, H100)
    assert found.host_bytes_per_node == 8 * max(stage.host_bytes for stage in found.stages)
    small = estimate(LLAMA_3_8B, layout(LLAMA_3_8B, data=2, pipeline=2, sharding_stage=1), kept, H100)
    assert small.host_bytes_per_node == 2 * sum(stage.host_bytes for stage in small.stages)


def test_torchs_pipeline_receives_into_a_buffer_for_every_micro_batch() -> None:
    """2·m boundary tensors for each chunk, but for the model's ends; and the outputs of those in flight."""
    kept = recipe(framework="fsdp2", **IN_FULL_PRECISION)
    spread = layout(LLAMA_3_8B, data=2, sharding_stage=3, pipeline=4, virtual=2, micro_batches=8)
    boundary = 2 * 2048 * 4096
    for stage, received in zip(estimate(LLAMA_3_8B, spread, kept, H100).stages, (3, 4, 4, 3), strict=True):
        buffers = [line.bytes for line in stage.lines if line.tensor.name == "pipeline.received"]
        outputs = [line.bytes for line in stage.lines if line.tensor.name == "pipeline.output"]
        assert buffers == [received * 8 * boundary]
        assert outputs == [stage.in_flight_microbatches * 2 * boundary]
