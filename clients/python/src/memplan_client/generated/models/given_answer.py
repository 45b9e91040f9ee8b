from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="GivenAnswer")


@_attrs_define
class GivenAnswer:
    """What the job needs as it came.

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
        verdict (str): `fits`, `tight` or `does_not_fit`.
        reason (str): The verdict in one sentence, for people.
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
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
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

        given_answer = cls(
            peak_bytes=peak_bytes,
            peak_mib=peak_mib,
            stage=stage,
            usable_bytes=usable_bytes,
            margin_bytes=margin_bytes,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
            verdict=verdict,
            reason=reason,
        )

        given_answer.additional_properties = d
        return given_answer

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
