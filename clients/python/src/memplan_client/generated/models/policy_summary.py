from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.day_counts import DayCounts
    from ..models.policy_summary_rules import PolicySummaryRules
    from ..models.ruling_counts import RulingCounts


T = TypeVar("T", bound="PolicySummary")


@_attrs_define
class PolicySummary:
    """What the policy of a queue came to, would it be enforced: what to look at before it is.

    Attributes:
        queue (str): Name of the queue.
        since (datetime.date): First day that is counted, in UTC.
        rulings (RulingCounts): How often a policy came to each ruling, would it be enforced.
        rules (PolicySummaryRules): How often each rule decided.
        days (list[DayCounts]): The rulings by day, the oldest first; days without any are left out.
    """

    queue: str
    since: datetime.date
    rulings: RulingCounts
    rules: PolicySummaryRules
    days: list[DayCounts]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        queue = self.queue

        since = self.since.isoformat()

        rulings = self.rulings.to_dict()

        rules = self.rules.to_dict()

        days = []
        for days_item_data in self.days:
            days_item = days_item_data.to_dict()
            days.append(days_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "queue": queue,
                "since": since,
                "rulings": rulings,
                "rules": rules,
                "days": days,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.day_counts import DayCounts  # noqa: PLC0415
        from ..models.policy_summary_rules import PolicySummaryRules  # noqa: PLC0415
        from ..models.ruling_counts import RulingCounts  # noqa: PLC0415

        d = dict(src_dict)
        queue = d.pop("queue")

        since = datetime.date.fromisoformat(d.pop("since"))

        rulings = RulingCounts.from_dict(d.pop("rulings"))

        rules = PolicySummaryRules.from_dict(d.pop("rules"))

        days = []
        _days = d.pop("days")
        for days_item_data in _days:
            days_item = DayCounts.from_dict(days_item_data)

            days.append(days_item)

        policy_summary = cls(
            queue=queue,
            since=since,
            rulings=rulings,
            rules=rules,
            days=days,
        )

        policy_summary.additional_properties = d
        return policy_summary

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
