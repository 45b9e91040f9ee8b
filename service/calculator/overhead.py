"""Memory that no rule gives exactly: workspaces, allocator, context. Every line here is modelled.

Constants are upper-middle values of what the sources report, not fits to single runs.
"""

from service.calculator.device import Accelerator
from service.calculator.ledger import FROM_START, Category, Line, Scope, Tensor
from service.calculator.recipe import Recipe
from service.calculator.units import MIB, Int, maximum

GEMM_WORKSPACE = (4 * MIB, 32 * MIB)
"""Transformer Engine's GEMM workspace before compute capability 9 and from it on (TE cpp_extensions/gemm.py)."""

GROUPED_STREAMS = 4
"""Streams of a grouped product, each with a GEMM workspace (TE multi_stream.cpp): the resident bytes of Megatron-LM's
CI runs with grouped experts exceed those of the others by just that, on A100, H100 and GB200."""

BLAS_WORKSPACE = (8 * MIB + 128 * 1024, 32 * MIB)
"""One cuBLAS workspace: ":4096:2:16:8", or ":4096:8" on Hopper, on Blackwell and under deterministic mode."""

BLAS_WORKSPACES = 2
"""cuBLAS and cuBLASLt each keep one: with two, the resident bytes of Megatron-LM's CI beyond parameters, gradients
and states come out within 10 MiB on A100, H100 and GB200, deterministic or not (golden values @ d98e8a64)."""

FRAGMENTATION_PERCENT = 3
"""Reserved beyond allocated: 1.02-1.15 reported (memory_model.md 8); SimuMax's B200 runs without context parallelism
have a median of 1.03."""

FRAGMENTATION_OF_PASSING_PERCENT = 10
"""The same, of what comes and goes within a step: what rests was allocated once and has no gaps. Runs that print both
kinds show 10 to 30 % where more than 15 GiB come and go (SimuMax at 131072 tokens, ALCF's 7B, Ling's mini)."""

CONTEXT_BYTES = 512 * MIB
"""CUDA context and loaded kernels: 0.4-0.8 GiB on A100 and H100 with Transformer Engine and NCCL (section 8)."""


def workspace_lines(recipe: Recipe, accelerator: Accelerator, *, experts: bool = False) -> list[Line]:
    """Scratch buffers that count as allocated; Megatron's router runs on Transformer Engine in local layers too."""
    recent = accelerator.architecture.startswith(("sm9", "sm10", "sm12"))
    large = accelerator.architecture.startswith(("sm9", "sm10")) or recipe.deterministic
    lines = []
    engine = recipe.runs_engine
    if engine or (experts and recipe.transformer_impl == "local"):
        grouped = GROUPED_STREAMS if engine and experts and recipe.grouped_gemm else 0
        size = GEMM_WORKSPACE[recent]
        lines.append(_line("workspace.gemm", Category.WORKSPACE, size, Scope.ALLOCATED, "TE gemm.py", 1 + grouped))
    source = "memory_model.md 8 cuBLAS"
    size = BLAS_WORKSPACE[large]
    lines.append(_line("workspace.blas", Category.WORKSPACE, size, Scope.ALLOCATED, source, BLAS_WORKSPACES))
    return lines


def driver_lines(recipe: Recipe, peak_allocated: Int, resting: Int) -> list[Line]:
    """What the allocator keeps beyond the allocated peak, and what only the driver sees.

    `resting` bytes of the peak last the whole step. The allocator does not give back what the peak needed, so its line
    is alive during the whole step. Under FSDP what is reserved beyond the peak are its streams' pools and stranded
    logits, which are lines of their own; where one trace runs everything on one stream there are no pools.
    """
    kept: Int = 0
    if not recipe.habits.pooled_streams or not recipe.sharding.own_streams:
        passing = (peak_allocated - resting) * FRAGMENTATION_OF_PASSING_PERCENT // 100
        kept = maximum(peak_allocated * FRAGMENTATION_PERCENT // 100, passing)
    return [
        _line("allocator.fragmentation", Category.ALLOCATOR, kept, Scope.RESERVED, "memory_model.md 8 fragmentation"),
        _line("context.driver", Category.CONTEXT, CONTEXT_BYTES, Scope.DEVICE, "memory_model.md 8 context"),
    ]


def _line(name: str, category: Category, size: Int, scope: Scope, source: str, count: Int = 1) -> Line:
    tensor = Tensor(name, category, (size,), "uint8", (), f"modelled: {source}")
    return Line(tensor, count, FROM_START, scope, modelled=True)
