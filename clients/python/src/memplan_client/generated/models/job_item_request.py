from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.job import Job
    from ..models.target_request import TargetRequest


T = TypeVar("T", bound="JobItemRequest")


@_attrs_define
class JobItemRequest:
    """A job and its targets.

    Attributes:
        targets (list[TargetRequest]): The targets that it is judged for, at most 100.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
    """

    targets: list[TargetRequest]
    job: Job

    def to_dict(self) -> dict[str, Any]:
        targets = []
        for targets_item_data in self.targets:
            targets_item = targets_item_data.to_dict()
            targets.append(targets_item)

        job = self.job.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "targets": targets,
                "job": job,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job import Job  # noqa: PLC0415
        from ..models.target_request import TargetRequest  # noqa: PLC0415

        d = dict(src_dict)
        targets = []
        _targets = d.pop("targets")
        for targets_item_data in _targets:
            targets_item = TargetRequest.from_dict(targets_item_data)

            targets.append(targets_item)

        job = Job.from_dict(d.pop("job"))

        job_item_request = cls(
            targets=targets,
            job=job,
        )

        return job_item_request
