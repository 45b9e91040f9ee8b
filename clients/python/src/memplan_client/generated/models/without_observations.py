from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WithoutObservations")


@_attrs_define
class WithoutObservations:
    """What the same question is answered with `use_observations` false.

    Attributes:
        verdict (str): The verdict.
        peak_bytes (int): The worst stage's peak as it is itemised (bytes).
        low_bytes (int): Lower end of the interval around it (bytes).
        high_bytes (int): Upper end of the interval around it (bytes).
    """

    verdict: str
    peak_bytes: int
    low_bytes: int
    high_bytes: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        verdict = self.verdict

        peak_bytes = self.peak_bytes

        low_bytes = self.low_bytes

        high_bytes = self.high_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
                "peak_bytes": peak_bytes,
                "low_bytes": low_bytes,
                "high_bytes": high_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        verdict = d.pop("verdict")

        peak_bytes = d.pop("peak_bytes")

        low_bytes = d.pop("low_bytes")

        high_bytes = d.pop("high_bytes")

        without_observations = cls(
            verdict=verdict,
            peak_bytes=peak_bytes,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
        )

        without_observations.additional_properties = d
        return without_observations

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
