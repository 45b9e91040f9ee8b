"""What a search for layouts found."""

from typing import Any, Self

from pydantic import Field

from service.api.schemas.alternative import AlternativeAnswer, Numbers, numbers
from service.api.schemas.base import Answer, Bytes, Count, JobAnswer, Seconds
from service.api.schemas.estimate import Method, ObservedRuns, Time
from service.api.schemas.findings import DiagnosticAnswer
from service.planner.recompute import LeastRecomputation
from service.usecases.searches import FoundCandidate, FoundLayout, FoundPoint, SearchAnswer
from service.usecases.targets import Need

_VERDICT = Field(examples=["fits"])


class LayoutAnswer(Answer):
    """A layout in few words."""

    tensor: int = Field(examples=[2])
    """Tensor-parallel degree."""
    sequence: bool = Field(examples=[True])
    """Whether sequence parallelism is on."""
    pipeline: int = Field(examples=[1])
    """Pipeline degree."""
    virtual_pipeline: int = Field(examples=[1])
    """Chunks per pipeline rank."""
    microbatch_group_size: int | None = Field(examples=[None])
    """Micro-batches that an interleaved schedule runs in a row on one chunk; null without one."""
    schedule: str = Field(examples=["1f1b"])
    """Pipeline schedule."""
    stages: dict[str, Any] | None = Field(examples=[None])
    """How layers are divided over stages, as a job states it; null: evenly, or as the framework does by itself."""
    context: int = Field(examples=[1])
    """Context-parallel degree."""
    expert: int = Field(examples=[1])
    """Expert-parallel degree."""
    expert_tensor: int = Field(examples=[1])
    """Expert-tensor-parallel degree."""
    data: int = Field(examples=[32])
    """Data-parallel degree."""
    micro: int = Field(examples=[1])
    """Sequences in one micro-batch."""
    accumulation: int = Field(examples=[16])
    """Micro-batches in one optimizer step on one data-parallel rank."""
    sharding_stage: int = Field(examples=[1])
    """0 nothing is sharded over data-parallel ranks, 1 optimizer states are, 2 gradients too, 3 weights too."""
    sharding_degree: int | None = Field(examples=[32])
    """Ranks that share one copy of what is sharded; null where nothing is."""
    checkpointing: str = Field(examples=["none"])
    """Granularity of activation checkpointing."""
    method: str | None = Field(examples=[None])
    """Full checkpointing: `uniform` or `block`."""
    num_layers: int | None = Field(examples=[None])
    """Full checkpointing: layers in a segment, or checkpointed layers of a chunk."""
    modules: list[str] = Field(examples=[[]])
    """Selective checkpointing: Megatron's modules that are computed again, or torchtitan's operations that are kept."""
    cross_entropy: str | None = Field(examples=["megatron"])
    """Loss recipe."""
    optimizer_offload: str | dict[str, Any] = Field(examples=["none"])
    """Where optimizer states live."""

    @classmethod
    def of(cls, layout: FoundLayout) -> Self:
        """Return the wire form of a layout."""
        values = {name: getattr(layout, name) for name in cls.model_fields}
        return cls(**values | {"modules": list(layout.modules), "stages": layout.stages and dict(layout.stages)})


class LeastRecomputationAnswer(Answer):
    """The least recomputation with which a candidate fits as well as it does."""

    layers: list[int] | None = Field(examples=[[3, 1, 0, 0]])
    """For each stage, on its own, the fewest layers of a chunk that must be computed again; null where a stage needs
    more than whole layers give. A framework that has one setting for all stages needs the largest."""
    step_seconds: Seconds | None = Field(examples=[9.42])
    """A step in which each stage recomputes just these (seconds)."""
    cost_seconds: Seconds = Field(examples=[0.31])
    """What the candidate's own checkpointing adds to a step without any (seconds)."""

    @classmethod
    def of(cls, found: LeastRecomputation | None) -> Self | None:
        """Return the wire form."""
        if found is None:
            return None
        return cls(
            layers=None if found.layers is None else list(found.layers),
            step_seconds=found.step_seconds,
            cost_seconds=found.cost_seconds,
        )


class StagePeak(Answer):
    """The worst moment of one stage."""

    stage: int = Field(examples=[0])
    """Pipeline rank, from 0."""
    device_bytes: Bytes = Field(examples=[43486543872])
    """What `nvidia-smi` would show on each of its GPUs (bytes)."""


class CandidatePeak(Answer):
    """The worst stage of a candidate."""

    stage: int = Field(examples=[0])
    """Pipeline rank that needs most memory."""
    device_bytes: Bytes = Field(examples=[43486543872])
    """What `nvidia-smi` would show there (bytes)."""
    low_bytes: Bytes = Field(examples=[40442485800])
    """Lower end of the interval around it (bytes)."""
    high_bytes: Bytes = Field(examples=[46530601943])
    """Upper end of the interval around it (bytes)."""
    expected_bytes: Bytes = Field(examples=[43486543872])
    """What is expected of `nvidia-smi` by observed runs, where there are enough; else `device_bytes` (bytes)."""
    margin_bytes: Bytes = Field(examples=[41446434406])
    """Usable memory less `expected_bytes` (bytes)."""


class Candidate(Answer):
    """A layout that fits, with the job that has it."""

    verdict: str = _VERDICT
    """`fits` or `tight`; what does not fit is counted under `rejected`."""
    reason: str = Field(examples=["stage 0 peaks at 40.5 of 79.1 GiB usable"])
    """The verdict in one sentence, for people."""
    layout: LayoutAnswer
    """The layout in few words."""
    peak: CandidatePeak
    """The worst stage."""
    stages: list[StagePeak]
    """The worst moment of every stage, in order."""
    time: Time
    """One optimizer step."""
    least_recomputation: LeastRecomputationAnswer | None
    """The least recomputation that fits, stage by stage, and what recomputation costs."""
    job: JobAnswer
    """The whole job; sent to `POST /v1/estimates`, it gives the same bytes tensor by tensor."""

    @classmethod
    def of(cls, found: FoundCandidate, answer: SearchAnswer) -> Self:
        """Return the wire form of a candidate of an answer."""
        worst = found.stage_bytes[found.stage]
        expected = worst + found.shift_bytes
        times = {name: getattr(found, name) for name in Time.model_fields if name != "observed_steps"}
        return cls(
            verdict=found.verdict,
            reason=found.reason,
            layout=LayoutAnswer.of(found.layout),
            peak=CandidatePeak(
                stage=found.stage,
                device_bytes=worst,
                low_bytes=found.low_bytes,
                high_bytes=found.high_bytes,
                expected_bytes=expected,
                margin_bytes=answer.usable_bytes - expected,
            ),
            stages=[StagePeak(stage=stage, device_bytes=size) for stage, size in enumerate(found.stage_bytes)],
            time=Time(**times, observed_steps=0 if answer.timed is None else answer.timed.steps),
            least_recomputation=LeastRecomputationAnswer.of(found.least_recomputation),
            job=found.job,
        )


class FrontierPoint(Answer):
    """A layout that no other beats in both peak memory and step time."""

    device_bytes: Bytes = Field(examples=[43486543872])
    """Its peak (bytes)."""
    step_seconds: Seconds = Field(examples=[9.81])
    """Its step time (seconds)."""
    verdict: str = _VERDICT
    """`fits` or `tight`."""
    layout: LayoutAnswer
    """The layout in few words."""

    @classmethod
    def of(cls, point: FoundPoint) -> Self:
        """Return the wire form of a point."""
        return cls(
            device_bytes=point.device_bytes,
            step_seconds=point.step_seconds,
            verdict=point.verdict,
            layout=LayoutAnswer.of(point.layout),
        )


def _observations(answer: SearchAnswer) -> ObservedRuns | None:
    found = answer.observed
    if found is None:
        return None
    return ObservedRuns(group=found.group, runs=found.runs, oom=found.ooms, bias=round(answer.center - 1, 3))


class GivenAnswer(Numbers):
    """What the job needs as it came."""

    verdict: str = Field(examples=["does_not_fit"])
    """`fits`, `tight` or `does_not_fit`."""
    reason: str = Field(examples=["stage 0 needs 95.1 GiB, usable 79.1 GiB; short by 16.0 GiB"])
    """The verdict in one sentence, for people."""

    @classmethod
    def of(cls, need: Need | None) -> Self | None:
        """Return the wire form."""
        if need is None:
            return None
        return cls(verdict=need.verdict, reason=need.reason, **numbers(need))


class SearchResult(Answer):
    """Which layouts of a job fit a cluster, fastest first."""

    verdict: str = _VERDICT
    """Verdict of the first candidate; `does_not_fit` when there is none."""
    given: GivenAnswer | None
    """What the job needs on the cluster as it came, degrees that it leaves open at the framework's default; null where
    it states no micro-batch or breaks a rule."""
    alternatives: list[AlternativeAnswer]
    """Where the job as it came does not fit safely: up to five changes to it, the smallest first (fewest keys, then the
    least time). Empty where it fits, and where `given` is null."""
    candidates: list[Candidate]
    """Layouts that fit, each with the least checkpointing that does: what fits safely first, then by step time; within
    5 % the larger margin is first, then fewer changes to the job."""
    frontier: list[FrontierPoint]
    """Layouts that no other beats in both peak memory and step time, least memory first."""
    searched: Count = Field(examples=[4032])
    """Layouts that were looked at, those included that a rule refused."""
    rejected: dict[str, int] = Field(examples=[{"batch_not_divisible": 120, "does_not_fit": 2210}])
    """How many were rejected, by the first rule they broke, or `does_not_fit`."""
    smallest_world_size: int | None = Field(examples=[8])
    """Fewest GPUs with a layout that fits, among divisors and doublings of the cluster; null when there is none."""
    largest_micro_batch: int | None = Field(examples=[4])
    """Largest micro-batch (sequences) that fits at the first candidate; null without one."""
    longest_sequence: int | None = Field(examples=[32768])
    """Longest sequence (tokens) that fits at the first candidate; null without one."""
    elapsed_seconds: Seconds = Field(examples=[0.42])
    """How long the search took (seconds)."""
    observations: ObservedRuns | None
    """The observed runs that the verdicts are made with; null where there are too few, and where it was asked for
    without them."""
    diagnostics: list[DiagnosticAnswer]
    """What should be known about the job; none of it makes the job invalid."""
    method: Method
    """What made the answer."""

    @classmethod
    def of_search(cls, answer: SearchAnswer, **further: Any) -> Self:
        """Return the wire form of an answer, with the further fields of a subclass."""
        return cls(
            verdict=answer.verdict,
            given=GivenAnswer.of(answer.given),
            alternatives=[AlternativeAnswer.of(each) for each in answer.alternatives],
            candidates=[Candidate.of(each, answer) for each in answer.candidates],
            frontier=[FrontierPoint.of(each) for each in answer.frontier],
            searched=answer.searched,
            rejected=dict(answer.rejected),
            smallest_world_size=answer.smallest_world_size,
            largest_micro_batch=answer.largest_micro_batch,
            longest_sequence=answer.longest_sequence,
            elapsed_seconds=answer.elapsed_seconds,
            observations=_observations(answer),
            diagnostics=[DiagnosticAnswer.of(each) for each in answer.findings.diagnostics],
            method=Method(version=answer.method_version, profile=answer.profile),
            **further,
        )
