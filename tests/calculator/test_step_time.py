"""Step times: exact counts of operations and bytes, published measurements, and the shapes that decide a ranking."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.layout import Checkpointing, Layout
from service.calculator.model import (
    Attention,
    FeedForward,
    LatentAttention,
    LayerKind,
    Mamba,
    Mixer,
    Mlp,
    Model,
    Moe,
    Prediction,
)
from service.calculator.parameters import model_parameters
from service.calculator.placement import place
from service.calculator.step_time import Rates, StepTime, rates_of, step_time
from service.calculator.step_time.fabric import Collective, Curve, Fabric
from service.calculator.step_time.rates import AttentionRates
from service.calculator.units import where
from tests.builders import A100, LLAMA_3_8B, gpt, layout, recipe

FULL = Checkpointing("full", "uniform", 1)
SELECTIVE = Checkpointing("selective", modules=("core_attn",))

FREE = 1e30
_FREE = Collective(Curve((0.0,), (FREE,)), Curve((0.0,), (0.0,)), None)
COUNTING = Rates(
    product=1.0,
    product_8bit=1.0,
    vector=1.0,
    weight_gradient=1.0,
    processors=0,
    grouped=1.0,
    attention=AttentionRates(1.0, 1.0, 0.0, 0.0, 0.0, 1.0),
    memory=FREE,
    kernel_seconds=0.0,
    host_seconds=0.0,
    fabric=Fabric(_FREE, _FREE, _FREE, FREE, 8, None),
)
"""Rates with which a second is a floating-point operation, and nothing else takes time."""


def timed(model: Model, rates: Rates | None = None, **changes: Any) -> StepTime:
    return step_time(model, layout(model, **changes), recipe(), A100, rates)


def test_operations_of_a_step_are_those_of_the_published_count() -> None:
    """Products forward and twice backward; causal attention 2·s·q a token forward and 2.5 times that backward.

    Source: PaLM (arXiv 2204.02311), appendix B; FlashAttention-2 (arXiv 2307.08691), section 3.
    """
    h, q, k, f, vocabulary, layers, s = 4096, 4096, 1024, 14336, 128256, 32, 2048
    products = 2 * h * (q + 2 * k) + 2 * q * h + 6 * h * f
    attention = 2 * s * q
    per_token = layers * (3 * products + 3.5 * attention) + 3 * 2 * h * vocabulary
    step = timed(LLAMA_3_8B, COUNTING)
    assert step.step_seconds == pytest.approx(8 * s * per_token, rel=1e-9)


def one_layer(attention: Mixer | None, mlp: FeedForward | None, prediction: Prediction | None = None) -> Model:
    """A model of one layer whose head is too small to count."""
    kinds = (LayerKind(attention, mlp),)
    return Model("one", 1024, 1, kinds, (0,), "rmsnorm", "rope", 0, tied_embeddings=False, prediction=prediction)


def operations(model: Model, **changes: Any) -> float:
    """Operations of one token in a forward and a backward, the head's left out."""
    kernels = recipe(vocabulary_multiple=1)
    step = step_time(model, layout(model, **changes), kernels, A100, COUNTING)
    return float(step.step_seconds) / (8 * 2048) - 3 * 2 * 1024


def test_operations_of_latent_attention_are_those_of_the_published_count() -> None:
    """Projections down and up, and causal scores and values of unequal widths (memory_model.md, section 10)."""
    h, a, q_rank, rank, nope, rope, value, s = 1024, 8, 96, 64, 32, 16, 48, 2048
    products = 2 * (
        h * q_rank + q_rank * a * (nope + rope) + h * (rank + rope) + rank * a * (nope + value) + a * value * h
    )
    attention = s * a * (nope + rope + value)
    model = one_layer(LatentAttention(a, q_rank, rank, nope, rope, value), None)
    assert operations(model) == pytest.approx(3 * products + 3.5 * attention, rel=1e-9)


def test_operations_of_experts_are_those_of_the_published_count() -> None:
    """Routed experts at the rate of grouped products, shared experts and router at that of dense ones."""
    h, experts, top_k, width, shared = 1024, 16, 2, 512, 256
    model = one_layer(None, Moe(experts, top_k, width, "swiglu", shared_width=shared))
    expected = 3 * (top_k * 6 * h * width + 6 * h * shared + 2 * h * experts)
    assert operations(model) == pytest.approx(expected, rel=1e-9)


def test_expert_parallelism_moves_tokens_and_divides_no_work() -> None:
    model = one_layer(None, Moe(16, 2, 512, "swiglu"))
    assert operations(model, expert=8, data=8) == pytest.approx(operations(model, data=8), rel=1e-9)
    seconds = [timed(model, expert=each, data=8).pipeline_seconds for each in (1, 2, 8)]
    assert seconds[0] < seconds[1] < seconds[2]


def test_prediction_adds_a_layer_a_projection_and_a_head_for_each_depth() -> None:
    mlp = Mlp(2048, "swiglu")
    plain, twice = (operations(one_layer(None, mlp, each)) for each in (None, Prediction(depths=2, kind=0)))
    depth = 6 * 1024 * 2048 + 2 * 2 * 1024 * 1024 + 2 * 1024
    assert twice - plain == pytest.approx(2 * 3 * depth, rel=1e-9)


def test_a_mamba_mixer_costs_the_same_for_every_token() -> None:
    model = one_layer(Mamba(heads=32, head_dim=64, state=128, groups=8, conv=4), None)
    short, long = (timed(model, COUNTING, sequence_length=each).step_seconds / each for each in (2048, 32768))
    assert short == pytest.approx(long, rel=1e-9)
    assert operations(model) > 3 * 2 * 3 * 1024 * 2048


def test_full_checkpointing_repeats_every_layer_forward() -> None:
    h, q, k, f, s = 4096, 4096, 1024, 14336, 2048
    forward = 32 * (2 * h * (q + 2 * k) + 2 * q * h + 6 * h * f + 2 * s * q)
    plain, full = timed(LLAMA_3_8B, COUNTING), timed(LLAMA_3_8B, COUNTING, checkpointing=FULL)
    assert full.step_seconds - plain.step_seconds == pytest.approx(8 * s * forward, rel=1e-9)
    assert full.recompute_fraction == pytest.approx(1 - plain.step_seconds / full.step_seconds, rel=1e-9)


def test_block_checkpointing_repeats_its_share() -> None:
    times = [
        timed(LLAMA_3_8B, pipeline=2, checkpointing=Checkpointing("full", "block", depth)).recompute_fraction
        for depth in range(17)
    ]
    whole = timed(LLAMA_3_8B, pipeline=2, checkpointing=FULL).recompute_fraction
    assert times[0] == 0.0
    assert np.all(np.diff(times) > 0)
    assert times[-1] == pytest.approx(whole)


def test_selective_checkpointing_repeats_attention_alone() -> None:
    model = gpt(6144, 48, 64)
    stored = recipe(attention="unfused")
    one = layout(model, tensor=8, micro_batch=4, micro_batches=1)
    fractions = [
        step_time(model, replace(one, checkpointing=each), stored, A100).recompute_fraction
        for each in (Checkpointing(), SELECTIVE, FULL)
    ]
    assert fractions[0] == 0.0
    assert 0.0 < fractions[1] < fractions[2] < 1 / 3


def test_the_optimizer_moves_gradients_states_and_weights_of_its_shard() -> None:
    """Per parameter: gradient 4, master and two moments read and written 24, weight 2; and the cleared buffer 4."""
    moving = replace(COUNTING, product=FREE, attention=AttentionRates(FREE, FREE), memory=1.0)
    parameters = 8_030_261_248
    alone = timed(LLAMA_3_8B, moving)
    sharded = timed(LLAMA_3_8B, moving, data=8, sharding_stage=1)
    assert alone.optimizer_seconds == parameters * (30 + 4)
    assert sharded.optimizer_seconds == parameters * (30 / 8 + 4)


def test_the_parts_add_up_to_the_step() -> None:
    step = timed(LLAMA_3_8B, tensor=2, pipeline=2, data=4, sharding_stage=1)
    parts = step.pipeline_seconds + step.data_parallel_seconds + step.optimizer_seconds
    assert step.step_seconds == pytest.approx(parts)
    tokens = 8 * 4 * 2048
    assert step.tokens_per_second_per_gpu == pytest.approx(tokens / step.step_seconds / 16)


def gpt3(hidden: int, layers: int, heads: int) -> Model:
    attention = Attention(heads, heads, hidden // heads, qkv_bias=True, output_bias=True)
    return Model(
        "gpt3",
        hidden,
        51200,
        (LayerKind(attention, Mlp(4 * hidden, "gelu", bias=True)),),
        (0,) * layers,
        "layernorm",
        "learned",
        2048,
        tied_embeddings=True,
    )


@pytest.mark.parametrize(
    ("hidden", "layers", "heads", "pipeline", "virtual", "micro", "micro_batches", "full", "selective"),
    [
        (6144, 48, 64, 1, 1, 4, 1, 1.42, 1.10),
        (20480, 105, 128, 35, 3, 1, 280, 49.05, 37.83),
        (25600, 128, 160, 64, 1, 1, 512, 94.42, 71.49),
    ],
)
def test_published_iteration_times_are_met_within_15_percent(
    hidden: int,
    layers: int,
    heads: int,
    pipeline: int,
    virtual: int,
    micro: int,
    micro_batches: int,
    full: float,
    selective: float,
) -> None:
    """Seconds a step of 22B, 530B and 1T on A100, t = 8: Korthikanti et al. 2022 (arXiv 2205.05198), table 5.

    Full recomputation ran without sequence parallelism, selective recomputation with it. Nothing was fitted to these.
    """
    model = gpt3(hidden, layers, heads)
    kernels = recipe(attention="unfused", compute="fp16", parameters="fp16", hidden_dropout=0.1, attention_dropout=0.1)
    device = replace(A100, peak_flops={"fp16": 312e12}, memory_bytes_per_second=2.039e12)
    common = {
        "tensor": 8,
        "pipeline": pipeline,
        "virtual": virtual,
        "micro_batch": micro,
        "micro_batches": micro_batches,
    }
    slow = step_time(model, layout(model, checkpointing=FULL, **common), kernels, device)
    fast = step_time(model, layout(model, checkpointing=SELECTIVE, sequence_parallel=1, **common), kernels, device)
    assert slow.step_seconds == pytest.approx(full, rel=0.15)
    assert fast.step_seconds == pytest.approx(selective, rel=0.15)
    assert slow.step_seconds / fast.step_seconds == pytest.approx(full / selective, rel=0.10)


def test_interleaving_divides_the_bubble() -> None:
    plain = timed(LLAMA_3_8B, pipeline=4, micro_batches=16)
    interleaved = timed(LLAMA_3_8B, pipeline=4, virtual=2, micro_batches=16)
    assert plain.bubble_fraction == pytest.approx(3 / 19)
    assert interleaved.bubble_fraction == pytest.approx(3 / 35)
    assert interleaved.step_seconds < plain.step_seconds


def test_the_slowest_stage_sets_the_pace() -> None:
    """The last stage also has the head; taking a layer from it makes the step shorter."""
    even = place(32, 4, 1)
    lighter = replace(
        even, chunks=((tuple(range(9)),), (tuple(range(9, 18)),), (tuple(range(18, 27)),), ((27, 28, 29, 30, 31),))
    )
    many = {"pipeline": 4, "micro_batches": 64}
    assert timed(LLAMA_3_8B, placement=lighter, **many).step_seconds < timed(LLAMA_3_8B, **many).step_seconds


def test_tensor_parallelism_across_nodes_is_slower_than_inside_one() -> None:
    two_nodes = replace(A100, gpus_per_node=4)
    one = layout(LLAMA_3_8B, tensor=8, sequence_parallel=1)
    inside = step_time(LLAMA_3_8B, one, recipe(), A100).step_seconds
    across = step_time(LLAMA_3_8B, one, recipe(), two_nodes).step_seconds
    assert across > 1.2 * inside


def test_overlap_hides_gradient_and_parameter_traffic() -> None:
    shape = {"tensor": 8, "data": 8, "sharding_stage": 1, "micro_batch": 4}
    shown = timed(LLAMA_3_8B, **shape).data_parallel_seconds
    hidden = timed(LLAMA_3_8B, overlap_grad_reduce=True, overlap_param_gather=True, **shape).data_parallel_seconds
    assert hidden < shown


def test_a_ring_hides_its_traffic_behind_long_attention_and_not_behind_short() -> None:
    rates = replace(rates_of(A100, recipe()), memory=FREE, kernel_seconds=0.0, host_seconds=0.0)
    no_traffic = replace(rates, fabric=COUNTING.fabric)
    model = gpt(4096, 4, 32)

    def slowdown(sequence: int, method: str) -> float:
        shape = {"context": 8, "sequence_length": sequence, "context_method": method}
        moved, free = (timed(model, each, **shape).pipeline_seconds for each in (rates, no_traffic))
        return float(moved / free)

    assert slowdown(131072, "p2p") == pytest.approx(1.0)
    assert slowdown(4096, "p2p") > 1.01
    assert slowdown(131072, "all_gather") > 1.001


def test_eager_norms_cost_time() -> None:
    one = layout(LLAMA_3_8B)
    fused, eager = (step_time(LLAMA_3_8B, one, recipe(norm_fused=each), A100).step_seconds for each in (True, False))
    assert eager > 1.05 * fused


def test_a_window_shortens_attention() -> None:
    attention = replace(LLAMA_3_8B.kinds[0].attention, window=4096)
    windowed = replace(LLAMA_3_8B, kinds=(replace(LLAMA_3_8B.kinds[0], attention=attention),))
    shape = {"sequence_length": 65536, "micro_batches": 1}
    assert timed(windowed, **shape).step_seconds < 0.7 * timed(LLAMA_3_8B, **shape).step_seconds


def test_the_head_works_on_the_padded_vocabulary() -> None:
    odd = replace(LLAMA_3_8B, vocab_size=128257)
    padded = replace(LLAMA_3_8B, vocab_size=128257 + 128 - 1)
    assert timed(odd, COUNTING).pipeline_seconds == timed(padded, COUNTING).pipeline_seconds
    assert model_parameters(odd) < model_parameters(padded)


COLUMNS = {
    "tensor": st.sampled_from([1, 2, 4, 8, 16]),
    "sequence_parallel": st.integers(0, 1),
    "context": st.sampled_from([1, 2, 4]),
    "data": st.sampled_from([1, 2, 8, 64]),
    "micro_batch": st.integers(1, 4),
    "micro_batches": st.sampled_from([4, 8, 12]),
    "sharding_stage": st.integers(0, 1),
    "depth": st.integers(1, 8),
}


def _many(columns: dict[str, Any], granularity: str, method: str | None, virtual: int, **more: Any) -> Layout:
    degrees = {name: value for name, value in columns.items() if name != "depth"}
    checkpointing = Checkpointing(granularity, method, columns["depth"], ("core_attn",))  # type: ignore[arg-type]
    shards = where(columns["sharding_stage"], columns["data"] * columns["context"], 1)
    base = layout(LLAMA_3_8B, pipeline=4, virtual=virtual, checkpointing=checkpointing)
    return replace(base, shards=shards, **degrees, **more)


@settings(max_examples=30)
@given(
    rows=st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=6),
    kind=st.sampled_from([("none", None), ("selective", None), ("full", "uniform"), ("full", "block")]),
    virtual=st.sampled_from([1, 2]),
    method=st.sampled_from(["p2p", "all_gather", "a2a"]),
    overlap=st.booleans(),
    attention=st.sampled_from(["fused", "unfused"]),
)
def test_many_layouts_take_the_same_time_as_each_alone(
    rows: list[dict[str, int]], kind: tuple[str, str | None], virtual: int, method: str, overlap: bool, attention: str
) -> None:
    columns = {name: np.array([row[name] for row in rows], dtype=np.int64) for name in COLUMNS}
    more = {"context_method": method, "overlap_grad_reduce": overlap, "overlap_param_gather": overlap}
    kernels = recipe(attention=attention)
    many = step_time(LLAMA_3_8B, _many(columns, *kind, virtual, **more), kernels, A100)
    for index, row in enumerate(rows):
        one = step_time(LLAMA_3_8B, _many(dict(row), *kind, virtual, **more), kernels, A100)
        for name in ("step_seconds", "tokens_per_second_per_gpu", "bubble_fraction", "recompute_fraction"):
            value = np.broadcast_to(getattr(many, name), len(rows))[index]
            assert value == pytest.approx(getattr(one, name), rel=1e-12)


def test_operation_level_checkpointing_repeats_what_is_not_kept() -> None:
    """Half of the products and everything between them; with a budget, the rest of it."""

    def repeated(**changes: Any) -> float:
        checkpointing = Checkpointing("selective", **changes)
        return float(timed(LLAMA_3_8B, checkpointing=checkpointing).recompute_fraction)

    everything = float(timed(LLAMA_3_8B, checkpointing=FULL).recompute_fraction)
    attention = repeated(op=("attention",))
    both = repeated(op=("attention", "mm"))
    assert 0.0 < repeated(op=("attention", "every_mm")) < both < attention < everything
    assert repeated(budget_permille=1000) == 0.0
    assert repeated(budget_permille=0) == pytest.approx(everything)
    assert repeated(every=2) == pytest.approx(
        float(timed(LLAMA_3_8B, checkpointing=Checkpointing("full", "block", 16)).recompute_fraction)
    )
