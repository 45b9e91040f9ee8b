"""The ledger and the peak: sums to the byte, moments, and how layouts change them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.estimate import Estimate, StageEstimate, estimate, peak_device_bytes
from service.calculator.layout import Checkpointing, Layout
from service.calculator.ledger import LOADING, Category, Moment, Scope, alive_at
from service.calculator.ledgers import Ledgers
from service.calculator.placement import Split
from service.calculator.recipe import Recipe
from service.calculator.units import GIB
from tests.builders import A100, H100, LLAMA_3_8B, gpt, layout, recipe

TENSORS_OF_A_STEP = {
    Category.WEIGHTS,
    Category.GRADIENTS,
    Category.OPTIMIZER,
    Category.ACTIVATIONS,
    Category.LOGITS,
}


def run(kept: Recipe | None = None, **changes: Any) -> Estimate:
    return estimate(LLAMA_3_8B, layout(LLAMA_3_8B, **changes), kept or recipe(), H100)


def category_bytes(stage: StageEstimate, category: Category) -> int:
    return sum(int(line.bytes) for line in stage.ledger if line.tensor.category is category)


def test_llama_3_8b_on_one_gpu() -> None:
    """s 8192, b 1, bf16 with fp32 gradients and Adam, unsharded, flash: three op-level tools agree on 174.67 GiB."""
    stage = run(sequence_length=8192, micro_batches=1).stages[0]
    step = sum(category_bytes(stage, category) for category in TENSORS_OF_A_STEP)
    assert step / GIB == pytest.approx(174.67, abs=0.05)


@pytest.mark.parametrize(
    ("kept", "per_parameter"),
    [
        pytest.param(recipe(), 18, id="bf16, fp32 gradients: 2 + 4 + 4 + 8"),
        pytest.param(
            recipe(compute="fp16", parameters="fp16", gradients="fp16"), 20, id="fp16: 2 + 2 + 4 + 8 + 4 copy"
        ),
        pytest.param(recipe(compute="fp32", parameters="fp32", master=None), 16, id="fp32: 4 + 4 + 8"),
        pytest.param(recipe(gradients="bf16"), 20, id="bf16 gradients: 2 + 2 + 4 + 8 + 4 copy"),
    ],
)
def test_state_bytes_per_parameter(kept: Recipe, per_parameter: int) -> None:
    """memory_model.md 2.1, at the step; the fp32 copies of 16-bit gradients are gone before the next forward."""
    states = {Category.WEIGHTS, Category.GRADIENTS, Category.OPTIMIZER}
    lines = alive_at(run(kept).stages[0].lines, Moment.OPTIMIZER_STEP)
    found = sum(int(line.bytes) for line in lines if line.tensor.category in states)
    assert found == per_parameter * 8_030_261_248


def test_the_distributed_optimizer_shards_states_over_data_and_context_with_padding() -> None:
    """P(6 + 12/N), N = D·c, the buffer padded to a multiple of lcm(N, 128)."""
    stage = run(sharding_stage=1, data=4, context=2).stages[0]
    buffer = 8_030_261_248
    assert buffer % 128 == 0
    assert category_bytes(stage, Category.OPTIMIZER) == 12 * buffer // 8


def test_the_padding_reaches_the_least_common_multiple() -> None:
    stage = run(sharding_stage=1, data=3).stages[0]
    lengths = {line.tensor.name: line.tensor.shape[0] for line in stage.ledger}
    assert lengths["gradients.buffer"] == -(-8_030_261_248 // 384) * 384
    assert lengths["optimizer.master"] * 3 == lengths["gradients.buffer"]


def test_the_worst_stage_may_be_the_last() -> None:
    """Full recomputation, V > (p-1)(L/p)·h/3: Llama-3's vocabulary peaks on the last stage (memory_model.md 9)."""
    found = run(pipeline=4, checkpointing=Checkpointing("full", "uniform", 1), sequence_length=8192)
    assert found.peak.stage == 3
    assert found.peak.moment is Moment.LOSS


def test_without_recomputation_the_first_stage_is_the_worst() -> None:
    assert run(pipeline=4).peak.stage == 0


def test_interleaving_raises_the_first_stage() -> None:
    """From p to p + (p-1)/v micro-batches in flight."""
    plain, interleaved = run(pipeline=4).stages[0], run(pipeline=4, virtual=2).stages[0]
    assert (plain.in_flight_microbatches, interleaved.in_flight_microbatches) == (4.0, 5.5)
    assert interleaved.device_bytes > plain.device_bytes


def test_gpipe_holds_the_logits_of_every_micro_batch() -> None:
    one = category_bytes(run(pipeline=2, schedule="gpipe", micro_batches=1).stages[1], Category.LOGITS)
    eight = category_bytes(run(pipeline=2, schedule="gpipe", micro_batches=8).stages[1], Category.LOGITS)
    assert eight - one == 7 * 4 * 2048 * 128256


def test_pipeline_outputs_are_kept_when_they_are_not_deallocated() -> None:
    freed, kept = run(pipeline=4).stages[1], run(recipe(deallocate_pipeline_outputs=False), pipeline=4).stages[1]
    assert kept.allocated_bytes - freed.allocated_bytes == 3 * 2 * 2048 * 4096


def test_unfused_weight_gradients_add_the_largest_weight() -> None:
    fused = run(pipeline=4).stages[0]
    unfused = run(recipe(gradient_accumulation_fusion=False), pipeline=4).stages[0]
    stand_ins = sum(line.bytes for line in fused.ledger if line.tensor.name == "gradients.stand_in")
    assert unfused.allocated_bytes - (fused.allocated_bytes - stand_ins) == 2 * 2 * 14336 * 4096


def test_fused_weight_gradients_leave_one_stand_in_of_each_shape() -> None:
    """Transformer Engine hands autograd an empty tensor of every weight's shape and keeps it."""
    last = run(pipeline=4).stages[-1]
    shapes = [line.tensor.shape for line in last.ledger if line.tensor.name == "gradients.stand_in"]
    assert shapes == [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (128256, 4096)]


def test_automatic_attention_depends_on_the_gpu() -> None:
    kept, spread = recipe(attention="auto"), layout(LLAMA_3_8B, micro_batch=2)
    names = {
        gpu.name: {line.tensor.name for line in Ledgers(LLAMA_3_8B, spread, kept, gpu).of(0).lines}
        for gpu in (A100, H100)
    }
    assert names["a100-sxm-80gb"] - names["h100-sxm-80gb"] == {"attention.output_copy"}


def test_local_layers_store_their_scores() -> None:
    kept = recipe(attention="auto", transformer_impl="local")
    lines = Ledgers(LLAMA_3_8B, layout(LLAMA_3_8B), kept, A100).of(0).lines
    assert "attention.probabilities" in {line.tensor.name for line in lines}


def test_overheads_are_lines_and_say_that_they_are_modelled() -> None:
    modelled = [line for line in run(pipeline=2).stages[0].ledger if line.modelled]
    found = {line.tensor.category for line in modelled}
    assert found == {Category.WORKSPACE, Category.ALLOCATOR, Category.CONTEXT, Category.COMMUNICATION}
    assert all(line.tensor.source.startswith("modelled: ") for line in modelled)


DEGREES = st.sampled_from([1, 2, 4, 8])


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    tensor, pipeline = draw(DEGREES), draw(st.sampled_from([1, 2, 4]))
    virtual = draw(st.sampled_from([1, 2])) if pipeline > 1 else 1
    granularity = draw(st.sampled_from(["none", "selective", "uniform", "block"]))
    number = draw(st.integers(1, 8))
    checkpointing = {
        "none": Checkpointing(),
        "selective": Checkpointing("selective", modules=("core_attn", "mlp")),
        "uniform": Checkpointing("full", "uniform", number),
        "block": Checkpointing("full", "block", number),
    }[granularity]
    return layout(
        LLAMA_3_8B,
        tensor=tensor,
        sequence_parallel=draw(st.integers(0, 1)) if tensor > 1 else 0,
        context=draw(st.sampled_from([1, 2, 4])),
        data=draw(st.integers(1, 16)),
        pipeline=pipeline,
        virtual=virtual,
        micro_batch=draw(st.integers(1, 4)),
        micro_batches=pipeline * draw(st.integers(1, 8)),
        sharding_stage=draw(st.integers(0, 1)),
        checkpointing=checkpointing,
    )


RECIPES = st.sampled_from(
    [recipe(), recipe(attention="unfused", attention_dropout=0.1, hidden_dropout=0.1), recipe(attention="flash")]
)


@settings(max_examples=60, deadline=None)
@given(layouts(), RECIPES)
def test_totals_are_the_sum_of_their_parts(spread: Layout, kept: Recipe) -> None:
    for stage in estimate(LLAMA_3_8B, spread, kept, H100).stages:
        by_category = sum(category_bytes(stage, category) for category in Category)
        in_a_step = [total for moment, total in stage.moments.items() if moment not in LOADING]
        assert by_category == stage.device_bytes == max(in_a_step)
        for moment, total in stage.moments.items():
            if moment is Moment.FIRST_ITERATION:
                continue  # the worst pass of the others, without the lines that the first step makes
            assert total == sum(int(line.bytes) for line in alive_at(stage.lines, moment))
        scopes = {scope: sum(int(x.bytes) for x in stage.ledger if x.scope is scope) for scope in Scope}
        assert stage.allocated_bytes == scopes[Scope.ALLOCATED]
        assert stage.reserved_bytes == scopes[Scope.ALLOCATED] + scopes[Scope.RESERVED]
        assert all(int(line.bytes) >= 0 for line in stage.lines)


@settings(max_examples=40, deadline=None)
@given(layouts(), RECIPES)
def test_an_array_of_layouts_has_the_bytes_of_each(spread: Layout, kept: Recipe) -> None:
    fields = ("tensor", "sequence_parallel", "context", "data", "micro_batch", "micro_batches", "shards")
    columns = {field: np.array([getattr(spread, field)] * 3, dtype=np.int64) for field in fields}
    columns["micro_batch"] = columns["micro_batch"] * np.array([1, 2, 3])
    found = peak_device_bytes(LLAMA_3_8B, replace(spread, **columns), kept, H100)
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.int64
    for index in range(3):
        one = replace(spread, micro_batch=int(columns["micro_batch"][index]))
        assert estimate(LLAMA_3_8B, one, kept, H100).peak.device_bytes == found[index]


@settings(max_examples=40, deadline=None)
@given(layouts(), RECIPES)
def test_more_recomputation_never_needs_more_memory(spread: Layout, kept: Recipe) -> None:
    """full ≤ selective ≤ none, at one layer a segment."""

    def peak(checkpointing: Checkpointing) -> int:
        return estimate(LLAMA_3_8B, replace(spread, checkpointing=checkpointing), kept, H100).peak.device_bytes

    none = peak(Checkpointing())
    selective = peak(Checkpointing("selective", modules=("mlp",)))
    full = peak(Checkpointing("full", "uniform", 1))
    assert full <= selective <= none


@settings(max_examples=40, deadline=None)
@given(layouts(), st.sampled_from([2, 4]))
def test_context_parallelism_divides_activations(spread: Layout, context: int) -> None:
    kept = recipe(transformer_impl="local")
    whole, split = _saved(replace(spread, context=1), kept), _saved(replace(spread, context=context), kept)
    assert split == [each // context for each in whole]


def _saved(spread: Layout, kept: Recipe) -> list[int]:
    return [
        sum(
            int(line.bytes)
            for line in stage.lines
            if line.tensor.category is Category.ACTIVATIONS and "context" in line.tensor.sharded_by
        )
        for stage in estimate(LLAMA_3_8B, spread, kept, H100).stages
    ]


@settings(max_examples=40, deadline=None)
@given(layouts(), st.integers(2, 8))
def test_accumulation_and_data_parallelism_leave_activations_unchanged(spread: Layout, factor: int) -> None:
    enough = replace(spread, micro_batches=spread.pipeline * spread.virtual * 4)
    more = replace(enough, micro_batches=enough.micro_batches * factor, data=enough.data * factor)
    assert _saved(enough, recipe()) == _saved(more, recipe())


@settings(max_examples=40, deadline=None)
@given(layouts())
def test_pipeline_parallelism_shards_states(spread: Layout) -> None:
    found = estimate(LLAMA_3_8B, spread, recipe(), H100).stages
    whole = estimate(LLAMA_3_8B, layout(LLAMA_3_8B, tensor=spread.tensor), recipe(), H100).stages[0]
    assert sum(stage.parameters for stage in found) == whole.parameters


def test_a_huge_job_stays_exact() -> None:
    """Python ints and int64 arrays agree far beyond float precision."""
    giant = gpt(65536, 200, 512, vocabulary=1_000_000)
    spread = layout(giant, micro_batch=8192, sequence_length=8192, micro_batches=64, pipeline=2)
    column = replace(spread, micro_batch=np.array([8192], dtype=np.int64))
    one = estimate(giant, spread, recipe(), H100).peak.device_bytes
    assert one > 2**53
    assert peak_device_bytes(giant, column, recipe(), H100)[0] == one


def test_local_attention_keeps_one_buffer_for_its_scores() -> None:
    """b·a/t·s² elements, resident: Megatron-LM CI, local layers."""
    kept = recipe(attention="unfused", transformer_impl="local")
    stage = run(kept, micro_batch=4, tensor=2, sequence_length=1024).stages[0]
    buffers = [line.bytes for line in stage.ledger if line.tensor.name == "megatron.global_buffer"]
    assert buffers == [2 * 4 * 16 * 1024 * 1024]


def test_unequal_chunks_peak_when_the_larger_one_has_a_micro_batch_more() -> None:
    """On rank 0 of 4 with 2 chunks the mix in flight rotates between (7, 4) and (8, 3)."""
    split = Split(layers=(7, 1, 4, 4, 4, 4, 4, 4))
    spread = layout(LLAMA_3_8B, split, pipeline=4, virtual=2, micro_batches=16)
    stage = estimate(LLAMA_3_8B, spread, recipe(), H100).stages[0]
    inputs = [line.count for line in stage.ledger if line.tensor.name == "attention.input"]
    assert inputs == [8 * 7 + 3 * 1]
