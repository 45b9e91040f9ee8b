from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FitsAnswer")


@_attrs_define
class FitsAnswer:
    """Runs that were called `fits`, and how many of them ran out of memory all the same.

    Attributes:
        runs (int): Runs called `fits` of which it is known how they ended.
        oom (int): How many of them ran out of memory.
        share (float | None): Share of wrong `fits` (0 to 1); null without a run.
    """

    runs: int
    oom: int
    share: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        runs = self.runs

        oom = self.oom

        share: float | None
        share = self.share

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "runs": runs,
                "oom": oom,
                "share": share,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        runs = d.pop("runs")

        oom = d.pop("oom")

        def _parse_share(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        share = _parse_share(d.pop("share"))

        fits_answer = cls(
            runs=runs,
            oom=oom,
            share=share,
        )

        fits_answer.additional_properties = d
        return fits_answer

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
