from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.adapters_section_dtype_type_0 import (
    AdaptersSectionDtypeType0,
    check_adapters_section_dtype_type_0,
)
from ..models.adapters_section_modules_item import (
    AdaptersSectionModulesItem,
    check_adapters_section_modules_item,
)
from ..models.adapters_section_quantization_type_0 import (
    AdaptersSectionQuantizationType0,
    check_adapters_section_quantization_type_0,
)
from ..models.adapters_section_trained_modules_type_0_item import (
    AdaptersSectionTrainedModulesType0Item,
    check_adapters_section_trained_modules_type_0_item,
)
from ..models.adapters_section_type import (
    AdaptersSectionType,
    check_adapters_section_type,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="AdaptersSection")


@_attrs_define
class AdaptersSection:
    """Low-rank adapters on frozen weights.

    Attributes:
        type_ (AdaptersSectionType): LoRA, or LoRA over quantised weights.
        rank (int): Rank of each adapter.
        modules (list[AdaptersSectionModulesItem]): Linear modules that carry an adapter; gate, up and down are those of
            dense layers, shared and routed experts. On
            latent attention q stands for q_a and q_b, k and v for kv_a and kv_b.
        quantization (AdaptersSectionQuantizationType0 | None | Unset): Type of the frozen weights.
        dtype (AdaptersSectionDtypeType0 | None | Unset): Type of the adapters.
        dropout (float | None | Unset): Probability with which an adapter drops elements of its input; any above 0 keeps
            the rest and a mask.
        trained_modules (list[AdaptersSectionTrainedModulesType0Item] | None | Unset): Modules trained in full beside
            the adapters.
    """

    type_: AdaptersSectionType
    rank: int
    modules: list[AdaptersSectionModulesItem]
    quantization: AdaptersSectionQuantizationType0 | None | Unset = UNSET
    dtype: AdaptersSectionDtypeType0 | None | Unset = UNSET
    dropout: float | None | Unset = UNSET
    trained_modules: list[AdaptersSectionTrainedModulesType0Item] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        rank = self.rank

        modules = []
        for modules_item_data in self.modules:
            modules_item: str = modules_item_data
            modules.append(modules_item)

        quantization: None | str | Unset
        if isinstance(self.quantization, Unset):
            quantization = UNSET
        elif isinstance(self.quantization, str):
            quantization = self.quantization
        else:
            quantization = self.quantization

        dtype: None | str | Unset
        if isinstance(self.dtype, Unset):
            dtype = UNSET
        elif isinstance(self.dtype, str):
            dtype = self.dtype
        else:
            dtype = self.dtype

        dropout: float | None | Unset
        if isinstance(self.dropout, Unset):
            dropout = UNSET
        else:
            dropout = self.dropout

        trained_modules: list[str] | None | Unset
        if isinstance(self.trained_modules, Unset):
            trained_modules = UNSET
        elif isinstance(self.trained_modules, list):
            trained_modules = []
            for trained_modules_type_0_item_data in self.trained_modules:
                trained_modules_type_0_item: str = trained_modules_type_0_item_data
                trained_modules.append(trained_modules_type_0_item)

        else:
            trained_modules = self.trained_modules

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "rank": rank,
                "modules": modules,
            }
        )
        if quantization is not UNSET:
            field_dict["quantization"] = quantization
        if dtype is not UNSET:
            field_dict["dtype"] = dtype
        if dropout is not UNSET:
            field_dict["dropout"] = dropout
        if trained_modules is not UNSET:
            field_dict["trained_modules"] = trained_modules

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = check_adapters_section_type(d.pop("type"))

        rank = d.pop("rank")

        modules = []
        _modules = d.pop("modules")
        for modules_item_data in _modules:
            modules_item = check_adapters_section_modules_item(modules_item_data)

            modules.append(modules_item)

        def _parse_quantization(
            data: object,
        ) -> AdaptersSectionQuantizationType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                quantization_type_0 = check_adapters_section_quantization_type_0(data)

                return quantization_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdaptersSectionQuantizationType0 | None | Unset, data)

        quantization = _parse_quantization(d.pop("quantization", UNSET))

        def _parse_dtype(data: object) -> AdaptersSectionDtypeType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                dtype_type_0 = check_adapters_section_dtype_type_0(data)

                return dtype_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdaptersSectionDtypeType0 | None | Unset, data)

        dtype = _parse_dtype(d.pop("dtype", UNSET))

        def _parse_dropout(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        dropout = _parse_dropout(d.pop("dropout", UNSET))

        def _parse_trained_modules(
            data: object,
        ) -> list[AdaptersSectionTrainedModulesType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                trained_modules_type_0 = []
                _trained_modules_type_0 = data
                for trained_modules_type_0_item_data in _trained_modules_type_0:
                    trained_modules_type_0_item = (
                        check_adapters_section_trained_modules_type_0_item(
                            trained_modules_type_0_item_data
                        )
                    )

                    trained_modules_type_0.append(trained_modules_type_0_item)

                return trained_modules_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[AdaptersSectionTrainedModulesType0Item] | None | Unset, data
            )

        trained_modules = _parse_trained_modules(d.pop("trained_modules", UNSET))

        adapters_section = cls(
            type_=type_,
            rank=rank,
            modules=modules,
            quantization=quantization,
            dtype=dtype,
            dropout=dropout,
            trained_modules=trained_modules,
        )

        return adapters_section
