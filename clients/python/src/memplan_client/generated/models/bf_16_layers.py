from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Bf16Layers")


@_attrs_define
class Bf16Layers:
    """Layers kept out of fp8 at both ends of the model.

    Attributes:
        first (int | Unset): Leading layers in bf16. Default: 0.
        last (int | Unset): Trailing layers in bf16. Default: 0.
    """

    first: int | Unset = 0
    last: int | Unset = 0

    def to_dict(self) -> dict[str, Any]:
        first = self.first

        last = self.last

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if first is not UNSET:
            field_dict["first"] = first
        if last is not UNSET:
            field_dict["last"] = last

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        first = d.pop("first", UNSET)

        last = d.pop("last", UNSET)

        bf_16_layers = cls(
            first=first,
            last=last,
        )

        return bf_16_layers
