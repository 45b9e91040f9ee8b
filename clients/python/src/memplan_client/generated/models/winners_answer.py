from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.winner_answer import WinnerAnswer


T = TypeVar("T", bound="WinnersAnswer")


@_attrs_define
class WinnersAnswer:
    """The best cells among those that fit, or else among those that fit tightly; null where there is none.

    Attributes:
        step_time (None | WinnerAnswer): Least time of an optimizer step.
        margin (None | WinnerAnswer): Most usable memory left.
        gpu_hours (None | WinnerAnswer): Fewest GPU-hours for a billion tokens.
    """

    step_time: None | WinnerAnswer
    margin: None | WinnerAnswer
    gpu_hours: None | WinnerAnswer
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.winner_answer import WinnerAnswer  # noqa: PLC0415

        step_time: dict[str, Any] | None
        if isinstance(self.step_time, WinnerAnswer):
            step_time = self.step_time.to_dict()
        else:
            step_time = self.step_time

        margin: dict[str, Any] | None
        if isinstance(self.margin, WinnerAnswer):
            margin = self.margin.to_dict()
        else:
            margin = self.margin

        gpu_hours: dict[str, Any] | None
        if isinstance(self.gpu_hours, WinnerAnswer):
            gpu_hours = self.gpu_hours.to_dict()
        else:
            gpu_hours = self.gpu_hours

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "step_time": step_time,
                "margin": margin,
                "gpu_hours": gpu_hours,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.winner_answer import WinnerAnswer  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_step_time(data: object) -> None | WinnerAnswer:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                step_time_type_0 = WinnerAnswer.from_dict(data)

                return step_time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | WinnerAnswer, data)

        step_time = _parse_step_time(d.pop("step_time"))

        def _parse_margin(data: object) -> None | WinnerAnswer:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                margin_type_0 = WinnerAnswer.from_dict(data)

                return margin_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | WinnerAnswer, data)

        margin = _parse_margin(d.pop("margin"))

        def _parse_gpu_hours(data: object) -> None | WinnerAnswer:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                gpu_hours_type_0 = WinnerAnswer.from_dict(data)

                return gpu_hours_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | WinnerAnswer, data)

        gpu_hours = _parse_gpu_hours(d.pop("gpu_hours"))

        winners_answer = cls(
            step_time=step_time,
            margin=margin,
            gpu_hours=gpu_hours,
        )

        winners_answer.additional_properties = d
        return winners_answer

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
