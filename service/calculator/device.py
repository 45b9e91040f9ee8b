"""The GPU that a job is planned for, as the calculator sees it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One GPU and its links. Bandwidths in bytes per second and direction, compute in FLOP per second (dense).

    `total_bytes` is what the driver reports, `usable_bytes` what a process can get.
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
