from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DayCounts")


@_attrs_define
class DayCounts:
    """The rulings of a day.

    Attributes:
        admit (int): Verdicts that break no rule.
        warn (int): Verdicts that it warns of.
        refuse (int): Verdicts that it refuses.
        day (datetime.date): The day, in UTC.
    """

    admit: int
    warn: int
    refuse: int
    day: datetime.date
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        admit = self.admit

        warn = self.warn

        refuse = self.refuse

        day = self.day.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "admit": admit,
                "warn": warn,
                "refuse": refuse,
                "day": day,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        admit = d.pop("admit")

        warn = d.pop("warn")

        refuse = d.pop("refuse")

        day = datetime.date.fromisoformat(d.pop("day"))

        day_counts = cls(
            admit=admit,
            warn=warn,
            refuse=refuse,
            day=day,
        )

        day_counts.additional_properties = d
        return day_counts

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
