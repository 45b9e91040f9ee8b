from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.broken_rule_answer import BrokenRuleAnswer


T = TypeVar("T", bound="RulingAnswer")


@_attrs_define
class RulingAnswer:
    """What the policy of the queue makes of a verdict.

    Attributes:
        policy (str): Queue whose policy was applied: the one that was asked for, or `default`.
        mode (str): `enforce`, `warn`, `shadow` or `off`.
        ruling (str): What to do with the job: `admit`, `warn` or `refuse`.
        enforced (str): What it would be if the policy were enforced.
        rule (None | str): The rule that decided it; null when none is broken.
        broken (list[BrokenRuleAnswer]): Every rule that the job breaks.
    """

    policy: str
    mode: str
    ruling: str
    enforced: str
    rule: None | str
    broken: list[BrokenRuleAnswer]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        policy = self.policy

        mode = self.mode

        ruling = self.ruling

        enforced = self.enforced

        rule: None | str
        rule = self.rule

        broken = []
        for broken_item_data in self.broken:
            broken_item = broken_item_data.to_dict()
            broken.append(broken_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "policy": policy,
                "mode": mode,
                "ruling": ruling,
                "enforced": enforced,
                "rule": rule,
                "broken": broken,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.broken_rule_answer import BrokenRuleAnswer  # noqa: PLC0415

        d = dict(src_dict)
        policy = d.pop("policy")

        mode = d.pop("mode")

        ruling = d.pop("ruling")

        enforced = d.pop("enforced")

        def _parse_rule(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        rule = _parse_rule(d.pop("rule"))

        broken = []
        _broken = d.pop("broken")
        for broken_item_data in _broken:
            broken_item = BrokenRuleAnswer.from_dict(broken_item_data)

            broken.append(broken_item)

        ruling_answer = cls(
            policy=policy,
            mode=mode,
            ruling=ruling,
            enforced=enforced,
            rule=rule,
            broken=broken,
        )

        ruling_answer.additional_properties = d
        return ruling_answer

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
