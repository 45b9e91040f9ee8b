from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.config_source import ConfigSource


T = TypeVar("T", bound="ImportRequest")


@_attrs_define
class ImportRequest:
    """A config to be read.

    Attributes:
        source (ConfigSource): A training config in the form its owner has it; nothing in it is executed, sourced or
            fetched.
    """

    source: ConfigSource

    def to_dict(self) -> dict[str, Any]:
        source = self.source.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.config_source import ConfigSource  # noqa: PLC0415

        d = dict(src_dict)
        source = ConfigSource.from_dict(d.pop("source"))

        import_request = cls(
            source=source,
        )

        return import_request
