"""Single kernels and collectives against published measurements, each with its source."""

from dataclasses import replace

import numpy as np
import pytest

from service.calculator.device import Bandwidth
from service.calculator.recipe import Adapters, Fp8
from service.calculator.step_time import rates_of
from service.calculator.step_time.attention import attention_core
from service.calculator.step_time.collectives import (
    all_reduce_seconds,
    exchange_seconds,
    gather_seconds,
    group_of,
    send_seconds,
)
from service.calculator.step_time.kernels import product
from service.calculator.step_time.rates import product_share
from tests.builders import A100, H100, LLAMA_3_8B, layout, recipe

PCIE = replace(A100, name="a100-pcie-80gb", memory_bytes_per_second=1.935e12)
B200 = replace(A100, name="b200-sxm-180gb", architecture="sm100", peak_flops={"bf16": 2250e12, "fp8": 4500e12})

SHAPES = [
    (4096, 32768, 512, 0.715),
    (4096, 4096, 512, 0.539),
    (4096, 5120, 576, 0.497),
    (4096, 4096, 1024, 0.458),
    (4096, 8192, 1280, 0.663),
    (4096, 7168, 1536, 0.803),
    (4096, 4096, 1792, 0.548),
    (4096, 4096, 2048, 0.613),
    (4096, 8192, 2560, 0.791),
    (4096, 5120, 3072, 0.695),
    (4096, 8192, 3584, 0.670),
    (4096, 4096, 4096, 0.721),
    (4096, 28672, 4096, 0.736),
]
"""Rows, inner dimension, columns, share of 312 TFLOP/s: 16-bit products on A100 PCIe, the smallest shapes of SimuMax's
table (configs/system/a100_pcie.json @ 4dcaae51)."""


def test_products_follow_the_published_shapes() -> None:
    """Tiles in whole waves explain why neighbouring shapes differ by a half."""
    rates = rates_of(PCIE, recipe())
    plain = replace(rates, processors=0)
    errors = {
        name: [
            abs(product(m, k, n, recipe(), each).forward / (2.0 * m * k * n / (312e12 * share)) - 1)
            for m, k, n, share in SHAPES
        ]
        for name, each in (("waves", rates), ("none", plain))
    }
    assert np.mean(errors["waves"]) < 0.12
    assert np.mean(errors["waves"]) < 0.75 * np.mean(errors["none"])


def test_a_large_product_reaches_the_share_of_its_device() -> None:
    for device, share in ((A100, 0.76), (H100, 0.73), (B200, 0.49)):
        rates = rates_of(device, recipe())
        peak = device.peak_flops["bf16"]
        seconds = product(16384.0, 16384.0, 16384.0, recipe(), rates).forward
        assert 2.0 * 16384**3 / seconds / peak == pytest.approx(share, rel=0.05)


def test_a_weight_gradient_is_slower_than_the_other_products() -> None:
    found = product(16384.0, 16384.0, 16384.0, recipe(), rates_of(A100, recipe()))
    assert found.backward == pytest.approx((1 + 1 / 0.95) * found.forward, rel=0.01)


def test_a_frozen_weight_has_no_gradient() -> None:
    frozen = recipe(adapters=Adapters(16, ("q", "v"), "bf16"))
    found = product(16384.0, 16384.0, 16384.0, frozen, rates_of(A100, frozen))
    assert found.backward == pytest.approx(found.forward, rel=0.01)


def test_eight_bits_double_the_rate_and_cost_casts() -> None:
    hopper = replace(H100, peak_flops={"bf16": 989e12, "fp8": 1979e12})
    rates = replace(rates_of(hopper, recipe()), product_8bit=1979e12 * product_share(hopper, "fp8"))
    eight = recipe(fp8=Fp8("delayed"))
    wide, narrow = (product(8192.0, 8192.0, 28672.0, eight, rates, plain=each) for each in (True, False))
    assert 1.3 < wide.both / narrow.both < 1.8
    same = replace(rates, product_8bit=rates.product)
    assert product(8192.0, 8192.0, 28672.0, eight, same).both > wide.both


@pytest.mark.parametrize(
    ("sequence", "wide", "narrow"),
    [(512, 99, 88), (1024, 133, 119), (2048, 155, 140), (4096, 173, 156), (8192, 182, 165), (16384, 189, 171)],
)
def test_fused_attention_follows_the_published_curve(sequence: int, wide: int, narrow: int) -> None:
    """TFLOP/s of both passes, causal, 16384 tokens, width 2048: FlashAttention-2, figure 4, as recalled."""
    kernels = recipe(attention="flash")
    shape = layout(LLAMA_3_8B, sequence_length=sequence, micro_batch=16384 // sequence)
    for head, published in ((128, wide), (64, narrow)):
        cost = attention_core(2048 // head, head, head, None, shape, kernels, rates_of(A100, kernels))
        operations = 3.5 * 4 * 16384 * sequence * 2048 / 2
        assert operations / cost.both / 1e12 == pytest.approx(published, rel=0.08)


def test_few_heads_leave_multiprocessors_idle() -> None:
    """Forward on A100 PCIe, one sequence of 4096: 0.59 of the peak with 64 heads, 0.26 with 4 (SimuMax, as above)."""
    kernels, shape = recipe(), layout(LLAMA_3_8B, sequence_length=4096)
    for heads, share in ((64, 0.59), (16, 0.49), (8, 0.39), (4, 0.26)):
        cost = attention_core(heads, 128, 128, None, shape, kernels, rates_of(PCIE, kernels))
        operations = 4 * 4096 * 4096 * heads * 128 / 2
        assert operations / cost.forward / 312e12 == pytest.approx(share, rel=0.12)


def test_stored_scores_are_slow_and_slower_the_less_is_fused() -> None:
    shape = layout(LLAMA_3_8B, sequence_length=8192)
    times = []
    for attention in ("fused", "unfused", "eager"):
        kernels = recipe(attention=attention)
        times.append(attention_core(32, 128, 128, None, shape, kernels, rates_of(A100, kernels)).both)
    assert times[0] < 0.5 * times[1] < times[1] < times[2]


def test_heads_that_are_not_aligned_lose_the_tensor_cores() -> None:
    volta = replace(A100, peak_flops={"bf16": 312e12, "fp32": 19.5e12})
    kernels, shape = recipe(attention="unfused"), layout(LLAMA_3_8B)
    aligned, odd = (attention_core(32, d, d, None, shape, kernels, rates_of(volta, kernels)).both for d in (112, 108))
    assert odd > 2 * aligned


def test_a_device_without_the_type_computes_at_its_half_precision_peak() -> None:
    volta = replace(A100, architecture="sm70", peak_flops={"fp16": 125e12, "fp32": 15.7e12})
    assert rates_of(volta, recipe()).product == rates_of(volta, recipe(compute="fp16")).product
    with pytest.raises(ValueError, match="no peak of bf16"):
        rates_of(replace(A100, peak_flops={}), recipe())


def test_all_reduces_follow_the_published_table() -> None:
    """Eight A100 of one node: 79 us and 227e9 B/s; in training 30 % slower."""
    fabric = rates_of(A100, recipe()).fabric
    group = group_of(8, 1, fabric)
    assert all_reduce_seconds(group, 1e9, fabric) == pytest.approx(79e-6 + 2 * 7 / 8 * 1e9 / (0.7 * 227e9), rel=1e-3)
    assert gather_seconds(group, 1e9, fabric) > 0.5 * all_reduce_seconds(group, 1e9, fabric)


def test_a_device_of_its_own_measurements_uses_them() -> None:
    own = Bandwidth("all_reduce", (8,), (668e9,), (28e-6,))
    fabric = rates_of(replace(A100, inside=(own,)), recipe()).fabric
    seconds = all_reduce_seconds(group_of(8, 1, fabric), 1e9, fabric)
    assert seconds == pytest.approx(28e-6 + 2 * 7 / 8 * 1e9 / (0.7 * 668e9), rel=1e-3)


@pytest.mark.parametrize(("nodes", "bus"), [(2, 362e9), (4, 160e9), (8, 100e9), (16, 85e9), (32, 65e9), (64, 33e9)])
def test_messages_of_256_mb_between_nodes_follow_the_published_curve(nodes: int, bus: float) -> None:
    """All-reduces on H100 nodes with 8 x 50e9 B/s: Ultra-Scale Playbook; in training they take up to 1 / 0.7 of it.

    Between two nodes the links inside them are the limit here, which the measured cluster's switches relieve.
    """
    fabric = rates_of(replace(H100, link_bytes_per_second=4.5e11, network_bytes_per_second=5e10), recipe()).fabric
    group = group_of(8 * nodes, 1, fabric)
    measured = 2 * (1 - 1 / (8 * nodes)) * 256e6 / bus
    assert measured < all_reduce_seconds(group, 256e6, fabric) < (1.6 if nodes == 2 else 1 / 0.7) * measured


def test_longer_messages_are_faster_and_more_nodes_slower() -> None:
    fabric = rates_of(H100, recipe()).fabric
    group = group_of(64, 1, fabric)
    assert all_reduce_seconds(group, 4e9, fabric) < 4 * all_reduce_seconds(group, 1e9, fabric)
    assert all_reduce_seconds(group, 4e9, fabric, 4.0) == pytest.approx(4 * all_reduce_seconds(group, 1e9, fabric))
    times = [all_reduce_seconds(group_of(8 * nodes, 1, fabric), 1e9, fabric) for nodes in (1, 2, 8, 32, 64)]
    assert np.all(np.diff(times) > 0)


def test_a_group_lies_over_as_many_nodes_as_its_stride_says() -> None:
    fabric = rates_of(H100, recipe()).fabric
    one_each, pairs = group_of(8, 8, fabric), group_of(8, 4, fabric)
    assert (one_each.local, one_each.nodes) == (1.0, 8.0)
    assert (pairs.local, pairs.nodes) == (2.0, 4.0)
    rack = rates_of(replace(H100, gpus_per_node=4, link_domain=72), recipe()).fabric
    assert group_of(64, 1, rack).nodes == 1.0


def test_a_group_of_one_costs_nothing() -> None:
    fabric = rates_of(A100, recipe()).fabric
    group = group_of(1, 1, fabric)
    assert all_reduce_seconds(group, 1e9, fabric) == gather_seconds(group, 1e9, fabric) == 0.0
    assert send_seconds(group, 1e9, fabric) == exchange_seconds(group, 1e9, fabric) == 0.0


def test_an_exchange_between_nodes_waits_for_the_adapters() -> None:
    fabric = rates_of(A100, recipe()).fabric
    inside, across = (exchange_seconds(group_of(size, 1, fabric), 1e9, fabric) for size in (8, 16))
    assert across == pytest.approx(0.5e9 / (0.7 * 0.94 * 2.5e10), rel=0.02)
    assert inside < 0.3 * across


def test_a_mesh_carries_over_the_links_between_its_ranks() -> None:
    mesh = replace(A100, peer_bytes_per_second=6.4e10, link_bytes_per_second=4.48e11)
    fabric = rates_of(mesh, recipe()).fabric
    pair = all_reduce_seconds(group_of(2, 1, fabric), 1e9, fabric)
    assert pair == pytest.approx(46e-6 + 1e9 / (0.7 * 6.4e10), rel=1e-3)
