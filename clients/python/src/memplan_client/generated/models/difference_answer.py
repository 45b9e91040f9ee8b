from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.value_answer import ValueAnswer


T = TypeVar("T", bound="DifferenceAnswer")


@_attrs_define
class DifferenceAnswer:
    """A field that is not the same on all sides.

    Attributes:
        pointer (str): JSON Pointer into the job with every default written out.
        values (list[ValueAnswer]): The value of every side that could be read.
    """

    pointer: str
    values: list[ValueAnswer]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pointer = self.pointer

        values = []
        for values_item_data in self.values:
            values_item = values_item_data.to_dict()
            values.append(values_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pointer": pointer,
                "values": values,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.value_answer import ValueAnswer  # noqa: PLC0415

        d = dict(src_dict)
        pointer = d.pop("pointer")

        values = []
        _values = d.pop("values")
        for values_item_data in _values:
            values_item = ValueAnswer.from_dict(values_item_data)

            values.append(values_item)

        difference_answer = cls(
            pointer=pointer,
            values=values,
        )

        difference_answer.additional_properties = d
        return difference_answer

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
