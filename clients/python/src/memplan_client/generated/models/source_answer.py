from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.source_answer_from import SourceAnswerFrom, check_source_answer_from

T = TypeVar("T", bound="SourceAnswer")


@_attrs_define
class SourceAnswer:
    """Where a value came from.

    Attributes:
        from_ (SourceAnswerFrom): Kind of the source: a command-line flag, a key of a file, an environment variable, the
            framework's default,
            derived from other values, assumed, or given beside the config.
        where (str): Line, flag, key or rule, for people.
    """

    from_: SourceAnswerFrom
    where: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_: str = self.from_

        where = self.where

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from": from_,
                "where": where,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        from_ = check_source_answer_from(d.pop("from"))

        where = d.pop("where")

        source_answer = cls(
            from_=from_,
            where=where,
        )

        source_answer.additional_properties = d
        return source_answer

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
