from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Capacity")


@_attrs_define
class Capacity:
    """What the device has; sizes are null where the catalogue has no figure.

    Attributes:
        device (str): Id of the device.
        total_bytes (int | None): Memory that the driver lists (bytes).
        usable_bytes (int | None): Memory that a process can use (bytes).
        margin_bytes (int | None): Usable memory less the peak's `expected_bytes` (bytes); below 0 when the job does not
            fit.
        break_even_imbalance (float | None | Unset): Rows that the fullest expert-parallel rank may receive, in balanced
            shares, until the peak fills the usable
            memory; null where routing cannot fill it, and where the job does not fit as routed.
    """

    device: str
    total_bytes: int | None
    usable_bytes: int | None
    margin_bytes: int | None
    break_even_imbalance: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        device = self.device

        total_bytes: int | None
        total_bytes = self.total_bytes

        usable_bytes: int | None
        usable_bytes = self.usable_bytes

        margin_bytes: int | None
        margin_bytes = self.margin_bytes

        break_even_imbalance: float | None | Unset
        if isinstance(self.break_even_imbalance, Unset):
            break_even_imbalance = UNSET
        else:
            break_even_imbalance = self.break_even_imbalance

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "device": device,
                "total_bytes": total_bytes,
                "usable_bytes": usable_bytes,
                "margin_bytes": margin_bytes,
            }
        )
        if break_even_imbalance is not UNSET:
            field_dict["break_even_imbalance"] = break_even_imbalance

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        device = d.pop("device")

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

        def _parse_margin_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        margin_bytes = _parse_margin_bytes(d.pop("margin_bytes"))

        def _parse_break_even_imbalance(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        break_even_imbalance = _parse_break_even_imbalance(
            d.pop("break_even_imbalance", UNSET)
        )

        capacity = cls(
            device=device,
            total_bytes=total_bytes,
            usable_bytes=usable_bytes,
            margin_bytes=margin_bytes,
            break_even_imbalance=break_even_imbalance,
        )

        capacity.additional_properties = d
        return capacity

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
