from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LeastRecomputationAnswer")


@_attrs_define
class LeastRecomputationAnswer:
    """The least recomputation with which a candidate fits as well as it does.

    Attributes:
        layers (list[int] | None): For each stage, on its own, the fewest layers of a chunk that must be computed again;
            null where a stage needs
            more than whole layers give. A framework that has one setting for all stages needs the largest.
        step_seconds (float | None): A step in which each stage recomputes just these (seconds).
        cost_seconds (float): What the candidate's own checkpointing adds to a step without any (seconds).
    """

    layers: list[int] | None
    step_seconds: float | None
    cost_seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        layers: list[int] | None
        if isinstance(self.layers, list):
            layers = self.layers

        else:
            layers = self.layers

        step_seconds: float | None
        step_seconds = self.step_seconds

        cost_seconds = self.cost_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "layers": layers,
                "step_seconds": step_seconds,
                "cost_seconds": cost_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_layers(data: object) -> list[int] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                layers_type_0 = cast(list[int], data)

                return layers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None, data)

        layers = _parse_layers(d.pop("layers"))

        def _parse_step_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        step_seconds = _parse_step_seconds(d.pop("step_seconds"))

        cost_seconds = d.pop("cost_seconds")

        least_recomputation_answer = cls(
            layers=layers,
            step_seconds=step_seconds,
            cost_seconds=cost_seconds,
        )

        least_recomputation_answer.additional_properties = d
        return least_recomputation_answer

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
