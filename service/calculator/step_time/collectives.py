"""Seconds of collectives: a fixed cost, then bytes over a bandwidth that falls with the number of nodes."""

from dataclasses import dataclass

from service.calculator.step_time.fabric import Collective, Fabric
from service.calculator.step_time.floats import Float, as_float, choose, larger, smaller
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


def group_of(size: Int, stride: Int, fabric: Fabric) -> Group:
    """The group of `size` ranks that lie `stride` apart in the global order, nodes being filled in that order."""
    local = minimum(size, maximum(fabric.domain // stride, 1))
    return Group(as_float(size), as_float(local), as_float(ceil_div(size, local)))


def all_reduce_seconds(group: Group, size_bytes: Float, fabric: Fabric, messages: Float = 1.0) -> Float:
    """Sum of `size_bytes` on every rank, left on every rank, in so many messages."""
    bus = _bus(group, fabric.all_reduce, fabric)
    return messages * fixed_seconds(group, fabric.all_reduce) + 2.0 * group.share * size_bytes / bus


def gather_seconds(group: Group, size_bytes: Float, fabric: Fabric, messages: Float = 1.0) -> Float:
    """All-gather to, or reduce-scatter from, `size_bytes` on every rank, in so many messages."""
    bus = _bus(group, fabric.gather, fabric)
    return messages * fixed_seconds(group, fabric.gather) + group.share * size_bytes / bus


def exchange_seconds(group: Group, size_bytes: Float, fabric: Fabric) -> Float:
    """All-to-all of `size_bytes` on every rank: messages to ranks of the node and to others travel at once."""
    inside = size_bytes * (group.local - 1.0) / group.size / fabric.inside(fabric.exchange, group.local)
    outside = size_bytes * (group.size - group.local) / group.size / fabric.network
    return fixed_seconds(group, fabric.exchange) + larger(inside, outside)


def send_seconds(group: Group, size_bytes: Float, fabric: Fabric) -> Float:
    """One message from a rank to its neighbour in the group."""
    link = fabric.inside(fabric.gather, smaller(group.local, 2.0))
    bandwidth = choose(group.nodes > 1.0, fabric.network, link)
    return (group.size > 1.0) * (fabric.gather.inside.values[0] + size_bytes / bandwidth)


def fixed_seconds(group: Group, collective: Collective) -> Float:
    """Fixed cost of one collective; none for a group of one."""
    return (group.size > 1.0) * collective.fixed_seconds(group.local, group.nodes)


def _bus(group: Group, collective: Collective, fabric: Fabric) -> Float:
    """Bus bandwidth: that of the links, and between nodes no more than the adapters of the local ranks give."""
    link = fabric.inside(collective, group.local)
    between = group.local * fabric.network
    return choose(group.nodes > 1.0, choose(group.local > 1.0, smaller(between, link), between), link)
