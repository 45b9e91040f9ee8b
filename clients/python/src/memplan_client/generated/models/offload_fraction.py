from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="OffloadFraction")


@_attrs_define
class OffloadFraction:
    """Part of the optimizer state kept in host memory.

    Attributes:
        fraction (float): Fraction moved to the host.
    """

    fraction: float

    def to_dict(self) -> dict[str, Any]:
        fraction = self.fraction

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "fraction": fraction,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        fraction = d.pop("fraction")

        offload_fraction = cls(
            fraction=fraction,
        )

        return offload_fraction
