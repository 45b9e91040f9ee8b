from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.fp_8_section_backend_type_0 import (
    Fp8SectionBackendType0,
    check_fp_8_section_backend_type_0,
)
from ..models.fp_8_section_recipe_type_0 import (
    Fp8SectionRecipeType0,
    check_fp_8_section_recipe_type_0,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bf_16_layers import Bf16Layers


T = TypeVar("T", bound="Fp8Section")


@_attrs_define
class Fp8Section:
    """8-bit floating-point training.

    Attributes:
        recipe (Fp8SectionRecipeType0 | None | Unset): How scaling factors are kept; null means the framework's default.
        backend (Fp8SectionBackendType0 | None | Unset): Library whose products run in 8 bits: Megatron's is Transformer
            Engine; accelerate takes torchao where it is.
        parameters (bool | None | Unset): Primary weights are kept in fp8.
        all_gather (bool | None | Unset): Parameters are gathered in fp8.
        bf16_layers (Bf16Layers | None | Unset): Layers at both ends that stay in bf16.
    """

    recipe: Fp8SectionRecipeType0 | None | Unset = UNSET
    backend: Fp8SectionBackendType0 | None | Unset = UNSET
    parameters: bool | None | Unset = UNSET
    all_gather: bool | None | Unset = UNSET
    bf16_layers: Bf16Layers | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.bf_16_layers import Bf16Layers  # noqa: PLC0415

        recipe: None | str | Unset
        if isinstance(self.recipe, Unset):
            recipe = UNSET
        elif isinstance(self.recipe, str):
            recipe = self.recipe
        else:
            recipe = self.recipe

        backend: None | str | Unset
        if isinstance(self.backend, Unset):
            backend = UNSET
        elif isinstance(self.backend, str):
            backend = self.backend
        else:
            backend = self.backend

        parameters: bool | None | Unset
        if isinstance(self.parameters, Unset):
            parameters = UNSET
        else:
            parameters = self.parameters

        all_gather: bool | None | Unset
        if isinstance(self.all_gather, Unset):
            all_gather = UNSET
        else:
            all_gather = self.all_gather

        bf16_layers: dict[str, Any] | None | Unset
        if isinstance(self.bf16_layers, Unset):
            bf16_layers = UNSET
        elif isinstance(self.bf16_layers, Bf16Layers):
            bf16_layers = self.bf16_layers.to_dict()
        else:
            bf16_layers = self.bf16_layers

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if recipe is not UNSET:
            field_dict["recipe"] = recipe
        if backend is not UNSET:
            field_dict["backend"] = backend
        if parameters is not UNSET:
            field_dict["parameters"] = parameters
        if all_gather is not UNSET:
            field_dict["all_gather"] = all_gather
        if bf16_layers is not UNSET:
            field_dict["bf16_layers"] = bf16_layers

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bf_16_layers import Bf16Layers  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_recipe(data: object) -> Fp8SectionRecipeType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                recipe_type_0 = check_fp_8_section_recipe_type_0(data)

                return recipe_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Fp8SectionRecipeType0 | None | Unset, data)

        recipe = _parse_recipe(d.pop("recipe", UNSET))

        def _parse_backend(data: object) -> Fp8SectionBackendType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                backend_type_0 = check_fp_8_section_backend_type_0(data)

                return backend_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Fp8SectionBackendType0 | None | Unset, data)

        backend = _parse_backend(d.pop("backend", UNSET))

        def _parse_parameters(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        parameters = _parse_parameters(d.pop("parameters", UNSET))

        def _parse_all_gather(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        all_gather = _parse_all_gather(d.pop("all_gather", UNSET))

        def _parse_bf16_layers(data: object) -> Bf16Layers | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                bf16_layers_type_0 = Bf16Layers.from_dict(data)

                return bf16_layers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Bf16Layers | None | Unset, data)

        bf16_layers = _parse_bf16_layers(d.pop("bf16_layers", UNSET))

        fp_8_section = cls(
            recipe=recipe,
            backend=backend,
            parameters=parameters,
            all_gather=all_gather,
            bf16_layers=bf16_layers,
        )

        return fp_8_section
