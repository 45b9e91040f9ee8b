from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.layout_answer_optimizer_offload_type_1 import (
        LayoutAnswerOptimizerOffloadType1,
    )
    from ..models.layout_answer_stages_type_0 import LayoutAnswerStagesType0


T = TypeVar("T", bound="LayoutAnswer")


@_attrs_define
class LayoutAnswer:
    """A layout in few words.

    Attributes:
        tensor (int): Tensor-parallel degree.
        sequence (bool): Whether sequence parallelism is on.
        pipeline (int): Pipeline degree.
        virtual_pipeline (int): Chunks per pipeline rank.
        microbatch_group_size (int | None): Micro-batches that an interleaved schedule runs in a row on one chunk; null
            without one.
        schedule (str): Pipeline schedule.
        stages (LayoutAnswerStagesType0 | None): How layers are divided over stages, as a job states it; null: evenly,
            or as the framework does by itself.
        context (int): Context-parallel degree.
        expert (int): Expert-parallel degree.
        expert_tensor (int): Expert-tensor-parallel degree.
        data (int): Data-parallel degree.
        micro (int): Sequences in one micro-batch.
        accumulation (int): Micro-batches in one optimizer step on one data-parallel rank.
        sharding_stage (int): 0 nothing is sharded over data-parallel ranks, 1 optimizer states are, 2 gradients too, 3
            weights too.
        sharding_degree (int | None): Ranks that share one copy of what is sharded; null where nothing is.
        checkpointing (str): Granularity of activation checkpointing.
        method (None | str): Full checkpointing: `uniform` or `block`.
        num_layers (int | None): Full checkpointing: layers in a segment, or checkpointed layers of a chunk.
        modules (list[str]): Selective checkpointing: Megatron's modules that are computed again, or torchtitan's
            operations that are kept.
        cross_entropy (None | str): Loss recipe.
        optimizer_offload (LayoutAnswerOptimizerOffloadType1 | str): Where optimizer states live.
    """

    tensor: int
    sequence: bool
    pipeline: int
    virtual_pipeline: int
    microbatch_group_size: int | None
    schedule: str
    stages: LayoutAnswerStagesType0 | None
    context: int
    expert: int
    expert_tensor: int
    data: int
    micro: int
    accumulation: int
    sharding_stage: int
    sharding_degree: int | None
    checkpointing: str
    method: None | str
    num_layers: int | None
    modules: list[str]
    cross_entropy: None | str
    optimizer_offload: LayoutAnswerOptimizerOffloadType1 | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.layout_answer_optimizer_offload_type_1 import (
            LayoutAnswerOptimizerOffloadType1,  # noqa: PLC0415
        )
        from ..models.layout_answer_stages_type_0 import LayoutAnswerStagesType0  # noqa: PLC0415

        tensor = self.tensor

        sequence = self.sequence

        pipeline = self.pipeline

        virtual_pipeline = self.virtual_pipeline

        microbatch_group_size: int | None
        microbatch_group_size = self.microbatch_group_size

        schedule = self.schedule

        stages: dict[str, Any] | None
        if isinstance(self.stages, LayoutAnswerStagesType0):
            stages = self.stages.to_dict()
        else:
            stages = self.stages

        context = self.context

        expert = self.expert

        expert_tensor = self.expert_tensor

        data = self.data

        micro = self.micro

        accumulation = self.accumulation

        sharding_stage = self.sharding_stage

        sharding_degree: int | None
        sharding_degree = self.sharding_degree

        checkpointing = self.checkpointing

        method: None | str
        method = self.method

        num_layers: int | None
        num_layers = self.num_layers

        modules = self.modules

        cross_entropy: None | str
        cross_entropy = self.cross_entropy

        optimizer_offload: dict[str, Any] | str
        if isinstance(self.optimizer_offload, LayoutAnswerOptimizerOffloadType1):
            optimizer_offload = self.optimizer_offload.to_dict()
        else:
            optimizer_offload = self.optimizer_offload

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tensor": tensor,
                "sequence": sequence,
                "pipeline": pipeline,
                "virtual_pipeline": virtual_pipeline,
                "microbatch_group_size": microbatch_group_size,
                "schedule": schedule,
                "stages": stages,
                "context": context,
                "expert": expert,
                "expert_tensor": expert_tensor,
                "data": data,
                "micro": micro,
                "accumulation": accumulation,
                "sharding_stage": sharding_stage,
                "sharding_degree": sharding_degree,
                "checkpointing": checkpointing,
                "method": method,
                "num_layers": num_layers,
                "modules": modules,
                "cross_entropy": cross_entropy,
                "optimizer_offload": optimizer_offload,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.layout_answer_optimizer_offload_type_1 import (
            LayoutAnswerOptimizerOffloadType1,  # noqa: PLC0415
        )
        from ..models.layout_answer_stages_type_0 import LayoutAnswerStagesType0  # noqa: PLC0415

        d = dict(src_dict)
        tensor = d.pop("tensor")

        sequence = d.pop("sequence")

        pipeline = d.pop("pipeline")

        virtual_pipeline = d.pop("virtual_pipeline")

        def _parse_microbatch_group_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        microbatch_group_size = _parse_microbatch_group_size(
            d.pop("microbatch_group_size")
        )

        schedule = d.pop("schedule")

        def _parse_stages(data: object) -> LayoutAnswerStagesType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stages_type_0 = LayoutAnswerStagesType0.from_dict(data)

                return stages_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LayoutAnswerStagesType0 | None, data)

        stages = _parse_stages(d.pop("stages"))

        context = d.pop("context")

        expert = d.pop("expert")

        expert_tensor = d.pop("expert_tensor")

        data = d.pop("data")

        micro = d.pop("micro")

        accumulation = d.pop("accumulation")

        sharding_stage = d.pop("sharding_stage")

        def _parse_sharding_degree(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        sharding_degree = _parse_sharding_degree(d.pop("sharding_degree"))

        checkpointing = d.pop("checkpointing")

        def _parse_method(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        method = _parse_method(d.pop("method"))

        def _parse_num_layers(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        num_layers = _parse_num_layers(d.pop("num_layers"))

        modules = cast(list[str], d.pop("modules"))

        def _parse_cross_entropy(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        cross_entropy = _parse_cross_entropy(d.pop("cross_entropy"))

        def _parse_optimizer_offload(
            data: object,
        ) -> LayoutAnswerOptimizerOffloadType1 | str:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                optimizer_offload_type_1 = LayoutAnswerOptimizerOffloadType1.from_dict(
                    data
                )

                return optimizer_offload_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LayoutAnswerOptimizerOffloadType1 | str, data)

        optimizer_offload = _parse_optimizer_offload(d.pop("optimizer_offload"))

        layout_answer = cls(
            tensor=tensor,
            sequence=sequence,
            pipeline=pipeline,
            virtual_pipeline=virtual_pipeline,
            microbatch_group_size=microbatch_group_size,
            schedule=schedule,
            stages=stages,
            context=context,
            expert=expert,
            expert_tensor=expert_tensor,
            data=data,
            micro=micro,
            accumulation=accumulation,
            sharding_stage=sharding_stage,
            sharding_degree=sharding_degree,
            checkpointing=checkpointing,
            method=method,
            num_layers=num_layers,
            modules=modules,
            cross_entropy=cross_entropy,
            optimizer_offload=optimizer_offload,
        )

        layout_answer.additional_properties = d
        return layout_answer

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
