from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.checkpointing_limit_granularity import (
    CheckpointingLimitGranularity,
    check_checkpointing_limit_granularity,
)
from ..models.checkpointing_limit_method_type_0 import (
    CheckpointingLimitMethodType0,
    check_checkpointing_limit_method_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="CheckpointingLimit")


@_attrs_define
class CheckpointingLimit:
    """One kind of activation checkpointing; what it leaves out is searched.

    Attributes:
        granularity (CheckpointingLimitGranularity): Nothing, chosen modules, or whole layers.
        method (CheckpointingLimitMethodType0 | None | Unset): Full only; null means uniform.
        num_layers (int | None | Unset): Full only: layers in a segment, or checkpointed layers of a chunk; null means
            every number.
        modules (list[str] | None | Unset): Selective only: Megatron's names of the modules that are computed again.
        op (Literal['default'] | None | Unset): Selective only: torchtitan's list of operations whose results are kept.
        every (int | None | Unset): Selective only: every n-th layer is checkpointed.
    """

    granularity: CheckpointingLimitGranularity
    method: CheckpointingLimitMethodType0 | None | Unset = UNSET
    num_layers: int | None | Unset = UNSET
    modules: list[str] | None | Unset = UNSET
    op: Literal["default"] | None | Unset = UNSET
    every: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        granularity: str = self.granularity

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

        op: Literal["default"] | None | Unset
        if isinstance(self.op, Unset):
            op = UNSET
        else:
            op = self.op

        every: int | None | Unset
        if isinstance(self.every, Unset):
            every = UNSET
        else:
            every = self.every

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "granularity": granularity,
            }
        )
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

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        granularity = check_checkpointing_limit_granularity(d.pop("granularity"))

        def _parse_method(data: object) -> CheckpointingLimitMethodType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_checkpointing_limit_method_type_0(data)

                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CheckpointingLimitMethodType0 | None | Unset, data)

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

        def _parse_op(data: object) -> Literal["default"] | None | Unset:
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
            return cast(Literal["default"] | None | Unset, data)

        op = _parse_op(d.pop("op", UNSET))

        def _parse_every(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        every = _parse_every(d.pop("every", UNSET))

        checkpointing_limit = cls(
            granularity=granularity,
            method=method,
            num_layers=num_layers,
            modules=modules,
            op=op,
            every=every,
        )

        return checkpointing_limit
