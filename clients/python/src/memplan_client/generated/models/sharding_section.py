from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.sharding_section_implementation_type_0 import (
    ShardingSectionImplementationType0,
    check_sharding_section_implementation_type_0,
)
from ..models.sharding_section_reshard_after_forward_type_0 import (
    ShardingSectionReshardAfterForwardType0,
    check_sharding_section_reshard_after_forward_type_0,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.buckets import Buckets


T = TypeVar("T", bound="ShardingSection")


@_attrs_define
class ShardingSection:
    """How weights, gradients and optimizer states are split over data-parallel ranks.

    Attributes:
        stage (int | None | Unset): 0 nothing, 1 optimizer states (Megatron's distributed optimizer), 2 and gradients, 3
            and weights.
        degree (int | None | Unset): Ranks that share one copy; default data x context, smaller means hybrid sharding.
        reshard_after_forward (None | ShardingSectionReshardAfterForwardType0 | Unset): FSDP: whether gathered weights
            are freed after the forward.
        buckets (Buckets | None | Unset): Communication buckets; null means the framework's sizes.
        overlap_grad_reduce (bool | None | Unset): Gradient reduction overlapped with the backward.
        overlap_param_gather (bool | None | Unset): Parameter gather overlapped with the forward.
        no_sync (bool | None | Unset): Gradients accumulate unsharded between micro-batches.
        bucket_view (bool | None | Unset): DDP: gradients are views of the communication buckets.
        implementation (None | ShardingSectionImplementationType0 | Unset): Megatron: what shards gradients and weights
            from stage 2 on; null means its own.
        double_buffer (bool | None | Unset): Megatron-FSDP: two units are gathered and reduced in buffers that stay.
        optimizer_instances (int | None | Unset): Megatron: number of replicas of the distributed optimizer.
    """

    stage: int | None | Unset = UNSET
    degree: int | None | Unset = UNSET
    reshard_after_forward: None | ShardingSectionReshardAfterForwardType0 | Unset = (
        UNSET
    )
    buckets: Buckets | None | Unset = UNSET
    overlap_grad_reduce: bool | None | Unset = UNSET
    overlap_param_gather: bool | None | Unset = UNSET
    no_sync: bool | None | Unset = UNSET
    bucket_view: bool | None | Unset = UNSET
    implementation: None | ShardingSectionImplementationType0 | Unset = UNSET
    double_buffer: bool | None | Unset = UNSET
    optimizer_instances: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.buckets import Buckets  # noqa: PLC0415

        stage: int | None | Unset
        if isinstance(self.stage, Unset):
            stage = UNSET
        else:
            stage = self.stage

        degree: int | None | Unset
        if isinstance(self.degree, Unset):
            degree = UNSET
        else:
            degree = self.degree

        reshard_after_forward: None | str | Unset
        if isinstance(self.reshard_after_forward, Unset):
            reshard_after_forward = UNSET
        elif isinstance(self.reshard_after_forward, str):
            reshard_after_forward = self.reshard_after_forward
        else:
            reshard_after_forward = self.reshard_after_forward

        buckets: dict[str, Any] | None | Unset
        if isinstance(self.buckets, Unset):
            buckets = UNSET
        elif isinstance(self.buckets, Buckets):
            buckets = self.buckets.to_dict()
        else:
            buckets = self.buckets

        overlap_grad_reduce: bool | None | Unset
        if isinstance(self.overlap_grad_reduce, Unset):
            overlap_grad_reduce = UNSET
        else:
            overlap_grad_reduce = self.overlap_grad_reduce

        overlap_param_gather: bool | None | Unset
        if isinstance(self.overlap_param_gather, Unset):
            overlap_param_gather = UNSET
        else:
            overlap_param_gather = self.overlap_param_gather

        no_sync: bool | None | Unset
        if isinstance(self.no_sync, Unset):
            no_sync = UNSET
        else:
            no_sync = self.no_sync

        bucket_view: bool | None | Unset
        if isinstance(self.bucket_view, Unset):
            bucket_view = UNSET
        else:
            bucket_view = self.bucket_view

        implementation: None | str | Unset
        if isinstance(self.implementation, Unset):
            implementation = UNSET
        elif isinstance(self.implementation, str):
            implementation = self.implementation
        else:
            implementation = self.implementation

        double_buffer: bool | None | Unset
        if isinstance(self.double_buffer, Unset):
            double_buffer = UNSET
        else:
            double_buffer = self.double_buffer

        optimizer_instances: int | None | Unset
        if isinstance(self.optimizer_instances, Unset):
            optimizer_instances = UNSET
        else:
            optimizer_instances = self.optimizer_instances

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if stage is not UNSET:
            field_dict["stage"] = stage
        if degree is not UNSET:
            field_dict["degree"] = degree
        if reshard_after_forward is not UNSET:
            field_dict["reshard_after_forward"] = reshard_after_forward
        if buckets is not UNSET:
            field_dict["buckets"] = buckets
        if overlap_grad_reduce is not UNSET:
            field_dict["overlap_grad_reduce"] = overlap_grad_reduce
        if overlap_param_gather is not UNSET:
            field_dict["overlap_param_gather"] = overlap_param_gather
        if no_sync is not UNSET:
            field_dict["no_sync"] = no_sync
        if bucket_view is not UNSET:
            field_dict["bucket_view"] = bucket_view
        if implementation is not UNSET:
            field_dict["implementation"] = implementation
        if double_buffer is not UNSET:
            field_dict["double_buffer"] = double_buffer
        if optimizer_instances is not UNSET:
            field_dict["optimizer_instances"] = optimizer_instances

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.buckets import Buckets  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_stage(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        stage = _parse_stage(d.pop("stage", UNSET))

        def _parse_degree(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        degree = _parse_degree(d.pop("degree", UNSET))

        def _parse_reshard_after_forward(
            data: object,
        ) -> None | ShardingSectionReshardAfterForwardType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reshard_after_forward_type_0 = (
                    check_sharding_section_reshard_after_forward_type_0(data)
                )

                return reshard_after_forward_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ShardingSectionReshardAfterForwardType0 | Unset, data)

        reshard_after_forward = _parse_reshard_after_forward(
            d.pop("reshard_after_forward", UNSET)
        )

        def _parse_buckets(data: object) -> Buckets | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                buckets_type_0 = Buckets.from_dict(data)

                return buckets_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Buckets | None | Unset, data)

        buckets = _parse_buckets(d.pop("buckets", UNSET))

        def _parse_overlap_grad_reduce(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        overlap_grad_reduce = _parse_overlap_grad_reduce(
            d.pop("overlap_grad_reduce", UNSET)
        )

        def _parse_overlap_param_gather(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        overlap_param_gather = _parse_overlap_param_gather(
            d.pop("overlap_param_gather", UNSET)
        )

        def _parse_no_sync(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        no_sync = _parse_no_sync(d.pop("no_sync", UNSET))

        def _parse_bucket_view(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        bucket_view = _parse_bucket_view(d.pop("bucket_view", UNSET))

        def _parse_implementation(
            data: object,
        ) -> None | ShardingSectionImplementationType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                implementation_type_0 = check_sharding_section_implementation_type_0(
                    data
                )

                return implementation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ShardingSectionImplementationType0 | Unset, data)

        implementation = _parse_implementation(d.pop("implementation", UNSET))

        def _parse_double_buffer(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        double_buffer = _parse_double_buffer(d.pop("double_buffer", UNSET))

        def _parse_optimizer_instances(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        optimizer_instances = _parse_optimizer_instances(
            d.pop("optimizer_instances", UNSET)
        )

        sharding_section = cls(
            stage=stage,
            degree=degree,
            reshard_after_forward=reshard_after_forward,
            buckets=buckets,
            overlap_grad_reduce=overlap_grad_reduce,
            overlap_param_gather=overlap_param_gather,
            no_sync=no_sync,
            bucket_view=bucket_view,
            implementation=implementation,
            double_buffer=double_buffer,
            optimizer_instances=optimizer_instances,
        )

        return sharding_section
