from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.job_schedule_type_0 import JobScheduleType0, check_job_schedule_type_0
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.adapters_section import AdaptersSection
    from ..models.batch_section import BatchSection
    from ..models.checkpointing_section import CheckpointingSection
    from ..models.dropout_section import DropoutSection
    from ..models.framework_section import FrameworkSection
    from ..models.kernels_section import KernelsSection
    from ..models.model_section import ModelSection
    from ..models.moe_section import MoeSection
    from ..models.optimizer_section import OptimizerSection
    from ..models.parallelism_section import ParallelismSection
    from ..models.precision_section import PrecisionSection
    from ..models.sharding_section import ShardingSection
    from ..models.stages_section import StagesSection


T = TypeVar("T", bound="Job")


@_attrs_define
class Job:
    """The canonical training config. Absent or null means the framework's default, which is reported back.

    Attributes:
        model (ModelSection): Dimensions of the architecture, spelled as in a Hugging Face `config.json`, or a preset's
            name.
        framework (FrameworkSection): The training framework, which decides what absent values mean and what is kept in
            memory.
        world_size (int | None | Unset): Number of GPUs; an estimate derives it from the degrees when null.
        parallelism (ParallelismSection | Unset): Degrees of parallelism (numbers of GPUs).
        sharding (ShardingSection | Unset): How weights, gradients and optimizer states are split over data-parallel
            ranks.
        schedule (JobScheduleType0 | None | Unset): Pipeline schedule; default 1f1b, or interleaved with more than one
            chunk per rank.
        stages (None | StagesSection | Unset): Placement of layers on stages; null means even.
        batch (BatchSection | Unset): Batch sizes and sequence length.
        checkpointing (CheckpointingSection | Unset): Activation checkpointing (recomputation).
        precision (PrecisionSection | Unset): Data types of computation and state.
        optimizer (OptimizerSection | Unset): The optimizer and where its state lives.
        kernels (KernelsSection | Unset): Implementations that decide what is kept in memory.
        dropout (DropoutSection | Unset): Dropout probabilities; any above 0 keeps masks.
        moe (MoeSection | None | Unset): Routing of tokens to experts.
        adapters (AdaptersSection | None | Unset): Low-rank adapters.
    """

    model: ModelSection
    framework: FrameworkSection
    world_size: int | None | Unset = UNSET
    parallelism: ParallelismSection | Unset = UNSET
    sharding: ShardingSection | Unset = UNSET
    schedule: JobScheduleType0 | None | Unset = UNSET
    stages: None | StagesSection | Unset = UNSET
    batch: BatchSection | Unset = UNSET
    checkpointing: CheckpointingSection | Unset = UNSET
    precision: PrecisionSection | Unset = UNSET
    optimizer: OptimizerSection | Unset = UNSET
    kernels: KernelsSection | Unset = UNSET
    dropout: DropoutSection | Unset = UNSET
    moe: MoeSection | None | Unset = UNSET
    adapters: AdaptersSection | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.adapters_section import AdaptersSection  # noqa: PLC0415
        from ..models.moe_section import MoeSection  # noqa: PLC0415
        from ..models.stages_section import StagesSection  # noqa: PLC0415

        model = self.model.to_dict()

        framework = self.framework.to_dict()

        world_size: int | None | Unset
        if isinstance(self.world_size, Unset):
            world_size = UNSET
        else:
            world_size = self.world_size

        parallelism: dict[str, Any] | Unset = UNSET
        if not isinstance(self.parallelism, Unset):
            parallelism = self.parallelism.to_dict()

        sharding: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sharding, Unset):
            sharding = self.sharding.to_dict()

        schedule: None | str | Unset
        if isinstance(self.schedule, Unset):
            schedule = UNSET
        elif isinstance(self.schedule, str):
            schedule = self.schedule
        else:
            schedule = self.schedule

        stages: dict[str, Any] | None | Unset
        if isinstance(self.stages, Unset):
            stages = UNSET
        elif isinstance(self.stages, StagesSection):
            stages = self.stages.to_dict()
        else:
            stages = self.stages

        batch: dict[str, Any] | Unset = UNSET
        if not isinstance(self.batch, Unset):
            batch = self.batch.to_dict()

        checkpointing: dict[str, Any] | Unset = UNSET
        if not isinstance(self.checkpointing, Unset):
            checkpointing = self.checkpointing.to_dict()

        precision: dict[str, Any] | Unset = UNSET
        if not isinstance(self.precision, Unset):
            precision = self.precision.to_dict()

        optimizer: dict[str, Any] | Unset = UNSET
        if not isinstance(self.optimizer, Unset):
            optimizer = self.optimizer.to_dict()

        kernels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.kernels, Unset):
            kernels = self.kernels.to_dict()

        dropout: dict[str, Any] | Unset = UNSET
        if not isinstance(self.dropout, Unset):
            dropout = self.dropout.to_dict()

        moe: dict[str, Any] | None | Unset
        if isinstance(self.moe, Unset):
            moe = UNSET
        elif isinstance(self.moe, MoeSection):
            moe = self.moe.to_dict()
        else:
            moe = self.moe

        adapters: dict[str, Any] | None | Unset
        if isinstance(self.adapters, Unset):
            adapters = UNSET
        elif isinstance(self.adapters, AdaptersSection):
            adapters = self.adapters.to_dict()
        else:
            adapters = self.adapters

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "model": model,
                "framework": framework,
            }
        )
        if world_size is not UNSET:
            field_dict["world_size"] = world_size
        if parallelism is not UNSET:
            field_dict["parallelism"] = parallelism
        if sharding is not UNSET:
            field_dict["sharding"] = sharding
        if schedule is not UNSET:
            field_dict["schedule"] = schedule
        if stages is not UNSET:
            field_dict["stages"] = stages
        if batch is not UNSET:
            field_dict["batch"] = batch
        if checkpointing is not UNSET:
            field_dict["checkpointing"] = checkpointing
        if precision is not UNSET:
            field_dict["precision"] = precision
        if optimizer is not UNSET:
            field_dict["optimizer"] = optimizer
        if kernels is not UNSET:
            field_dict["kernels"] = kernels
        if dropout is not UNSET:
            field_dict["dropout"] = dropout
        if moe is not UNSET:
            field_dict["moe"] = moe
        if adapters is not UNSET:
            field_dict["adapters"] = adapters

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.adapters_section import AdaptersSection  # noqa: PLC0415
        from ..models.batch_section import BatchSection  # noqa: PLC0415
        from ..models.checkpointing_section import CheckpointingSection  # noqa: PLC0415
        from ..models.dropout_section import DropoutSection  # noqa: PLC0415
        from ..models.framework_section import FrameworkSection  # noqa: PLC0415
        from ..models.kernels_section import KernelsSection  # noqa: PLC0415
        from ..models.model_section import ModelSection  # noqa: PLC0415
        from ..models.moe_section import MoeSection  # noqa: PLC0415
        from ..models.optimizer_section import OptimizerSection  # noqa: PLC0415
        from ..models.parallelism_section import ParallelismSection  # noqa: PLC0415
        from ..models.precision_section import PrecisionSection  # noqa: PLC0415
        from ..models.sharding_section import ShardingSection  # noqa: PLC0415
        from ..models.stages_section import StagesSection  # noqa: PLC0415

        d = dict(src_dict)
        model = ModelSection.from_dict(d.pop("model"))

        framework = FrameworkSection.from_dict(d.pop("framework"))

        def _parse_world_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        world_size = _parse_world_size(d.pop("world_size", UNSET))

        _parallelism = d.pop("parallelism", UNSET)
        parallelism: ParallelismSection | Unset
        if isinstance(_parallelism, Unset):
            parallelism = UNSET
        else:
            parallelism = ParallelismSection.from_dict(_parallelism)

        _sharding = d.pop("sharding", UNSET)
        sharding: ShardingSection | Unset
        if isinstance(_sharding, Unset):
            sharding = UNSET
        else:
            sharding = ShardingSection.from_dict(_sharding)

        def _parse_schedule(data: object) -> JobScheduleType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                schedule_type_0 = check_job_schedule_type_0(data)

                return schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JobScheduleType0 | None | Unset, data)

        schedule = _parse_schedule(d.pop("schedule", UNSET))

        def _parse_stages(data: object) -> None | StagesSection | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stages_type_0 = StagesSection.from_dict(data)

                return stages_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StagesSection | Unset, data)

        stages = _parse_stages(d.pop("stages", UNSET))

        _batch = d.pop("batch", UNSET)
        batch: BatchSection | Unset
        if isinstance(_batch, Unset):
            batch = UNSET
        else:
            batch = BatchSection.from_dict(_batch)

        _checkpointing = d.pop("checkpointing", UNSET)
        checkpointing: CheckpointingSection | Unset
        if isinstance(_checkpointing, Unset):
            checkpointing = UNSET
        else:
            checkpointing = CheckpointingSection.from_dict(_checkpointing)

        _precision = d.pop("precision", UNSET)
        precision: PrecisionSection | Unset
        if isinstance(_precision, Unset):
            precision = UNSET
        else:
            precision = PrecisionSection.from_dict(_precision)

        _optimizer = d.pop("optimizer", UNSET)
        optimizer: OptimizerSection | Unset
        if isinstance(_optimizer, Unset):
            optimizer = UNSET
        else:
            optimizer = OptimizerSection.from_dict(_optimizer)

        _kernels = d.pop("kernels", UNSET)
        kernels: KernelsSection | Unset
        if isinstance(_kernels, Unset):
            kernels = UNSET
        else:
            kernels = KernelsSection.from_dict(_kernels)

        _dropout = d.pop("dropout", UNSET)
        dropout: DropoutSection | Unset
        if isinstance(_dropout, Unset):
            dropout = UNSET
        else:
            dropout = DropoutSection.from_dict(_dropout)

        def _parse_moe(data: object) -> MoeSection | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                moe_type_0 = MoeSection.from_dict(data)

                return moe_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MoeSection | None | Unset, data)

        moe = _parse_moe(d.pop("moe", UNSET))

        def _parse_adapters(data: object) -> AdaptersSection | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                adapters_type_0 = AdaptersSection.from_dict(data)

                return adapters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdaptersSection | None | Unset, data)

        adapters = _parse_adapters(d.pop("adapters", UNSET))

        job = cls(
            model=model,
            framework=framework,
            world_size=world_size,
            parallelism=parallelism,
            sharding=sharding,
            schedule=schedule,
            stages=stages,
            batch=batch,
            checkpointing=checkpointing,
            precision=precision,
            optimizer=optimizer,
            kernels=kernels,
            dropout=dropout,
            moe=moe,
            adapters=adapters,
        )

        return job
