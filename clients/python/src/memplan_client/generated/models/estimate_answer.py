from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.estimate_answer_verdict import (
    EstimateAnswerVerdict,
    check_estimate_answer_verdict,
)

if TYPE_CHECKING:
    from ..models.capacity import Capacity
    from ..models.diagnostic_answer import DiagnosticAnswer
    from ..models.estimate_answer_sources import EstimateAnswerSources
    from ..models.interval_answer import IntervalAnswer
    from ..models.job import Job
    from ..models.method import Method
    from ..models.observations_answer import ObservationsAnswer
    from ..models.peak import Peak
    from ..models.stage import Stage
    from ..models.time import Time


T = TypeVar("T", bound="EstimateAnswer")


@_attrs_define
class EstimateAnswer:
    """The itemised memory of a job on a device.

    Attributes:
        verdict (EstimateAnswerVerdict): `fits`; `tight` when only the upper end of the interval passes the usable
            memory, or the peak passes 88 % of the
            total; `does_not_fit`; `unknown` when the device's memory is not known. This set never grows.
        reason (str): The verdict in one sentence, for people.
        peak (Peak): The worst moment of the worst stage, in a step or before the first, which decides whether the job
            fits.
        capacity (Capacity): What the device has; sizes are null where the catalogue has no figure.
        interval (IntervalAnswer): Where the ends of the interval come from.
        observations (None | ObservationsAnswer): The observed runs that the answer is made with; null where there are
            too few, and where it was asked for without
            them.
        stages (list[Stage]): Every pipeline stage, in order.
        time (None | Time): One optimizer step; null for a device whose links have no figures.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
        sources (EstimateAnswerSources): Where each value of the job came from: JSON Pointer to `flag`, `key`,
            `environment`, `default`, `derived`,
            `assumed` or `given`.
        diagnostics (list[DiagnosticAnswer]): What should be known about the job; none of it makes the job invalid.
        method (Method): What made the answer; the same question under the same method has the same answer.
        digest (str): SHA-256 of the canonical job, the device and the method: the same question has the same digest.
    """

    verdict: EstimateAnswerVerdict
    reason: str
    peak: Peak
    capacity: Capacity
    interval: IntervalAnswer
    observations: None | ObservationsAnswer
    stages: list[Stage]
    time: None | Time
    job: Job
    sources: EstimateAnswerSources
    diagnostics: list[DiagnosticAnswer]
    method: Method
    digest: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.observations_answer import ObservationsAnswer  # noqa: PLC0415
        from ..models.time import Time  # noqa: PLC0415

        verdict: str = self.verdict

        reason = self.reason

        peak = self.peak.to_dict()

        capacity = self.capacity.to_dict()

        interval = self.interval.to_dict()

        observations: dict[str, Any] | None
        if isinstance(self.observations, ObservationsAnswer):
            observations = self.observations.to_dict()
        else:
            observations = self.observations

        stages = []
        for stages_item_data in self.stages:
            stages_item = stages_item_data.to_dict()
            stages.append(stages_item)

        time: dict[str, Any] | None
        if isinstance(self.time, Time):
            time = self.time.to_dict()
        else:
            time = self.time

        job = self.job.to_dict()

        sources = self.sources.to_dict()

        diagnostics = []
        for diagnostics_item_data in self.diagnostics:
            diagnostics_item = diagnostics_item_data.to_dict()
            diagnostics.append(diagnostics_item)

        method = self.method.to_dict()

        digest = self.digest

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
                "reason": reason,
                "peak": peak,
                "capacity": capacity,
                "interval": interval,
                "observations": observations,
                "stages": stages,
                "time": time,
                "job": job,
                "sources": sources,
                "diagnostics": diagnostics,
                "method": method,
                "digest": digest,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.capacity import Capacity  # noqa: PLC0415
        from ..models.diagnostic_answer import DiagnosticAnswer  # noqa: PLC0415
        from ..models.estimate_answer_sources import EstimateAnswerSources  # noqa: PLC0415
        from ..models.interval_answer import IntervalAnswer  # noqa: PLC0415
        from ..models.job import Job  # noqa: PLC0415
        from ..models.method import Method  # noqa: PLC0415
        from ..models.observations_answer import ObservationsAnswer  # noqa: PLC0415
        from ..models.peak import Peak  # noqa: PLC0415
        from ..models.stage import Stage  # noqa: PLC0415
        from ..models.time import Time  # noqa: PLC0415

        d = dict(src_dict)
        verdict = check_estimate_answer_verdict(d.pop("verdict"))

        reason = d.pop("reason")

        peak = Peak.from_dict(d.pop("peak"))

        capacity = Capacity.from_dict(d.pop("capacity"))

        interval = IntervalAnswer.from_dict(d.pop("interval"))

        def _parse_observations(data: object) -> None | ObservationsAnswer:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                observations_type_0 = ObservationsAnswer.from_dict(data)

                return observations_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ObservationsAnswer, data)

        observations = _parse_observations(d.pop("observations"))

        stages = []
        _stages = d.pop("stages")
        for stages_item_data in _stages:
            stages_item = Stage.from_dict(stages_item_data)

            stages.append(stages_item)

        def _parse_time(data: object) -> None | Time:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                time_type_0 = Time.from_dict(data)

                return time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Time, data)

        time = _parse_time(d.pop("time"))

        job = Job.from_dict(d.pop("job"))

        sources = EstimateAnswerSources.from_dict(d.pop("sources"))

        diagnostics = []
        _diagnostics = d.pop("diagnostics")
        for diagnostics_item_data in _diagnostics:
            diagnostics_item = DiagnosticAnswer.from_dict(diagnostics_item_data)

            diagnostics.append(diagnostics_item)

        method = Method.from_dict(d.pop("method"))

        digest = d.pop("digest")

        estimate_answer = cls(
            verdict=verdict,
            reason=reason,
            peak=peak,
            capacity=capacity,
            interval=interval,
            observations=observations,
            stages=stages,
            time=time,
            job=job,
            sources=sources,
            diagnostics=diagnostics,
            method=method,
            digest=digest,
        )

        estimate_answer.additional_properties = d
        return estimate_answer

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
