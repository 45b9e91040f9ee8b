"""Buffers of the dispatchers that write into one another's memory; the driver sees them, the allocator does not."""

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, Category, Line, Scope, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.routing import group_tokens
from service.calculator.units import BYTES, MIB, Int, maximum, minimum, where

DEEPEP = "DeepEP @ dd758ca: csrc/legacy/config.hpp, deep_ep/buffers/legacy.py"
HYBRIDEP = "DeepEP, branch hybrid-ep: csrc/hybrid_ep/buffer/intranode.cu"

CHANNELS = 10
"""Half of the 20 streaming multiprocessors that DeepEP takes."""

PEERS = 8
"""Ranks that reach one another over links."""

ROW_EXTRA = 8 + 128 * (8 + 4 + 4)
"""Bytes beside a row: where it came from, and room for 128 experts' indices and weights and 128 scales."""

ROWS_FROM_NETWORK = 128
WORKSPACE_BYTES = 32 * MIB


def dispatch_buffer_lines(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """The buffer of DeepEP, sized by its own hint, or of HybridEP, which has room for the tokens of all ranks.

    Source: megatron/core/transformer/moe/fused_a2a.py makes one for the widest group.
    """
    if not model.has_experts or recipe.dispatcher not in {"deepep", "hybridep"}:
        return []
    ranks = layout.expert * layout.expert_tensor
    used = where(ranks - 1, 1, 0)
    row = model.hidden_size * BYTES["bf16"]
    if recipe.dispatcher == "hybridep":
        return [_line("dispatch.hybridep_buffer", group_tokens(layout) * row, used, HYBRIDEP)]
    near = CHANNELS * minimum(ranks, PEERS) * _rows_from_peer(ranks) * (row + ROW_EXTRA)
    far = CHANNELS * (ranks // PEERS) * ROWS_FROM_NETWORK * 2 * (row + ROW_EXTRA + 16)
    size = near + where(maximum(ranks - PEERS, 0), far, 0) + WORKSPACE_BYTES
    return [_line("dispatch.deepep_buffer", size, used, DEEPEP)]


def _rows_from_peer(ranks: Int) -> Int:
    """Rows that a channel holds for each peer, by the size of the group."""
    rows: Int = 256
    for above, more in ((8, 288), (64, 480), (96, 560), (128, 720)):
        rows = where(maximum(ranks - above, 0), more, rows)
    return rows


def _line(name: str, size: Int, used: Int, source: str) -> Line:
    tensor = Tensor(name, Category.COMMUNICATION, (size,), "uint8", (), f"modelled: {source}")
    return Line(tensor, used, ALWAYS, Scope.DEVICE, modelled=True)
