from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.policy_request import PolicyRequest


T = TypeVar("T", bound="PolicyAnswer")


@_attrs_define
class PolicyAnswer:
    """The policy of a queue.

    Attributes:
        queue (str): Name of the queue.
        definition (PolicyRequest): The rules of a queue, and what is done when one is broken.
        updated_at (datetime.datetime): When it was stated (RFC 3339).
    """

    queue: str
    definition: PolicyRequest
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queue = self.queue

        definition = self.definition.to_dict()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queue": queue,
                "definition": definition,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.policy_request import PolicyRequest  # noqa: PLC0415

        d = dict(src_dict)
        queue = d.pop("queue")

        definition = PolicyRequest.from_dict(d.pop("definition"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        policy_answer = cls(
            queue=queue,
            definition=definition,
            updated_at=updated_at,
        )

        policy_answer.additional_properties = d
        return policy_answer

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
