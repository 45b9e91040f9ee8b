from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.candidate_peak import CandidatePeak
    from ..models.job import Job
    from ..models.layout_answer import LayoutAnswer
    from ..models.least_recomputation_answer import LeastRecomputationAnswer
    from ..models.stage_peak import StagePeak
    from ..models.time import Time


T = TypeVar("T", bound="Candidate")


@_attrs_define
class Candidate:
    """A layout that fits, with the job that has it.

    Attributes:
        verdict (str): `fits` or `tight`; what does not fit is counted under `rejected`.
        reason (str): The verdict in one sentence, for people.
        layout (LayoutAnswer): A layout in few words.
        peak (CandidatePeak): The worst stage of a candidate.
        stages (list[StagePeak]): The worst moment of every stage, in order.
        time (Time): One optimizer step, by a first model of computation, traffic and bubble.
        least_recomputation (LeastRecomputationAnswer | None): The least recomputation that fits, stage by stage, and
            what recomputation costs.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
    """

    verdict: str
    reason: str
    layout: LayoutAnswer
    peak: CandidatePeak
    stages: list[StagePeak]
    time: Time
    least_recomputation: LeastRecomputationAnswer | None
    job: Job
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.least_recomputation_answer import LeastRecomputationAnswer  # noqa: PLC0415

        verdict = self.verdict

        reason = self.reason

        layout = self.layout.to_dict()

        peak = self.peak.to_dict()

        stages = []
        for stages_item_data in self.stages:
            stages_item = stages_item_data.to_dict()
            stages.append(stages_item)

        time = self.time.to_dict()

        least_recomputation: dict[str, Any] | None
        if isinstance(self.least_recomputation, LeastRecomputationAnswer):
            least_recomputation = self.least_recomputation.to_dict()
        else:
            least_recomputation = self.least_recomputation

        job = self.job.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
                "reason": reason,
                "layout": layout,
                "peak": peak,
                "stages": stages,
                "time": time,
                "least_recomputation": least_recomputation,
                "job": job,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.candidate_peak import CandidatePeak  # noqa: PLC0415
        from ..models.job import Job  # noqa: PLC0415
        from ..models.layout_answer import LayoutAnswer  # noqa: PLC0415
        from ..models.least_recomputation_answer import LeastRecomputationAnswer  # noqa: PLC0415
        from ..models.stage_peak import StagePeak  # noqa: PLC0415
        from ..models.time import Time  # noqa: PLC0415

        d = dict(src_dict)
        verdict = d.pop("verdict")

        reason = d.pop("reason")

        layout = LayoutAnswer.from_dict(d.pop("layout"))

        peak = CandidatePeak.from_dict(d.pop("peak"))

        stages = []
        _stages = d.pop("stages")
        for stages_item_data in _stages:
            stages_item = StagePeak.from_dict(stages_item_data)

            stages.append(stages_item)

        time = Time.from_dict(d.pop("time"))

        def _parse_least_recomputation(data: object) -> LeastRecomputationAnswer | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                least_recomputation_type_0 = LeastRecomputationAnswer.from_dict(data)

                return least_recomputation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LeastRecomputationAnswer | None, data)

        least_recomputation = _parse_least_recomputation(d.pop("least_recomputation"))

        job = Job.from_dict(d.pop("job"))

        candidate = cls(
            verdict=verdict,
            reason=reason,
            layout=layout,
            peak=peak,
            stages=stages,
            time=time,
            least_recomputation=least_recomputation,
            job=job,
        )

        candidate.additional_properties = d
        return candidate

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
