from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.job import Job


T = TypeVar("T", bound="JobEstimateRequest")


@_attrs_define
class JobEstimateRequest:
    """The memory of a job on a device.

    Attributes:
        device (str): Id, alias or scheduler label of the device, from `GET /v1/devices`.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
        use_observations (bool | Unset): Whether observed runs are used; false asks for what is said without them.
            Default: True.
    """

    device: str
    job: Job
    use_observations: bool | Unset = True

    def to_dict(self) -> dict[str, Any]:
        device = self.device

        job = self.job.to_dict()

        use_observations = self.use_observations

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "device": device,
                "job": job,
            }
        )
        if use_observations is not UNSET:
            field_dict["use_observations"] = use_observations

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job import Job  # noqa: PLC0415

        d = dict(src_dict)
        device = d.pop("device")

        job = Job.from_dict(d.pop("job"))

        use_observations = d.pop("use_observations", UNSET)

        job_estimate_request = cls(
            device=device,
            job=job,
            use_observations=use_observations,
        )

        return job_estimate_request
