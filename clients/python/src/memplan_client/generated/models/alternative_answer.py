from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.alternative_answer_changes import AlternativeAnswerChanges


T = TypeVar("T", bound="AlternativeAnswer")


@_attrs_define
class AlternativeAnswer:
    """A change to the job, or another target, with which it fits.

    Attributes:
        peak_bytes (int | None): What `nvidia-smi` would show at the worst moment of the worst stage (bytes), as
            observed runs lead one to expect
            it where there are enough; else the itemised sum.
        peak_mib (int | None): The same in MiB, rounded up.
        stage (int | None): Pipeline rank that needs most memory.
        usable_bytes (int | None): Memory that a process can use on the device (bytes); null where no figure is known.
        margin_bytes (int | None): Usable memory less the peak (bytes); below 0 when the job does not fit.
        low_bytes (int | None): Lower end of the interval around the peak (bytes).
        high_bytes (int | None): Upper end of the interval around the peak (bytes).
        verdict (str): The verdict there.
        reason (str): The verdict in one sentence, for people.
        device (str): Id of the device.
        world_size (int | None): Number of GPUs.
        change (str): What is to be changed: in the dialect of the caller's config where it can be said there, else in
            the job's own
            keys; or another number or kind of GPUs.
        changes (AlternativeAnswerChanges): New values of the job by JSON Pointer, null: left out; empty for another
            target. The data-parallel degree and the
            micro-batches of a step follow from them.
        saved_bytes (int | None): What the worst GPU holds less by a change to the job (bytes); null for another target.
        step_ratio (float | None): Step time after a change to the job over the one before; null for another target.
    """

    peak_bytes: int | None
    peak_mib: int | None
    stage: int | None
    usable_bytes: int | None
    margin_bytes: int | None
    low_bytes: int | None
    high_bytes: int | None
    verdict: str
    reason: str
    device: str
    world_size: int | None
    change: str
    changes: AlternativeAnswerChanges
    saved_bytes: int | None
    step_ratio: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        peak_bytes: int | None
        peak_bytes = self.peak_bytes

        peak_mib: int | None
        peak_mib = self.peak_mib

        stage: int | None
        stage = self.stage

        usable_bytes: int | None
        usable_bytes = self.usable_bytes

        margin_bytes: int | None
        margin_bytes = self.margin_bytes

        low_bytes: int | None
        low_bytes = self.low_bytes

        high_bytes: int | None
        high_bytes = self.high_bytes

        verdict = self.verdict

        reason = self.reason

        device = self.device

        world_size: int | None
        world_size = self.world_size

        change = self.change

        changes = self.changes.to_dict()

        saved_bytes: int | None
        saved_bytes = self.saved_bytes

        step_ratio: float | None
        step_ratio = self.step_ratio

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "peak_bytes": peak_bytes,
                "peak_mib": peak_mib,
                "stage": stage,
                "usable_bytes": usable_bytes,
                "margin_bytes": margin_bytes,
                "low_bytes": low_bytes,
                "high_bytes": high_bytes,
                "verdict": verdict,
                "reason": reason,
                "device": device,
                "world_size": world_size,
                "change": change,
                "changes": changes,
                "saved_bytes": saved_bytes,
                "step_ratio": step_ratio,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.alternative_answer_changes import AlternativeAnswerChanges  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_peak_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        peak_bytes = _parse_peak_bytes(d.pop("peak_bytes"))

        def _parse_peak_mib(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        peak_mib = _parse_peak_mib(d.pop("peak_mib"))

        def _parse_stage(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stage = _parse_stage(d.pop("stage"))

        def _parse_usable_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        usable_bytes = _parse_usable_bytes(d.pop("usable_bytes"))

        def _parse_margin_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        margin_bytes = _parse_margin_bytes(d.pop("margin_bytes"))

        def _parse_low_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        low_bytes = _parse_low_bytes(d.pop("low_bytes"))

        def _parse_high_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        high_bytes = _parse_high_bytes(d.pop("high_bytes"))

        verdict = d.pop("verdict")

        reason = d.pop("reason")

        device = d.pop("device")

        def _parse_world_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        world_size = _parse_world_size(d.pop("world_size"))

        change = d.pop("change")

        changes = AlternativeAnswerChanges.from_dict(d.pop("changes"))

        def _parse_saved_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        saved_bytes = _parse_saved_bytes(d.pop("saved_bytes"))

        def _parse_step_ratio(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        step_ratio = _parse_step_ratio(d.pop("step_ratio"))

        alternative_answer = cls(
            peak_bytes=peak_bytes,
            peak_mib=peak_mib,
            stage=stage,
            usable_bytes=usable_bytes,
            margin_bytes=margin_bytes,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
            verdict=verdict,
            reason=reason,
            device=device,
            world_size=world_size,
            change=change,
            changes=changes,
            saved_bytes=saved_bytes,
            step_ratio=step_ratio,
        )

        alternative_answer.additional_properties = d
        return alternative_answer

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
