from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Peak")


@_attrs_define
class Peak:
    """The worst moment of the worst stage, in a step or before the first, which decides whether the job fits.

    Attributes:
        stage (int): Pipeline rank that needs most memory.
        moment (str): Its worst moment, one of the keys of a stage's `moments`.
        allocated_bytes (int): What `torch.cuda.max_memory_allocated` would report there (bytes).
        reserved_bytes (int): What the caching allocator would hold there (bytes).
        device_bytes (int): What `nvidia-smi` would show there (bytes): the sum of the ledger.
        low_bytes (int): Lower end of the interval around `device_bytes` (bytes).
        high_bytes (int): Upper end of the interval around `device_bytes` (bytes).
        expected_bytes (int): What is expected of `nvidia-smi` where observed runs say that it shows more or less; else
            `device_bytes`. The
            figure that the verdict is about (bytes).
        host_bytes_per_node (int | None | Unset): Memory that offload takes on the fullest node (bytes); null when
            nothing is offloaded.
    """

    stage: int
    moment: str
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    low_bytes: int
    high_bytes: int
    expected_bytes: int
    host_bytes_per_node: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        stage = self.stage

        moment = self.moment

        allocated_bytes = self.allocated_bytes

        reserved_bytes = self.reserved_bytes

        device_bytes = self.device_bytes

        low_bytes = self.low_bytes

        high_bytes = self.high_bytes

        expected_bytes = self.expected_bytes

        host_bytes_per_node: int | None | Unset
        if isinstance(self.host_bytes_per_node, Unset):
            host_bytes_per_node = UNSET
        else:
            host_bytes_per_node = self.host_bytes_per_node

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "stage": stage,
                "moment": moment,
                "allocated_bytes": allocated_bytes,
                "reserved_bytes": reserved_bytes,
                "device_bytes": device_bytes,
                "low_bytes": low_bytes,
                "high_bytes": high_bytes,
                "expected_bytes": expected_bytes,
            }
        )
        if host_bytes_per_node is not UNSET:
            field_dict["host_bytes_per_node"] = host_bytes_per_node

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        stage = d.pop("stage")

        moment = d.pop("moment")

        allocated_bytes = d.pop("allocated_bytes")

        reserved_bytes = d.pop("reserved_bytes")

        device_bytes = d.pop("device_bytes")

        low_bytes = d.pop("low_bytes")

        high_bytes = d.pop("high_bytes")

        expected_bytes = d.pop("expected_bytes")

        def _parse_host_bytes_per_node(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        host_bytes_per_node = _parse_host_bytes_per_node(
            d.pop("host_bytes_per_node", UNSET)
        )

        peak = cls(
            stage=stage,
            moment=moment,
            allocated_bytes=allocated_bytes,
            reserved_bytes=reserved_bytes,
            device_bytes=device_bytes,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
            expected_bytes=expected_bytes,
            host_bytes_per_node=host_bytes_per_node,
        )

        peak.additional_properties = d
        return peak

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
