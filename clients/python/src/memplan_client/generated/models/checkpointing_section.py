from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.checkpointing_section_granularity_type_0 import (
    CheckpointingSectionGranularityType0,
    check_checkpointing_section_granularity_type_0,
)
from ..models.checkpointing_section_method_type_0 import (
    CheckpointingSectionMethodType0,
    check_checkpointing_section_method_type_0,
)
from ..models.checkpointing_section_offload_type_0 import (
    CheckpointingSectionOffloadType0,
    check_checkpointing_section_offload_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="CheckpointingSection")


@_attrs_define
class CheckpointingSection:
    """Activation checkpointing (recomputation).

    Attributes:
        granularity (CheckpointingSectionGranularityType0 | None | Unset): Nothing, chosen modules, or whole layers are
            recomputed in the backward.
        method (CheckpointingSectionMethodType0 | None | Unset): Full only: equal segments of all layers, or the first
            layers of each chunk.
        num_layers (int | None | Unset): Full only: layers in a uniform segment, or checkpointed layers of each chunk
            under block.
        modules (list[str] | None | Unset): Selective only, Megatron's names: core_attn, layernorm, moe_act,
            mla_up_proj, mlp, moe, shared_experts.
        op (list[str] | Literal['default'] | None | Unset): torchtitan: operations whose outputs are kept.
        every (int | None | Unset): torchtitan: every n-th layer is checkpointed.
        distribute_saved (bool | None | Unset): Stored layer inputs are split over the tensor group.
        offload (CheckpointingSectionOffloadType0 | list[str] | None | Unset): Saved activations moved to host memory:
            none, layer inputs, all, or a list of modules.
        offload_layers (int | None | Unset): Layers whose activations are moved to host memory.
        memory_budget (float | None | Unset): torch.compile's activation memory budget, between full recomputation (0)
            and none (1).
    """

    granularity: CheckpointingSectionGranularityType0 | None | Unset = UNSET
    method: CheckpointingSectionMethodType0 | None | Unset = UNSET
    num_layers: int | None | Unset = UNSET
    modules: list[str] | None | Unset = UNSET
    op: list[str] | Literal["default"] | None | Unset = UNSET
    every: int | None | Unset = UNSET
    distribute_saved: bool | None | Unset = UNSET
    offload: CheckpointingSectionOffloadType0 | list[str] | None | Unset = UNSET
    offload_layers: int | None | Unset = UNSET
    memory_budget: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        granularity: None | str | Unset
        if isinstance(self.granularity, Unset):
            granularity = UNSET
        elif isinstance(self.granularity, str):
            granularity = self.granularity
        else:
            granularity = self.granularity

        method: None | str | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        elif isinstance(self.method, str):
            method = self.method
        else:
            method = self.method

        num_layers: int | None | Unset
        if isinstance(self.num_layers, Unset):
            num_layers = UNSET
        else:
            num_layers = self.num_layers

        modules: list[str] | None | Unset
        if isinstance(self.modules, Unset):
            modules = UNSET
        elif isinstance(self.modules, list):
            modules = self.modules

        else:
            modules = self.modules

        op: list[str] | Literal["default"] | None | Unset
        if isinstance(self.op, Unset):
            op = UNSET
        elif isinstance(self.op, list):
            op = self.op

        else:
            op = self.op

        every: int | None | Unset
        if isinstance(self.every, Unset):
            every = UNSET
        else:
            every = self.every

        distribute_saved: bool | None | Unset
        if isinstance(self.distribute_saved, Unset):
            distribute_saved = UNSET
        else:
            distribute_saved = self.distribute_saved

        offload: list[str] | None | str | Unset
        if isinstance(self.offload, Unset):
            offload = UNSET
        elif isinstance(self.offload, str):
            offload = self.offload
        elif isinstance(self.offload, list):
            offload = self.offload

        else:
            offload = self.offload

        offload_layers: int | None | Unset
        if isinstance(self.offload_layers, Unset):
            offload_layers = UNSET
        else:
            offload_layers = self.offload_layers

        memory_budget: float | None | Unset
        if isinstance(self.memory_budget, Unset):
            memory_budget = UNSET
        else:
            memory_budget = self.memory_budget

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if granularity is not UNSET:
            field_dict["granularity"] = granularity
        if method is not UNSET:
            field_dict["method"] = method
        if num_layers is not UNSET:
            field_dict["num_layers"] = num_layers
        if modules is not UNSET:
            field_dict["modules"] = modules
        if op is not UNSET:
            field_dict["op"] = op
        if every is not UNSET:
            field_dict["every"] = every
        if distribute_saved is not UNSET:
            field_dict["distribute_saved"] = distribute_saved
        if offload is not UNSET:
            field_dict["offload"] = offload
        if offload_layers is not UNSET:
            field_dict["offload_layers"] = offload_layers
        if memory_budget is not UNSET:
            field_dict["memory_budget"] = memory_budget

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_granularity(
            data: object,
        ) -> CheckpointingSectionGranularityType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                granularity_type_0 = check_checkpointing_section_granularity_type_0(
                    data
                )

                return granularity_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CheckpointingSectionGranularityType0 | None | Unset, data)

        granularity = _parse_granularity(d.pop("granularity", UNSET))

        def _parse_method(
            data: object,
        ) -> CheckpointingSectionMethodType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_checkpointing_section_method_type_0(data)

                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CheckpointingSectionMethodType0 | None | Unset, data)

        method = _parse_method(d.pop("method", UNSET))

        def _parse_num_layers(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        num_layers = _parse_num_layers(d.pop("num_layers", UNSET))

        def _parse_modules(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                modules_type_0 = cast(list[str], data)

                return modules_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        modules = _parse_modules(d.pop("modules", UNSET))

        def _parse_op(data: object) -> list[str] | Literal["default"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            op_type_0 = cast(Literal["default"], data)
            if op_type_0 != "default":
                raise ValueError(
                    f"op_type_0 must match const 'default', got '{op_type_0}'"
                )
            return op_type_0
            try:
                if not isinstance(data, list):
                    raise TypeError()
                op_type_1 = cast(list[str], data)

                return op_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | Literal["default"] | None | Unset, data)

        op = _parse_op(d.pop("op", UNSET))

        def _parse_every(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        every = _parse_every(d.pop("every", UNSET))

        def _parse_distribute_saved(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        distribute_saved = _parse_distribute_saved(d.pop("distribute_saved", UNSET))

        def _parse_offload(
            data: object,
        ) -> CheckpointingSectionOffloadType0 | list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                offload_type_0 = check_checkpointing_section_offload_type_0(data)

                return offload_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                offload_type_1 = cast(list[str], data)

                return offload_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                CheckpointingSectionOffloadType0 | list[str] | None | Unset, data
            )

        offload = _parse_offload(d.pop("offload", UNSET))

        def _parse_offload_layers(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        offload_layers = _parse_offload_layers(d.pop("offload_layers", UNSET))

        def _parse_memory_budget(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        memory_budget = _parse_memory_budget(d.pop("memory_budget", UNSET))

        checkpointing_section = cls(
            granularity=granularity,
            method=method,
            num_layers=num_layers,
            modules=modules,
            op=op,
            every=every,
            distribute_saved=distribute_saved,
            offload=offload,
            offload_layers=offload_layers,
            memory_budget=memory_budget,
        )

        return checkpointing_section
