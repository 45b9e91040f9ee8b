from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.job import Job


T = TypeVar("T", bound="LabelledJobRequest")


@_attrs_define
class LabelledJobRequest:
    """A job to be compared.

    Attributes:
        label (str): Name of this side in the answer.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
    """

    label: str
    job: Job

    def to_dict(self) -> dict[str, Any]:
        label = self.label

        job = self.job.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "label": label,
                "job": job,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job import Job  # noqa: PLC0415

        d = dict(src_dict)
        label = d.pop("label")

        job = Job.from_dict(d.pop("job"))

        labelled_job_request = cls(
            label=label,
            job=job,
        )

        return labelled_job_request
