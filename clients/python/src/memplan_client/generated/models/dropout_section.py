from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="DropoutSection")


@_attrs_define
class DropoutSection:
    """Dropout probabilities; any above 0 keeps masks.

    Attributes:
        hidden (float | None | Unset): Probability on the residual stream.
        attention (float | None | Unset): Probability on attention weights.
    """

    hidden: float | None | Unset = UNSET
    attention: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        hidden: float | None | Unset
        if isinstance(self.hidden, Unset):
            hidden = UNSET
        else:
            hidden = self.hidden

        attention: float | None | Unset
        if isinstance(self.attention, Unset):
            attention = UNSET
        else:
            attention = self.attention

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if hidden is not UNSET:
            field_dict["hidden"] = hidden
        if attention is not UNSET:
            field_dict["attention"] = attention

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_hidden(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        hidden = _parse_hidden(d.pop("hidden", UNSET))

        def _parse_attention(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        attention = _parse_attention(d.pop("attention", UNSET))

        dropout_section = cls(
            hidden=hidden,
            attention=attention,
        )

        return dropout_section
