from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RulingCounts")


@_attrs_define
class RulingCounts:
    """How often a policy came to each ruling, would it be enforced.

    Attributes:
        admit (int): Verdicts that break no rule.
        warn (int): Verdicts that it warns of.
        refuse (int): Verdicts that it refuses.
    """

    admit: int
    warn: int
    refuse: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        admit = self.admit

        warn = self.warn

        refuse = self.refuse

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "admit": admit,
                "warn": warn,
                "refuse": refuse,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        admit = d.pop("admit")

        warn = d.pop("warn")

        refuse = d.pop("refuse")

        ruling_counts = cls(
            admit=admit,
            warn=warn,
            refuse=refuse,
        )

        ruling_counts.additional_properties = d
        return ruling_counts

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
