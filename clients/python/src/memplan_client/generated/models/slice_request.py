from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.slice_request_kind import SliceRequestKind, check_slice_request_kind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.labels_request import LabelsRequest


T = TypeVar("T", bound="SliceRequest")


@_attrs_define
class SliceRequest:
    """A part of a device that a process gets as a device of its own.

    Attributes:
        name (str): Name of the slice; the device of it is called by the device's id, a hyphen and this.
        kind (SliceRequestKind): Whether it is a MIG instance or a virtual GPU.
        usable_bytes (int): Memory that a process can use on it (bytes).
        total_bytes (int | None | Unset): Memory that the driver lists for it (bytes).
        count (int | Unset): How many of them one device gives. Default: 1.
        labels (LabelsRequest | Unset): What schedulers call a device.
    """

    name: str
    kind: SliceRequestKind
    usable_bytes: int
    total_bytes: int | None | Unset = UNSET
    count: int | Unset = 1
    labels: LabelsRequest | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        kind: str = self.kind

        usable_bytes = self.usable_bytes

        total_bytes: int | None | Unset
        if isinstance(self.total_bytes, Unset):
            total_bytes = UNSET
        else:
            total_bytes = self.total_bytes

        count = self.count

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "kind": kind,
                "usable_bytes": usable_bytes,
            }
        )
        if total_bytes is not UNSET:
            field_dict["total_bytes"] = total_bytes
        if count is not UNSET:
            field_dict["count"] = count
        if labels is not UNSET:
            field_dict["labels"] = labels

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.labels_request import LabelsRequest  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        kind = check_slice_request_kind(d.pop("kind"))

        usable_bytes = d.pop("usable_bytes")

        def _parse_total_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        total_bytes = _parse_total_bytes(d.pop("total_bytes", UNSET))

        count = d.pop("count", UNSET)

        _labels = d.pop("labels", UNSET)
        labels: LabelsRequest | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = LabelsRequest.from_dict(_labels)

        slice_request = cls(
            name=name,
            kind=kind,
            usable_bytes=usable_bytes,
            total_bytes=total_bytes,
            count=count,
            labels=labels,
        )

        return slice_request
