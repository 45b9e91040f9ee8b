from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.parallelism_section_context_method_type_0 import (
    ParallelismSectionContextMethodType0,
    check_parallelism_section_context_method_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ParallelismSection")


@_attrs_define
class ParallelismSection:
    """Degrees of parallelism (numbers of GPUs).

    Attributes:
        tensor (int | None | Unset): Tensor-parallel degree.
        sequence (bool | None | Unset): Sequence parallelism: norms, dropouts and residuals are split over the tensor
            group.
        pipeline (int | None | Unset): Pipeline-parallel degree: number of stages.
        virtual_pipeline (int | None | Unset): Model chunks on each pipeline rank.
        context (int | None | Unset): Context-parallel degree: the sequence is split for every tensor.
        context_method (None | ParallelismSectionContextMethodType0 | Unset): How keys and values travel between
            context-parallel ranks.
        expert (int | None | Unset): Expert-parallel degree.
        expert_tensor (int | None | Unset): Tensor-parallel degree inside an expert; Megatron's default is the tensor
            degree.
        data (int | None | Unset): Data-parallel degree; derived from `world_size` when null.
        microbatch_group_size (int | None | Unset): Interleaved schedule: micro-batches run in a row on one chunk;
            default the pipeline degree.
        overlap_expert (bool | None | Unset): Expert all-to-all overlapped with another micro-batch's computation.
        delay_weight_gradient (bool | None | Unset): Weight gradients computed after the input gradients.
        async_tensor (bool | None | Unset): Tensor-parallel communication overlapped with matrix products.
    """

    tensor: int | None | Unset = UNSET
    sequence: bool | None | Unset = UNSET
    pipeline: int | None | Unset = UNSET
    virtual_pipeline: int | None | Unset = UNSET
    context: int | None | Unset = UNSET
    context_method: None | ParallelismSectionContextMethodType0 | Unset = UNSET
    expert: int | None | Unset = UNSET
    expert_tensor: int | None | Unset = UNSET
    data: int | None | Unset = UNSET
    microbatch_group_size: int | None | Unset = UNSET
    overlap_expert: bool | None | Unset = UNSET
    delay_weight_gradient: bool | None | Unset = UNSET
    async_tensor: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        tensor: int | None | Unset
        if isinstance(self.tensor, Unset):
            tensor = UNSET
        else:
            tensor = self.tensor

        sequence: bool | None | Unset
        if isinstance(self.sequence, Unset):
            sequence = UNSET
        else:
            sequence = self.sequence

        pipeline: int | None | Unset
        if isinstance(self.pipeline, Unset):
            pipeline = UNSET
        else:
            pipeline = self.pipeline

        virtual_pipeline: int | None | Unset
        if isinstance(self.virtual_pipeline, Unset):
            virtual_pipeline = UNSET
        else:
            virtual_pipeline = self.virtual_pipeline

        context: int | None | Unset
        if isinstance(self.context, Unset):
            context = UNSET
        else:
            context = self.context

        context_method: None | str | Unset
        if isinstance(self.context_method, Unset):
            context_method = UNSET
        elif isinstance(self.context_method, str):
            context_method = self.context_method
        else:
            context_method = self.context_method

        expert: int | None | Unset
        if isinstance(self.expert, Unset):
            expert = UNSET
        else:
            expert = self.expert

        expert_tensor: int | None | Unset
        if isinstance(self.expert_tensor, Unset):
            expert_tensor = UNSET
        else:
            expert_tensor = self.expert_tensor

        data: int | None | Unset
        if isinstance(self.data, Unset):
            data = UNSET
        else:
            data = self.data

        microbatch_group_size: int | None | Unset
        if isinstance(self.microbatch_group_size, Unset):
            microbatch_group_size = UNSET
        else:
            microbatch_group_size = self.microbatch_group_size

        overlap_expert: bool | None | Unset
        if isinstance(self.overlap_expert, Unset):
            overlap_expert = UNSET
        else:
            overlap_expert = self.overlap_expert

        delay_weight_gradient: bool | None | Unset
        if isinstance(self.delay_weight_gradient, Unset):
            delay_weight_gradient = UNSET
        else:
            delay_weight_gradient = self.delay_weight_gradient

        async_tensor: bool | None | Unset
        if isinstance(self.async_tensor, Unset):
            async_tensor = UNSET
        else:
            async_tensor = self.async_tensor

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if tensor is not UNSET:
            field_dict["tensor"] = tensor
        if sequence is not UNSET:
            field_dict["sequence"] = sequence
        if pipeline is not UNSET:
            field_dict["pipeline"] = pipeline
        if virtual_pipeline is not UNSET:
            field_dict["virtual_pipeline"] = virtual_pipeline
        if context is not UNSET:
            field_dict["context"] = context
        if context_method is not UNSET:
            field_dict["context_method"] = context_method
        if expert is not UNSET:
            field_dict["expert"] = expert
        if expert_tensor is not UNSET:
            field_dict["expert_tensor"] = expert_tensor
        if data is not UNSET:
            field_dict["data"] = data
        if microbatch_group_size is not UNSET:
            field_dict["microbatch_group_size"] = microbatch_group_size
        if overlap_expert is not UNSET:
            field_dict["overlap_expert"] = overlap_expert
        if delay_weight_gradient is not UNSET:
            field_dict["delay_weight_gradient"] = delay_weight_gradient
        if async_tensor is not UNSET:
            field_dict["async_tensor"] = async_tensor

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_tensor(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        tensor = _parse_tensor(d.pop("tensor", UNSET))

        def _parse_sequence(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        sequence = _parse_sequence(d.pop("sequence", UNSET))

        def _parse_pipeline(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        pipeline = _parse_pipeline(d.pop("pipeline", UNSET))

        def _parse_virtual_pipeline(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        virtual_pipeline = _parse_virtual_pipeline(d.pop("virtual_pipeline", UNSET))

        def _parse_context(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        context = _parse_context(d.pop("context", UNSET))

        def _parse_context_method(
            data: object,
        ) -> None | ParallelismSectionContextMethodType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                context_method_type_0 = check_parallelism_section_context_method_type_0(
                    data
                )

                return context_method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ParallelismSectionContextMethodType0 | Unset, data)

        context_method = _parse_context_method(d.pop("context_method", UNSET))

        def _parse_expert(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expert = _parse_expert(d.pop("expert", UNSET))

        def _parse_expert_tensor(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expert_tensor = _parse_expert_tensor(d.pop("expert_tensor", UNSET))

        def _parse_data(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        data = _parse_data(d.pop("data", UNSET))

        def _parse_microbatch_group_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        microbatch_group_size = _parse_microbatch_group_size(
            d.pop("microbatch_group_size", UNSET)
        )

        def _parse_overlap_expert(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        overlap_expert = _parse_overlap_expert(d.pop("overlap_expert", UNSET))

        def _parse_delay_weight_gradient(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        delay_weight_gradient = _parse_delay_weight_gradient(
            d.pop("delay_weight_gradient", UNSET)
        )

        def _parse_async_tensor(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        async_tensor = _parse_async_tensor(d.pop("async_tensor", UNSET))

        parallelism_section = cls(
            tensor=tensor,
            sequence=sequence,
            pipeline=pipeline,
            virtual_pipeline=virtual_pipeline,
            context=context,
            context_method=context_method,
            expert=expert,
            expert_tensor=expert_tensor,
            data=data,
            microbatch_group_size=microbatch_group_size,
            overlap_expert=overlap_expert,
            delay_weight_gradient=delay_weight_gradient,
            async_tensor=async_tensor,
        )

        return parallelism_section
