from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BrokenRuleAnswer")


@_attrs_define
class BrokenRuleAnswer:
    """A rule that a job breaks.

    Attributes:
        rule (str): `does_not_fit`, `tight`, `unknown`, `margin`, `device` or `world_size`.
        ruling (str): What this alone comes to: `warn` or `refuse`.
        message (str): Why, for people.
    """

    rule: str
    ruling: str
    message: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rule = self.rule

        ruling = self.ruling

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rule": rule,
                "ruling": ruling,
                "message": message,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        rule = d.pop("rule")

        ruling = d.pop("ruling")

        message = d.pop("message")

        broken_rule_answer = cls(
            rule=rule,
            ruling=ruling,
            message=message,
        )

        broken_rule_answer.additional_properties = d
        return broken_rule_answer

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
