from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

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
        reference (None | str | Unset): The caller's own name of the job, for the record of what a queue's policy
            refuses.
    """

    targets: list[TargetRequest]
    job: Job
    reference: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        targets = []
        for targets_item_data in self.targets:
            targets_item = targets_item_data.to_dict()
            targets.append(targets_item)

        job = self.job.to_dict()

        reference: None | str | Unset
        if isinstance(self.reference, Unset):
            reference = UNSET
        else:
            reference = self.reference

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "targets": targets,
                "job": job,
            }
        )
        if reference is not UNSET:
            field_dict["reference"] = reference

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

        def _parse_reference(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reference = _parse_reference(d.pop("reference", UNSET))

        job_item_request = cls(
            targets=targets,
            job=job,
            reference=reference,
        )

        return job_item_request
