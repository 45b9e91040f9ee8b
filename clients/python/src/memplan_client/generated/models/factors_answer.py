from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FactorsAnswer")


@_attrs_define
class FactorsAnswer:
    """An interval around device bytes, as factors of the itemised ones.

    Attributes:
        low (float): Lower end over the itemised bytes; `less_bytes` are taken off.
        high (float): Upper end over the itemised bytes; `more_bytes` are added.
        less_bytes (int): What the driver may take less (bytes), where runs report no device bytes.
        more_bytes (int): What the driver may take more (bytes), where runs report no device bytes.
    """

    low: float
    high: float
    less_bytes: int
    more_bytes: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        low = self.low

        high = self.high

        less_bytes = self.less_bytes

        more_bytes = self.more_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "low": low,
                "high": high,
                "less_bytes": less_bytes,
                "more_bytes": more_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        low = d.pop("low")

        high = d.pop("high")

        less_bytes = d.pop("less_bytes")

        more_bytes = d.pop("more_bytes")

        factors_answer = cls(
            low=low,
            high=high,
            less_bytes=less_bytes,
            more_bytes=more_bytes,
        )

        factors_answer.additional_properties = d
        return factors_answer

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
