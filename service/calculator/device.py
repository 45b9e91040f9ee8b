"""The GPU that a job is planned for, as the calculator sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Measured bus bandwidth of one kind of collective, by the number of GPUs in a node or of nodes, ascending.

    `operation` is all_reduce, all_gather, reduce_scatter or all_to_all. `rates` are bytes per second inside a node, and
    shares of the network adapters' bandwidth between nodes; `seconds` is the fixed cost of one collective.
    """

    operation: str
    sizes: tuple[int, ...]
    rates: tuple[float, ...]
    seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One GPU and its links. Bandwidths in bytes per second and direction, compute in FLOP per second (dense).

    `total_bytes` is what the driver reports, `usable_bytes` what a process can get. `achieved_flops` is the best matrix
    product that was measured, by data type. GPUs beyond `link_domain` (0: those of a node) meet over the network;
    `peer_bytes_per_second` is one link of a mesh without a switch, `shares_bus` says that links are a host's bus.
    """

    name: str
    vendor: str
    architecture: str
    total_bytes: int
    usable_bytes: int
    gpus_per_node: int
    memory_bytes_per_second: float
    peak_flops: Mapping[str, float]
    link_bytes_per_second: float
    network_bytes_per_second: float
    achieved_flops: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    inside: tuple[Bandwidth, ...] = ()
    between: tuple[Bandwidth, ...] = ()
    link_domain: int = 0
    peer_bytes_per_second: float | None = None
    shares_bus: bool = False
