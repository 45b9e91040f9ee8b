"""Seconds of collectives: a fixed cost, then bytes over a bus bandwidth that falls with the number of nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.calculator.step_time.floats import Float, as_float, choose, smaller
from service.calculator.step_time.rates import (
    LINK_SECONDS,
    LINK_SECONDS_PER_RANK,
    NETWORK_ALL_REDUCE,
    NETWORK_GATHER,
    NODES,
    Rates,
)
from service.calculator.units import Int, ceil_div, maximum, minimum


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks that communicate: their number, how many share a node, and over how many nodes they lie."""

    size: Float
    local: Float
    nodes: Float

    @property
    def share(self) -> Float:
        """What a rank sends or receives of the whole, (n-1)/n."""
        return (self.size - 1.0) / self.size

    @property
    def fixed_seconds(self) -> Float:
        """Fixed cost of one collective; none for a group of one."""
        return (self.size > 1.0) * (LINK_SECONDS + LINK_SECONDS_PER_RANK * self.local)


def group_of(size: Int, stride: Int, rates: Rates) -> Group:
    """The group of `size` ranks that lie `stride` apart in the global order, nodes being filled in that order."""
    local = minimum(size, maximum(rates.gpus_per_node // stride, 1))
    return Group(as_float(size), as_float(local), as_float(ceil_div(size, local)))


def all_reduce_seconds(group: Group, size_bytes: Float, rates: Rates) -> Float:
    """Sum of `size_bytes` on every rank, left on every rank."""
    bandwidth = _bus(group, rates.link_all_reduce, NETWORK_ALL_REDUCE, rates)
    return group.fixed_seconds + 2.0 * group.share * size_bytes / bandwidth


def gather_seconds(group: Group, size_bytes: Float, rates: Rates) -> Float:
    """All-gather to, or reduce-scatter from, `size_bytes` on every rank."""
    bandwidth = _bus(group, rates.link_gather, NETWORK_GATHER, rates)
    return group.fixed_seconds + group.share * size_bytes / bandwidth


def send_seconds(group: Group, size_bytes: Float, rates: Rates) -> Float:
    """One message from a rank to its neighbour in the group."""
    bandwidth = choose(group.nodes > 1.0, rates.adapter * NETWORK_ALL_REDUCE[1], rates.link_gather)
    return (group.size > 1.0) * (LINK_SECONDS + size_bytes / bandwidth)


def _bus(group: Group, link: float, curve: Sequence[float], rates: Rates) -> Float:
    """Bus bandwidth: that of the links, and between nodes no more than the adapters of the local ranks give."""
    between = group.local * rates.adapter * np.interp(np.log2(group.nodes), np.log2(NODES), curve)
    return choose(group.nodes > 1.0, smaller(between, link), link)
