from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MeasuredAnswer")


@_attrs_define
class MeasuredAnswer:
    """What a run measured.

    Attributes:
        source (str): Who measured: `torch`, `nvidia-smi` or `scheduler`.
        stage (int | None): Pipeline rank that was measured, from 0; null means the most of any rank.
        allocated_bytes (int | None): Peak of `torch.cuda.max_memory_allocated` (bytes).
        reserved_bytes (int | None): Peak of `torch.cuda.max_memory_reserved` (bytes).
        device_bytes (int | None): Peak of what `nvidia-smi` shows for the GPU (bytes).
        oom (bool | None): Whether the run ended out of GPU memory; null when nothing was said.
        step_seconds (float | None): Time of an optimizer step (seconds).
    """

    source: str
    stage: int | None
    allocated_bytes: int | None
    reserved_bytes: int | None
    device_bytes: int | None
    oom: bool | None
    step_seconds: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source = self.source

        stage: int | None
        stage = self.stage

        allocated_bytes: int | None
        allocated_bytes = self.allocated_bytes

        reserved_bytes: int | None
        reserved_bytes = self.reserved_bytes

        device_bytes: int | None
        device_bytes = self.device_bytes

        oom: bool | None
        oom = self.oom

        step_seconds: float | None
        step_seconds = self.step_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source": source,
                "stage": stage,
                "allocated_bytes": allocated_bytes,
                "reserved_bytes": reserved_bytes,
                "device_bytes": device_bytes,
                "oom": oom,
                "step_seconds": step_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        source = d.pop("source")

        def _parse_stage(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stage = _parse_stage(d.pop("stage"))

        def _parse_allocated_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        allocated_bytes = _parse_allocated_bytes(d.pop("allocated_bytes"))

        def _parse_reserved_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        reserved_bytes = _parse_reserved_bytes(d.pop("reserved_bytes"))

        def _parse_device_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        device_bytes = _parse_device_bytes(d.pop("device_bytes"))

        def _parse_oom(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        oom = _parse_oom(d.pop("oom"))

        def _parse_step_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        step_seconds = _parse_step_seconds(d.pop("step_seconds"))

        measured_answer = cls(
            source=source,
            stage=stage,
            allocated_bytes=allocated_bytes,
            reserved_bytes=reserved_bytes,
            device_bytes=device_bytes,
            oom=oom,
            step_seconds=step_seconds,
        )

        measured_answer.additional_properties = d
        return measured_answer

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
