"""Devices of the catalogue."""

from datetime import datetime
from typing import Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes
from service.api.schemas.device_request import DeviceRequest
from service.catalog.devices import SchedulerLabels, Source
from service.usecases.current_devices import ListedDevice


class EvidenceAnswer(Answer):
    """Where a group of a device's figures comes from."""

    confidence: str = Field(examples=["checked"])
    """`checked` (read in the source), `partly_recalled`, `recalled` (a data sheet, not read again), `inferred`, or
    `stated` by this service's operator."""
    source: str = Field(examples=["nvidia-smi listings in public repositories"])
    """The source."""

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the wire form of a source."""
        return cls(confidence=source.confidence, source=source.source)


class EvidenceAnswers(Answer):
    """Where a device's figures come from."""

    memory: EvidenceAnswer
    """Source of the sizes."""
    compute: EvidenceAnswer
    """Source of the rates."""
    links: EvidenceAnswer
    """Source of the bandwidths."""


class LabelsAnswer(Answer):
    """What schedulers call a device."""

    gres_types: list[str] = Field(examples=[["h100"]])
    """Slurm generic-resource types."""
    instance_types: list[str] = Field(examples=[["p5.48xlarge"]])
    """Cloud instance types that carry the device."""
    kubernetes_products: list[str] = Field(examples=[["NVIDIA-H100-80GB-HBM3"]])
    """Values of the node label `nvidia.com/gpu.product`."""

    @classmethod
    def of(cls, labels: SchedulerLabels) -> Self:
        """Return the wire form of the labels."""
        return cls(
            gres_types=list(labels.gres_types),
            instance_types=list(labels.instance_types),
            kubernetes_products=list(labels.kubernetes_products),
        )


class DeviceAnswer(Answer):
    """A device that jobs can be planned for."""

    id: str = Field(examples=["h100-sxm-80gb"])
    """Name of the device in requests."""
    aliases: list[str] = Field(examples=[["h100", "h100-sxm"]])
    """Other names that requests may use."""
    vendor: str = Field(examples=["NVIDIA"])
    """Manufacturer."""
    architecture: str = Field(examples=["sm90"])
    """Compute architecture."""
    marketing_gb: int = Field(examples=[80])
    """Size it is sold as (GB); never used for planning."""
    memory_kind: str = Field(examples=["HBM3"])
    """Kind of memory."""
    total_bytes: Bytes | None = Field(examples=[85520809984])
    """Memory that the driver lists (bytes); null where no listing was found."""
    usable_bytes: Bytes | None = Field(examples=[84932978278])
    """Memory that a job may take (bytes): what a process was seen to get, the smallest figure, less `reserve_bytes`;
    null where none was found."""
    reserve_bytes: Bytes = Field(examples=[0])
    """Memory that the operator keeps free (bytes); it is taken off `usable_bytes`."""
    memory_bytes_per_second: float = Field(examples=[3.35e12])
    """Memory bandwidth (bytes per second)."""
    peak_flops: dict[str, float] = Field(examples=[{"bf16": 9.89e14}])
    """Dense peak rates by data type (FLOP per second)."""
    link_bytes_per_second: float | None = Field(examples=[4.5e11])
    """Bandwidth to devices of the same NVLink domain or node (bytes per second and direction); null where not known."""
    network_bytes_per_second: float | None = Field(examples=[5e10])
    """Bandwidth of one device to other nodes (bytes per second and direction); null where not known."""
    gpus_per_node: int = Field(examples=[8])
    """Devices in one node."""
    link_domain: int = Field(examples=[8])
    """Devices that reach each other over the fast links."""
    labels: LabelsAnswer
    """What schedulers call it."""
    evidence: EvidenceAnswers
    """Where the figures come from."""
    notes: str = Field(examples=["Older drivers list 81079 MiB."])
    """What else should be known."""
    origin: str = Field(examples=["override"])
    """`catalogue`, `override` (the catalogue's, with an operator's figures or names), or `operator` (not in the
    catalogue, or a slice)."""
    slice_of: str | None = Field(examples=["h100-sxm-80gb"])
    """Id of the device that this is a slice of; null for a whole one."""
    definition: DeviceRequest | None
    """What the operator has said, as it can be sent again; null where nothing was said."""
    updated_at: datetime | None = Field(examples=["2026-11-29T19:00:00Z"])
    """When that was said (RFC 3339)."""

    @classmethod
    def of(cls, listed: ListedDevice) -> Self:
        """Return the wire form of a device."""
        device, stored = listed.device, listed.stored
        return cls(
            id=device.id,
            aliases=list(device.aliases),
            vendor=device.vendor,
            architecture=device.architecture,
            marketing_gb=device.marketing_gb,
            memory_kind=device.memory_kind,
            total_bytes=device.total_bytes,
            usable_bytes=device.usable_bytes,
            reserve_bytes=device.reserve_bytes,
            memory_bytes_per_second=device.hbm_bytes_per_second,
            peak_flops=dict(device.peak_flops),
            link_bytes_per_second=device.link_bytes_per_second,
            network_bytes_per_second=device.network_bytes_per_second,
            gpus_per_node=device.gpus_per_node,
            link_domain=device.nvlink_domain,
            labels=LabelsAnswer.of(device.labels),
            evidence=EvidenceAnswers(
                memory=EvidenceAnswer.of(device.evidence.memory),
                compute=EvidenceAnswer.of(device.evidence.compute),
                links=EvidenceAnswer.of(device.evidence.links),
            ),
            notes=device.notes,
            origin=device.origin,
            slice_of=device.slice_of,
            definition=None if stored is None else DeviceRequest.model_validate(stored.definition),
            updated_at=None if stored is None else stored.updated_at,
        )


class DeviceList(Answer):
    """All devices."""

    items: list[DeviceAnswer]
    """The devices: those of the catalogue in its order, then those that the operator has added."""
