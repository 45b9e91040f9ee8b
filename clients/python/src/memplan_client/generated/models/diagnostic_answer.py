from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.diagnostic_answer_severity import (
    DiagnosticAnswerSeverity,
    check_diagnostic_answer_severity,
)

T = TypeVar("T", bound="DiagnosticAnswer")


@_attrs_define
class DiagnosticAnswer:
    """One finding about a config.

    Attributes:
        code (str): Stable name of the rule.
        severity (DiagnosticAnswerSeverity): Only an error makes a job invalid.
        fields (list[str]): JSON Pointers into the canonical job of the fields that the finding is about.
        found (str): What was found.
        rule (str): The rule.
        message (str): The finding, for people.
        fixes (list[str]): Changes that would satisfy the rule.
    """

    code: str
    severity: DiagnosticAnswerSeverity
    fields: list[str]
    found: str
    rule: str
    message: str
    fixes: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        severity: str = self.severity

        fields = self.fields

        found = self.found

        rule = self.rule

        message = self.message

        fixes = self.fixes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "severity": severity,
                "fields": fields,
                "found": found,
                "rule": rule,
                "message": message,
                "fixes": fixes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        severity = check_diagnostic_answer_severity(d.pop("severity"))

        fields = cast(list[str], d.pop("fields"))

        found = d.pop("found")

        rule = d.pop("rule")

        message = d.pop("message")

        fixes = cast(list[str], d.pop("fixes"))

        diagnostic_answer = cls(
            code=code,
            severity=severity,
            fields=fields,
            found=found,
            rule=rule,
            message=message,
            fixes=fixes,
        )

        diagnostic_answer.additional_properties = d
        return diagnostic_answer

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
