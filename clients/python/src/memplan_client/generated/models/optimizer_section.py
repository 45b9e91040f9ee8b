from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.optimizer_section_implementation_type_0 import (
    OptimizerSectionImplementationType0,
    check_optimizer_section_implementation_type_0,
)
from ..models.optimizer_section_moments_type_0_item import (
    OptimizerSectionMomentsType0Item,
    check_optimizer_section_moments_type_0_item,
)
from ..models.optimizer_section_name_type_0 import (
    OptimizerSectionNameType0,
    check_optimizer_section_name_type_0,
)
from ..models.optimizer_section_offload_type_0 import (
    OptimizerSectionOffloadType0,
    check_optimizer_section_offload_type_0,
)
from ..models.optimizer_section_parameter_offload_type_0 import (
    OptimizerSectionParameterOffloadType0,
    check_optimizer_section_parameter_offload_type_0,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.offload_fraction import OffloadFraction
    from ..models.swap_section import SwapSection


T = TypeVar("T", bound="OptimizerSection")


@_attrs_define
class OptimizerSection:
    """The optimizer and where its state lives.

    Attributes:
        name (None | OptimizerSectionNameType0 | Unset): Optimizer; `none` for inference-like runs without a step.
        momentum (bool | None | Unset): SGD keeps a momentum buffer.
        moments (list[OptimizerSectionMomentsType0Item] | None | Unset): Types of the first and second moment.
        implementation (None | OptimizerSectionImplementationType0 | Unset): How the step runs; decides its temporary
            memory.
        in_backward (bool | None | Unset): The step runs inside the backward, so gradients are not kept.
        offload (None | OffloadFraction | OptimizerSectionOffloadType0 | Unset): Where optimizer states live.
        parameter_offload (None | OptimizerSectionParameterOffloadType0 | Unset): Where sharded parameters live.
        swap (None | SwapSection | Unset): Buffers of what is on disk; null means the framework's.
    """

    name: None | OptimizerSectionNameType0 | Unset = UNSET
    momentum: bool | None | Unset = UNSET
    moments: list[OptimizerSectionMomentsType0Item] | None | Unset = UNSET
    implementation: None | OptimizerSectionImplementationType0 | Unset = UNSET
    in_backward: bool | None | Unset = UNSET
    offload: None | OffloadFraction | OptimizerSectionOffloadType0 | Unset = UNSET
    parameter_offload: None | OptimizerSectionParameterOffloadType0 | Unset = UNSET
    swap: None | SwapSection | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.offload_fraction import OffloadFraction  # noqa: PLC0415
        from ..models.swap_section import SwapSection  # noqa: PLC0415

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        elif isinstance(self.name, str):
            name = self.name
        else:
            name = self.name

        momentum: bool | None | Unset
        if isinstance(self.momentum, Unset):
            momentum = UNSET
        else:
            momentum = self.momentum

        moments: list[str] | None | Unset
        if isinstance(self.moments, Unset):
            moments = UNSET
        elif isinstance(self.moments, list):
            moments = []
            for moments_type_0_item_data in self.moments:
                moments_type_0_item: str = moments_type_0_item_data
                moments.append(moments_type_0_item)

        else:
            moments = self.moments

        implementation: None | str | Unset
        if isinstance(self.implementation, Unset):
            implementation = UNSET
        elif isinstance(self.implementation, str):
            implementation = self.implementation
        else:
            implementation = self.implementation

        in_backward: bool | None | Unset
        if isinstance(self.in_backward, Unset):
            in_backward = UNSET
        else:
            in_backward = self.in_backward

        offload: dict[str, Any] | None | str | Unset
        if isinstance(self.offload, Unset):
            offload = UNSET
        elif isinstance(self.offload, str):
            offload = self.offload
        elif isinstance(self.offload, OffloadFraction):
            offload = self.offload.to_dict()
        else:
            offload = self.offload

        parameter_offload: None | str | Unset
        if isinstance(self.parameter_offload, Unset):
            parameter_offload = UNSET
        elif isinstance(self.parameter_offload, str):
            parameter_offload = self.parameter_offload
        else:
            parameter_offload = self.parameter_offload

        swap: dict[str, Any] | None | Unset
        if isinstance(self.swap, Unset):
            swap = UNSET
        elif isinstance(self.swap, SwapSection):
            swap = self.swap.to_dict()
        else:
            swap = self.swap

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if momentum is not UNSET:
            field_dict["momentum"] = momentum
        if moments is not UNSET:
            field_dict["moments"] = moments
        if implementation is not UNSET:
            field_dict["implementation"] = implementation
        if in_backward is not UNSET:
            field_dict["in_backward"] = in_backward
        if offload is not UNSET:
            field_dict["offload"] = offload
        if parameter_offload is not UNSET:
            field_dict["parameter_offload"] = parameter_offload
        if swap is not UNSET:
            field_dict["swap"] = swap

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.offload_fraction import OffloadFraction  # noqa: PLC0415
        from ..models.swap_section import SwapSection  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_name(data: object) -> None | OptimizerSectionNameType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                name_type_0 = check_optimizer_section_name_type_0(data)

                return name_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OptimizerSectionNameType0 | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_momentum(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        momentum = _parse_momentum(d.pop("momentum", UNSET))

        def _parse_moments(
            data: object,
        ) -> list[OptimizerSectionMomentsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                moments_type_0 = []
                _moments_type_0 = data
                for moments_type_0_item_data in _moments_type_0:
                    moments_type_0_item = check_optimizer_section_moments_type_0_item(
                        moments_type_0_item_data
                    )

                    moments_type_0.append(moments_type_0_item)

                return moments_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[OptimizerSectionMomentsType0Item] | None | Unset, data)

        moments = _parse_moments(d.pop("moments", UNSET))

        def _parse_implementation(
            data: object,
        ) -> None | OptimizerSectionImplementationType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                implementation_type_0 = check_optimizer_section_implementation_type_0(
                    data
                )

                return implementation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OptimizerSectionImplementationType0 | Unset, data)

        implementation = _parse_implementation(d.pop("implementation", UNSET))

        def _parse_in_backward(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        in_backward = _parse_in_backward(d.pop("in_backward", UNSET))

        def _parse_offload(
            data: object,
        ) -> None | OffloadFraction | OptimizerSectionOffloadType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                offload_type_0 = check_optimizer_section_offload_type_0(data)

                return offload_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                offload_type_1 = OffloadFraction.from_dict(data)

                return offload_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                None | OffloadFraction | OptimizerSectionOffloadType0 | Unset, data
            )

        offload = _parse_offload(d.pop("offload", UNSET))

        def _parse_parameter_offload(
            data: object,
        ) -> None | OptimizerSectionParameterOffloadType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                parameter_offload_type_0 = (
                    check_optimizer_section_parameter_offload_type_0(data)
                )

                return parameter_offload_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OptimizerSectionParameterOffloadType0 | Unset, data)

        parameter_offload = _parse_parameter_offload(d.pop("parameter_offload", UNSET))

        def _parse_swap(data: object) -> None | SwapSection | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                swap_type_0 = SwapSection.from_dict(data)

                return swap_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SwapSection | Unset, data)

        swap = _parse_swap(d.pop("swap", UNSET))

        optimizer_section = cls(
            name=name,
            momentum=momentum,
            moments=moments,
            implementation=implementation,
            in_backward=in_backward,
            offload=offload,
            parameter_offload=parameter_offload,
            swap=swap,
        )

        return optimizer_section
