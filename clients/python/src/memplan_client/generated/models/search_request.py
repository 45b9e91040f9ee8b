from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.search_request_checkpointing_type_0_item_type_0 import (
    SearchRequestCheckpointingType0ItemType0,
    check_search_request_checkpointing_type_0_item_type_0,
)
from ..models.search_request_checkpointing_type_1 import (
    SearchRequestCheckpointingType1,
    check_search_request_checkpointing_type_1,
)
from ..models.search_request_context_type_1 import (
    SearchRequestContextType1,
    check_search_request_context_type_1,
)
from ..models.search_request_cross_entropy_type_0_item import (
    SearchRequestCrossEntropyType0Item,
    check_search_request_cross_entropy_type_0_item,
)
from ..models.search_request_cross_entropy_type_1 import (
    SearchRequestCrossEntropyType1,
    check_search_request_cross_entropy_type_1,
)
from ..models.search_request_data_type_1 import (
    SearchRequestDataType1,
    check_search_request_data_type_1,
)
from ..models.search_request_expert_tensor_type_1 import (
    SearchRequestExpertTensorType1,
    check_search_request_expert_tensor_type_1,
)
from ..models.search_request_expert_type_1 import (
    SearchRequestExpertType1,
    check_search_request_expert_type_1,
)
from ..models.search_request_micro_type_1 import (
    SearchRequestMicroType1,
    check_search_request_micro_type_1,
)
from ..models.search_request_microbatch_group_size_type_1 import (
    SearchRequestMicrobatchGroupSizeType1,
    check_search_request_microbatch_group_size_type_1,
)
from ..models.search_request_optimizer_offload_type_0_item_type_0 import (
    SearchRequestOptimizerOffloadType0ItemType0,
    check_search_request_optimizer_offload_type_0_item_type_0,
)
from ..models.search_request_optimizer_offload_type_1 import (
    SearchRequestOptimizerOffloadType1,
    check_search_request_optimizer_offload_type_1,
)
from ..models.search_request_pipeline_type_1 import (
    SearchRequestPipelineType1,
    check_search_request_pipeline_type_1,
)
from ..models.search_request_schedule_type_0_item import (
    SearchRequestScheduleType0Item,
    check_search_request_schedule_type_0_item,
)
from ..models.search_request_schedule_type_1 import (
    SearchRequestScheduleType1,
    check_search_request_schedule_type_1,
)
from ..models.search_request_sequence_type_1 import (
    SearchRequestSequenceType1,
    check_search_request_sequence_type_1,
)
from ..models.search_request_sharding_degree_type_1 import (
    SearchRequestShardingDegreeType1,
    check_search_request_sharding_degree_type_1,
)
from ..models.search_request_sharding_stage_type_1 import (
    SearchRequestShardingStageType1,
    check_search_request_sharding_stage_type_1,
)
from ..models.search_request_stages_type_0_item import (
    SearchRequestStagesType0Item,
    check_search_request_stages_type_0_item,
)
from ..models.search_request_stages_type_1 import (
    SearchRequestStagesType1,
    check_search_request_stages_type_1,
)
from ..models.search_request_tensor_type_1 import (
    SearchRequestTensorType1,
    check_search_request_tensor_type_1,
)
from ..models.search_request_virtual_pipeline_type_1 import (
    SearchRequestVirtualPipelineType1,
    check_search_request_virtual_pipeline_type_1,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.checkpointing_limit import CheckpointingLimit
    from ..models.offload_fraction import OffloadFraction


T = TypeVar("T", bound="SearchRequest")


@_attrs_define
class SearchRequest:
    """Limits of the search: an axis that is named here is searched even where the job states a value.

    A list holds the values to try; `any` stands for every value that the framework and the cluster allow, `usual` for
    what is searched where the axis is null here and in the job. For microbatch_group_size, cross_entropy and
    optimizer_offload that is the framework's default alone.

        Attributes:
            tensor (list[int] | None | SearchRequestTensorType1 | Unset): Tensor-parallel degrees to try.
            sequence (list[bool] | None | SearchRequestSequenceType1 | Unset): Whether sequence parallelism is tried on,
                off, or both.
            pipeline (list[int] | None | SearchRequestPipelineType1 | Unset): Pipeline degrees to try.
            virtual_pipeline (list[int] | None | SearchRequestVirtualPipelineType1 | Unset): Chunks per pipeline rank to
                try; more than one need a schedule that takes turns.
            schedule (list[SearchRequestScheduleType0Item] | None | SearchRequestScheduleType1 | Unset): Pipeline schedules
                to try, each with the numbers of chunks that it can have; null means 1f1b and interleaved.
            stages (list[SearchRequestStagesType0Item] | None | SearchRequestStagesType1 | Unset): Ways to divide layers
                over Megatron's stages: evenly, with embedding or loss counted as a layer, with numbers of
                layers of their own for the first and last stage, or written out stage by stage where nothing else divides them.
            context (list[int] | None | SearchRequestContextType1 | Unset): Context-parallel degrees to try.
            expert (list[int] | None | SearchRequestExpertType1 | Unset): Expert-parallel degrees to try.
            expert_tensor (list[int] | None | SearchRequestExpertTensorType1 | Unset): Expert-tensor-parallel degrees to
                try; null means 1 and the tensor degree.
            data (list[int] | None | SearchRequestDataType1 | Unset): Data-parallel degrees to try; they follow from the
                others, so this only leaves layouts out.
            micro (list[int] | None | SearchRequestMicroType1 | Unset): Micro-batch sizes to try (sequences).
            sharding_stage (list[int] | None | SearchRequestShardingStageType1 | Unset): Sharding stages to try, of those
                that the framework has: 0 nothing, 1 optimizer states, 2 gradients too, 3
                weights too. FSDP's stage 2 keeps weights whole from the forward to the backward.
            sharding_degree (list[int] | None | SearchRequestShardingDegreeType1 | Unset): Ranks that share one copy of what
                is sharded. Null means all data x context ranks, and with FSDP also those of
                one or more whole nodes (hybrid sharding).
            checkpointing (list[CheckpointingLimit | SearchRequestCheckpointingType0ItemType0] | None |
                SearchRequestCheckpointingType1 | Unset): Kinds of activation checkpointing to try: a granularity with all its
                modules, methods and depths, or one kind.
            microbatch_group_size (list[int] | None | SearchRequestMicrobatchGroupSizeType1 | Unset): Micro-batches that an
                interleaved schedule runs in a row on one chunk; null means the framework's number.
            cross_entropy (list[SearchRequestCrossEntropyType0Item] | None | SearchRequestCrossEntropyType1 | Unset): Loss
                recipes to try; null means the framework's.
            optimizer_offload (list[OffloadFraction | SearchRequestOptimizerOffloadType0ItemType0] | None |
                SearchRequestOptimizerOffloadType1 | Unset): Places of optimizer states to try: the GPU, its host, or a fraction
                on the host; null means the GPU.
            tensor_across_nodes (bool | Unset): Whether tensor parallelism may leave the node. Default: False.
    """

    tensor: list[int] | None | SearchRequestTensorType1 | Unset = UNSET
    sequence: list[bool] | None | SearchRequestSequenceType1 | Unset = UNSET
    pipeline: list[int] | None | SearchRequestPipelineType1 | Unset = UNSET
    virtual_pipeline: list[int] | None | SearchRequestVirtualPipelineType1 | Unset = (
        UNSET
    )
    schedule: (
        list[SearchRequestScheduleType0Item] | None | SearchRequestScheduleType1 | Unset
    ) = UNSET
    stages: (
        list[SearchRequestStagesType0Item] | None | SearchRequestStagesType1 | Unset
    ) = UNSET
    context: list[int] | None | SearchRequestContextType1 | Unset = UNSET
    expert: list[int] | None | SearchRequestExpertType1 | Unset = UNSET
    expert_tensor: list[int] | None | SearchRequestExpertTensorType1 | Unset = UNSET
    data: list[int] | None | SearchRequestDataType1 | Unset = UNSET
    micro: list[int] | None | SearchRequestMicroType1 | Unset = UNSET
    sharding_stage: list[int] | None | SearchRequestShardingStageType1 | Unset = UNSET
    sharding_degree: list[int] | None | SearchRequestShardingDegreeType1 | Unset = UNSET
    checkpointing: (
        list[CheckpointingLimit | SearchRequestCheckpointingType0ItemType0]
        | None
        | SearchRequestCheckpointingType1
        | Unset
    ) = UNSET
    microbatch_group_size: (
        list[int] | None | SearchRequestMicrobatchGroupSizeType1 | Unset
    ) = UNSET
    cross_entropy: (
        list[SearchRequestCrossEntropyType0Item]
        | None
        | SearchRequestCrossEntropyType1
        | Unset
    ) = UNSET
    optimizer_offload: (
        list[OffloadFraction | SearchRequestOptimizerOffloadType0ItemType0]
        | None
        | SearchRequestOptimizerOffloadType1
        | Unset
    ) = UNSET
    tensor_across_nodes: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        tensor: list[int] | None | str | Unset
        if isinstance(self.tensor, Unset):
            tensor = UNSET
        elif isinstance(self.tensor, list):
            tensor = self.tensor

        elif isinstance(self.tensor, str):
            tensor = self.tensor
        else:
            tensor = self.tensor

        sequence: list[bool] | None | str | Unset
        if isinstance(self.sequence, Unset):
            sequence = UNSET
        elif isinstance(self.sequence, list):
            sequence = self.sequence

        elif isinstance(self.sequence, str):
            sequence = self.sequence
        else:
            sequence = self.sequence

        pipeline: list[int] | None | str | Unset
        if isinstance(self.pipeline, Unset):
            pipeline = UNSET
        elif isinstance(self.pipeline, list):
            pipeline = self.pipeline

        elif isinstance(self.pipeline, str):
            pipeline = self.pipeline
        else:
            pipeline = self.pipeline

        virtual_pipeline: list[int] | None | str | Unset
        if isinstance(self.virtual_pipeline, Unset):
            virtual_pipeline = UNSET
        elif isinstance(self.virtual_pipeline, list):
            virtual_pipeline = self.virtual_pipeline

        elif isinstance(self.virtual_pipeline, str):
            virtual_pipeline = self.virtual_pipeline
        else:
            virtual_pipeline = self.virtual_pipeline

        schedule: list[str] | None | str | Unset
        if isinstance(self.schedule, Unset):
            schedule = UNSET
        elif isinstance(self.schedule, list):
            schedule = []
            for schedule_type_0_item_data in self.schedule:
                schedule_type_0_item: str = schedule_type_0_item_data
                schedule.append(schedule_type_0_item)

        elif isinstance(self.schedule, str):
            schedule = self.schedule
        else:
            schedule = self.schedule

        stages: list[str] | None | str | Unset
        if isinstance(self.stages, Unset):
            stages = UNSET
        elif isinstance(self.stages, list):
            stages = []
            for stages_type_0_item_data in self.stages:
                stages_type_0_item: str = stages_type_0_item_data
                stages.append(stages_type_0_item)

        elif isinstance(self.stages, str):
            stages = self.stages
        else:
            stages = self.stages

        context: list[int] | None | str | Unset
        if isinstance(self.context, Unset):
            context = UNSET
        elif isinstance(self.context, list):
            context = self.context

        elif isinstance(self.context, str):
            context = self.context
        else:
            context = self.context

        expert: list[int] | None | str | Unset
        if isinstance(self.expert, Unset):
            expert = UNSET
        elif isinstance(self.expert, list):
            expert = self.expert

        elif isinstance(self.expert, str):
            expert = self.expert
        else:
            expert = self.expert

        expert_tensor: list[int] | None | str | Unset
        if isinstance(self.expert_tensor, Unset):
            expert_tensor = UNSET
        elif isinstance(self.expert_tensor, list):
            expert_tensor = self.expert_tensor

        elif isinstance(self.expert_tensor, str):
            expert_tensor = self.expert_tensor
        else:
            expert_tensor = self.expert_tensor

        data: list[int] | None | str | Unset
        if isinstance(self.data, Unset):
            data = UNSET
        elif isinstance(self.data, list):
            data = self.data

        elif isinstance(self.data, str):
            data = self.data
        else:
            data = self.data

        micro: list[int] | None | str | Unset
        if isinstance(self.micro, Unset):
            micro = UNSET
        elif isinstance(self.micro, list):
            micro = self.micro

        elif isinstance(self.micro, str):
            micro = self.micro
        else:
            micro = self.micro

        sharding_stage: list[int] | None | str | Unset
        if isinstance(self.sharding_stage, Unset):
            sharding_stage = UNSET
        elif isinstance(self.sharding_stage, list):
            sharding_stage = self.sharding_stage

        elif isinstance(self.sharding_stage, str):
            sharding_stage = self.sharding_stage
        else:
            sharding_stage = self.sharding_stage

        sharding_degree: list[int] | None | str | Unset
        if isinstance(self.sharding_degree, Unset):
            sharding_degree = UNSET
        elif isinstance(self.sharding_degree, list):
            sharding_degree = self.sharding_degree

        elif isinstance(self.sharding_degree, str):
            sharding_degree = self.sharding_degree
        else:
            sharding_degree = self.sharding_degree

        checkpointing: list[dict[str, Any] | str] | None | str | Unset
        if isinstance(self.checkpointing, Unset):
            checkpointing = UNSET
        elif isinstance(self.checkpointing, list):
            checkpointing = []
            for checkpointing_type_0_item_data in self.checkpointing:
                checkpointing_type_0_item: dict[str, Any] | str
                if isinstance(checkpointing_type_0_item_data, str):
                    checkpointing_type_0_item = checkpointing_type_0_item_data
                else:
                    checkpointing_type_0_item = checkpointing_type_0_item_data.to_dict()

                checkpointing.append(checkpointing_type_0_item)

        elif isinstance(self.checkpointing, str):
            checkpointing = self.checkpointing
        else:
            checkpointing = self.checkpointing

        microbatch_group_size: list[int] | None | str | Unset
        if isinstance(self.microbatch_group_size, Unset):
            microbatch_group_size = UNSET
        elif isinstance(self.microbatch_group_size, list):
            microbatch_group_size = self.microbatch_group_size

        elif isinstance(self.microbatch_group_size, str):
            microbatch_group_size = self.microbatch_group_size
        else:
            microbatch_group_size = self.microbatch_group_size

        cross_entropy: list[str] | None | str | Unset
        if isinstance(self.cross_entropy, Unset):
            cross_entropy = UNSET
        elif isinstance(self.cross_entropy, list):
            cross_entropy = []
            for cross_entropy_type_0_item_data in self.cross_entropy:
                cross_entropy_type_0_item: str = cross_entropy_type_0_item_data
                cross_entropy.append(cross_entropy_type_0_item)

        elif isinstance(self.cross_entropy, str):
            cross_entropy = self.cross_entropy
        else:
            cross_entropy = self.cross_entropy

        optimizer_offload: list[dict[str, Any] | str] | None | str | Unset
        if isinstance(self.optimizer_offload, Unset):
            optimizer_offload = UNSET
        elif isinstance(self.optimizer_offload, list):
            optimizer_offload = []
            for optimizer_offload_type_0_item_data in self.optimizer_offload:
                optimizer_offload_type_0_item: dict[str, Any] | str
                if isinstance(optimizer_offload_type_0_item_data, str):
                    optimizer_offload_type_0_item = optimizer_offload_type_0_item_data
                else:
                    optimizer_offload_type_0_item = (
                        optimizer_offload_type_0_item_data.to_dict()
                    )

                optimizer_offload.append(optimizer_offload_type_0_item)

        elif isinstance(self.optimizer_offload, str):
            optimizer_offload = self.optimizer_offload
        else:
            optimizer_offload = self.optimizer_offload

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
        if schedule is not UNSET:
            field_dict["schedule"] = schedule
        if stages is not UNSET:
            field_dict["stages"] = stages
        if context is not UNSET:
            field_dict["context"] = context
        if expert is not UNSET:
            field_dict["expert"] = expert
        if expert_tensor is not UNSET:
            field_dict["expert_tensor"] = expert_tensor
        if data is not UNSET:
            field_dict["data"] = data
        if micro is not UNSET:
            field_dict["micro"] = micro
        if sharding_stage is not UNSET:
            field_dict["sharding_stage"] = sharding_stage
        if sharding_degree is not UNSET:
            field_dict["sharding_degree"] = sharding_degree
        if checkpointing is not UNSET:
            field_dict["checkpointing"] = checkpointing
        if microbatch_group_size is not UNSET:
            field_dict["microbatch_group_size"] = microbatch_group_size
        if cross_entropy is not UNSET:
            field_dict["cross_entropy"] = cross_entropy
        if optimizer_offload is not UNSET:
            field_dict["optimizer_offload"] = optimizer_offload
        if tensor_across_nodes is not UNSET:
            field_dict["tensor_across_nodes"] = tensor_across_nodes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.checkpointing_limit import CheckpointingLimit  # noqa: PLC0415
        from ..models.offload_fraction import OffloadFraction  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_tensor(
            data: object,
        ) -> list[int] | None | SearchRequestTensorType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                tensor_type_1 = check_search_request_tensor_type_1(data)

                return tensor_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestTensorType1 | Unset, data)

        tensor = _parse_tensor(d.pop("tensor", UNSET))

        def _parse_sequence(
            data: object,
        ) -> list[bool] | None | SearchRequestSequenceType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                sequence_type_1 = check_search_request_sequence_type_1(data)

                return sequence_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[bool] | None | SearchRequestSequenceType1 | Unset, data)

        sequence = _parse_sequence(d.pop("sequence", UNSET))

        def _parse_pipeline(
            data: object,
        ) -> list[int] | None | SearchRequestPipelineType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                pipeline_type_1 = check_search_request_pipeline_type_1(data)

                return pipeline_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestPipelineType1 | Unset, data)

        pipeline = _parse_pipeline(d.pop("pipeline", UNSET))

        def _parse_virtual_pipeline(
            data: object,
        ) -> list[int] | None | SearchRequestVirtualPipelineType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                virtual_pipeline_type_1 = check_search_request_virtual_pipeline_type_1(
                    data
                )

                return virtual_pipeline_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[int] | None | SearchRequestVirtualPipelineType1 | Unset, data
            )

        virtual_pipeline = _parse_virtual_pipeline(d.pop("virtual_pipeline", UNSET))

        def _parse_schedule(
            data: object,
        ) -> (
            list[SearchRequestScheduleType0Item]
            | None
            | SearchRequestScheduleType1
            | Unset
        ):
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                schedule_type_0 = []
                _schedule_type_0 = data
                for schedule_type_0_item_data in _schedule_type_0:
                    schedule_type_0_item = check_search_request_schedule_type_0_item(
                        schedule_type_0_item_data
                    )

                    schedule_type_0.append(schedule_type_0_item)

                return schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                schedule_type_1 = check_search_request_schedule_type_1(data)

                return schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[SearchRequestScheduleType0Item]
                | None
                | SearchRequestScheduleType1
                | Unset,
                data,
            )

        schedule = _parse_schedule(d.pop("schedule", UNSET))

        def _parse_stages(
            data: object,
        ) -> (
            list[SearchRequestStagesType0Item] | None | SearchRequestStagesType1 | Unset
        ):
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                stages_type_0 = []
                _stages_type_0 = data
                for stages_type_0_item_data in _stages_type_0:
                    stages_type_0_item = check_search_request_stages_type_0_item(
                        stages_type_0_item_data
                    )

                    stages_type_0.append(stages_type_0_item)

                return stages_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                stages_type_1 = check_search_request_stages_type_1(data)

                return stages_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[SearchRequestStagesType0Item]
                | None
                | SearchRequestStagesType1
                | Unset,
                data,
            )

        stages = _parse_stages(d.pop("stages", UNSET))

        def _parse_context(
            data: object,
        ) -> list[int] | None | SearchRequestContextType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                context_type_1 = check_search_request_context_type_1(data)

                return context_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestContextType1 | Unset, data)

        context = _parse_context(d.pop("context", UNSET))

        def _parse_expert(
            data: object,
        ) -> list[int] | None | SearchRequestExpertType1 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                expert_type_0 = cast(list[int], data)

                return expert_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expert_type_1 = check_search_request_expert_type_1(data)

                return expert_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestExpertType1 | Unset, data)

        expert = _parse_expert(d.pop("expert", UNSET))

        def _parse_expert_tensor(
            data: object,
        ) -> list[int] | None | SearchRequestExpertTensorType1 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                expert_tensor_type_0 = cast(list[int], data)

                return expert_tensor_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expert_tensor_type_1 = check_search_request_expert_tensor_type_1(data)

                return expert_tensor_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestExpertTensorType1 | Unset, data)

        expert_tensor = _parse_expert_tensor(d.pop("expert_tensor", UNSET))

        def _parse_data(
            data: object,
        ) -> list[int] | None | SearchRequestDataType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                data_type_1 = check_search_request_data_type_1(data)

                return data_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestDataType1 | Unset, data)

        data = _parse_data(d.pop("data", UNSET))

        def _parse_micro(
            data: object,
        ) -> list[int] | None | SearchRequestMicroType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                micro_type_1 = check_search_request_micro_type_1(data)

                return micro_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | SearchRequestMicroType1 | Unset, data)

        micro = _parse_micro(d.pop("micro", UNSET))

        def _parse_sharding_stage(
            data: object,
        ) -> list[int] | None | SearchRequestShardingStageType1 | Unset:
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
            try:
                if not isinstance(data, str):
                    raise TypeError()
                sharding_stage_type_1 = check_search_request_sharding_stage_type_1(data)

                return sharding_stage_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[int] | None | SearchRequestShardingStageType1 | Unset, data
            )

        sharding_stage = _parse_sharding_stage(d.pop("sharding_stage", UNSET))

        def _parse_sharding_degree(
            data: object,
        ) -> list[int] | None | SearchRequestShardingDegreeType1 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                sharding_degree_type_0 = cast(list[int], data)

                return sharding_degree_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                sharding_degree_type_1 = check_search_request_sharding_degree_type_1(
                    data
                )

                return sharding_degree_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[int] | None | SearchRequestShardingDegreeType1 | Unset, data
            )

        sharding_degree = _parse_sharding_degree(d.pop("sharding_degree", UNSET))

        def _parse_checkpointing(
            data: object,
        ) -> (
            list[CheckpointingLimit | SearchRequestCheckpointingType0ItemType0]
            | None
            | SearchRequestCheckpointingType1
            | Unset
        ):
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

                    def _parse_checkpointing_type_0_item(
                        data: object,
                    ) -> CheckpointingLimit | SearchRequestCheckpointingType0ItemType0:
                        try:
                            if not isinstance(data, str):
                                raise TypeError()
                            checkpointing_type_0_item_type_0 = (
                                check_search_request_checkpointing_type_0_item_type_0(
                                    data
                                )
                            )

                            return checkpointing_type_0_item_type_0
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        if not isinstance(data, dict):
                            raise TypeError()
                        checkpointing_type_0_item_type_1 = CheckpointingLimit.from_dict(
                            data
                        )

                        return checkpointing_type_0_item_type_1

                    checkpointing_type_0_item = _parse_checkpointing_type_0_item(
                        checkpointing_type_0_item_data
                    )

                    checkpointing_type_0.append(checkpointing_type_0_item)

                return checkpointing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                checkpointing_type_1 = check_search_request_checkpointing_type_1(data)

                return checkpointing_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[CheckpointingLimit | SearchRequestCheckpointingType0ItemType0]
                | None
                | SearchRequestCheckpointingType1
                | Unset,
                data,
            )

        checkpointing = _parse_checkpointing(d.pop("checkpointing", UNSET))

        def _parse_microbatch_group_size(
            data: object,
        ) -> list[int] | None | SearchRequestMicrobatchGroupSizeType1 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                microbatch_group_size_type_0 = cast(list[int], data)

                return microbatch_group_size_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                microbatch_group_size_type_1 = (
                    check_search_request_microbatch_group_size_type_1(data)
                )

                return microbatch_group_size_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[int] | None | SearchRequestMicrobatchGroupSizeType1 | Unset, data
            )

        microbatch_group_size = _parse_microbatch_group_size(
            d.pop("microbatch_group_size", UNSET)
        )

        def _parse_cross_entropy(
            data: object,
        ) -> (
            list[SearchRequestCrossEntropyType0Item]
            | None
            | SearchRequestCrossEntropyType1
            | Unset
        ):
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                cross_entropy_type_0 = []
                _cross_entropy_type_0 = data
                for cross_entropy_type_0_item_data in _cross_entropy_type_0:
                    cross_entropy_type_0_item = (
                        check_search_request_cross_entropy_type_0_item(
                            cross_entropy_type_0_item_data
                        )
                    )

                    cross_entropy_type_0.append(cross_entropy_type_0_item)

                return cross_entropy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                cross_entropy_type_1 = check_search_request_cross_entropy_type_1(data)

                return cross_entropy_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[SearchRequestCrossEntropyType0Item]
                | None
                | SearchRequestCrossEntropyType1
                | Unset,
                data,
            )

        cross_entropy = _parse_cross_entropy(d.pop("cross_entropy", UNSET))

        def _parse_optimizer_offload(
            data: object,
        ) -> (
            list[OffloadFraction | SearchRequestOptimizerOffloadType0ItemType0]
            | None
            | SearchRequestOptimizerOffloadType1
            | Unset
        ):
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                optimizer_offload_type_0 = []
                _optimizer_offload_type_0 = data
                for optimizer_offload_type_0_item_data in _optimizer_offload_type_0:

                    def _parse_optimizer_offload_type_0_item(
                        data: object,
                    ) -> OffloadFraction | SearchRequestOptimizerOffloadType0ItemType0:
                        try:
                            if not isinstance(data, str):
                                raise TypeError()
                            optimizer_offload_type_0_item_type_0 = check_search_request_optimizer_offload_type_0_item_type_0(
                                data
                            )

                            return optimizer_offload_type_0_item_type_0
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        if not isinstance(data, dict):
                            raise TypeError()
                        optimizer_offload_type_0_item_type_1 = (
                            OffloadFraction.from_dict(data)
                        )

                        return optimizer_offload_type_0_item_type_1

                    optimizer_offload_type_0_item = (
                        _parse_optimizer_offload_type_0_item(
                            optimizer_offload_type_0_item_data
                        )
                    )

                    optimizer_offload_type_0.append(optimizer_offload_type_0_item)

                return optimizer_offload_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                optimizer_offload_type_1 = (
                    check_search_request_optimizer_offload_type_1(data)
                )

                return optimizer_offload_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                list[OffloadFraction | SearchRequestOptimizerOffloadType0ItemType0]
                | None
                | SearchRequestOptimizerOffloadType1
                | Unset,
                data,
            )

        optimizer_offload = _parse_optimizer_offload(d.pop("optimizer_offload", UNSET))

        tensor_across_nodes = d.pop("tensor_across_nodes", UNSET)

        search_request = cls(
            tensor=tensor,
            sequence=sequence,
            pipeline=pipeline,
            virtual_pipeline=virtual_pipeline,
            schedule=schedule,
            stages=stages,
            context=context,
            expert=expert,
            expert_tensor=expert_tensor,
            data=data,
            micro=micro,
            sharding_stage=sharding_stage,
            sharding_degree=sharding_degree,
            checkpointing=checkpointing,
            microbatch_group_size=microbatch_group_size,
            cross_entropy=cross_entropy,
            optimizer_offload=optimizer_offload,
            tensor_across_nodes=tensor_across_nodes,
        )

        return search_request
