from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Time")


@_attrs_define
class Time:
    """One optimizer step, by a first model of computation, traffic and bubble.

    Attributes:
        step_seconds (float): Duration of one optimizer step (seconds).
        tokens_per_second_per_gpu (float): Throughput of one GPU (tokens per second).
        bubble_fraction (float): Part of the pipeline's time in which a stage waits (0 to 1).
        recompute_fraction (float): Part of the slowest stage's work that repeats a forward (0 to 1).
        observed_steps (int | Unset): Steps of other runs on such GPUs that were timed and are used; 0 where they are
            too few. Default: 0.
    """

    step_seconds: float
    tokens_per_second_per_gpu: float
    bubble_fraction: float
    recompute_fraction: float
    observed_steps: int | Unset = 0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        step_seconds = self.step_seconds

        tokens_per_second_per_gpu = self.tokens_per_second_per_gpu

        bubble_fraction = self.bubble_fraction

        recompute_fraction = self.recompute_fraction

        observed_steps = self.observed_steps

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "step_seconds": step_seconds,
                "tokens_per_second_per_gpu": tokens_per_second_per_gpu,
                "bubble_fraction": bubble_fraction,
                "recompute_fraction": recompute_fraction,
            }
        )
        if observed_steps is not UNSET:
            field_dict["observed_steps"] = observed_steps

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        step_seconds = d.pop("step_seconds")

        tokens_per_second_per_gpu = d.pop("tokens_per_second_per_gpu")

        bubble_fraction = d.pop("bubble_fraction")

        recompute_fraction = d.pop("recompute_fraction")

        observed_steps = d.pop("observed_steps", UNSET)

        time = cls(
            step_seconds=step_seconds,
            tokens_per_second_per_gpu=tokens_per_second_per_gpu,
            bubble_fraction=bubble_fraction,
            recompute_fraction=recompute_fraction,
            observed_steps=observed_steps,
        )

        time.additional_properties = d
        return time

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
