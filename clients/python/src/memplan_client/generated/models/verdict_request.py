from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.job_item_request import JobItemRequest
    from ..models.source_item_request import SourceItemRequest


T = TypeVar("T", bound="VerdictRequest")


@_attrs_define
class VerdictRequest:
    """Jobs and the targets that they are judged for.

    Attributes:
        items (list[JobItemRequest | SourceItemRequest]): The jobs, at most 100; what is not ready in time is `unknown`.
        queue (None | str | Unset): The queue that they are for: its policy, or that of `default`, is applied to each
            verdict. Null: none is.
        use_observations (bool | Unset): Whether observed runs are used; false asks for what is said without them.
            Default: True.
    """

    items: list[JobItemRequest | SourceItemRequest]
    queue: None | str | Unset = UNSET
    use_observations: bool | Unset = True

    def to_dict(self) -> dict[str, Any]:
        from ..models.job_item_request import JobItemRequest  # noqa: PLC0415

        items = []
        for items_item_data in self.items:
            items_item: dict[str, Any]
            if isinstance(items_item_data, JobItemRequest):
                items_item = items_item_data.to_dict()
            else:
                items_item = items_item_data.to_dict()

            items.append(items_item)

        queue: None | str | Unset
        if isinstance(self.queue, Unset):
            queue = UNSET
        else:
            queue = self.queue

        use_observations = self.use_observations

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "items": items,
            }
        )
        if queue is not UNSET:
            field_dict["queue"] = queue
        if use_observations is not UNSET:
            field_dict["use_observations"] = use_observations

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job_item_request import JobItemRequest  # noqa: PLC0415
        from ..models.source_item_request import SourceItemRequest  # noqa: PLC0415

        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in _items:

            def _parse_items_item(data: object) -> JobItemRequest | SourceItemRequest:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    items_item_type_0 = JobItemRequest.from_dict(data)

                    return items_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                items_item_type_1 = SourceItemRequest.from_dict(data)

                return items_item_type_1

            items_item = _parse_items_item(items_item_data)

            items.append(items_item)

        def _parse_queue(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        queue = _parse_queue(d.pop("queue", UNSET))

        use_observations = d.pop("use_observations", UNSET)

        verdict_request = cls(
            items=items,
            queue=queue,
            use_observations=use_observations,
        )

        return verdict_request
