from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CandidatePeak")


@_attrs_define
class CandidatePeak:
    """The worst stage of a candidate.

    Attributes:
        stage (int): Pipeline rank that needs most memory.
        device_bytes (int): What `nvidia-smi` would show there (bytes).
        low_bytes (int): Lower end of the interval around it (bytes).
        high_bytes (int): Upper end of the interval around it (bytes).
        expected_bytes (int): What is expected of `nvidia-smi` by observed runs, where there are enough; else
            `device_bytes` (bytes).
        margin_bytes (int): Usable memory less `expected_bytes` (bytes).
    """

    stage: int
    device_bytes: int
    low_bytes: int
    high_bytes: int
    expected_bytes: int
    margin_bytes: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        stage = self.stage

        device_bytes = self.device_bytes

        low_bytes = self.low_bytes

        high_bytes = self.high_bytes

        expected_bytes = self.expected_bytes

        margin_bytes = self.margin_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "stage": stage,
                "device_bytes": device_bytes,
                "low_bytes": low_bytes,
                "high_bytes": high_bytes,
                "expected_bytes": expected_bytes,
                "margin_bytes": margin_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        stage = d.pop("stage")

        device_bytes = d.pop("device_bytes")

        low_bytes = d.pop("low_bytes")

        high_bytes = d.pop("high_bytes")

        expected_bytes = d.pop("expected_bytes")

        margin_bytes = d.pop("margin_bytes")

        candidate_peak = cls(
            stage=stage,
            device_bytes=device_bytes,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
            expected_bytes=expected_bytes,
            margin_bytes=margin_bytes,
        )

        candidate_peak.additional_properties = d
        return candidate_peak

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
