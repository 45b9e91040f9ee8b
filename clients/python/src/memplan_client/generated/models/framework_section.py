from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.framework_section_name import (
    FrameworkSectionName,
    check_framework_section_name,
)
from ..models.framework_section_transformer_impl_type_0 import (
    FrameworkSectionTransformerImplType0,
    check_framework_section_transformer_impl_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="FrameworkSection")


@_attrs_define
class FrameworkSection:
    """The training framework, which decides what absent values mean and what is kept in memory.

    Attributes:
        name (FrameworkSectionName): Framework whose defaults and memory behaviour apply.
        version (None | str | Unset): Release, commit or container; an unknown one uses the nearest profile and says so.
        transformer_impl (FrameworkSectionTransformerImplType0 | None | Unset): Which implementation of the layer runs.
    """

    name: FrameworkSectionName
    version: None | str | Unset = UNSET
    transformer_impl: FrameworkSectionTransformerImplType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name: str = self.name

        version: None | str | Unset
        if isinstance(self.version, Unset):
            version = UNSET
        else:
            version = self.version

        transformer_impl: None | str | Unset
        if isinstance(self.transformer_impl, Unset):
            transformer_impl = UNSET
        elif isinstance(self.transformer_impl, str):
            transformer_impl = self.transformer_impl
        else:
            transformer_impl = self.transformer_impl

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if version is not UNSET:
            field_dict["version"] = version
        if transformer_impl is not UNSET:
            field_dict["transformer_impl"] = transformer_impl

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = check_framework_section_name(d.pop("name"))

        def _parse_version(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        version = _parse_version(d.pop("version", UNSET))

        def _parse_transformer_impl(
            data: object,
        ) -> FrameworkSectionTransformerImplType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                transformer_impl_type_0 = (
                    check_framework_section_transformer_impl_type_0(data)
                )

                return transformer_impl_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FrameworkSectionTransformerImplType0 | None | Unset, data)

        transformer_impl = _parse_transformer_impl(d.pop("transformer_impl", UNSET))

        framework_section = cls(
            name=name,
            version=version,
            transformer_impl=transformer_impl,
        )

        return framework_section
