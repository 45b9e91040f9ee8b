"""The GPU catalogue: memory, compute and links of each device, as data with their sources."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from importlib.resources import files
from math import inf
from tomllib import loads
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, PlainSerializer
from pydantic.dataclasses import dataclass

from service.calculator.device import Accelerator
from service.catalog.names import NameIndex, UnknownName

STRICT = ConfigDict(extra="forbid")

Confidence = Literal["checked", "partly_recalled", "recalled", "inferred", "stated"]
Origin = Literal["catalogue", "override", "operator"]
"""Whose device it is: the catalogue's, the catalogue's with an operator's figures, or an operator's own."""

Operation = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
Rates = Annotated[
    Mapping[str, float],
    AfterValidator(lambda rates: MappingProxyType(dict(rates))),
    # pydantic knows no way to write a mapping proxy.
    PlainSerializer(dict),
]


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Source:
    """Where a group of numbers comes from, and how sure it is."""

    confidence: Confidence
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Evidence:
    """The sources of a device's memory, compute and link figures."""

    memory: Source
    compute: Source
    links: Source


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SchedulerLabels:
    """What schedulers call a device: Slurm gres types, cloud instance types, `nvidia.com/gpu.product` values."""

    gres_types: tuple[str, ...] = ()
    instance_types: tuple[str, ...] = ()
    kubernetes_products: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.gres_types, *self.instance_types, *self.kubernetes_products)


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Collective:
    """A measured collective inside a node: time = latency_seconds + volume / bytes_per_second.

    The volume is 2(n-1)/n times the bytes for an all-reduce, (n-1)/n times for the others. Without a latency the
    figure is the plateau of bus bandwidth with long messages.
    """

    operation: Operation
    gpus: int
    bytes_per_second: float
    source: str
    algorithm: Literal["ring", "nvls"] | None = None
    latency_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class NodeCurve:
    """Bus bandwidth of a collective (bytes per second) by number of nodes, on one measured fabric."""

    operation: Operation
    fabric: str
    nodes: tuple[int, ...]
    bytes_per_second: tuple[float, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Device:
    """One device and its surroundings; units in the names, bandwidths per device and direction, FLOP/s dense.

    `total_bytes` is what the driver lists, `usable_bytes` the least that a process was seen to get; both are None
    where no figure was found. Beyond `nvlink_domain` devices traffic leaves for the network. An operator's
    `reserve_bytes` are taken off `usable_bytes` already; `revision` names figures that are not the catalogue's.
    """

    id: str
    vendor: str
    architecture: str
    marketing_gb: int
    memory_kind: str
    hbm_bytes_per_second: float
    peak_flops: Rates
    link_kind: str
    nvlink_domain: int
    gpus_per_node: int
    evidence: Evidence
    total_bytes: int | None = None
    usable_bytes: int | None = None
    usable_max_bytes: int | None = None
    achieved_flops: Rates = field(default_factory=lambda: MappingProxyType({}))
    link_bytes_per_second: float | None = None
    peer_bytes_per_second: float | None = None
    network_bytes_per_second: float | None = None
    nvls_minimum_gpus: int | None = None
    collectives: tuple[Collective, ...] = ()
    node_curves: tuple[NodeCurve, ...] = ()
    aliases: tuple[str, ...] = ()
    labels: SchedulerLabels = SchedulerLabels()
    notes: str = ""
    origin: Origin = "catalogue"
    slice_of: str | None = None
    reserve_bytes: int = 0
    revision: str | None = None

    @property
    def key(self) -> str:
        """The id, and the revision where the figures are an operator's: what an answer was computed for."""
        return self.id if self.revision is None else f"{self.id}@{self.revision}"

    def achieved_fraction(self, dtype: str) -> float | None:
        """Best measured matrix multiplication over the dense peak of a data type, or None when not measured."""
        return self.achieved_flops[dtype] / self.peak_flops[dtype] if dtype in self.achieved_flops else None

    def accelerator(self) -> Accelerator:
        """The device as the calculator sees it; traffic over a link of unknown bandwidth costs no time.

        Of the two memory figures the one that is known stands for both. Raises ValueError when neither is.
        """
        usable, total = self.usable_bytes or self.total_bytes, self.total_bytes or self.usable_bytes
        if usable is None or total is None:
            raise ValueError(f"the memory of {self.id} is not known")
        link = self.link_bytes_per_second or self.peer_bytes_per_second or self.network_bytes_per_second
        return Accelerator(
            name=self.id,
            vendor=self.vendor,
            architecture=self.architecture,
            total_bytes=total,
            usable_bytes=usable,
            gpus_per_node=self.gpus_per_node,
            memory_bytes_per_second=self.hbm_bytes_per_second,
            peak_flops=self.peak_flops,
            link_bytes_per_second=link or inf,
            network_bytes_per_second=self.network_bytes_per_second or inf,
        )


class UnknownDevice(UnknownName):
    """The catalogue has no single device of this name; `matches` are the ids it may mean."""

    kind = "device"


class Devices:
    """Devices by id, and the names that lead to each; those that an operator has stated win over the catalogue's.

    `stamp` is another one whenever anything about them is another.
    """

    def __init__(
        self, devices: Mapping[str, Device], stated: Mapping[str, tuple[str, ...]] | None = None, stamp: bytes = b""
    ) -> None:
        self._devices = MappingProxyType(dict(devices))
        self.stated = MappingProxyType(dict(stated or {}))
        names = {device.id: _spellings(device) for device in devices.values()}
        self._index = NameIndex(UnknownDevice, names, first=self.stated)
        self.stamp = stamp

    def __iter__(self) -> Iterator[Device]:
        return iter(self._devices.values())

    def __len__(self) -> int:
        return len(self._devices)

    def find(self, name: str) -> Device:
        """The device of an id, alias or scheduler label, whatever its case and separators.

        Raises UnknownDevice with the ids that the name may mean: close ones, or all that share it.
        """
        return self._devices[self._index.resolve(name)]


@cache
def load_devices() -> Mapping[str, Device]:
    """Devices of the catalogue by id, in the order of the file."""
    tables = loads(files("service.catalog").joinpath("devices.toml").read_text("utf-8"))
    return MappingProxyType({name: Device(id=name, **fields) for name, fields in tables.items()})


@cache
def built_in() -> Devices:
    """The devices of the catalogue."""
    return Devices(load_devices())


def find_device(name: str) -> Device:
    """The device of the catalogue that a name leads to. Raises UnknownDevice."""
    return built_in().find(name)


def _spellings(device: Device) -> tuple[str, ...]:
    return (*device.aliases, *device.labels.names())
