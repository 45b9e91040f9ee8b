from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.config_source import ConfigSource


T = TypeVar("T", bound="LabelledSourceRequest")


@_attrs_define
class LabelledSourceRequest:
    """A config to be compared.

    Attributes:
        label (str): Name of this side in the answer.
        source (ConfigSource): A training config in the form its owner has it; nothing in it is executed, sourced or
            fetched.
    """

    label: str
    source: ConfigSource

    def to_dict(self) -> dict[str, Any]:
        label = self.label

        source = self.source.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "label": label,
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.config_source import ConfigSource  # noqa: PLC0415

        d = dict(src_dict)
        label = d.pop("label")

        source = ConfigSource.from_dict(d.pop("source"))

        labelled_source_request = cls(
            label=label,
            source=source,
        )

        return labelled_source_request
