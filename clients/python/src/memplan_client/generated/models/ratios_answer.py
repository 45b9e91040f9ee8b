from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RatiosAnswer")


@_attrs_define
class RatiosAnswer:
    """Measured over predicted; null where nothing was measured. Of a run out of memory, these are the least.

    Attributes:
        allocated (float | None): Of `allocated_bytes`.
        reserved (float | None): Of `reserved_bytes`.
        device (float | None): Of `device_bytes`.
        step_seconds (float | None): Of `step_seconds`.
    """

    allocated: float | None
    reserved: float | None
    device: float | None
    step_seconds: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        allocated: float | None
        allocated = self.allocated

        reserved: float | None
        reserved = self.reserved

        device: float | None
        device = self.device

        step_seconds: float | None
        step_seconds = self.step_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "allocated": allocated,
                "reserved": reserved,
                "device": device,
                "step_seconds": step_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_allocated(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        allocated = _parse_allocated(d.pop("allocated"))

        def _parse_reserved(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        reserved = _parse_reserved(d.pop("reserved"))

        def _parse_device(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        device = _parse_device(d.pop("device"))

        def _parse_step_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        step_seconds = _parse_step_seconds(d.pop("step_seconds"))

        ratios_answer = cls(
            allocated=allocated,
            reserved=reserved,
            device=device,
            step_seconds=step_seconds,
        )

        ratios_answer.additional_properties = d
        return ratios_answer

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
