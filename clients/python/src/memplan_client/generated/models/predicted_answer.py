from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PredictedAnswer")


@_attrs_define
class PredictedAnswer:
    """What was predicted of the stage that was measured, before observed runs are looked at.

    Attributes:
        verdict (str): What was said of the whole job before the run: by its plan, or else when this was stored.
        stage (int): Pipeline rank, from 0: that which was measured, or the worst one.
        allocated_bytes (int): Predicted peak of `torch.cuda.max_memory_allocated` (bytes).
        reserved_bytes (int): Predicted peak of `torch.cuda.max_memory_reserved` (bytes).
        device_bytes (int): Predicted peak of what `nvidia-smi` shows (bytes).
        step_seconds (float | None): Predicted time of an optimizer step (seconds); null unless one was measured.
        usable_bytes (int | None): Memory that a process could use on the device (bytes).
    """

    verdict: str
    stage: int
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    step_seconds: float | None
    usable_bytes: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        verdict = self.verdict

        stage = self.stage

        allocated_bytes = self.allocated_bytes

        reserved_bytes = self.reserved_bytes

        device_bytes = self.device_bytes

        step_seconds: float | None
        step_seconds = self.step_seconds

        usable_bytes: int | None
        usable_bytes = self.usable_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
                "stage": stage,
                "allocated_bytes": allocated_bytes,
                "reserved_bytes": reserved_bytes,
                "device_bytes": device_bytes,
                "step_seconds": step_seconds,
                "usable_bytes": usable_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        verdict = d.pop("verdict")

        stage = d.pop("stage")

        allocated_bytes = d.pop("allocated_bytes")

        reserved_bytes = d.pop("reserved_bytes")

        device_bytes = d.pop("device_bytes")

        def _parse_step_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        step_seconds = _parse_step_seconds(d.pop("step_seconds"))

        def _parse_usable_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        usable_bytes = _parse_usable_bytes(d.pop("usable_bytes"))

        predicted_answer = cls(
            verdict=verdict,
            stage=stage,
            allocated_bytes=allocated_bytes,
            reserved_bytes=reserved_bytes,
            device_bytes=device_bytes,
            step_seconds=step_seconds,
            usable_bytes=usable_bytes,
        )

        predicted_answer.additional_properties = d
        return predicted_answer

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
