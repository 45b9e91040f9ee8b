from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.job import Job
    from ..models.measured_request import MeasuredRequest


T = TypeVar("T", bound="JobObservationRequest")


@_attrs_define
class JobObservationRequest:
    """What a run of a job measured.

    Attributes:
        run_id (str): The caller's name of the run: a run has one observation, and the same one may be sent again.
        measured (MeasuredRequest): What a run measured on one GPU of a stage: at least one size, `oom` or
            `step_seconds`.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
        device (str): Id, alias or scheduler label of the device that it ran on.
        gpus_per_node (int | None | Unset): GPUs of one node; null means the plan's, or the device's usual number.
    """

    run_id: str
    measured: MeasuredRequest
    job: Job
    device: str
    gpus_per_node: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        run_id = self.run_id

        measured = self.measured.to_dict()

        job = self.job.to_dict()

        device = self.device

        gpus_per_node: int | None | Unset
        if isinstance(self.gpus_per_node, Unset):
            gpus_per_node = UNSET
        else:
            gpus_per_node = self.gpus_per_node

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "run_id": run_id,
                "measured": measured,
                "job": job,
                "device": device,
            }
        )
        if gpus_per_node is not UNSET:
            field_dict["gpus_per_node"] = gpus_per_node

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job import Job  # noqa: PLC0415
        from ..models.measured_request import MeasuredRequest  # noqa: PLC0415

        d = dict(src_dict)
        run_id = d.pop("run_id")

        measured = MeasuredRequest.from_dict(d.pop("measured"))

        job = Job.from_dict(d.pop("job"))

        device = d.pop("device")

        def _parse_gpus_per_node(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        gpus_per_node = _parse_gpus_per_node(d.pop("gpus_per_node", UNSET))

        job_observation_request = cls(
            run_id=run_id,
            measured=measured,
            job=job,
            device=device,
            gpus_per_node=gpus_per_node,
        )

        return job_observation_request
