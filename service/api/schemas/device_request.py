"""What an operator says of a device."""

from typing import Annotated, Literal

from pydantic import Field

from service.api.schemas.base import RequestBody
from service.api.schemas.plan_request import Degree
from service.catalog.definitions import LARGEST_MEMORY, Definition, Slice
from service.catalog.devices import SchedulerLabels

DEVICE_ID = r"^[a-z0-9]+([.-][a-z0-9]+)*$"

# A name of a scheduler: what stands in a command line, a manifest or a URL.
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/ -]*$")]
Names = Annotated[list[Name], Field(max_length=100)]
Size = Annotated[int, Field(strict=True, ge=1, le=LARGEST_MEMORY, json_schema_extra={"format": "int64"})]
Reserve = Annotated[int, Field(strict=True, ge=0, le=LARGEST_MEMORY, json_schema_extra={"format": "int64"})]
Rate = Annotated[float, Field(strict=True, gt=0, le=1e18, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class LabelsRequest(RequestBody):
    """What schedulers call a device."""

    gres_types: Names = Field([], examples=[["h100"]])
    """Slurm generic-resource types, as in `--gres=gpu:TYPE:8`."""
    instance_types: Names = Field([], examples=[["p5.48xlarge"]])
    """Cloud instance types that carry the device."""
    kubernetes_products: Names = Field([], examples=[["NVIDIA-H100-80GB-HBM3"]])
    """Values of the node label `nvidia.com/gpu.product`."""

    def labels(self) -> SchedulerLabels:
        """Return the labels as the catalogue takes them."""
        return SchedulerLabels(
            gres_types=tuple(self.gres_types),
            instance_types=tuple(self.instance_types),
            kubernetes_products=tuple(self.kubernetes_products),
        )


class SliceRequest(RequestBody):
    """A part of a device that a process gets as a device of its own."""

    name: Annotated[str, Field(max_length=40, pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")] = Field(examples=["3g.40gb"])
    """Name of the slice; the device of it is called by the device's id, a hyphen and this."""
    kind: Literal["mig", "vgpu"] = Field(examples=["mig"])
    """Whether it is a MIG instance or a virtual GPU."""
    usable_bytes: Size = Field(examples=[42144366592])
    """Memory that a process can use on it (bytes)."""
    total_bytes: Size | None = Field(None, examples=[42412802048])
    """Memory that the driver lists for it (bytes)."""
    count: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(1, examples=[2])
    """How many of them one device gives."""
    labels: LabelsRequest = LabelsRequest()
    """What schedulers call it."""

    def part(self) -> Slice:
        """Return the slice as the catalogue takes it."""
        return Slice(
            name=self.name,
            kind=self.kind,
            usable_bytes=self.usable_bytes,
            total_bytes=self.total_bytes,
            count=self.count,
            labels=self.labels.labels(),
        )


class DeviceRequest(RequestBody):
    """What is said of a device; what is left out is as in the catalogue's device of this id, or of `base`."""

    base: Annotated[str, Field(max_length=100)] | None = Field(None, examples=["h100-sxm-80gb"])
    """For an id that the catalogue lacks: the catalogue's device whose figures it has where nothing is said. Without a
    base, `vendor`, `architecture`, `usable_bytes`, `memory_bytes_per_second` and `peak_flops` are needed."""
    vendor: Text | None = Field(None, examples=["NVIDIA"])
    """Manufacturer."""
    architecture: Text | None = Field(None, examples=["sm90"])
    """Compute architecture."""
    memory_kind: Text | None = Field(None, examples=["HBM3"])
    """Kind of memory."""
    marketing_gb: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = Field(None, examples=[80])
    """Size it is sold as (GB); never used for planning."""
    total_bytes: Size | None = Field(None, examples=[85520809984])
    """Memory that the driver lists (bytes)."""
    usable_bytes: Size | None = Field(None, examples=[84932978278])
    """Memory that a process can use (bytes): what `torch.cuda.get_device_properties(0).total_memory` says."""
    reserve_bytes: Reserve = Field(0, examples=[1073741824])
    """Memory of each device that jobs shall leave free (bytes), for monitoring or another process; it is taken off what
    is usable."""
    memory_bytes_per_second: Rate | None = Field(None, examples=[3.35e12])
    """Memory bandwidth (bytes per second)."""
    peak_flops: (
        Annotated[
            dict[Annotated[str, Field(max_length=20, pattern=r"^[a-z0-9_]+$")], Rate],
            Field(min_length=1, max_length=20),
        ]
        | None
    ) = Field(None, examples=[{"bf16": 9.89e14}])
    """Dense peak rates by data type (FLOP per second)."""
    link_kind: Text | None = Field(None, examples=["NVLink4"])
    """Kind of the links inside a node; one that begins with `PCIe` is a bus that devices share."""
    link_bytes_per_second: Rate | None = Field(None, examples=[4.5e11])
    """Bandwidth to devices of the same NVLink domain or node (bytes per second and direction); what was measured of the
    catalogue's links then no longer counts."""
    network_bytes_per_second: Rate | None = Field(None, examples=[5e10])
    """Bandwidth of one device to other nodes (bytes per second and direction)."""
    link_domain: Degree | None = Field(None, examples=[8])
    """Devices that reach each other over the fast links."""
    gpus_per_node: Degree | None = Field(None, examples=[8])
    """Devices in one node."""
    aliases: Names | None = Field(None, examples=[["h100"]])
    """Other names that requests may use, in the place of the catalogue's."""
    labels: LabelsRequest | None = None
    """What schedulers call it, in the place of the catalogue's."""
    slices: list[SliceRequest] = Field([], max_length=50)
    """MIG instances and virtual GPUs that it is divided into; each is a device of its own."""
    notes: Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")] | None = Field(
        None, examples=["Rack 12: MPS and DCGM hold 1 GiB."]
    )
    """What else should be known."""

    def definition(self) -> Definition:
        """Return the definition as the catalogue takes it."""
        said = self.model_dump(exclude={"aliases", "labels", "slices"})
        return Definition(
            **said,
            aliases=None if self.aliases is None else tuple(self.aliases),
            labels=None if self.labels is None else self.labels.labels(),
            slices=tuple(each.part() for each in self.slices),
        )
