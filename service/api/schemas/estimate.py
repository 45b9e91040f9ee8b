"""The itemised memory of a job on a device."""

from functools import cache
from typing import Any, Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes, Count, Fraction, JobAnswer, Seconds, SignedBytes
from service.api.schemas.findings import DiagnosticAnswer
from service.calculator.estimate import StageEstimate
from service.calculator.ledger import Category, Line, Moment, Scope
from service.calculator.step_time import StepTime
from service.calibration.evidence import Fitted
from service.calibration.interval import Observations
from service.usecases.estimates import EstimateAnswer as Estimated
from service.usecases.estimates import Verdict, Without


@cache
def _names(moments: tuple[Moment, ...]) -> list[str]:
    # Few kinds of lines, many lines: most of them share their moments with another.
    return [each.value for each in moments]


class LedgerLine(Answer):
    """Tensors of one kind that one GPU holds at the stage's worst moment."""

    name: str = Field(examples=["attention.query"])
    """What it is, from the part of the model outwards."""
    category: str = Field(examples=["activations"])
    """One of the keys of `categories`."""
    shape: list[int] = Field(examples=[[8192, 1, 512]])
    """Shape of one tensor on one GPU (elements)."""
    dtype: str = Field(examples=["bf16"])
    """Type of one element."""
    count: Count = Field(examples=[64])
    """How many such tensors are held: layers times micro-batches in flight, for example."""
    bytes: Bytes = Field(examples=[536870912])
    """Elements of the shape, times the width of the dtype, times the count (bytes)."""
    sharded_by: list[str] = Field(examples=[["tensor", "context"]])
    """Kinds of parallelism that divide it."""
    alive: list[str] = Field(examples=[["warmup_forward", "first_backward"]])
    """Moments of the step at which it is held."""
    scope: Scope = Field(examples=["allocated"])
    """Who sees it: the tensors' total, only the caching allocator's reservation, or only the driver."""
    modelled: bool = Field(examples=[False])
    """Whether it is an estimate of what no rule gives exactly: context, communicators, workspaces, allocator."""
    source: str = Field(examples=["memory_model.md 3.1"])
    """Where its shape and lifetime come from."""

    @classmethod
    def of(cls, line: Line, size_bytes: int) -> Self:
        """Return the wire form of a ledger line of this size."""
        tensor = line.tensor
        return cls(
            name=tensor.name,
            category=tensor.category.value,
            shape=[int(each) for each in tensor.shape],
            dtype=tensor.dtype,
            count=int(line.count),
            bytes=size_bytes,
            sharded_by=list(tensor.sharded_by),
            alive=_names(line.alive),
            scope=line.scope,
            modelled=line.modelled,
            source=tensor.source,
        )


class Categories(Answer):
    """Bytes of one GPU by what they are for; they sum to the stage's `device_bytes`."""

    weights: Bytes = Field(examples=[8030261248])
    """Weights used in forward and backward (bytes)."""
    gradients: Bytes = Field(examples=[16060522496])
    """Gradients and their accumulation buffer (bytes)."""
    optimizer: Bytes = Field(examples=[6022695936])
    """Master weights and moments (bytes)."""
    activations: Bytes = Field(examples=[11811160064])
    """Tensors kept for the backward, and what the backward itself needs (bytes)."""
    logits: Bytes = Field(examples=[4202692608])
    """Logits and what the loss keeps of them (bytes)."""
    communication: Bytes = Field(examples=[536870912])
    """Buffers of collectives and of the pipeline (bytes)."""
    workspace: Bytes = Field(examples=[67108864])
    """Scratch memory of kernels (bytes)."""
    allocator: Bytes = Field(examples=[1610612736])
    """Reserved by the caching allocator beyond what is allocated (bytes)."""
    context: Bytes = Field(examples=[1073741824])
    """CUDA context, loaded modules and communicators (bytes)."""


class Stage(Answer):
    """One pipeline stage: what each of its GPUs holds at the stage's worst moment."""

    stage: int = Field(ge=0, examples=[0])
    """Pipeline rank, from 0."""
    layers: list[int] = Field(examples=[[0, 1, 2, 3]])
    """Indexes of the decoder layers on this stage, chunk by chunk."""
    parameters: Count = Field(examples=[4015130624])
    """Parameters on one GPU of this stage, before sharding over data-parallel ranks."""
    in_flight_microbatches: float = Field(ge=0, examples=[2.0])
    """Micro-batches whose activations are held at the peak, in units of the whole stage: a chunk counts as a part."""
    moment: str = Field(examples=["first_backward"])
    """The worst moment, one of the keys of `moments`."""
    allocated_bytes: Bytes = Field(examples=[40802189312])
    """What `torch.cuda.max_memory_allocated` would report (bytes)."""
    reserved_bytes: Bytes = Field(examples=[42412802048])
    """What the caching allocator holds (bytes)."""
    device_bytes: Bytes = Field(examples=[43486543872])
    """What `nvidia-smi` would show: reserved, context and communicators (bytes)."""
    moments: dict[str, Bytes] = Field(examples=[{"warmup_forward": 41875931136, "first_backward": 43486543872}])
    """Device bytes at every moment of a run, in order of time (bytes); 0 where it does not occur on this stage."""
    categories: Categories
    """The device bytes of the worst moment by what they are for."""
    ledger: list[LedgerLine]
    """Every line alive at the worst moment; lines of a category sum to that category, to the byte."""

    @classmethod
    def of(cls, stage: StageEstimate) -> Self:
        """Return the wire form of a stage: its ledger at the worst moment only."""
        ledger = [LedgerLine.of(line, size) for line in stage.ledger if (size := int(line.bytes))]
        categories: dict[str, Any] = dict.fromkeys((each.value for each in Category), 0)
        for line in ledger:
            categories[line.category] += line.bytes
        return cls(
            stage=stage.stage,
            layers=list(stage.layers),
            parameters=stage.parameters,
            in_flight_microbatches=stage.in_flight_microbatches,
            moment=stage.moment.value,
            allocated_bytes=stage.allocated_bytes,
            reserved_bytes=stage.reserved_bytes,
            device_bytes=stage.device_bytes,
            moments={each.value: stage.moments.get(each, 0) for each in Moment},
            categories=Categories(**categories),
            ledger=ledger,
        )


class Peak(Answer):
    """The worst moment of the worst stage, in a step or before the first, which decides whether the job fits."""

    stage: int = Field(ge=0, examples=[0])
    """Pipeline rank that needs most memory."""
    moment: str = Field(examples=["first_backward"])
    """Its worst moment, one of the keys of a stage's `moments`."""
    allocated_bytes: Bytes = Field(examples=[40802189312])
    """What `torch.cuda.max_memory_allocated` would report there (bytes)."""
    reserved_bytes: Bytes = Field(examples=[42412802048])
    """What the caching allocator would hold there (bytes)."""
    device_bytes: Bytes = Field(examples=[43486543872])
    """What `nvidia-smi` would show there (bytes): the sum of the ledger."""
    low_bytes: Bytes = Field(examples=[40442485800])
    """Lower end of the interval around `device_bytes` (bytes)."""
    high_bytes: Bytes = Field(examples=[46530601943])
    """Upper end of the interval around `device_bytes` (bytes)."""
    expected_bytes: Bytes = Field(examples=[43486543872])
    """What is expected of `nvidia-smi` where observed runs say that it shows more or less; else `device_bytes`. The
    figure that the verdict is about (bytes)."""
    host_bytes_per_node: Bytes | None = Field(None, examples=[None])
    """Memory that offload takes on the fullest node (bytes); null when nothing is offloaded."""


class Capacity(Answer):
    """What the device has; sizes are null where the catalogue has no figure."""

    device: str = Field(examples=["h100-sxm-80gb"])
    """Id of the device."""
    total_bytes: Bytes | None = Field(examples=[85520809984])
    """Memory that the driver lists (bytes)."""
    usable_bytes: Bytes | None = Field(examples=[84932978278])
    """Memory that a process can use (bytes)."""
    margin_bytes: SignedBytes | None = Field(examples=[41446434406])
    """Usable memory less the peak's `expected_bytes` (bytes); below 0 when the job does not fit."""
    break_even_imbalance: float | None = Field(None, ge=1, examples=[None])
    """Rows that the fullest expert-parallel rank may receive, in balanced shares, until the peak fills the usable
    memory; null where routing cannot fill it, and where the job does not fit as routed."""


class IntervalAnswer(Answer):
    """Where the ends of the interval come from."""

    group: str = Field(
        examples=["megatron-core (transformer_engine), allocated bytes, stated attention, the profile's version"]
    )
    """The measured runs that were looked at."""
    runs: int = Field(ge=0, examples=[64])
    """How many they are."""
    coverage: Fraction = Field(examples=[0.9])
    """Share of such runs whose measured peak is inside (0 to 1)."""
    reached: Fraction = Field(examples=[0.92])
    """Share of the group's runs that such intervals hold when the runs of the same source (of observed runs: each run)
    are left out (0 to 1)."""


class ObservedRuns(Answer):
    """Runs sent to `POST /v1/observations` that an answer is made with."""

    group: str = Field(examples=["megatron-core (transformer_engine) on h100-sxm-80gb"])
    """Which runs: of one way of keeping states, one implementation of the layers, and one device."""
    runs: Count = Field(examples=[24])
    """How many they are."""
    oom: Count = Field(examples=[1])
    """How many of them ran out of memory."""
    bias: float = Field(gt=-1, examples=[0.041])
    """What is expected over what is itemised, less 1: above 0 where runs take more."""


class WithoutObservations(Answer):
    """What the same question is answered with `use_observations` false."""

    verdict: str = Field(examples=["fits"])
    """The verdict."""
    peak_bytes: Bytes = Field(examples=[43486543872])
    """The worst stage's peak as it is itemised (bytes)."""
    low_bytes: Bytes = Field(examples=[40442485800])
    """Lower end of the interval around it (bytes)."""
    high_bytes: Bytes = Field(examples=[46530601943])
    """Upper end of the interval around it (bytes)."""


class ObservationsAnswer(ObservedRuns):
    """Observed runs that a verdict is made with, and what is said without them."""

    same_job: Count = Field(examples=[0])
    """How many of them ran the very job that is asked about, from three on: these alone say what is expected of it."""
    without: WithoutObservations
    """What is said without them."""

    @classmethod
    def of_peak(cls, observed: Observations, device_bytes: int, expected_bytes: int, without: Without) -> Self:
        """Return the wire form of what observed runs have changed at a peak (bytes)."""
        return cls(
            group=observed.group,
            runs=observed.runs,
            oom=observed.ooms,
            bias=round(expected_bytes / device_bytes - 1, 3),
            same_job=observed.same_job,
            without=WithoutObservations(
                verdict=without.verdict,
                peak_bytes=device_bytes,
                low_bytes=without.low_bytes,
                high_bytes=without.high_bytes,
            ),
        )


class Time(Answer):
    """One optimizer step, by a first model of computation, traffic and bubble."""

    step_seconds: Seconds = Field(examples=[9.81])
    """Duration of one optimizer step (seconds)."""
    tokens_per_second_per_gpu: float = Field(ge=0, examples=[6680.0])
    """Throughput of one GPU (tokens per second)."""
    bubble_fraction: Fraction = Field(examples=[0.008])
    """Part of the pipeline's time in which a stage waits (0 to 1)."""
    recompute_fraction: Fraction = Field(examples=[0.0])
    """Part of the slowest stage's work that repeats a forward (0 to 1)."""
    observed_steps: Count = Field(0, examples=[0])
    """Steps of other runs on such GPUs that were timed and are used; 0 where they are too few."""

    @classmethod
    def of(cls, time: StepTime, timed: Fitted | None) -> Self:
        """Return the wire form of a step time, and of the observed steps behind it."""
        return cls(
            observed_steps=0 if timed is None else timed.steps,
            step_seconds=float(time.step_seconds),
            tokens_per_second_per_gpu=float(time.tokens_per_second_per_gpu),
            bubble_fraction=float(time.bubble_fraction),
            recompute_fraction=float(time.recompute_fraction),
        )


class Method(Answer):
    """What made the answer; the same question under the same method has the same answer."""

    version: str = Field(examples=["1"])
    """Version of the memory model."""
    profile: str = Field(examples=["megatron-core d98e8a64 (2026-08-22)"])
    """Framework, and the state of it, whose defaults and habits were applied."""


class EstimateAnswer(Answer):
    """The itemised memory of a job on a device."""

    verdict: Verdict = Field(examples=["fits"])
    """`fits`; `tight` when only the upper end of the interval passes the usable memory, or the peak passes 88 % of the
    total; `does_not_fit`; `unknown` when the device's memory is not known. This set never grows."""
    reason: str = Field(examples=["stage 0 peaks at 40.5 of 79.1 GiB usable"])
    """The verdict in one sentence, for people."""
    peak: Peak
    """The worst moment of the worst stage."""
    capacity: Capacity
    """What the device has."""
    interval: IntervalAnswer
    """Where `low_bytes` and `high_bytes` come from."""
    observations: ObservationsAnswer | None
    """The observed runs that the answer is made with; null where there are too few, and where it was asked for without
    them."""
    stages: list[Stage]
    """Every pipeline stage, in order."""
    time: Time | None
    """One optimizer step; null for a device whose links have no figures."""
    job: JobAnswer
    """The job with every default written out."""
    sources: dict[str, str] = Field(examples=[{"/parallelism/data": "derived"}])
    """Where each value of the job came from: JSON Pointer to `flag`, `key`, `environment`, `default`, `derived`,
    `assumed` or `given`."""
    diagnostics: list[DiagnosticAnswer]
    """What should be known about the job; none of it makes the job invalid."""
    method: Method
    """What made the answer."""
    digest: str = Field(examples=["sha256:6d1e6a63c0a5d6f7c4b1cf5e7b8a4bb4f8a4f2a4b0e6c8d2a1f3e5d7c9b0a1f2"])
    """SHA-256 of the canonical job, the device and the method: the same question has the same digest."""

    @classmethod
    def of(cls, found: Estimated) -> Self:
        """Return the wire form of an estimate."""
        findings = found.resolved.findings
        return cls(
            verdict=found.verdict,
            reason=found.reason,
            peak=_peak(found),
            capacity=_capacity(found),
            interval=IntervalAnswer(
                group=found.interval.band.group,
                runs=found.interval.band.runs,
                coverage=found.interval.band.coverage,
                reached=found.interval.band.reached,
            ),
            observations=_observations(found),
            stages=[Stage.of(each) for each in found.estimate.stages],
            time=None if found.time is None else Time.of(found.time, found.timed),
            job=found.resolved.job,
            sources={pointer: source.origin for pointer, source in findings.sources.items()},
            diagnostics=[DiagnosticAnswer.of(each) for each in findings.diagnostics],
            method=Method(version=found.method_version, profile=found.resolved.recipe.profile),
            digest=found.digest,
        )


def _peak(found: Estimated) -> Peak:
    stage = found.estimate.peak
    return Peak(
        stage=stage.stage,
        moment=stage.moment.value,
        allocated_bytes=stage.allocated_bytes,
        reserved_bytes=stage.reserved_bytes,
        device_bytes=stage.device_bytes,
        low_bytes=found.interval.low_bytes,
        high_bytes=found.interval.high_bytes,
        expected_bytes=found.interval.expected_bytes,
        host_bytes_per_node=found.estimate.host_bytes_per_node or None,
    )


def _observations(found: Estimated) -> ObservationsAnswer | None:
    observed, without = found.interval.observed, found.without
    if observed is None or without is None:
        return None
    peak = found.estimate.peak.device_bytes
    return ObservationsAnswer.of_peak(observed, peak, found.interval.expected_bytes, without)


def _capacity(found: Estimated) -> Capacity:
    usable = found.device.usable_bytes
    return Capacity(
        device=found.device.id,
        total_bytes=found.device.total_bytes,
        usable_bytes=usable,
        margin_bytes=None if usable is None else usable - found.interval.expected_bytes,
        break_even_imbalance=found.estimate.break_even_imbalance,
    )
