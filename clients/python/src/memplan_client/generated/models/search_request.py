from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.search_request_checkpointing_type_0_item import (
    SearchRequestCheckpointingType0Item,
    check_search_request_checkpointing_type_0_item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="SearchRequest")


@_attrs_define
class SearchRequest:
    """Limits of the search: an axis that is named here is searched even where the job states a value.

    `any` stands for every value that the cluster allows.

        Attributes:
            tensor (list[int] | Literal['any'] | None | Unset): Tensor-parallel degrees to try.
            sequence (list[bool] | Literal['any'] | None | Unset): Whether sequence parallelism is tried on, off, or both.
            pipeline (list[int] | Literal['any'] | None | Unset): Pipeline degrees to try.
            virtual_pipeline (list[int] | Literal['any'] | None | Unset): Chunks per pipeline rank to try; more than one
                means the interleaved schedule.
            context (list[int] | Literal['any'] | None | Unset): Context-parallel degrees to try.
            data (list[int] | Literal['any'] | None | Unset): Data-parallel degrees to try; they follow from the others, so
                this only leaves layouts out.
            micro (list[int] | Literal['any'] | None | Unset): Micro-batch sizes to try (sequences).
            sharding_stage (list[int] | Literal['any'] | None | Unset): Sharding stages to try: 0 nothing, 1 optimizer
                states.
            checkpointing (list[SearchRequestCheckpointingType0Item] | Literal['any'] | None | Unset): Granularities of
                activation checkpointing to try; full means every method and depth.
            tensor_across_nodes (bool | Unset): Whether tensor parallelism may leave the node. Default: False.
    """

    tensor: list[int] | Literal["any"] | None | Unset = UNSET
    sequence: list[bool] | Literal["any"] | None | Unset = UNSET
    pipeline: list[int] | Literal["any"] | None | Unset = UNSET
    virtual_pipeline: list[int] | Literal["any"] | None | Unset = UNSET
    context: list[int] | Literal["any"] | None | Unset = UNSET
    data: list[int] | Literal["any"] | None | Unset = UNSET
    micro: list[int] | Literal["any"] | None | Unset = UNSET
    sharding_stage: list[int] | Literal["any"] | None | Unset = UNSET
    checkpointing: (
        list[SearchRequestCheckpointingType0Item] | Literal["any"] | None | Unset
    ) = UNSET
    tensor_across_nodes: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        tensor: list[int] | Literal["any"] | None | Unset
        if isinstance(self.tensor, Unset):
            tensor = UNSET
        elif isinstance(self.tensor, list):
            tensor = self.tensor

        else:
            tensor = self.tensor

        sequence: list[bool] | Literal["any"] | None | Unset
        if isinstance(self.sequence, Unset):
            sequence = UNSET
        elif isinstance(self.sequence, list):
            sequence = self.sequence

        else:
            sequence = self.sequence

        pipeline: list[int] | Literal["any"] | None | Unset
        if isinstance(self.pipeline, Unset):
            pipeline = UNSET
        elif isinstance(self.pipeline, list):
            pipeline = self.pipeline

        else:
            pipeline = self.pipeline

        virtual_pipeline: list[int] | Literal["any"] | None | Unset
        if isinstance(self.virtual_pipeline, Unset):
            virtual_pipeline = UNSET
        elif isinstance(self.virtual_pipeline, list):
            virtual_pipeline = self.virtual_pipeline

        else:
            virtual_pipeline = self.virtual_pipeline

        context: list[int] | Literal["any"] | None | Unset
        if isinstance(self.context, Unset):
            context = UNSET
        elif isinstance(self.context, list):
            context = self.context

        else:
            context = self.context

        data: list[int] | Literal["any"] | None | Unset
        if isinstance(self.data, Unset):
            data = UNSET
        elif isinstance(self.data, list):
            data = self.data

        else:
            data = self.data

        micro: list[int] | Literal["any"] | None | Unset
        if isinstance(self.micro, Unset):
            micro = UNSET
        elif isinstance(self.micro, list):
            micro = self.micro

        else:
            micro = self.micro

        sharding_stage: list[int] | Literal["any"] | None | Unset
        if isinstance(self.sharding_stage, Unset):
            sharding_stage = UNSET
        elif isinstance(self.sharding_stage, list):
            sharding_stage = self.sharding_stage

        else:
            sharding_stage = self.sharding_stage

        checkpointing: list[str] | Literal["any"] | None | Unset
        if isinstance(self.checkpointing, Unset):
            checkpointing = UNSET
        elif isinstance(self.checkpointing, list):
            checkpointing = []
            for checkpointing_type_0_item_data in self.checkpointing:
                checkpointing_type_0_item: str = checkpointing_type_0_item_data
                checkpointing.append(checkpointing_type_0_item)

        else:
            checkpointing = self.checkpointing

        tensor_across_nodes = self.tensor_across_nodes

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
        if data is not UNSET:
            field_dict["data"] = data
        if micro is not UNSET:
            field_dict["micro"] = micro
        if sharding_stage is not UNSET:
            field_dict["sharding_stage"] = sharding_stage
        if checkpointing is not UNSET:
            field_dict["checkpointing"] = checkpointing
        if tensor_across_nodes is not UNSET:
            field_dict["tensor_across_nodes"] = tensor_across_nodes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_tensor(data: object) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tensor_type_0 = cast(list[int], data)

                return tensor_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            tensor_type_1 = cast(Literal["any"], data)
            if tensor_type_1 != "any":
                raise ValueError(
                    f"tensor_type_1 must match const 'any', got '{tensor_type_1}'"
                )
            return tensor_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        tensor = _parse_tensor(d.pop("tensor", UNSET))

        def _parse_sequence(data: object) -> list[bool] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                sequence_type_0 = cast(list[bool], data)

                return sequence_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            sequence_type_1 = cast(Literal["any"], data)
            if sequence_type_1 != "any":
                raise ValueError(
                    f"sequence_type_1 must match const 'any', got '{sequence_type_1}'"
                )
            return sequence_type_1
            return cast(list[bool] | Literal["any"] | None | Unset, data)

        sequence = _parse_sequence(d.pop("sequence", UNSET))

        def _parse_pipeline(data: object) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                pipeline_type_0 = cast(list[int], data)

                return pipeline_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            pipeline_type_1 = cast(Literal["any"], data)
            if pipeline_type_1 != "any":
                raise ValueError(
                    f"pipeline_type_1 must match const 'any', got '{pipeline_type_1}'"
                )
            return pipeline_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        pipeline = _parse_pipeline(d.pop("pipeline", UNSET))

        def _parse_virtual_pipeline(
            data: object,
        ) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                virtual_pipeline_type_0 = cast(list[int], data)

                return virtual_pipeline_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            virtual_pipeline_type_1 = cast(Literal["any"], data)
            if virtual_pipeline_type_1 != "any":
                raise ValueError(
                    f"virtual_pipeline_type_1 must match const 'any', got '{virtual_pipeline_type_1}'"
                )
            return virtual_pipeline_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        virtual_pipeline = _parse_virtual_pipeline(d.pop("virtual_pipeline", UNSET))

        def _parse_context(data: object) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                context_type_0 = cast(list[int], data)

                return context_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            context_type_1 = cast(Literal["any"], data)
            if context_type_1 != "any":
                raise ValueError(
                    f"context_type_1 must match const 'any', got '{context_type_1}'"
                )
            return context_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        context = _parse_context(d.pop("context", UNSET))

        def _parse_data(data: object) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                data_type_0 = cast(list[int], data)

                return data_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            data_type_1 = cast(Literal["any"], data)
            if data_type_1 != "any":
                raise ValueError(
                    f"data_type_1 must match const 'any', got '{data_type_1}'"
                )
            return data_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        data = _parse_data(d.pop("data", UNSET))

        def _parse_micro(data: object) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                micro_type_0 = cast(list[int], data)

                return micro_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            micro_type_1 = cast(Literal["any"], data)
            if micro_type_1 != "any":
                raise ValueError(
                    f"micro_type_1 must match const 'any', got '{micro_type_1}'"
                )
            return micro_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        micro = _parse_micro(d.pop("micro", UNSET))

        def _parse_sharding_stage(
            data: object,
        ) -> list[int] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                sharding_stage_type_0 = cast(list[int], data)

                return sharding_stage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            sharding_stage_type_1 = cast(Literal["any"], data)
            if sharding_stage_type_1 != "any":
                raise ValueError(
                    f"sharding_stage_type_1 must match const 'any', got '{sharding_stage_type_1}'"
                )
            return sharding_stage_type_1
            return cast(list[int] | Literal["any"] | None | Unset, data)

        sharding_stage = _parse_sharding_stage(d.pop("sharding_stage", UNSET))

        def _parse_checkpointing(
            data: object,
        ) -> list[SearchRequestCheckpointingType0Item] | Literal["any"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                checkpointing_type_0 = []
                _checkpointing_type_0 = data
                for checkpointing_type_0_item_data in _checkpointing_type_0:
                    checkpointing_type_0_item = (
                        check_search_request_checkpointing_type_0_item(
                            checkpointing_type_0_item_data
                        )
                    )

                    checkpointing_type_0.append(checkpointing_type_0_item)

                return checkpointing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            checkpointing_type_1 = cast(Literal["any"], data)
            if checkpointing_type_1 != "any":
                raise ValueError(
                    f"checkpointing_type_1 must match const 'any', got '{checkpointing_type_1}'"
                )
            return checkpointing_type_1
            return cast(
                list[SearchRequestCheckpointingType0Item]
                | Literal["any"]
                | None
                | Unset,
                data,
            )

        checkpointing = _parse_checkpointing(d.pop("checkpointing", UNSET))

        tensor_across_nodes = d.pop("tensor_across_nodes", UNSET)

        search_request = cls(
            tensor=tensor,
            sequence=sequence,
            pipeline=pipeline,
            virtual_pipeline=virtual_pipeline,
            context=context,
            data=data,
            micro=micro,
            sharding_stage=sharding_stage,
            checkpointing=checkpointing,
            tensor_across_nodes=tensor_across_nodes,
        )

        return search_request
