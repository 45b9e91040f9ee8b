from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Buckets")


@_attrs_define
class Buckets:
    """Sizes of communication buckets (elements, not bytes).

    Attributes:
        reduce (int | None | Unset): Gradient reduction bucket (elements).
        all_gather (int | None | Unset): Parameter all-gather bucket (elements).
        prefetch (int | None | Unset): Parameters prefetched ahead of use (elements).
        max_live_parameters (int | None | Unset): Cap on gathered parameters (elements).
        persistence_threshold (int | None | Unset): Parameters up to this size are never partitioned (elements).
    """

    reduce: int | None | Unset = UNSET
    all_gather: int | None | Unset = UNSET
    prefetch: int | None | Unset = UNSET
    max_live_parameters: int | None | Unset = UNSET
    persistence_threshold: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        reduce: int | None | Unset
        if isinstance(self.reduce, Unset):
            reduce = UNSET
        else:
            reduce = self.reduce

        all_gather: int | None | Unset
        if isinstance(self.all_gather, Unset):
            all_gather = UNSET
        else:
            all_gather = self.all_gather

        prefetch: int | None | Unset
        if isinstance(self.prefetch, Unset):
            prefetch = UNSET
        else:
            prefetch = self.prefetch

        max_live_parameters: int | None | Unset
        if isinstance(self.max_live_parameters, Unset):
            max_live_parameters = UNSET
        else:
            max_live_parameters = self.max_live_parameters

        persistence_threshold: int | None | Unset
        if isinstance(self.persistence_threshold, Unset):
            persistence_threshold = UNSET
        else:
            persistence_threshold = self.persistence_threshold

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if reduce is not UNSET:
            field_dict["reduce"] = reduce
        if all_gather is not UNSET:
            field_dict["all_gather"] = all_gather
        if prefetch is not UNSET:
            field_dict["prefetch"] = prefetch
        if max_live_parameters is not UNSET:
            field_dict["max_live_parameters"] = max_live_parameters
        if persistence_threshold is not UNSET:
            field_dict["persistence_threshold"] = persistence_threshold

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_reduce(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        reduce = _parse_reduce(d.pop("reduce", UNSET))

        def _parse_all_gather(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        all_gather = _parse_all_gather(d.pop("all_gather", UNSET))

        def _parse_prefetch(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        prefetch = _parse_prefetch(d.pop("prefetch", UNSET))

        def _parse_max_live_parameters(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_live_parameters = _parse_max_live_parameters(
            d.pop("max_live_parameters", UNSET)
        )

        def _parse_persistence_threshold(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        persistence_threshold = _parse_persistence_threshold(
            d.pop("persistence_threshold", UNSET)
        )

        buckets = cls(
            reduce=reduce,
            all_gather=all_gather,
            prefetch=prefetch,
            max_live_parameters=max_live_parameters,
            persistence_threshold=persistence_threshold,
        )

        return buckets
