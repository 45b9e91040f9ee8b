from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DriftAnswer")


@_attrs_define
class DriftAnswer:
    """The bias of the same runs before and after the method changed.

    Attributes:
        method_version (str): The version before.
        runs (int): Runs that both versions have looked at.
        before (float): Bias by the version before.
        now (float): Bias by the present version.
    """

    method_version: str
    runs: int
    before: float
    now: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        method_version = self.method_version

        runs = self.runs

        before = self.before

        now = self.now

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "method_version": method_version,
                "runs": runs,
                "before": before,
                "now": now,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        method_version = d.pop("method_version")

        runs = d.pop("runs")

        before = d.pop("before")

        now = d.pop("now")

        drift_answer = cls(
            method_version=method_version,
            runs=runs,
            before=before,
            now=now,
        )

        drift_answer.additional_properties = d
        return drift_answer

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
