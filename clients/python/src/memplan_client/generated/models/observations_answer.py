from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.without_observations import WithoutObservations


T = TypeVar("T", bound="ObservationsAnswer")


@_attrs_define
class ObservationsAnswer:
    """Observed runs that a verdict is made with, and what is said without them.

    Attributes:
        group (str): Which runs: of one way of keeping states, one implementation of the layers, and one device.
        runs (int): How many they are.
        oom (int): How many of them ran out of memory.
        bias (float): What is expected over what is itemised, less 1: above 0 where runs take more.
        same_job (int): How many of them ran the very job that is asked about, from three on: these alone say what is
            expected of it.
        without (WithoutObservations): What the same question is answered with `use_observations` false.
    """

    group: str
    runs: int
    oom: int
    bias: float
    same_job: int
    without: WithoutObservations
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        group = self.group

        runs = self.runs

        oom = self.oom

        bias = self.bias

        same_job = self.same_job

        without = self.without.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "group": group,
                "runs": runs,
                "oom": oom,
                "bias": bias,
                "same_job": same_job,
                "without": without,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.without_observations import WithoutObservations  # noqa: PLC0415

        d = dict(src_dict)
        group = d.pop("group")

        runs = d.pop("runs")

        oom = d.pop("oom")

        bias = d.pop("bias")

        same_job = d.pop("same_job")

        without = WithoutObservations.from_dict(d.pop("without"))

        observations_answer = cls(
            group=group,
            runs=runs,
            oom=oom,
            bias=bias,
            same_job=same_job,
            without=without,
        )

        observations_answer.additional_properties = d
        return observations_answer

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
