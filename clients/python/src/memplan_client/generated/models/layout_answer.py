from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LayoutAnswer")


@_attrs_define
class LayoutAnswer:
    """A layout in few words.

    Attributes:
        tensor (int): Tensor-parallel degree.
        sequence (bool): Whether sequence parallelism is on.
        pipeline (int): Pipeline degree.
        virtual_pipeline (int): Chunks per pipeline rank.
        context (int): Context-parallel degree.
        data (int): Data-parallel degree.
        micro (int): Sequences in one micro-batch.
        accumulation (int): Micro-batches in one optimizer step on one data-parallel rank.
        sharding_stage (int): 0 nothing is sharded over data-parallel ranks, 1 optimizer states are.
        schedule (str): Pipeline schedule.
        checkpointing (str): Granularity of activation checkpointing.
        method (None | str): Full checkpointing: `uniform` or `block`.
        num_layers (int | None): Full checkpointing: layers in a segment, or checkpointed layers of a chunk.
    """

    tensor: int
    sequence: bool
    pipeline: int
    virtual_pipeline: int
    context: int
    data: int
    micro: int
    accumulation: int
    sharding_stage: int
    schedule: str
    checkpointing: str
    method: None | str
    num_layers: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tensor = self.tensor

        sequence = self.sequence

        pipeline = self.pipeline

        virtual_pipeline = self.virtual_pipeline

        context = self.context

        data = self.data

        micro = self.micro

        accumulation = self.accumulation

        sharding_stage = self.sharding_stage

        schedule = self.schedule

        checkpointing = self.checkpointing

        method: None | str
        method = self.method

        num_layers: int | None
        num_layers = self.num_layers

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tensor": tensor,
                "sequence": sequence,
                "pipeline": pipeline,
                "virtual_pipeline": virtual_pipeline,
                "context": context,
                "data": data,
                "micro": micro,
                "accumulation": accumulation,
                "sharding_stage": sharding_stage,
                "schedule": schedule,
                "checkpointing": checkpointing,
                "method": method,
                "num_layers": num_layers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tensor = d.pop("tensor")

        sequence = d.pop("sequence")

        pipeline = d.pop("pipeline")

        virtual_pipeline = d.pop("virtual_pipeline")

        context = d.pop("context")

        data = d.pop("data")

        micro = d.pop("micro")

        accumulation = d.pop("accumulation")

        sharding_stage = d.pop("sharding_stage")

        schedule = d.pop("schedule")

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

        layout_answer = cls(
            tensor=tensor,
            sequence=sequence,
            pipeline=pipeline,
            virtual_pipeline=virtual_pipeline,
            context=context,
            data=data,
            micro=micro,
            accumulation=accumulation,
            sharding_stage=sharding_stage,
            schedule=schedule,
            checkpointing=checkpointing,
            method=method,
            num_layers=num_layers,
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
