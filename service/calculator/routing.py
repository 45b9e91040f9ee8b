"""Rows of tokens on their way to experts and back, on one GPU (memory_model.md, section 3.3).

Expert parallelism moves tokens and does not divide them: with balanced routing a rank receives as many rows as it
sends, top-k times its tokens. A rank that splits its experts over an expert-tensor group works on the rows of the
whole group.
"""

from service.calculator.layout import Layout
from service.calculator.model import Moe
from service.calculator.units import Int, ceil_div, minimum

PERMILLE = 1000


def routed_tokens(layout: Layout) -> Int:
    """Tokens of one micro-batch that this rank routes: its share of the sequence."""
    return layout.local_sequence // layout.sequence_shards * layout.micro_batch


def sent_rows(moe: Moe, layout: Layout) -> Int:
    """Rows that a rank sends: each token top-k times; no more than all experts accept, or just that when padded."""
    rows = routed_tokens(layout) * moe.fanout
    capacity = _capacity_rows(moe, layout)
    if capacity is None:
        return rows
    return capacity if layout.routing.padded else minimum(rows, capacity)


def received_rows(moe: Moe, layout: Layout) -> Int:
    """Rows that the fullest rank of an expert-parallel group receives, before its expert-tensor group gathers them."""
    rows = _share(routed_tokens(layout) * moe.fanout, imbalance(moe, layout), PERMILLE)
    capacity = _capacity_rows(moe, layout)
    if capacity is None:
        return rows
    return capacity if layout.routing.padded else minimum(rows, capacity)


def expert_rows(moe: Moe, layout: Layout) -> Int:
    """Rows that the experts of a rank compute."""
    return received_rows(moe, layout) * layout.expert_tensor


def group_tokens(layout: Layout) -> Int:
    """Tokens of all ranks that share a set of experts; a gathering dispatcher holds all of them."""
    return routed_tokens(layout) * layout.expert * layout.expert_tensor


def imbalance(moe: Moe, layout: Layout) -> Int:
    """Rows of the fullest rank in thousandths of a balanced share, at most what routing can reach."""
    return minimum(layout.routing.imbalance_permille, reachable_imbalance(moe, layout))


def reachable_imbalance(moe: Moe, layout: Layout) -> Int:
    """The worst that routing can do: every token chooses experts of one rank, in thousandths of a balanced share.

    That is e ranks' rows, or E/k of a rank's where it has fewer experts than a token chooses; alone, a rank has all.
    """
    return minimum(layout.expert * PERMILLE, moe.experts * PERMILLE // moe.fanout)


def _capacity_rows(moe: Moe, layout: Layout) -> Int | None:
    """Rows that all experts together accept from one rank. Source: megatron moe_utils.py, get_capacity."""
    factor = layout.routing.capacity_permille
    if factor is None:
        return None
    return _share(routed_tokens(layout) * moe.fanout, factor, moe.experts * PERMILLE) * moe.experts


def _share(rows: Int, numerator: Int, denominator: int) -> Int:
    """The share of rows, rounded up; no intermediate is larger than the share, so that int64 cannot overflow."""
    return rows // denominator * numerator + ceil_div(rows % denominator * numerator, denominator)
