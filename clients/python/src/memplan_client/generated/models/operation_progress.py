from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="OperationProgress")


@_attrs_define
class OperationProgress:
    """How far the work is.

    Attributes:
        done (int): Layouts that were looked at.
        total (int | None): Layouts in all; null until they are counted.
        fraction (float | None): Share that is done (0 to 1); null until the layouts are counted.
    """

    done: int
    total: int | None
    fraction: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        done = self.done

        total: int | None
        total = self.total

        fraction: float | None
        fraction = self.fraction

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "done": done,
                "total": total,
                "fraction": fraction,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        done = d.pop("done")

        def _parse_total(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        total = _parse_total(d.pop("total"))

        def _parse_fraction(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        fraction = _parse_fraction(d.pop("fraction"))

        operation_progress = cls(
            done=done,
            total=total,
            fraction=fraction,
        )

        operation_progress.additional_properties = d
        return operation_progress

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
