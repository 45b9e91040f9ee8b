from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="IntervalAnswer")


@_attrs_define
class IntervalAnswer:
    """Where the ends of the interval come from.

    Attributes:
        group (str): The measured runs that were looked at.
        runs (int): How many they are.
        coverage (float): Share of such runs whose measured peak is inside (0 to 1).
        reached (float): Share of the group's runs that such intervals hold when the runs of the same source (of
            observed runs: each run)
            are left out (0 to 1).
    """

    group: str
    runs: int
    coverage: float
    reached: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        group = self.group

        runs = self.runs

        coverage = self.coverage

        reached = self.reached

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "group": group,
                "runs": runs,
                "coverage": coverage,
                "reached": reached,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        group = d.pop("group")

        runs = d.pop("runs")

        coverage = d.pop("coverage")

        reached = d.pop("reached")

        interval_answer = cls(
            group=group,
            runs=runs,
            coverage=coverage,
            reached=reached,
        )

        interval_answer.additional_properties = d
        return interval_answer

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
