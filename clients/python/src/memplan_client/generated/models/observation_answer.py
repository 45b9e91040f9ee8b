from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.job import Job
    from ..models.measured_answer import MeasuredAnswer
    from ..models.method import Method
    from ..models.predicted_answer import PredictedAnswer
    from ..models.ratios_answer import RatiosAnswer


T = TypeVar("T", bound="ObservationAnswer")


@_attrs_define
class ObservationAnswer:
    """A stored observation: what a run measured, beside what was predicted of it.

    Attributes:
        id (str): Id of the observation; ids sort by the time they were made.
        run_id (str): The caller's name of the run.
        created_at (datetime.datetime): When it was stored (UTC).
        framework (str): Whose way of keeping states the run has: with `implementation` and `device` the group that it
            is judged with.
        implementation (str): Whose layers it ran.
        device (str): Id of the device that it ran on.
        gpus_per_node (int): GPUs of one node.
        plan (None | str): Id of the plan that it ran; null for a job or a config.
        candidate (int | None): Which candidate of the plan; null without one.
        measured (MeasuredAnswer): What a run measured.
        predicted (PredictedAnswer): What was predicted of the stage that was measured, before observed runs are looked
            at.
        ratios (RatiosAnswer): Measured over predicted; null where nothing was measured. Of a run out of memory, these
            are the least.
        method (Method): What made the answer; the same question under the same method has the same answer.
        digest (str): Digest of the job's estimate on the device, by the method that was current when this was stored.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
    """

    id: str
    run_id: str
    created_at: datetime.datetime
    framework: str
    implementation: str
    device: str
    gpus_per_node: int
    plan: None | str
    candidate: int | None
    measured: MeasuredAnswer
    predicted: PredictedAnswer
    ratios: RatiosAnswer
    method: Method
    digest: str
    job: Job
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        run_id = self.run_id

        created_at = self.created_at.isoformat()

        framework = self.framework

        implementation = self.implementation

        device = self.device

        gpus_per_node = self.gpus_per_node

        plan: None | str
        plan = self.plan

        candidate: int | None
        candidate = self.candidate

        measured = self.measured.to_dict()

        predicted = self.predicted.to_dict()

        ratios = self.ratios.to_dict()

        method = self.method.to_dict()

        digest = self.digest

        job = self.job.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "run_id": run_id,
                "created_at": created_at,
                "framework": framework,
                "implementation": implementation,
                "device": device,
                "gpus_per_node": gpus_per_node,
                "plan": plan,
                "candidate": candidate,
                "measured": measured,
                "predicted": predicted,
                "ratios": ratios,
                "method": method,
                "digest": digest,
                "job": job,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job import Job  # noqa: PLC0415
        from ..models.measured_answer import MeasuredAnswer  # noqa: PLC0415
        from ..models.method import Method  # noqa: PLC0415
        from ..models.predicted_answer import PredictedAnswer  # noqa: PLC0415
        from ..models.ratios_answer import RatiosAnswer  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        run_id = d.pop("run_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        framework = d.pop("framework")

        implementation = d.pop("implementation")

        device = d.pop("device")

        gpus_per_node = d.pop("gpus_per_node")

        def _parse_plan(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        plan = _parse_plan(d.pop("plan"))

        def _parse_candidate(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        candidate = _parse_candidate(d.pop("candidate"))

        measured = MeasuredAnswer.from_dict(d.pop("measured"))

        predicted = PredictedAnswer.from_dict(d.pop("predicted"))

        ratios = RatiosAnswer.from_dict(d.pop("ratios"))

        method = Method.from_dict(d.pop("method"))

        digest = d.pop("digest")

        job = Job.from_dict(d.pop("job"))

        observation_answer = cls(
            id=id,
            run_id=run_id,
            created_at=created_at,
            framework=framework,
            implementation=implementation,
            device=device,
            gpus_per_node=gpus_per_node,
            plan=plan,
            candidate=candidate,
            measured=measured,
            predicted=predicted,
            ratios=ratios,
            method=method,
            digest=digest,
            job=job,
        )

        observation_answer.additional_properties = d
        return observation_answer

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
