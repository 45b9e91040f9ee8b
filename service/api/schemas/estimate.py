"""The itemised memory of a job on a device."""

from math import prod
from typing import Literal, Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes, Count, Fraction, Seconds, SignedBytes
from service.api.schemas.findings import DiagnosticAnswer
from service.calculator.estimate import StageEstimate
from service.calculator.ledger import Category, Line, Moment
from service.job.schema import Job
from service.usecases.estimates import EstimateAnswer as Estimated

Verdict = Literal["fits", "tight", "does_not_fit", "unknown"]


class LedgerLine(Answer):
    """A kind of tensor that one GPU of the stage holds at the stage's worst moment: bytes = shape × dtype × count."""

    name: str = Field(examples=["attention.query"])
    """What it is, from the part of the model outwards."""
    category: str = Field(examples=["activations"])
    """One of the keys of `categories`."""
    shape: list[int] = Field(examples=[[8192, 1, 512]])
    """Shape of one tensor on one GPU (elements)."""
    dtype: str = Field(examples=["bf16"])
    """Type of one element."""
    count: Count = Field(examples=[64])
    """How many such tensors are held: layers × micro-batches in flight, for example."""
    bytes: Bytes = Field(examples=[536870912])
    """Bytes of all of them on one GPU."""
    sharded_by: list[str] = Field(examples=[["tensor", "context"]])
    """Kinds of parallelism that divide it."""
    alive: list[str] = Field(examples=[["warmup_forward", "first_backward"]])
    """Moments of the step at which it is held."""
    scope: Literal["allocated", "reserved", "device"] = Field(examples=["allocated"])
    """Who sees it: the tensors' total, only the caching allocator's reservation, or only the driver."""
    modelled: bool = Field(examples=[False])
    """Whether it is an estimate of memory that no rule gives exactly (context, communicators, workspaces, allocator)."""
    source: str = Field(examples=["memory_model.md 3.1"])
    """Where its shape and lifetime come from."""

    @classmethod
    def of(cls, line: Line) -> Self:
        """Return the wire form of a ledger line."""
        tensor = line.tensor
        return cls.model_construct(
            name=tensor.name,
            category=tensor.category.value,
            shape=[int(each) for each in tensor.shape],
            dtype=tensor.dtype,
            count=int(line.count),
            bytes=int(line.bytes),
            sharded_by=list(tensor.sharded_by),
            alive=[each.value for each in line.alive],
            scope=line.scope.value,
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


class Moments(Answer):
    """Device bytes at each moment of the step; 0 where the moment does not occur on the stage."""

    warmup_forward: Bytes = Field(0, examples=[41875931136])
    """End of the warm-up: all micro-batches in flight stored (bytes)."""
    loss: Bytes = Field(0, examples=[0])
    """Logits and loss of one micro-batch on the last stage (bytes)."""
    first_backward: Bytes = Field(0, examples=[43486543872])
    """The first backward, all activations still held (bytes)."""
    head_backward: Bytes = Field(0, examples=[0])
    """Backward of the head on the last stage (bytes)."""
    layer_backward: Bytes = Field(0, examples=[0])
    """Backward of the last layer on the last stage, after the head's (bytes)."""
    recompute: Bytes = Field(0, examples=[0])
    """Backward of a segment that was computed again (bytes)."""
    optimizer_step: Bytes = Field(0, examples=[32212254720])
    """The optimizer's step, activations gone (bytes)."""


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
    moments: Moments
    """Device bytes at every moment."""
    categories: Categories
    """The device bytes of the worst moment by what they are for."""
    ledger: list[LedgerLine]
    """Every line alive at the worst moment; lines of a category sum to that category, to the byte."""

    @classmethod
    def of(cls, stage: StageEstimate) -> Self:
        """Return the wire form of a stage: its ledger at the worst moment only."""
        ledger = [LedgerLine.of(each) for each in stage.ledger]
        categories = dict.fromkeys((each.value for each in Category), 0)
        for line in ledger:
            categories[line.category] += line.bytes
        return cls.model_construct(
            stage=stage.stage,
            layers=list(stage.layers),
            parameters=stage.parameters,
            in_flight_microbatches=stage.in_flight_microbatches,
            moment=stage.moment.value,
            allocated_bytes=stage.allocated_bytes,
            reserved_bytes=stage.reserved_bytes,
            device_bytes=stage.device_bytes,
            moments=Moments.model_construct(**{each.value: size for each, size in stage.moments.items()}),
            categories=Categories.model_construct(**categories),
            ledger=ledger,
        )
