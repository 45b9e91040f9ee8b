from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.alternative_answer import AlternativeAnswer
    from ..models.candidate import Candidate
    from ..models.diagnostic_answer import DiagnosticAnswer
    from ..models.frontier_point import FrontierPoint
    from ..models.given_answer import GivenAnswer
    from ..models.job import Job
    from ..models.method import Method
    from ..models.observed_runs import ObservedRuns
    from ..models.plan_answer_labels import PlanAnswerLabels
    from ..models.plan_answer_rejected import PlanAnswerRejected


T = TypeVar("T", bound="PlanAnswer")


@_attrs_define
class PlanAnswer:
    """A stored plan: which layouts of a job fit a cluster, fastest first.

    Attributes:
        verdict (str): Verdict of the first candidate; `does_not_fit` when there is none.
        given (GivenAnswer | None): What the job needs on the cluster as it came, degrees that it leaves open at the
            framework's default; null where
            it states no micro-batch or breaks a rule.
        alternatives (list[AlternativeAnswer]): Where the job as it came does not fit safely: up to five changes to it,
            the smallest first (fewest keys, then the
            least time). Empty where it fits, and where `given` is null.
        candidates (list[Candidate]): Layouts that fit, each with the least checkpointing that does: what fits safely
            first, then by step time; within
            5 % the larger margin is first, then fewer changes to the job.
        frontier (list[FrontierPoint]): Layouts that no other beats in both peak memory and step time, least memory
            first.
        searched (int): Layouts that were looked at, those included that a rule refused.
        rejected (PlanAnswerRejected): How many were rejected, by the first rule they broke, or `does_not_fit`.
        smallest_world_size (int | None): Fewest GPUs with a layout that fits, among divisors and doublings of the
            cluster; null when there is none.
        largest_micro_batch (int | None): Largest micro-batch (sequences) that fits at the first candidate; null without
            one.
        longest_sequence (int | None): Longest sequence (tokens) that fits at the first candidate; null without one.
        elapsed_seconds (float): How long the search took (seconds).
        observations (None | ObservedRuns): The observed runs that the verdicts are made with; null where there are too
            few, and where it was asked for
            without them.
        diagnostics (list[DiagnosticAnswer]): What should be known about the job; none of it makes the job invalid.
        method (Method): What made the answer; the same question under the same method has the same answer.
        id (str): Id of the plan; ids sort by the time they were made.
        digest (str): SHA-256 of the canonical question and the method: the same question finds this plan.
        created_at (datetime.datetime): When it was stored (UTC).
        model (str): Preset of the job's model, else its model type.
        device (str): Device of the cluster.
        world_size (int): Number of GPUs.
        gpus_per_node (int): GPUs of one node.
        objective (str): What the ranking is by.
        labels (PlanAnswerLabels): Labels that it was stored with.
        expires_at (datetime.datetime | None): When it may be removed (UTC); null: as the service's settings say.
        pinned (bool): Whether it is kept for good.
        job (Job): The canonical training config. Absent or null means the framework's default, which is reported back.
    """

    verdict: str
    given: GivenAnswer | None
    alternatives: list[AlternativeAnswer]
    candidates: list[Candidate]
    frontier: list[FrontierPoint]
    searched: int
    rejected: PlanAnswerRejected
    smallest_world_size: int | None
    largest_micro_batch: int | None
    longest_sequence: int | None
    elapsed_seconds: float
    observations: None | ObservedRuns
    diagnostics: list[DiagnosticAnswer]
    method: Method
    id: str
    digest: str
    created_at: datetime.datetime
    model: str
    device: str
    world_size: int
    gpus_per_node: int
    objective: str
    labels: PlanAnswerLabels
    expires_at: datetime.datetime | None
    pinned: bool
    job: Job
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.given_answer import GivenAnswer  # noqa: PLC0415
        from ..models.observed_runs import ObservedRuns  # noqa: PLC0415

        verdict = self.verdict

        given: dict[str, Any] | None
        if isinstance(self.given, GivenAnswer):
            given = self.given.to_dict()
        else:
            given = self.given

        alternatives = []
        for alternatives_item_data in self.alternatives:
            alternatives_item = alternatives_item_data.to_dict()
            alternatives.append(alternatives_item)

        candidates = []
        for candidates_item_data in self.candidates:
            candidates_item = candidates_item_data.to_dict()
            candidates.append(candidates_item)

        frontier = []
        for frontier_item_data in self.frontier:
            frontier_item = frontier_item_data.to_dict()
            frontier.append(frontier_item)

        searched = self.searched

        rejected = self.rejected.to_dict()

        smallest_world_size: int | None
        smallest_world_size = self.smallest_world_size

        largest_micro_batch: int | None
        largest_micro_batch = self.largest_micro_batch

        longest_sequence: int | None
        longest_sequence = self.longest_sequence

        elapsed_seconds = self.elapsed_seconds

        observations: dict[str, Any] | None
        if isinstance(self.observations, ObservedRuns):
            observations = self.observations.to_dict()
        else:
            observations = self.observations

        diagnostics = []
        for diagnostics_item_data in self.diagnostics:
            diagnostics_item = diagnostics_item_data.to_dict()
            diagnostics.append(diagnostics_item)

        method = self.method.to_dict()

        id = self.id

        digest = self.digest

        created_at = self.created_at.isoformat()

        model = self.model

        device = self.device

        world_size = self.world_size

        gpus_per_node = self.gpus_per_node

        objective = self.objective

        labels = self.labels.to_dict()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        pinned = self.pinned

        job = self.job.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
                "given": given,
                "alternatives": alternatives,
                "candidates": candidates,
                "frontier": frontier,
                "searched": searched,
                "rejected": rejected,
                "smallest_world_size": smallest_world_size,
                "largest_micro_batch": largest_micro_batch,
                "longest_sequence": longest_sequence,
                "elapsed_seconds": elapsed_seconds,
                "observations": observations,
                "diagnostics": diagnostics,
                "method": method,
                "id": id,
                "digest": digest,
                "created_at": created_at,
                "model": model,
                "device": device,
                "world_size": world_size,
                "gpus_per_node": gpus_per_node,
                "objective": objective,
                "labels": labels,
                "expires_at": expires_at,
                "pinned": pinned,
                "job": job,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.alternative_answer import AlternativeAnswer  # noqa: PLC0415
        from ..models.candidate import Candidate  # noqa: PLC0415
        from ..models.diagnostic_answer import DiagnosticAnswer  # noqa: PLC0415
        from ..models.frontier_point import FrontierPoint  # noqa: PLC0415
        from ..models.given_answer import GivenAnswer  # noqa: PLC0415
        from ..models.job import Job  # noqa: PLC0415
        from ..models.method import Method  # noqa: PLC0415
        from ..models.observed_runs import ObservedRuns  # noqa: PLC0415
        from ..models.plan_answer_labels import PlanAnswerLabels  # noqa: PLC0415
        from ..models.plan_answer_rejected import PlanAnswerRejected  # noqa: PLC0415

        d = dict(src_dict)
        verdict = d.pop("verdict")

        def _parse_given(data: object) -> GivenAnswer | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                given_type_0 = GivenAnswer.from_dict(data)

                return given_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GivenAnswer | None, data)

        given = _parse_given(d.pop("given"))

        alternatives = []
        _alternatives = d.pop("alternatives")
        for alternatives_item_data in _alternatives:
            alternatives_item = AlternativeAnswer.from_dict(alternatives_item_data)

            alternatives.append(alternatives_item)

        candidates = []
        _candidates = d.pop("candidates")
        for candidates_item_data in _candidates:
            candidates_item = Candidate.from_dict(candidates_item_data)

            candidates.append(candidates_item)

        frontier = []
        _frontier = d.pop("frontier")
        for frontier_item_data in _frontier:
            frontier_item = FrontierPoint.from_dict(frontier_item_data)

            frontier.append(frontier_item)

        searched = d.pop("searched")

        rejected = PlanAnswerRejected.from_dict(d.pop("rejected"))

        def _parse_smallest_world_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        smallest_world_size = _parse_smallest_world_size(d.pop("smallest_world_size"))

        def _parse_largest_micro_batch(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        largest_micro_batch = _parse_largest_micro_batch(d.pop("largest_micro_batch"))

        def _parse_longest_sequence(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        longest_sequence = _parse_longest_sequence(d.pop("longest_sequence"))

        elapsed_seconds = d.pop("elapsed_seconds")

        def _parse_observations(data: object) -> None | ObservedRuns:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                observations_type_0 = ObservedRuns.from_dict(data)

                return observations_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ObservedRuns, data)

        observations = _parse_observations(d.pop("observations"))

        diagnostics = []
        _diagnostics = d.pop("diagnostics")
        for diagnostics_item_data in _diagnostics:
            diagnostics_item = DiagnosticAnswer.from_dict(diagnostics_item_data)

            diagnostics.append(diagnostics_item)

        method = Method.from_dict(d.pop("method"))

        id = d.pop("id")

        digest = d.pop("digest")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        model = d.pop("model")

        device = d.pop("device")

        world_size = d.pop("world_size")

        gpus_per_node = d.pop("gpus_per_node")

        objective = d.pop("objective")

        labels = PlanAnswerLabels.from_dict(d.pop("labels"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        pinned = d.pop("pinned")

        job = Job.from_dict(d.pop("job"))

        plan_answer = cls(
            verdict=verdict,
            given=given,
            alternatives=alternatives,
            candidates=candidates,
            frontier=frontier,
            searched=searched,
            rejected=rejected,
            smallest_world_size=smallest_world_size,
            largest_micro_batch=largest_micro_batch,
            longest_sequence=longest_sequence,
            elapsed_seconds=elapsed_seconds,
            observations=observations,
            diagnostics=diagnostics,
            method=method,
            id=id,
            digest=digest,
            created_at=created_at,
            model=model,
            device=device,
            world_size=world_size,
            gpus_per_node=gpus_per_node,
            objective=objective,
            labels=labels,
            expires_at=expires_at,
            pinned=pinned,
            job=job,
        )

        plan_answer.additional_properties = d
        return plan_answer

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
