from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ComparisonSummary")


@_attrs_define
class ComparisonSummary:
    """A stored comparison as lists show it.

    Attributes:
        id (str): Id of the comparison; ids sort by the time they were made.
        digest (str): SHA-256 of the canonical question and the method: the same question finds this comparison.
        created_at (datetime.datetime): When it was stored (UTC).
        sides (int): How many plans and jobs are compared.
        targets (int): On how many targets.
        method_version (str): Version of the memory model that made it.
    """

    id: str
    digest: str
    created_at: datetime.datetime
    sides: int
    targets: int
    method_version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        digest = self.digest

        created_at = self.created_at.isoformat()

        sides = self.sides

        targets = self.targets

        method_version = self.method_version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "digest": digest,
                "created_at": created_at,
                "sides": sides,
                "targets": targets,
                "method_version": method_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        digest = d.pop("digest")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        sides = d.pop("sides")

        targets = d.pop("targets")

        method_version = d.pop("method_version")

        comparison_summary = cls(
            id=id,
            digest=digest,
            created_at=created_at,
            sides=sides,
            targets=targets,
            method_version=method_version,
        )

        comparison_summary.additional_properties = d
        return comparison_summary

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
