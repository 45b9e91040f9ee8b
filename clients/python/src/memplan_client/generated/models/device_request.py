from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.device_request_peak_flops_type_0 import DeviceRequestPeakFlopsType0
    from ..models.labels_request import LabelsRequest
    from ..models.slice_request import SliceRequest


T = TypeVar("T", bound="DeviceRequest")


@_attrs_define
class DeviceRequest:
    """What is said of a device; what is left out is as in the catalogue's device of this id, or of `base`.

    Attributes:
        base (None | str | Unset): For an id that the catalogue lacks: the catalogue's device whose figures it has where
            nothing is said. Without a
            base, `vendor`, `architecture`, `usable_bytes`, `memory_bytes_per_second` and `peak_flops` are needed.
        vendor (None | str | Unset): Manufacturer.
        architecture (None | str | Unset): Compute architecture.
        memory_kind (None | str | Unset): Kind of memory.
        marketing_gb (int | None | Unset): Size it is sold as (GB); never used for planning.
        total_bytes (int | None | Unset): Memory that the driver lists (bytes).
        usable_bytes (int | None | Unset): Memory that a process can use (bytes): what
            `torch.cuda.get_device_properties(0).total_memory` says.
        reserve_bytes (int | Unset): Memory of each device that jobs shall leave free (bytes), for monitoring or another
            process; it is taken off what
            is usable. Default: 0.
        memory_bytes_per_second (float | None | Unset): Memory bandwidth (bytes per second).
        peak_flops (DeviceRequestPeakFlopsType0 | None | Unset): Dense peak rates by data type (FLOP per second).
        link_kind (None | str | Unset): Kind of the links inside a node; one that begins with `PCIe` is a bus that
            devices share.
        link_bytes_per_second (float | None | Unset): Bandwidth to devices of the same NVLink domain or node (bytes per
            second and direction); what was measured of the
            catalogue's links then no longer counts.
        network_bytes_per_second (float | None | Unset): Bandwidth of one device to other nodes (bytes per second and
            direction).
        link_domain (int | None | Unset): Devices that reach each other over the fast links.
        gpus_per_node (int | None | Unset): Devices in one node.
        aliases (list[str] | None | Unset): Other names that requests may use, in the place of the catalogue's.
        labels (LabelsRequest | None | Unset): What schedulers call it, in the place of the catalogue's.
        slices (list[SliceRequest] | Unset): MIG instances and virtual GPUs that it is divided into; each is a device of
            its own.
        notes (None | str | Unset): What else should be known.
    """

    base: None | str | Unset = UNSET
    vendor: None | str | Unset = UNSET
    architecture: None | str | Unset = UNSET
    memory_kind: None | str | Unset = UNSET
    marketing_gb: int | None | Unset = UNSET
    total_bytes: int | None | Unset = UNSET
    usable_bytes: int | None | Unset = UNSET
    reserve_bytes: int | Unset = 0
    memory_bytes_per_second: float | None | Unset = UNSET
    peak_flops: DeviceRequestPeakFlopsType0 | None | Unset = UNSET
    link_kind: None | str | Unset = UNSET
    link_bytes_per_second: float | None | Unset = UNSET
    network_bytes_per_second: float | None | Unset = UNSET
    link_domain: int | None | Unset = UNSET
    gpus_per_node: int | None | Unset = UNSET
    aliases: list[str] | None | Unset = UNSET
    labels: LabelsRequest | None | Unset = UNSET
    slices: list[SliceRequest] | Unset = UNSET
    notes: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.device_request_peak_flops_type_0 import (
            DeviceRequestPeakFlopsType0,  # noqa: PLC0415
        )
        from ..models.labels_request import LabelsRequest  # noqa: PLC0415

        base: None | str | Unset
        if isinstance(self.base, Unset):
            base = UNSET
        else:
            base = self.base

        vendor: None | str | Unset
        if isinstance(self.vendor, Unset):
            vendor = UNSET
        else:
            vendor = self.vendor

        architecture: None | str | Unset
        if isinstance(self.architecture, Unset):
            architecture = UNSET
        else:
            architecture = self.architecture

        memory_kind: None | str | Unset
        if isinstance(self.memory_kind, Unset):
            memory_kind = UNSET
        else:
            memory_kind = self.memory_kind

        marketing_gb: int | None | Unset
        if isinstance(self.marketing_gb, Unset):
            marketing_gb = UNSET
        else:
            marketing_gb = self.marketing_gb

        total_bytes: int | None | Unset
        if isinstance(self.total_bytes, Unset):
            total_bytes = UNSET
        else:
            total_bytes = self.total_bytes

        usable_bytes: int | None | Unset
        if isinstance(self.usable_bytes, Unset):
            usable_bytes = UNSET
        else:
            usable_bytes = self.usable_bytes

        reserve_bytes = self.reserve_bytes

        memory_bytes_per_second: float | None | Unset
        if isinstance(self.memory_bytes_per_second, Unset):
            memory_bytes_per_second = UNSET
        else:
            memory_bytes_per_second = self.memory_bytes_per_second

        peak_flops: dict[str, Any] | None | Unset
        if isinstance(self.peak_flops, Unset):
            peak_flops = UNSET
        elif isinstance(self.peak_flops, DeviceRequestPeakFlopsType0):
            peak_flops = self.peak_flops.to_dict()
        else:
            peak_flops = self.peak_flops

        link_kind: None | str | Unset
        if isinstance(self.link_kind, Unset):
            link_kind = UNSET
        else:
            link_kind = self.link_kind

        link_bytes_per_second: float | None | Unset
        if isinstance(self.link_bytes_per_second, Unset):
            link_bytes_per_second = UNSET
        else:
            link_bytes_per_second = self.link_bytes_per_second

        network_bytes_per_second: float | None | Unset
        if isinstance(self.network_bytes_per_second, Unset):
            network_bytes_per_second = UNSET
        else:
            network_bytes_per_second = self.network_bytes_per_second

        link_domain: int | None | Unset
        if isinstance(self.link_domain, Unset):
            link_domain = UNSET
        else:
            link_domain = self.link_domain

        gpus_per_node: int | None | Unset
        if isinstance(self.gpus_per_node, Unset):
            gpus_per_node = UNSET
        else:
            gpus_per_node = self.gpus_per_node

        aliases: list[str] | None | Unset
        if isinstance(self.aliases, Unset):
            aliases = UNSET
        elif isinstance(self.aliases, list):
            aliases = self.aliases

        else:
            aliases = self.aliases

        labels: dict[str, Any] | None | Unset
        if isinstance(self.labels, Unset):
            labels = UNSET
        elif isinstance(self.labels, LabelsRequest):
            labels = self.labels.to_dict()
        else:
            labels = self.labels

        slices: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.slices, Unset):
            slices = []
            for slices_item_data in self.slices:
                slices_item = slices_item_data.to_dict()
                slices.append(slices_item)

        notes: None | str | Unset
        if isinstance(self.notes, Unset):
            notes = UNSET
        else:
            notes = self.notes

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if base is not UNSET:
            field_dict["base"] = base
        if vendor is not UNSET:
            field_dict["vendor"] = vendor
        if architecture is not UNSET:
            field_dict["architecture"] = architecture
        if memory_kind is not UNSET:
            field_dict["memory_kind"] = memory_kind
        if marketing_gb is not UNSET:
            field_dict["marketing_gb"] = marketing_gb
        if total_bytes is not UNSET:
            field_dict["total_bytes"] = total_bytes
        if usable_bytes is not UNSET:
            field_dict["usable_bytes"] = usable_bytes
        if reserve_bytes is not UNSET:
            field_dict["reserve_bytes"] = reserve_bytes
        if memory_bytes_per_second is not UNSET:
            field_dict["memory_bytes_per_second"] = memory_bytes_per_second
        if peak_flops is not UNSET:
            field_dict["peak_flops"] = peak_flops
        if link_kind is not UNSET:
            field_dict["link_kind"] = link_kind
        if link_bytes_per_second is not UNSET:
            field_dict["link_bytes_per_second"] = link_bytes_per_second
        if network_bytes_per_second is not UNSET:
            field_dict["network_bytes_per_second"] = network_bytes_per_second
        if link_domain is not UNSET:
            field_dict["link_domain"] = link_domain
        if gpus_per_node is not UNSET:
            field_dict["gpus_per_node"] = gpus_per_node
        if aliases is not UNSET:
            field_dict["aliases"] = aliases
        if labels is not UNSET:
            field_dict["labels"] = labels
        if slices is not UNSET:
            field_dict["slices"] = slices
        if notes is not UNSET:
            field_dict["notes"] = notes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.device_request_peak_flops_type_0 import (
            DeviceRequestPeakFlopsType0,  # noqa: PLC0415
        )
        from ..models.labels_request import LabelsRequest  # noqa: PLC0415
        from ..models.slice_request import SliceRequest  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_base(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        base = _parse_base(d.pop("base", UNSET))

        def _parse_vendor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        vendor = _parse_vendor(d.pop("vendor", UNSET))

        def _parse_architecture(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        architecture = _parse_architecture(d.pop("architecture", UNSET))

        def _parse_memory_kind(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        memory_kind = _parse_memory_kind(d.pop("memory_kind", UNSET))

        def _parse_marketing_gb(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        marketing_gb = _parse_marketing_gb(d.pop("marketing_gb", UNSET))

        def _parse_total_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        total_bytes = _parse_total_bytes(d.pop("total_bytes", UNSET))

        def _parse_usable_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        usable_bytes = _parse_usable_bytes(d.pop("usable_bytes", UNSET))

        reserve_bytes = d.pop("reserve_bytes", UNSET)

        def _parse_memory_bytes_per_second(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        memory_bytes_per_second = _parse_memory_bytes_per_second(
            d.pop("memory_bytes_per_second", UNSET)
        )

        def _parse_peak_flops(
            data: object,
        ) -> DeviceRequestPeakFlopsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                peak_flops_type_0 = DeviceRequestPeakFlopsType0.from_dict(data)

                return peak_flops_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeviceRequestPeakFlopsType0 | None | Unset, data)

        peak_flops = _parse_peak_flops(d.pop("peak_flops", UNSET))

        def _parse_link_kind(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        link_kind = _parse_link_kind(d.pop("link_kind", UNSET))

        def _parse_link_bytes_per_second(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        link_bytes_per_second = _parse_link_bytes_per_second(
            d.pop("link_bytes_per_second", UNSET)
        )

        def _parse_network_bytes_per_second(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        network_bytes_per_second = _parse_network_bytes_per_second(
            d.pop("network_bytes_per_second", UNSET)
        )

        def _parse_link_domain(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        link_domain = _parse_link_domain(d.pop("link_domain", UNSET))

        def _parse_gpus_per_node(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        gpus_per_node = _parse_gpus_per_node(d.pop("gpus_per_node", UNSET))

        def _parse_aliases(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                aliases_type_0 = cast(list[str], data)

                return aliases_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        aliases = _parse_aliases(d.pop("aliases", UNSET))

        def _parse_labels(data: object) -> LabelsRequest | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                labels_type_0 = LabelsRequest.from_dict(data)

                return labels_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LabelsRequest | None | Unset, data)

        labels = _parse_labels(d.pop("labels", UNSET))

        _slices = d.pop("slices", UNSET)
        slices: list[SliceRequest] | Unset = UNSET
        if _slices is not UNSET:
            slices = []
            for slices_item_data in _slices:
                slices_item = SliceRequest.from_dict(slices_item_data)

                slices.append(slices_item)

        def _parse_notes(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        notes = _parse_notes(d.pop("notes", UNSET))

        device_request = cls(
            base=base,
            vendor=vendor,
            architecture=architecture,
            memory_kind=memory_kind,
            marketing_gb=marketing_gb,
            total_bytes=total_bytes,
            usable_bytes=usable_bytes,
            reserve_bytes=reserve_bytes,
            memory_bytes_per_second=memory_bytes_per_second,
            peak_flops=peak_flops,
            link_kind=link_kind,
            link_bytes_per_second=link_bytes_per_second,
            network_bytes_per_second=network_bytes_per_second,
            link_domain=link_domain,
            gpus_per_node=gpus_per_node,
            aliases=aliases,
            labels=labels,
            slices=slices,
            notes=notes,
        )

        return device_request
