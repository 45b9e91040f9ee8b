"""Bandwidth of collectives by the number of ranks that share a node and by the number of nodes."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from service.calculator.device import Accelerator, Bandwidth
from service.calculator.step_time.floats import Float, larger, smaller

NODE_GPUS = (2, 4, 8)

NVLINK_ALL_REDUCE = (0.643, 0.727, 0.757)
"""Bus bandwidth as a share of the link, by GPUs of a node: 193, 218 and 227e9 of 300e9 B/s on A100 [vtrain]."""

NVLINK_GATHER = 0.907
"""Gathers and scatters against all-reduces: 606 against 668e9 B/s on B200 [simumax]."""

NVLINK_EXCHANGE = 0.804
"""All-to-alls against all-reduces: 537 against 668e9 B/s on B200 [simumax]."""

BUS_ALL_REDUCE = (0.337, 0.335, 0.202)
BUS_GATHER = (0.332, 0.335, 0.218)
BUS_EXCHANGE = (0.337, 0.309, 0.133)
"""The same over a host's bus, which the GPUs share, of 31e9 B/s on A100 PCIe [simumax]."""

LINK_SECONDS = (46e-6, 54e-6, 79e-6)
"""Fixed cost of a collective by GPUs of a node, A100 [vtrain]; one message between neighbours costs the first."""

BUSY = 0.70
"""A collective between training kernels against an isolated one: about 30 % slower (vTrain, arXiv 2312.12391)."""

NETWORK = 0.94
"""Bus bandwidth between nodes as a share of their adapters, for long messages: 377e9 of 8 x 50e9 B/s over 4 nodes of
B200 [ml-engineering, network/README.md]."""

MEASURED_BYTES = 256e6
NODES = (2, 4, 8, 16, 32, 64)
ALL_REDUCE_SHARES = (0.905, 0.400, 0.250, 0.2125, 0.1625, 0.0825)
GATHER_SHARES = (0.4625, 0.298, 0.1725, 0.1375, 0.070, 0.0275)
"""Bus bandwidth of messages of 256 MB as a share of the adapters, by number of nodes, of 8 x 50e9 B/s [playbook]. What
such a message takes beyond its bytes at `NETWORK` is a fixed cost: longer messages are faster [ml-engineering]."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure that changes with a number of ranks, interpolated over its logarithm and constant beyond both ends."""

    sizes: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, size: Float) -> Float:
        """The figure at a number of ranks."""
        if len(self.values) == 1:
            return self.values[0]
        if isinstance(size, np.ndarray):
            return np.interp(np.log2(size), self.sizes, self.values)
        return self._between(log2(size))

    def _between(self, position: float) -> float:
        """The same for one number: numpy takes twenty times as long for it."""
        above = bisect_right(self.sizes, position)
        if above in {0, len(self.sizes)}:
            return self.values[0 if above == 0 else -1]
        (low, high), (first, second) = self.sizes[above - 1 : above + 1], self.values[above - 1 : above + 1]
        return (second - first) / (high - low) * (position - low) + first


@dataclass(frozen=True, slots=True)
class Collective:
    """One kind of collective: bytes per second inside a node, and fixed costs by GPUs of a node and by nodes."""

    rate: Curve
    inside: Curve
    between: Curve | None

    def fixed_seconds(self, local: Float, nodes: Float) -> Float:
        """Fixed cost among `local` ranks on each of `nodes`."""
        once = self.inside.at(local)
        return once if self.between is None else once + (nodes > 1.0) * self.between.at(nodes)


@dataclass(frozen=True, slots=True)
class Fabric:
    """The links of one GPU; `domain` GPUs reach each other by links, the others over `adapter` bytes per second.

    `peer` is one link of a mesh without a switch; `tuning` scales what the links achieve.
    """

    all_reduce: Collective
    gather: Collective
    exchange: Collective
    adapter: float
    domain: int
    peer: float | None
    tuning: Float = 1.0

    def inside(self, collective: Collective, ranks: Float) -> Float:
        """Bandwidth among ranks of a node; in a mesh only the links between them carry anything."""
        link = collective.rate.at(ranks)
        if self.peer is not None:
            link = smaller(link, larger(ranks - 1.0, 1.0) * self.peer)
        return link * BUSY * self.tuning

    @property
    def network(self) -> float:
        """Bandwidth of one GPU's adapter."""
        return self.adapter * NETWORK * BUSY


def fabric_of(accelerator: Accelerator) -> Fabric:
    """The device's own measured collectives where it has them; elsewhere A100's inside a node, H100's between nodes."""
    link, own = accelerator.link_bytes_per_second, {each.operation: each for each in accelerator.inside}
    nodes = {each.operation: each for each in accelerator.between}
    shares = BUS_ALL_REDUCE if accelerator.shares_bus else NVLINK_ALL_REDUCE
    reduce = own.get("all_reduce") or _shared("all_reduce", shares, link)
    gather = own.get("all_gather") or _beside(reduce, NVLINK_GATHER, BUS_GATHER, accelerator)
    exchange = own.get("all_to_all") or _beside(reduce, NVLINK_EXCHANGE, BUS_EXCHANGE, accelerator)
    adapters = accelerator.network_bytes_per_second * accelerator.gpus_per_node
    reduced = nodes.get("all_reduce") or Bandwidth("all_reduce", NODES, ALL_REDUCE_SHARES)
    gathered = nodes.get("all_gather") or Bandwidth("all_gather", NODES, GATHER_SHARES)
    return Fabric(
        all_reduce=_collective(reduce, _spread(reduced, 2.0 * MEASURED_BYTES / adapters)),
        gather=_collective(gather, _spread(gathered, MEASURED_BYTES / adapters)),
        exchange=_collective(exchange, None),
        adapter=accelerator.network_bytes_per_second,
        domain=accelerator.link_domain or accelerator.gpus_per_node,
        peer=accelerator.peer_bytes_per_second,
    )


def _shared(operation: str, shares: Sequence[float], link: float) -> Bandwidth:
    return Bandwidth(operation, NODE_GPUS, tuple(share * link for share in shares), LINK_SECONDS)


def _beside(reduce: Bandwidth, ratio: float, bus: Sequence[float], accelerator: Accelerator) -> Bandwidth:
    """Another collective where only the all-reduce was measured."""
    if accelerator.shares_bus:
        return _shared(reduce.operation, bus, accelerator.link_bytes_per_second)
    return Bandwidth(reduce.operation, reduce.sizes, tuple(rate * ratio for rate in reduce.rates), reduce.seconds)


def _collective(inside: Bandwidth, between: Curve | None) -> Collective:
    seconds = _curve(inside.sizes, inside.seconds) if inside.seconds else _curve(NODE_GPUS, LINK_SECONDS)
    return Collective(_curve(inside.sizes, inside.rates), seconds, between)


def _spread(measured: Bandwidth, whole: float) -> Curve:
    """Fixed cost by number of nodes; `whole` are the seconds of the measured message at the adapters' full rate."""
    beyond = [
        max(whole * (nodes - 1) / nodes * (1 / share - 1 / NETWORK), 0.0)
        for nodes, share in zip(measured.sizes, measured.rates, strict=True)
    ]
    return _curve(measured.sizes, beyond)


def _curve(sizes: Sequence[int], values: Sequence[float]) -> Curve:
    return Curve(tuple(float(np.log2(size)) for size in sizes), tuple(values))
