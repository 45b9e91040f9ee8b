from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.layout_answer import LayoutAnswer


T = TypeVar("T", bound="FrontierPoint")


@_attrs_define
class FrontierPoint:
    """A layout that no other beats in both peak memory and step time.

    Attributes:
        device_bytes (int): Its peak (bytes).
        step_seconds (float): Its step time (seconds).
        verdict (str): `fits` or `tight`.
        layout (LayoutAnswer): A layout in few words.
    """

    device_bytes: int
    step_seconds: float
    verdict: str
    layout: LayoutAnswer
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        device_bytes = self.device_bytes

        step_seconds = self.step_seconds

        verdict = self.verdict

        layout = self.layout.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "device_bytes": device_bytes,
                "step_seconds": step_seconds,
                "verdict": verdict,
                "layout": layout,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.layout_answer import LayoutAnswer  # noqa: PLC0415

        d = dict(src_dict)
        device_bytes = d.pop("device_bytes")

        step_seconds = d.pop("step_seconds")

        verdict = d.pop("verdict")

        layout = LayoutAnswer.from_dict(d.pop("layout"))

        frontier_point = cls(
            device_bytes=device_bytes,
            step_seconds=step_seconds,
            verdict=verdict,
            layout=layout,
        )

        frontier_point.additional_properties = d
        return frontier_point

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
