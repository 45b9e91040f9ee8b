"""What a GPU and its links achieve in training, from published curves; no constant is fitted to measured steps here.

Sources, all public: [mamf] best matrix product of a shape sweep per device, ml-engineering (S. Bekman); [simumax]
tables of single kernels and collectives on SimuMax's A100 PCIe and B200 machines @ 4dcaae51; [semianalysis] products of
Llama-70B's shapes, "MI300X vs H100 vs H200 Benchmark Part 1: Training" (December 2024); [vtrain] all-reduce tables of
vTrain's A100 node, 1 to 1024 MB; [playbook] bus bandwidth by node count, 256 MB, H100 nodes over EFA, Ultra-Scale
Playbook; [fa2] FlashAttention-2 (arXiv 2307.08691), figures 4 to 7; [fa3] FlashAttention-3 (arXiv 2407.08608), figures
5 and 6; [time] the project's collected evidence on step times, each statement with its own source. The figures of
[semianalysis], [fa2] and [fa3] are recalled, those of the others were read.
"""

from dataclasses import dataclass, replace

from service.calculator.device import Accelerator
from service.calculator.recipe import Recipe
from service.calculator.step_time.eager import eager_host
from service.calculator.step_time.fabric import Fabric, fabric_of
from service.calculator.step_time.floats import Float

TRAINING_PRODUCTS = {"sm80": 0.76, "sm90": 0.73, "gfx942": 0.47}
"""Large products of training shapes as a share of the dense 16-bit peak: A100 [simumax, 183 shapes]; H100, H200 and
MI300X [semianalysis: 720, 720 and 620 TFLOP/s]."""

LIMITED_PRODUCTS = {"b200-sxm-180gb": 0.49}
"""The same of one device, whose power limits it: 514 shapes on B200 [simumax]. Its relatives are given more power."""

TRAINING_PRODUCTS_8BIT = {"sm90": 0.65, "gfx942": 0.38}
"""The same for 8-bit products [semianalysis: 1280 and 990 TFLOP/s]."""

BEST_PRODUCT = 0.80
"""Best product of a sweep as a share of the peak where a device has no figure: that of Hopper [mamf]."""

TRAINING_SHAPES = 0.94
"""Products of training shapes against the best shape: 0.76 against 0.81 on A100 PCIe [simumax, mamf]."""

WEIGHT_GRADIENT = 0.95
"""Rate of a weight gradient that adds to an fp32 accumulator, against other products [simumax, A100; 0.97 on B200]."""

PROCESSORS = {"sm80": 108, "sm90": 132}
"""Multiprocessors over which the tiles of a product are spread in waves, where this shows in published tables.

On A100 tiles of 128 x 256 in whole waves bring the mean error over 183 shapes from 4.5 to 3.9 %; on B200, whose power
limits it, no tile size improves on none over 514 shapes [simumax]. Hopper's products have the same tiles.
"""

TILE_ROWS, TILE_COLUMNS = 128, 256

SPLIT_DEPTH = 4096
"""Inner dimension from which a product is split to fill its last wave: best of 1024 to 8192 [simumax, A100]."""

MOST_SPLITS = 4

GROUPED = {"sm100": 0.62, "sm103": 0.62}
GROUPED_ELSEWHERE = 0.88
"""Grouped products over experts against dense ones: medians of 0.30 and 0.49 of the peak on B200; on A100 0.65 where
0.76 and the tiles of the shapes give 0.73 [simumax]."""

KERNEL_SECONDS = 4e-6
"""Fixed cost of a kernel: start and tail, 2 to 8 us leave the same error over the published shapes [simumax, A100]."""

MEMORY = {"sm80": 0.91, "sm100": 0.67, "sm103": 0.67}
"""Share of the memory bandwidth that kernels without arithmetic reach [simumax]; elsewhere that of A100."""


@dataclass(frozen=True, slots=True)
class AttentionRates:
    """Best rates of fused attention over causal operations, as shares of the peak, forward and backward.

    `forward_rows` and `backward_rows` are the queries, over all heads and sequences, with which half of it is reached:
    fewer leave multiprocessors idle. `ramp` are the keys computed beyond the causal half, in blocks on the diagonal;
    `narrow` is the rate with heads 64 wide against 128.
    """

    forward: float
    backward: float
    forward_rows: float = 20e3
    backward_rows: float = 12e3
    ramp: float = 240.0
    narrow: float = 0.90


AMPERE = AttentionRates(0.71, 0.59)
"""A100, 4 to 128 heads [simumax]; both passes together 0.617, as FlashAttention-2's authors measured [fa2, figure 4].

Their curves over 512 to 16384 tokens are met within 3 % by 240 keys beyond the causal half, and those of heads 64 wide
by 0.90: 171 against 189 TFLOP/s [fa2, figure 4]. SimuMax counts operations without a mask (test_fa_efficiency.py), so
its shares are halved here.
"""

FLASH = {"sm80": AMPERE, "sm90": AttentionRates(0.37, 0.33)}
"""FlashAttention-2; on H100 0.34 over both passes [fa2, figure 7], 0.37 forward [fa3, figure 5]."""

CUDNN = {
    "sm80": AMPERE,
    "sm90": AttentionRates(0.65, 0.55),
    "sm100": AttentionRates(0.66, 0.46, 90e3, 8e3),
}
"""cuDNN's fused attention: H100 [fa3, figures 5 and 6]; B200, 4 to 128 heads [simumax]."""

BLACKWELL = ("sm10", "sm12")
"""Architectures on which FlashAttention-2 has no kernels of its own; frameworks take cuDNN's there."""

HOST_SECONDS = {True: 1e-3, False: 0.25e-3}
"""Time in which Python issues one pass of a layer (forward, backward, or a forward that is repeated): operation by
operation as in the stacks of 2021, and where modules are fused [time, section 5]."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Achieved rates: FLOP per second, bytes per second, seconds; arrays where several are tried at once.

    `vector` is the rate without tensor cores; `processors` is 0 where products are not quantised; `grouped` is the rate
    of grouped products against others;
    `attention` has FLOP per second here; `host_seconds` are those of one pass of a layer.
    """

    product: Float
    product_8bit: Float
    vector: float
    weight_gradient: float
    processors: int
    grouped: float
    attention: AttentionRates
    memory: float
    kernel_seconds: float
    host_seconds: float
    fabric: Fabric

    def tuned(self, link: Float, product: Float) -> "Rates":
        """The rates with other links inside a node, and other products."""
        return replace(
            self,
            product=self.product * product,
            product_8bit=self.product_8bit * product,
            fabric=replace(self.fabric, tuning=self.fabric.tuning * link),
        )


def rates_of(accelerator: Accelerator, recipe: Recipe) -> Rates:
    """The rates of a device under a recipe whose attention is settled; fp32 products run at the device's fp32 peak.

    Raises ValueError when no peak is known for the device.
    """
    architecture = accelerator.architecture
    peak = peak_flops(accelerator, recipe.compute)
    attention = _attention(architecture, recipe.attention)
    return Rates(
        product=peak * product_share(accelerator, recipe.compute),
        product_8bit=_product_8bit(accelerator, recipe),
        vector=accelerator.peak_flops.get("fp32", peak),
        weight_gradient=WEIGHT_GRADIENT,
        processors=PROCESSORS.get(architecture, 0),
        grouped=GROUPED.get(architecture, GROUPED_ELSEWHERE),
        attention=replace(attention, forward=peak * attention.forward, backward=peak * attention.backward),
        memory=accelerator.memory_bytes_per_second * MEMORY.get(architecture, MEMORY["sm80"]),
        kernel_seconds=KERNEL_SECONDS,
        host_seconds=HOST_SECONDS[eager_host(recipe)],
        fabric=fabric_of(accelerator),
    )


def product_share(accelerator: Accelerator, dtype: str) -> float:
    """Share of a type's dense peak that large matrix products of training shapes reach."""
    limited = LIMITED_PRODUCTS.get(accelerator.name)
    measured = (TRAINING_PRODUCTS_8BIT if dtype == "fp8" else TRAINING_PRODUCTS).get(accelerator.architecture)
    if limited or measured:
        return limited or measured or 0.0
    achieved = accelerator.achieved_flops.get(dtype)
    best = BEST_PRODUCT if achieved is None else achieved / accelerator.peak_flops[dtype]
    return best * TRAINING_SHAPES


def peak_flops(accelerator: Accelerator, dtype: str) -> float:
    """Dense peak of a data type (FLOP per second); a device without bf16 computes at its fp16 peak.

    Raises ValueError when the device has neither.
    """
    peaks = accelerator.peak_flops
    found = peaks.get(dtype) or peaks.get("fp16") or peaks.get("fp32")
    if not found:
        raise ValueError(f"no peak of {dtype} is known for {accelerator.name}")
    return found


def _product_8bit(accelerator: Accelerator, recipe: Recipe) -> float:
    """Rate of narrow products; those of 4 bits reach the share of their peak that those of 8 do, where it is known."""
    if recipe.fp8 is None:
        return 0.0
    narrow = "fp4" if recipe.fp8.recipe == "nvfp4" and accelerator.peak_flops.get("fp4") else "fp8"
    return peak_flops(accelerator, narrow) * product_share(accelerator, "fp8")


def _attention(architecture: str, kernel: str) -> AttentionRates:
    if architecture.startswith(BLACKWELL):
        return CUDNN["sm100"]
    table = FLASH if kernel in {"flash", "flex"} else CUDNN
    return table.get(architecture, FLASH["sm80"])
