from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.evidence_answer import EvidenceAnswer


T = TypeVar("T", bound="EvidenceAnswers")


@_attrs_define
class EvidenceAnswers:
    """Where a device's figures come from.

    Attributes:
        memory (EvidenceAnswer): Where a group of a device's figures comes from.
        compute (EvidenceAnswer): Where a group of a device's figures comes from.
        links (EvidenceAnswer): Where a group of a device's figures comes from.
    """

    memory: EvidenceAnswer
    compute: EvidenceAnswer
    links: EvidenceAnswer
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        memory = self.memory.to_dict()

        compute = self.compute.to_dict()

        links = self.links.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "memory": memory,
                "compute": compute,
                "links": links,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.evidence_answer import EvidenceAnswer  # noqa: PLC0415

        d = dict(src_dict)
        memory = EvidenceAnswer.from_dict(d.pop("memory"))

        compute = EvidenceAnswer.from_dict(d.pop("compute"))

        links = EvidenceAnswer.from_dict(d.pop("links"))

        evidence_answers = cls(
            memory=memory,
            compute=compute,
            links=links,
        )

        evidence_answers.additional_properties = d
        return evidence_answers

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
