"""What a GPU and its links achieve in training, from published curves; no constant is fitted to measured steps here.

Sources, all public: [mamf] best matrix product of a shape sweep per device, ml-engineering (S. Bekman);
[simumax] efficiency tables of SimuMax's A100 and B200 machines; [vtrain] all-reduce tables of vTrain's A100 node, 1 to
1024 MB; [playbook] bus bandwidth by node count, 256 MB, H100 nodes over EFA, Ultra-Scale Playbook; [fa2]
FlashAttention-2 (arXiv 2307.08691), figures 4 to 6.
"""

from dataclasses import dataclass

from service.calculator.device import Accelerator

TRAINING_MATMUL = {"sm80": 0.75, "sm100": 0.50}
"""Large products of training shapes as a share of the dense peak: A100 near 1e12 FLOP; B200, which its power limits, by
its median of 0.485 over shapes where A100 has 0.72 [simumax]."""

BEST_MATMUL = {"sm90": 0.80, "sm103": 0.79, "gfx942": 0.51, "gfx950": 0.63}
"""Best product of a sweep as a share of the dense peak, where no training shapes are published [mamf]."""

OTHER_MATMUL = 0.80
"""The best share for an architecture without a published sweep: that of Hopper."""

TRAINING_SHAPES = 0.86
"""Training shapes against the best one, on A100: 0.75 against 0.87 [simumax, mamf]."""

GROUPED = 0.62
"""Grouped products over experts against dense ones: medians of 0.30 and 0.485 of the peak on B200 [simumax]."""

KERNEL_SECONDS = 8e-6
"""Fixed cost of a kernel: A100 reaches 0.63 of its peak at 1e10 FLOP and 0.75 at 1e12, a constant 8 us [simumax]."""

ATTENTION_OF_PEAK = 0.60
"""Fused attention as a share of the peak, over causal operations: 0.57 to 0.67 forward and backward on A100 [fa2]."""

ATTENTION_BACKWARD = 2.5
"""Operations of fused attention's backward in forwards: five products against two [fa2]."""

LINK_ALL_REDUCE = 0.757
LINK_GATHER = 0.687
"""Bus bandwidth inside a node as a share of the link: 227e9 of 300e9 B/s for 8 GPUs [vtrain]; gathers and scatters
reach 0.673 where all-reduces reach 0.742 [simumax, B200]."""

LINK_SECONDS = 30e-6
LINK_SECONDS_PER_RANK = 6e-6
"""Fixed cost of a collective: 46, 54 and 79 us for 2, 4 and 8 GPUs [vtrain]."""

BUSY = 0.70
"""A collective between training kernels against an isolated one: about 30 % slower (vTrain, arXiv 2312.12391)."""

NODES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
NETWORK_ALL_REDUCE = (0.905, 0.905, 0.400, 0.250, 0.2125, 0.1625, 0.0825)
NETWORK_GATHER = (0.4625, 0.4625, 0.298, 0.1725, 0.1375, 0.070, 0.0275)
"""Bus bandwidth between nodes as a share of the network adapters, by node count, of 8 x 50e9 B/s [playbook].

The entry for one node is not read: one node has no network."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Achieved rates: FLOP per second, bytes per second, seconds."""

    matmul: float
    attention: float
    memory: float
    kernel_seconds: float
    link_all_reduce: float
    link_gather: float
    adapter: float
    gpus_per_node: int


def rates_of(accelerator: Accelerator, compute: str) -> Rates:
    """The rates of a device for one data type of matrix products; fp32 products run at the device's fp32 peak."""
    peak = peak_flops(accelerator, compute)
    return Rates(
        matmul=peak * matmul_share(accelerator.architecture),
        attention=peak * ATTENTION_OF_PEAK,
        memory=accelerator.memory_bytes_per_second,
        kernel_seconds=KERNEL_SECONDS,
        link_all_reduce=accelerator.link_bytes_per_second * LINK_ALL_REDUCE * BUSY,
        link_gather=accelerator.link_bytes_per_second * LINK_GATHER * BUSY,
        adapter=accelerator.network_bytes_per_second * BUSY,
        gpus_per_node=accelerator.gpus_per_node,
    )


def matmul_share(architecture: str) -> float:
    """Share of the dense peak that large matrix products of training shapes reach."""
    measured = TRAINING_MATMUL.get(architecture)
    return measured or BEST_MATMUL.get(architecture, OTHER_MATMUL) * TRAINING_SHAPES


def peak_flops(accelerator: Accelerator, compute: str) -> float:
    """Dense peak of a data type (FLOP per second); a device without bf16 computes at its fp16 peak.

    Raises ValueError when the device has neither.
    """
    peaks = accelerator.peak_flops
    found = peaks.get(compute) or peaks.get("fp16") or peaks.get("fp32")
    if not found:
        raise ValueError(f"no peak of {compute} is known for {accelerator.name}")
    return found
