from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.job import Job


T = TypeVar("T", bound="JobEstimateRequest")


@_attrs_define
class JobEstimateRequest:
    """The memory of a job on a device.

    Attributes:
        device (str): Id, alias or scheduler label of the device, from `GET /v1/devices`.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
    """

    device: str
    job: Job

    def to_dict(self) -> dict[str, Any]:
        device = self.device

        job = self.job.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "device": device,
                "job": job,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job import Job  # noqa: PLC0415

        d = dict(src_dict)
        device = d.pop("device")

        job = Job.from_dict(d.pop("job"))

        job_estimate_request = cls(
            device=device,
            job=job,
        )

        return job_estimate_request
