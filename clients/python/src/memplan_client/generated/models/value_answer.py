from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ValueAnswer")


@_attrs_define
class ValueAnswer:
    """A side's value of a field.

    Attributes:
        side (int): Which side, from 0.
        value (Any): Its value; null where it has none.
        effect_bytes (int | None): What this value alone does to the peak of the first side's job on its first target
            (bytes). Where it is valid
            only with the other differences of its section, what all of these do; null where the job is not valid even so.
    """

    side: int
    value: Any
    effect_bytes: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        side = self.side

        value = self.value

        effect_bytes: int | None
        effect_bytes = self.effect_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "side": side,
                "value": value,
                "effect_bytes": effect_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        side = d.pop("side")

        value = d.pop("value")

        def _parse_effect_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        effect_bytes = _parse_effect_bytes(d.pop("effect_bytes"))

        value_answer = cls(
            side=side,
            value=value,
            effect_bytes=effect_bytes,
        )

        value_answer.additional_properties = d
        return value_answer

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
