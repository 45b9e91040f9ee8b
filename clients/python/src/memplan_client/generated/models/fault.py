from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.fault_location import FaultLocation, check_fault_location
from ..types import UNSET, Unset

T = TypeVar("T", bound="Fault")


@_attrs_define
class Fault:
    """One thing that is wrong with the request.

    Attributes:
        pointer (str): JSON Pointer (RFC 6901) into that part; empty for the whole of it.
        code (str): Stable name of the rule that is broken.
        message (str): What is wrong, for people.
        fix (str): What would be right.
        location (FaultLocation | Unset): Part of the request that the pointer is about. Default: 'body'.
        fields (list[str] | None | Unset): Rules of a framework: JSON Pointers into the canonical job of all fields that
            the rule is about.
        found (None | str | Unset): Rules of a framework: what was found.
        rule (None | str | Unset): Rules of a framework: the rule.
        fixes (list[str] | None | Unset): Rules of a framework: changes that would satisfy the rule.
    """

    pointer: str
    code: str
    message: str
    fix: str
    location: FaultLocation | Unset = "body"
    fields: list[str] | None | Unset = UNSET
    found: None | str | Unset = UNSET
    rule: None | str | Unset = UNSET
    fixes: list[str] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pointer = self.pointer

        code = self.code

        message = self.message

        fix = self.fix

        location: str | Unset = UNSET
        if not isinstance(self.location, Unset):
            location = self.location

        fields: list[str] | None | Unset
        if isinstance(self.fields, Unset):
            fields = UNSET
        elif isinstance(self.fields, list):
            fields = self.fields

        else:
            fields = self.fields

        found: None | str | Unset
        if isinstance(self.found, Unset):
            found = UNSET
        else:
            found = self.found

        rule: None | str | Unset
        if isinstance(self.rule, Unset):
            rule = UNSET
        else:
            rule = self.rule

        fixes: list[str] | None | Unset
        if isinstance(self.fixes, Unset):
            fixes = UNSET
        elif isinstance(self.fixes, list):
            fixes = self.fixes

        else:
            fixes = self.fixes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pointer": pointer,
                "code": code,
                "message": message,
                "fix": fix,
            }
        )
        if location is not UNSET:
            field_dict["location"] = location
        if fields is not UNSET:
            field_dict["fields"] = fields
        if found is not UNSET:
            field_dict["found"] = found
        if rule is not UNSET:
            field_dict["rule"] = rule
        if fixes is not UNSET:
            field_dict["fixes"] = fixes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        pointer = d.pop("pointer")

        code = d.pop("code")

        message = d.pop("message")

        fix = d.pop("fix")

        _location = d.pop("location", UNSET)
        location: FaultLocation | Unset
        if isinstance(_location, Unset):
            location = UNSET
        else:
            location = check_fault_location(_location)

        def _parse_fields(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                fields_type_0 = cast(list[str], data)

                return fields_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        fields = _parse_fields(d.pop("fields", UNSET))

        def _parse_found(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        found = _parse_found(d.pop("found", UNSET))

        def _parse_rule(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rule = _parse_rule(d.pop("rule", UNSET))

        def _parse_fixes(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                fixes_type_0 = cast(list[str], data)

                return fixes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        fixes = _parse_fixes(d.pop("fixes", UNSET))

        fault = cls(
            pointer=pointer,
            code=code,
            message=message,
            fix=fix,
            location=location,
            fields=fields,
            found=found,
            rule=rule,
            fixes=fixes,
        )

        fault.additional_properties = d
        return fault

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
