from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.device_answer_peak_flops import DeviceAnswerPeakFlops
    from ..models.device_request import DeviceRequest
    from ..models.evidence_answers import EvidenceAnswers
    from ..models.labels_answer import LabelsAnswer


T = TypeVar("T", bound="DeviceAnswer")


@_attrs_define
class DeviceAnswer:
    """A device that jobs can be planned for.

    Attributes:
        id (str): Name of the device in requests.
        aliases (list[str]): Other names that requests may use.
        vendor (str): Manufacturer.
        architecture (str): Compute architecture.
        marketing_gb (int): Size it is sold as (GB); never used for planning.
        memory_kind (str): Kind of memory.
        total_bytes (int | None): Memory that the driver lists (bytes); null where no listing was found.
        usable_bytes (int | None): Memory that a job may take (bytes): what a process was seen to get, the smallest
            figure, less `reserve_bytes`;
            null where none was found.
        reserve_bytes (int): Memory that the operator keeps free (bytes); it is taken off `usable_bytes`.
        memory_bytes_per_second (float): Memory bandwidth (bytes per second).
        peak_flops (DeviceAnswerPeakFlops): Dense peak rates by data type (FLOP per second).
        link_bytes_per_second (float | None): Bandwidth to devices of the same NVLink domain or node (bytes per second
            and direction); null where not known.
        network_bytes_per_second (float | None): Bandwidth of one device to other nodes (bytes per second and
            direction); null where not known.
        gpus_per_node (int): Devices in one node.
        link_domain (int): Devices that reach each other over the fast links.
        labels (LabelsAnswer): What schedulers call a device.
        evidence (EvidenceAnswers): Where a device's figures come from.
        notes (str): What else should be known.
        origin (str): `catalogue`, `override` (the catalogue's, with an operator's figures or names), or `operator` (not
            in the
            catalogue, or a slice).
        slice_of (None | str): Id of the device that this is a slice of; null for a whole one.
        definition (DeviceRequest | None): What the operator has said, as it can be sent again; null where nothing was
            said.
        updated_at (datetime.datetime | None): When that was said (RFC 3339).
    """

    id: str
    aliases: list[str]
    vendor: str
    architecture: str
    marketing_gb: int
    memory_kind: str
    total_bytes: int | None
    usable_bytes: int | None
    reserve_bytes: int
    memory_bytes_per_second: float
    peak_flops: DeviceAnswerPeakFlops
    link_bytes_per_second: float | None
    network_bytes_per_second: float | None
    gpus_per_node: int
    link_domain: int
    labels: LabelsAnswer
    evidence: EvidenceAnswers
    notes: str
    origin: str
    slice_of: None | str
    definition: DeviceRequest | None
    updated_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.device_request import DeviceRequest  # noqa: PLC0415

        id = self.id

        aliases = self.aliases

        vendor = self.vendor

        architecture = self.architecture

        marketing_gb = self.marketing_gb

        memory_kind = self.memory_kind

        total_bytes: int | None
        total_bytes = self.total_bytes

        usable_bytes: int | None
        usable_bytes = self.usable_bytes

        reserve_bytes = self.reserve_bytes

        memory_bytes_per_second = self.memory_bytes_per_second

        peak_flops = self.peak_flops.to_dict()

        link_bytes_per_second: float | None
        link_bytes_per_second = self.link_bytes_per_second

        network_bytes_per_second: float | None
        network_bytes_per_second = self.network_bytes_per_second

        gpus_per_node = self.gpus_per_node

        link_domain = self.link_domain

        labels = self.labels.to_dict()

        evidence = self.evidence.to_dict()

        notes = self.notes

        origin = self.origin

        slice_of: None | str
        slice_of = self.slice_of

        definition: dict[str, Any] | None
        if isinstance(self.definition, DeviceRequest):
            definition = self.definition.to_dict()
        else:
            definition = self.definition

        updated_at: None | str
        if isinstance(self.updated_at, datetime.datetime):
            updated_at = self.updated_at.isoformat()
        else:
            updated_at = self.updated_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "aliases": aliases,
                "vendor": vendor,
                "architecture": architecture,
                "marketing_gb": marketing_gb,
                "memory_kind": memory_kind,
                "total_bytes": total_bytes,
                "usable_bytes": usable_bytes,
                "reserve_bytes": reserve_bytes,
                "memory_bytes_per_second": memory_bytes_per_second,
                "peak_flops": peak_flops,
                "link_bytes_per_second": link_bytes_per_second,
                "network_bytes_per_second": network_bytes_per_second,
                "gpus_per_node": gpus_per_node,
                "link_domain": link_domain,
                "labels": labels,
                "evidence": evidence,
                "notes": notes,
                "origin": origin,
                "slice_of": slice_of,
                "definition": definition,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.device_answer_peak_flops import DeviceAnswerPeakFlops  # noqa: PLC0415
        from ..models.device_request import DeviceRequest  # noqa: PLC0415
        from ..models.evidence_answers import EvidenceAnswers  # noqa: PLC0415
        from ..models.labels_answer import LabelsAnswer  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        aliases = cast(list[str], d.pop("aliases"))

        vendor = d.pop("vendor")

        architecture = d.pop("architecture")

        marketing_gb = d.pop("marketing_gb")

        memory_kind = d.pop("memory_kind")

        def _parse_total_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        total_bytes = _parse_total_bytes(d.pop("total_bytes"))

        def _parse_usable_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        usable_bytes = _parse_usable_bytes(d.pop("usable_bytes"))

        reserve_bytes = d.pop("reserve_bytes")

        memory_bytes_per_second = d.pop("memory_bytes_per_second")

        peak_flops = DeviceAnswerPeakFlops.from_dict(d.pop("peak_flops"))

        def _parse_link_bytes_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        link_bytes_per_second = _parse_link_bytes_per_second(
            d.pop("link_bytes_per_second")
        )

        def _parse_network_bytes_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        network_bytes_per_second = _parse_network_bytes_per_second(
            d.pop("network_bytes_per_second")
        )

        gpus_per_node = d.pop("gpus_per_node")

        link_domain = d.pop("link_domain")

        labels = LabelsAnswer.from_dict(d.pop("labels"))

        evidence = EvidenceAnswers.from_dict(d.pop("evidence"))

        notes = d.pop("notes")

        origin = d.pop("origin")

        def _parse_slice_of(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        slice_of = _parse_slice_of(d.pop("slice_of"))

        def _parse_definition(data: object) -> DeviceRequest | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                definition_type_0 = DeviceRequest.from_dict(data)

                return definition_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeviceRequest | None, data)

        definition = _parse_definition(d.pop("definition"))

        def _parse_updated_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                updated_at_type_0 = datetime.datetime.fromisoformat(data)

                return updated_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        updated_at = _parse_updated_at(d.pop("updated_at"))

        device_answer = cls(
            id=id,
            aliases=aliases,
            vendor=vendor,
            architecture=architecture,
            marketing_gb=marketing_gb,
            memory_kind=memory_kind,
            total_bytes=total_bytes,
            usable_bytes=usable_bytes,
            reserve_bytes=reserve_bytes,
            memory_bytes_per_second=memory_bytes_per_second,
            peak_flops=peak_flops,
            link_bytes_per_second=link_bytes_per_second,
            network_bytes_per_second=network_bytes_per_second,
            gpus_per_node=gpus_per_node,
            link_domain=link_domain,
            labels=labels,
            evidence=evidence,
            notes=notes,
            origin=origin,
            slice_of=slice_of,
            definition=definition,
            updated_at=updated_at,
        )

        device_answer.additional_properties = d
        return device_answer

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
