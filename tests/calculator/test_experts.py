"""Mixtures of experts: what a layer saves, how routing spreads it, and what it holds on the way."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator import limits
from service.calculator.activations.layer import layer_tensors
from service.calculator.checkpointing import stored_lines
from service.calculator.estimate import estimate, peak_device_bytes
from service.calculator.layout import Checkpointing, Layout, Routing
from service.calculator.ledger import Line, Moment
from service.calculator.ledgers import Ledgers
from service.calculator.model import Attention, LayerKind, Mlp, Model, Moe
from service.calculator.recipe import Recipe
from service.calculator.routing import expert_rows, received_rows, sent_rows
from service.calculator.stage import stage_of
from service.calculator.states import held_parameters, state_lines
from tests.builders import H100, LLAMA_3_8B, layout, recipe

TOY = Moe(experts=8, top_k=2, width=128, kind="swiglu")
"""The block of `own.moe.megatron_like`, measured with autograd hooks (memory_model.md, appendix A)."""

FINE = Moe(experts=64, top_k=6, width=1408, kind="swiglu", shared_width=2816)


def mixture(moe: Moe, hidden: int = 2048, layers: int = 4) -> Model:
    """A model of one kind of layer: attention of 16 heads of 128, then experts."""
    kind = LayerKind(Attention(16, 16, 128), moe)
    return replace(LLAMA_3_8B, hidden_size=hidden, kinds=(kind,), pattern=(0,) * layers)


def alltoall(**changes: Any) -> Recipe:
    return recipe(dispatcher="alltoall", grouped_gemm=True, **changes)


def block_bytes(model: Model, spread: Layout, kept: Recipe, *, without: tuple[str, ...] = ()) -> int:
    """Bytes that the second half of a layer saves."""
    rows = layer_tensors(model.kinds[0], model, spread, kept)
    own = [each for each in rows if not each.tensor.name.startswith("attention.") and each.tensor.name not in without]
    return sum(int(each.tensor.bytes) * int(each.copies) for each in own)


def rows_named(model: Model, spread: Layout, kept: Recipe, name: str) -> int:
    return next(
        int(each.tensor.shape[0])
        for each in layer_tensors(model.kinds[0], model, spread, kept)
        if each.tensor.name == name
    )


def test_a_block_saves_what_autograd_was_seen_to_save() -> None:
    """`own.moe.megatron_like`: 941,088 bytes, b 2, s 128, h 256. It had no balancing loss and no map of rows."""
    model, spread = mixture(TOY, hidden=256), layout(LLAMA_3_8B, micro_batch=2, sequence_length=128)
    beside = ("router.balance_scores", "dispatch.map")
    assert block_bytes(model, spread, alltoall(), without=beside) == 941_088


def test_a_routed_row_costs_its_input_both_branches_the_activation_and_its_probability() -> None:
    moe, spread = replace(FINE, shared_width=0), layout(LLAMA_3_8B)
    one = block_bytes(mixture(replace(moe, top_k=1)), spread, alltoall())
    two = block_bytes(mixture(replace(moe, top_k=2)), spread, alltoall())
    routing = 8 + 2 * 8
    assert two - one == 2048 * (2 * 2048 + 6 * 1408 + 4 + routing)


def test_shared_experts_are_a_dense_mlp_on_all_tokens() -> None:
    without = block_bytes(mixture(replace(FINE, shared_width=0)), layout(LLAMA_3_8B), alltoall())
    assert block_bytes(mixture(FINE), layout(LLAMA_3_8B), alltoall()) - without == 2048 * 6 * 2816


def test_a_gated_shared_expert_keeps_its_output() -> None:
    gated = block_bytes(mixture(replace(FINE, shared_gate=True)), layout(LLAMA_3_8B), alltoall())
    assert gated - block_bytes(mixture(FINE), layout(LLAMA_3_8B), alltoall()) == 2048 * 2 * (2048 + 1)


def test_experts_without_a_fused_activation_keep_it_before_its_weight() -> None:
    """Megatron fuses gated experts only (experts.py); GELU keeps its output, and SwiGLU two branches."""
    rows, spread = 2048 * 2, layout(LLAMA_3_8B)
    plain = replace(TOY, kind="gelu")
    weighted = [
        block_bytes(mixture(moe), spread, alltoall(activation_fused=fused))
        for moe in (TOY, plain)
        for fused in (True, False)
    ]
    assert weighted[1] - weighted[0] == 2 * 2 * rows * 128
    assert weighted[3] == weighted[2]
    names = {
        each.tensor.name
        for each in layer_tensors(mixture(plain).kinds[0], mixture(plain), spread, alltoall())
        if each.copies
    }
    assert "experts.unweighted" in names


def test_deterministic_algorithms_keep_the_returned_rows() -> None:
    model, spread = mixture(TOY), layout(LLAMA_3_8B)
    more = block_bytes(model, spread, alltoall(deterministic=True)) - block_bytes(model, spread, alltoall())
    assert more == 2048 * 2 * 2 * 2048


@pytest.mark.parametrize("expert", [2, 4, 8])
def test_expert_parallelism_moves_tokens_and_does_not_divide_them(expert: int) -> None:
    model, kept = mixture(FINE), alltoall()
    alone, spread = layout(model, data=8), layout(model, data=8, expert=expert)
    assert rows_named(model, spread, kept, "experts.input") == rows_named(model, alone, kept, "experts.input")


def test_expert_tensor_parallelism_gathers_rows_and_splits_widths() -> None:
    model, kept = mixture(FINE), alltoall()
    split = layout(model, tensor=2, sequence_parallel=1, data=4, expert=2, expert_tensor=2)
    whole = layout(model, tensor=2, sequence_parallel=1, data=4, expert=2)
    assert rows_named(model, split, kept, "experts.input") == 2 * rows_named(model, whole, kept, "experts.input")
    halves = [
        next(
            each.tensor.shape[1]
            for each in layer_tensors(model.kinds[0], model, spread, kept)
            if each.tensor.name == "experts.activation"
        )
        for spread in (split, whole)
    ]
    assert halves == [704, 1408]


def test_sequence_parallelism_divides_the_routed_rows() -> None:
    assert sent_rows(FINE, layout(LLAMA_3_8B, tensor=4, sequence_parallel=1)) == 2048 * 6 // 4


@pytest.mark.parametrize(
    ("expert", "imbalance", "rows"),
    [
        pytest.param(8, 1000, 12_288, id="balanced"),
        pytest.param(8, 1500, 18_432, id="half as many again"),
        pytest.param(4, 9000, 49_152, id="all tokens of four ranks"),
        pytest.param(64, 64_000, 131_064, id="one expert: at most one row of each token, to a thousandth"),
        pytest.param(1, 3000, 12_288, id="one rank has all rows anyway"),
    ],
)
def test_imbalance_fills_the_fullest_rank_as_far_as_routing_can(expert: int, imbalance: int, rows: int) -> None:
    spread = layout(LLAMA_3_8B, data=64, expert=expert, routing=Routing(imbalance_permille=imbalance))
    assert received_rows(FINE, spread) == rows


def test_a_capacity_bounds_the_rows_and_padding_fixes_them() -> None:
    def rows(**changes: Any) -> tuple[int, int]:
        spread = layout(LLAMA_3_8B, data=8, expert=8, routing=Routing(**changes))
        return int(sent_rows(FINE, spread)), int(received_rows(FINE, spread))

    assert rows(capacity_permille=1250, imbalance_permille=2000) == (12_288, 15_360)
    assert rows(capacity_permille=1000, padded=True, imbalance_permille=2000) == (12_288, 12_288)
    assert rows(capacity_permille=2000, padded=True) == (24_576, 24_576)


def test_rows_at_the_bounds_of_the_inputs_do_not_overflow() -> None:
    widest = Moe(limits.EXPERTS, 8, 128, "swiglu")
    spread = replace(
        layout(LLAMA_3_8B),
        sequence_length=limits.SEQUENCE,
        micro_batch=limits.MICRO_BATCH,
        expert=limits.EXPERTS,
        routing=Routing(imbalance_permille=limits.EXPERTS * 1000),
    )
    many = replace(spread, expert=np.array([limits.EXPERTS]))
    assert received_rows(widest, many) == received_rows(widest, spread)


@settings(max_examples=30)
@given(st.sampled_from([1, 2, 4, 8]), st.integers(1000, 9000), st.sampled_from([None, 1000, 1500]), st.booleans())
def test_rows_are_the_same_one_by_one_and_all_at_once(
    expert: int, imbalance: int, capacity: int | None, padded: bool
) -> None:
    routing = Routing(capacity, padded and capacity is not None, imbalance)
    spread = layout(LLAMA_3_8B, data=8, expert=expert, expert_tensor=2, tensor=2, sequence_parallel=1, routing=routing)
    many = replace(
        spread, expert=np.array([expert, 8]), routing=replace(routing, imbalance_permille=np.array([imbalance, 2000]))
    )
    assert np.asarray(expert_rows(FINE, many)).flat[0] == expert_rows(FINE, spread)


@pytest.mark.parametrize(
    ("module", "dropped"),
    [
        pytest.param("moe_act", {"experts.activation"}, id="activation"),
        pytest.param("shared_experts", {"shared_experts.up.output", "shared_experts.activation"}, id="shared experts"),
        pytest.param("layernorm", {"mlp.norm.output", "mlp.norm.statistics"}, id="the norm is separate before experts"),
    ],
)
def test_selective_recomputation_drops_its_module(module: str, dropped: set[str]) -> None:
    model = mixture(FINE)

    def stored(checkpointing: Checkpointing) -> set[str]:
        spread = layout(model, checkpointing=checkpointing)
        rows = layer_tensors(model.kinds[0], model, spread, alltoall())
        return {line.tensor.name for line in stored_lines(rows, spread, [1], [1]) if line.bytes}

    assert stored(Checkpointing()) - stored(Checkpointing("selective", modules=(module,))) == dropped


def test_recomputing_the_mixture_keeps_its_input_only() -> None:
    model = mixture(FINE)
    spread = layout(model, checkpointing=Checkpointing("selective", modules=("moe",)))
    rows = layer_tensors(model.kinds[0], model, spread, alltoall())
    names = {line.tensor.name for line in stored_lines(rows, spread, [1], [1]) if line.bytes}
    assert {name for name in names if not name.startswith("attention")} == {
        "mlp.input",
        "mlp.norm.statistics",
        "mlp.norm.output",
    }


def lines_of(model: Model, spread: Layout, kept: Recipe) -> list[Line]:
    return list(Ledgers(model, spread, kept, H100).of(0).lines)


def test_the_forward_holds_four_copies_of_the_rows_on_their_way() -> None:
    """SimuMax's B200 run of DeepSeek-V2: the first stage's peak, whole within 0.1 %."""
    model = mixture(FINE)
    spread = layout(model, data=8, expert=8)
    held = [line for line in lines_of(model, spread, alltoall()) if line.alive == (Moment.WARMUP_FORWARD,)]
    assert sum(int(line.bytes) for line in held) == 4 * 2 * 12_288 * 2048


def test_one_expert_is_not_sorted_and_one_rank_does_not_send() -> None:
    def held(experts: int, expert: int) -> int:
        model = mixture(replace(FINE, experts=experts))
        spread = layout(model, data=64, expert=expert)
        lines = [line for line in lines_of(model, spread, alltoall()) if line.alive == (Moment.WARMUP_FORWARD,)]
        return sum(int(line.bytes) for line in lines) // (2 * 12_288 * 2048)

    assert held(64, 64) == 3
    assert held(64, 1) == 3
    assert held(8, 8) == 3


def test_the_gathering_dispatcher_keeps_all_tokens_of_its_group_in_the_global_buffer() -> None:
    model = mixture(FINE)
    spread = layout(model, data=8, expert=4)
    buffer = next(line for line in lines_of(model, spread, recipe()) if line.tensor.name == "megatron.global_buffer")
    assert buffer.bytes == 4 * 2048 * 2048 * 2


def test_experts_have_buffers_of_their_own() -> None:
    """Expert-data-parallel ranks, here 8 / 4, shard the states of the 16 experts that a rank holds."""
    model = mixture(FINE)
    spread = layout(model, data=8, expert=4, sharding_stage=1)
    stage = stage_of(model, spread, 0)
    held = held_parameters(stage, model, spread, recipe())
    lines = {line.tensor.name: int(line.bytes) for line in state_lines(held, stage, model, spread, recipe())}
    elements = 4 * 16 * 3 * 2048 * 1408
    assert lines["experts.gradients.buffer"] == 4 * elements
    assert lines["experts.optimizer.master"] == 4 * elements // 2
    assert lines["optimizer.master"] == lines["gradients.buffer"] // 8


@pytest.mark.parametrize(
    ("changes", "shards"),
    [
        ({"data": 8, "expert": 4}, 2),
        ({"data": 8, "expert": 8}, 1),
        ({"data": 8, "context": 2, "expert": 4}, 4),
        ({"data": 4, "tensor": 2, "expert": 4, "expert_tensor": 1}, 2),
        ({"data": 4, "tensor": 2, "expert": 4, "expert_tensor": 2}, 1),
        ({"data": 8, "expert": 2, "shards": 4}, 2),
        ({"data": 8, "expert": 2, "sharding_stage": 0}, 1),
    ],
)
def test_experts_are_sharded_over_the_ranks_that_hold_the_same_ones(changes: dict[str, Any], shards: int) -> None:
    """world / (pipeline x expert x expert tensor), in as many instances as the other states."""
    assert layout(LLAMA_3_8B, **{"sharding_stage": 1} | changes).expert_shards == shards


def test_deepep_sizes_its_buffer_by_its_own_hint() -> None:
    """DeepEP's config.hpp for eight ranks and 7168 wide rows: 10 channels of 256 rows for each peer."""
    model = mixture(replace(FINE, top_k=8), hidden=7168)
    spread = layout(model, data=8, expert=8)
    lines = {line.tensor.name: int(line.bytes) for line in lines_of(model, spread, recipe(dispatcher="deepep"))}
    assert lines["dispatch.deepep_buffer"] == 10 * 8 * 256 * (14_336 + 2056) + (32 << 20)


def test_hybridep_has_room_for_the_tokens_of_all_ranks() -> None:
    model = mixture(FINE)
    spread = layout(model, data=8, expert=8)
    lines = {line.tensor.name: int(line.bytes) for line in lines_of(model, spread, recipe(dispatcher="hybridep"))}
    assert lines["dispatch.hybridep_buffer"] == 8 * 2048 * 2048 * 2


def tight(model: Model, spread: Layout, kept: Recipe, percent: int) -> Any:
    """A device whose usable memory is a share of what balanced routing needs."""
    need = int(peak_device_bytes(model, spread, kept, H100))
    return replace(H100, usable_bytes=need * percent // 100)


@pytest.mark.parametrize("percent", [101, 102])
@pytest.mark.parametrize("dispatcher", ["alltoall", "allgather"])
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"data": 8, "expert": 8}, id="experts over eight ranks"),
        pytest.param({"data": 8, "expert": 4}, id="two groups of four"),
        pytest.param({"data": 4, "tensor": 2, "expert": 4, "expert_tensor": 2}, id="experts split in two"),
        pytest.param({"data": 4, "tensor": 2, "expert": 8, "expert_tensor": 1}, id="whole experts beside split layers"),
        pytest.param({"data": 8, "expert": 8, "pipeline": 2, "micro_batches": 4}, id="stages"),
        pytest.param(
            {"data": 8, "expert": 8, "checkpointing": Checkpointing("full", "uniform")}, id="recomputed layers"
        ),
        pytest.param(
            {"data": 8, "expert": 8, "routing": Routing(imbalance_permille=2500)}, id="whatever the job says of it"
        ),
    ],
)
def test_the_break_even_imbalance_just_fills_the_device(changes: dict[str, Any], dispatcher: str, percent: int) -> None:
    model, kept = mixture(FINE), replace(alltoall(), dispatcher=dispatcher)
    spread = layout(model, **changes)
    device = tight(model, replace(spread, routing=Routing()), kept, percent)
    share = estimate(model, spread, kept, device).break_even_imbalance
    assert share is not None

    def fits(permille: int) -> bool:
        routed = replace(spread, routing=Routing(imbalance_permille=permille))
        return int(peak_device_bytes(model, routed, kept, device)) <= device.usable_bytes

    assert fits(round(share * 1000))
    assert not fits(round(share * 1000) + 1)


@pytest.mark.parametrize(
    ("changes", "percent"),
    [
        pytest.param({"expert": 8}, 99, id="balanced routing overfills it"),
        pytest.param({"expert": 8}, 900, id="no routing can fill it"),
        pytest.param({"expert": 1}, 105, id="one rank has all rows"),
        pytest.param({"expert": 8, "routing": Routing(1000, padded=True)}, 105, id="padded to a capacity"),
    ],
)
def test_no_break_even_where_routing_decides_nothing(changes: dict[str, Any], percent: int) -> None:
    model, kept = mixture(FINE), alltoall()
    spread = layout(model, data=8, **changes)
    assert estimate(model, spread, kept, tight(model, spread, kept, percent)).break_even_imbalance is None


def test_a_dense_model_has_no_break_even() -> None:
    assert isinstance(LLAMA_3_8B.kinds[0].mlp, Mlp)
    assert estimate(LLAMA_3_8B, layout(LLAMA_3_8B), recipe(), H100).break_even_imbalance is None
