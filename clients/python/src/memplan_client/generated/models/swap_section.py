from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SwapSection")


@_attrs_define
class SwapSection:
    """DeepSpeed: pinned buffers of host memory through which states and weights reach disks.

    Attributes:
        states (int | None | Unset): Buffers for states, each as large as a sub-group of them.
        weights (int | None | Unset): Buffers for weights.
        weights_size (int | None | Unset): Size of a buffer for weights (elements).
        weights_in_cpu (int | None | Unset): Weights that stay in host memory though weights are on disk (elements).
    """

    states: int | None | Unset = UNSET
    weights: int | None | Unset = UNSET
    weights_size: int | None | Unset = UNSET
    weights_in_cpu: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        states: int | None | Unset
        if isinstance(self.states, Unset):
            states = UNSET
        else:
            states = self.states

        weights: int | None | Unset
        if isinstance(self.weights, Unset):
            weights = UNSET
        else:
            weights = self.weights

        weights_size: int | None | Unset
        if isinstance(self.weights_size, Unset):
            weights_size = UNSET
        else:
            weights_size = self.weights_size

        weights_in_cpu: int | None | Unset
        if isinstance(self.weights_in_cpu, Unset):
            weights_in_cpu = UNSET
        else:
            weights_in_cpu = self.weights_in_cpu

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if states is not UNSET:
            field_dict["states"] = states
        if weights is not UNSET:
            field_dict["weights"] = weights
        if weights_size is not UNSET:
            field_dict["weights_size"] = weights_size
        if weights_in_cpu is not UNSET:
            field_dict["weights_in_cpu"] = weights_in_cpu

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_states(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        states = _parse_states(d.pop("states", UNSET))

        def _parse_weights(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        weights = _parse_weights(d.pop("weights", UNSET))

        def _parse_weights_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        weights_size = _parse_weights_size(d.pop("weights_size", UNSET))

        def _parse_weights_in_cpu(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        weights_in_cpu = _parse_weights_in_cpu(d.pop("weights_in_cpu", UNSET))

        swap_section = cls(
            states=states,
            weights=weights,
            weights_size=weights_size,
            weights_in_cpu=weights_in_cpu,
        )

        return swap_section
