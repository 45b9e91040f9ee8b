from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.labelled_job_request import LabelledJobRequest
    from ..models.labelled_source_request import LabelledSourceRequest
    from ..models.target_request import TargetRequest


T = TypeVar("T", bound="ComparisonRequest")


@_attrs_define
class ComparisonRequest:
    """What is compared: at least one plan or job; jobs need targets.

    Attributes:
        plans (list[str] | Unset): Ids of stored plans; each stands for its first candidate, without targets on its own
            cluster.
        items (list[LabelledJobRequest | LabelledSourceRequest] | Unset): Jobs, each under a name.
        targets (list[TargetRequest] | Unset): Where every plan and job is to run; may be left out when there are only
            plans.
        use_observations (bool | Unset): Whether observed runs are used; false asks for what is said without them.
            Default: True.
    """

    plans: list[str] | Unset = UNSET
    items: list[LabelledJobRequest | LabelledSourceRequest] | Unset = UNSET
    targets: list[TargetRequest] | Unset = UNSET
    use_observations: bool | Unset = True

    def to_dict(self) -> dict[str, Any]:
        from ..models.labelled_job_request import LabelledJobRequest  # noqa: PLC0415

        plans: list[str] | Unset = UNSET
        if not isinstance(self.plans, Unset):
            plans = self.plans

        items: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.items, Unset):
            items = []
            for items_item_data in self.items:
                items_item: dict[str, Any]
                if isinstance(items_item_data, LabelledJobRequest):
                    items_item = items_item_data.to_dict()
                else:
                    items_item = items_item_data.to_dict()

                items.append(items_item)

        targets: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.targets, Unset):
            targets = []
            for targets_item_data in self.targets:
                targets_item = targets_item_data.to_dict()
                targets.append(targets_item)

        use_observations = self.use_observations

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if plans is not UNSET:
            field_dict["plans"] = plans
        if items is not UNSET:
            field_dict["items"] = items
        if targets is not UNSET:
            field_dict["targets"] = targets
        if use_observations is not UNSET:
            field_dict["use_observations"] = use_observations

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.labelled_job_request import LabelledJobRequest  # noqa: PLC0415
        from ..models.labelled_source_request import LabelledSourceRequest  # noqa: PLC0415
        from ..models.target_request import TargetRequest  # noqa: PLC0415

        d = dict(src_dict)
        plans = cast(list[str], d.pop("plans", UNSET))

        _items = d.pop("items", UNSET)
        items: list[LabelledJobRequest | LabelledSourceRequest] | Unset = UNSET
        if _items is not UNSET:
            items = []
            for items_item_data in _items:

                def _parse_items_item(
                    data: object,
                ) -> LabelledJobRequest | LabelledSourceRequest:
                    try:
                        if not isinstance(data, dict):
                            raise TypeError()
                        items_item_type_0 = LabelledJobRequest.from_dict(data)

                        return items_item_type_0
                    except (TypeError, ValueError, AttributeError, KeyError):
                        pass
                    if not isinstance(data, dict):
                        raise TypeError()
                    items_item_type_1 = LabelledSourceRequest.from_dict(data)

                    return items_item_type_1

                items_item = _parse_items_item(items_item_data)

                items.append(items_item)

        _targets = d.pop("targets", UNSET)
        targets: list[TargetRequest] | Unset = UNSET
        if _targets is not UNSET:
            targets = []
            for targets_item_data in _targets:
                targets_item = TargetRequest.from_dict(targets_item_data)

                targets.append(targets_item)

        use_observations = d.pop("use_observations", UNSET)

        comparison_request = cls(
            plans=plans,
            items=items,
            targets=targets,
            use_observations=use_observations,
        )

        return comparison_request
