from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MoeSection")


@_attrs_define
class MoeSection:
    """How tokens are routed.

    Attributes:
        capacity_factor (float | None | Unset): Tokens an expert accepts, in multiples of a balanced share; null means
            dropless.
        pad_to_capacity (bool | None | Unset): Every expert's input is padded to its capacity.
        imbalance (float | None | Unset): Rows received / balanced rows on the fullest rank.
    """

    capacity_factor: float | None | Unset = UNSET
    pad_to_capacity: bool | None | Unset = UNSET
    imbalance: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        capacity_factor: float | None | Unset
        if isinstance(self.capacity_factor, Unset):
            capacity_factor = UNSET
        else:
            capacity_factor = self.capacity_factor

        pad_to_capacity: bool | None | Unset
        if isinstance(self.pad_to_capacity, Unset):
            pad_to_capacity = UNSET
        else:
            pad_to_capacity = self.pad_to_capacity

        imbalance: float | None | Unset
        if isinstance(self.imbalance, Unset):
            imbalance = UNSET
        else:
            imbalance = self.imbalance

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if capacity_factor is not UNSET:
            field_dict["capacity_factor"] = capacity_factor
        if pad_to_capacity is not UNSET:
            field_dict["pad_to_capacity"] = pad_to_capacity
        if imbalance is not UNSET:
            field_dict["imbalance"] = imbalance

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_capacity_factor(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        capacity_factor = _parse_capacity_factor(d.pop("capacity_factor", UNSET))

        def _parse_pad_to_capacity(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        pad_to_capacity = _parse_pad_to_capacity(d.pop("pad_to_capacity", UNSET))

        def _parse_imbalance(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        imbalance = _parse_imbalance(d.pop("imbalance", UNSET))

        moe_section = cls(
            capacity_factor=capacity_factor,
            pad_to_capacity=pad_to_capacity,
            imbalance=imbalance,
        )

        return moe_section
