from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.measured_request_source import (
    MeasuredRequestSource,
    check_measured_request_source,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="MeasuredRequest")


@_attrs_define
class MeasuredRequest:
    """What a run measured on one GPU of a stage: at least one size, `oom` or `step_seconds`.

    Attributes:
        source (MeasuredRequestSource): Who measured: `torch` (the process itself), `nvidia-smi` (or another reader of
            the driver), `scheduler`.
        stage (int | None | Unset): Pipeline rank that was measured, from 0; null means the most of any rank.
        allocated_bytes (int | None | Unset): Peak of `torch.cuda.max_memory_allocated` (bytes).
        reserved_bytes (int | None | Unset): Peak of `torch.cuda.max_memory_reserved` (bytes).
        device_bytes (int | None | Unset): Peak of what `nvidia-smi` shows for the GPU (bytes).
        oom (bool | None | Unset): Whether the run ended out of GPU memory; its sizes are then the least that it needed.
            Null: not said, which with
            a size or a step time means that it did not.
        step_seconds (float | None | Unset): Time of an optimizer step, after the first ones (seconds).
    """

    source: MeasuredRequestSource
    stage: int | None | Unset = UNSET
    allocated_bytes: int | None | Unset = UNSET
    reserved_bytes: int | None | Unset = UNSET
    device_bytes: int | None | Unset = UNSET
    oom: bool | None | Unset = UNSET
    step_seconds: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        source: str = self.source

        stage: int | None | Unset
        if isinstance(self.stage, Unset):
            stage = UNSET
        else:
            stage = self.stage

        allocated_bytes: int | None | Unset
        if isinstance(self.allocated_bytes, Unset):
            allocated_bytes = UNSET
        else:
            allocated_bytes = self.allocated_bytes

        reserved_bytes: int | None | Unset
        if isinstance(self.reserved_bytes, Unset):
            reserved_bytes = UNSET
        else:
            reserved_bytes = self.reserved_bytes

        device_bytes: int | None | Unset
        if isinstance(self.device_bytes, Unset):
            device_bytes = UNSET
        else:
            device_bytes = self.device_bytes

        oom: bool | None | Unset
        if isinstance(self.oom, Unset):
            oom = UNSET
        else:
            oom = self.oom

        step_seconds: float | None | Unset
        if isinstance(self.step_seconds, Unset):
            step_seconds = UNSET
        else:
            step_seconds = self.step_seconds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "source": source,
            }
        )
        if stage is not UNSET:
            field_dict["stage"] = stage
        if allocated_bytes is not UNSET:
            field_dict["allocated_bytes"] = allocated_bytes
        if reserved_bytes is not UNSET:
            field_dict["reserved_bytes"] = reserved_bytes
        if device_bytes is not UNSET:
            field_dict["device_bytes"] = device_bytes
        if oom is not UNSET:
            field_dict["oom"] = oom
        if step_seconds is not UNSET:
            field_dict["step_seconds"] = step_seconds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        source = check_measured_request_source(d.pop("source"))

        def _parse_stage(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        stage = _parse_stage(d.pop("stage", UNSET))

        def _parse_allocated_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        allocated_bytes = _parse_allocated_bytes(d.pop("allocated_bytes", UNSET))

        def _parse_reserved_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        reserved_bytes = _parse_reserved_bytes(d.pop("reserved_bytes", UNSET))

        def _parse_device_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        device_bytes = _parse_device_bytes(d.pop("device_bytes", UNSET))

        def _parse_oom(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        oom = _parse_oom(d.pop("oom", UNSET))

        def _parse_step_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        step_seconds = _parse_step_seconds(d.pop("step_seconds", UNSET))

        measured_request = cls(
            source=source,
            stage=stage,
            allocated_bytes=allocated_bytes,
            reserved_bytes=reserved_bytes,
            device_bytes=device_bytes,
            oom=oom,
            step_seconds=step_seconds,
        )

        return measured_request
