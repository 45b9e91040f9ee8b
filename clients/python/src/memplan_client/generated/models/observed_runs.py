from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ObservedRuns")


@_attrs_define
class ObservedRuns:
    """Runs sent to `POST /v1/observations` that an answer is made with.

    Attributes:
        group (str): Which runs: of one way of keeping states, one implementation of the layers, and one device.
        runs (int): How many they are.
        oom (int): How many of them ran out of memory.
        bias (float): What is expected over what is itemised, less 1: above 0 where runs take more.
    """

    group: str
    runs: int
    oom: int
    bias: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        group = self.group

        runs = self.runs

        oom = self.oom

        bias = self.bias

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "group": group,
                "runs": runs,
                "oom": oom,
                "bias": bias,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        group = d.pop("group")

        runs = d.pop("runs")

        oom = d.pop("oom")

        bias = d.pop("bias")

        observed_runs = cls(
            group=group,
            runs=runs,
            oom=oom,
            bias=bias,
        )

        observed_runs.additional_properties = d
        return observed_runs

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
