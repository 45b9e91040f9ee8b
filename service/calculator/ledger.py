"""The ledger: every block of memory that one GPU holds, as named lines.

A `Tensor` is what is stored once; a `Line` says how many of them a stage holds and at which moments. Both work on
Python ints (one estimate) and on int64 arrays (a search over layouts): shapes and counts may be either.
"""

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from math import prod

from service.calculator.record import record
from service.calculator.units import BYTES, Int, maximum


class Category(StrEnum):
    """What a line belongs to; a stage's categories sum to its device bytes."""

    WEIGHTS = "weights"
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer"
    ACTIVATIONS = "activations"
    LOGITS = "logits"
    COMMUNICATION = "communication"
    WORKSPACE = "workspace"
    ALLOCATOR = "allocator"
    CONTEXT = "context"


class Moment(StrEnum):
    """Points of a run at which a stage can peak (memory_model.md, section 9), in order of time.

    Loading comes first: `initialization` builds the model and its buffers, `checkpoint_resume` reads saved states. The
    first iteration is the worst forward or backward before the optimizer has made its states. The other moments are
    those of every later step. The first backward is the loss's on the last stage and a layer's on the others; the
    head's and the last layer's backward follow on the last stage. The last backward is that of the first layer, where
    gradients have grown and other layers' activations are gone, and the embedding's comes after it; both are moments
    of their own where gradients are not one permanent buffer.
    """

    INITIALIZATION = "initialization"
    CHECKPOINT_RESUME = "checkpoint_resume"
    FIRST_ITERATION = "first_iteration"
    WARMUP_FORWARD = "warmup_forward"
    LOSS = "loss"
    FIRST_BACKWARD = "first_backward"
    HEAD_BACKWARD = "head_backward"
    LAYER_BACKWARD = "layer_backward"
    RECOMPUTE = "recompute"
    LAST_BACKWARD = "last_backward"
    EMBEDDING_BACKWARD = "embedding_backward"
    OPTIMIZER_STEP = "optimizer_step"


class Stream(StrEnum):
    """CUDA streams on which tensors are made; the caching allocator keeps a pool of memory for each."""

    COMPUTE = "compute"
    GATHER = "gather"
    REDUCE = "reduce"


class Scope(StrEnum):
    """Who sees a line: the tensors' total, the caching allocator, or only the driver."""

    ALLOCATED = "allocated"
    RESERVED = "reserved"
    DEVICE = "device"


_SCOPES = tuple(Scope)
LOADING = (Moment.INITIALIZATION, Moment.CHECKPOINT_RESUME)
ALWAYS = tuple(each for each in Moment if each not in {*LOADING, Moment.FIRST_ITERATION})
"""Every moment of a step."""
FROM_START = (*LOADING, *ALWAYS)
GROWN = (Moment.LAST_BACKWARD, Moment.EMBEDDING_BACKWARD, Moment.OPTIMIZER_STEP)
"""Gradients are all there; of activations at most one layer's."""
WITH_ACTIVATIONS = tuple(each for each in ALWAYS if each not in GROWN)
BACKWARD = (
    Moment.FIRST_BACKWARD,
    Moment.HEAD_BACKWARD,
    Moment.LAYER_BACKWARD,
    Moment.RECOMPUTE,
    Moment.LAST_BACKWARD,
    Moment.EMBEDDING_BACKWARD,
)
"""A backward runs."""


@record(frozen=True, slots=True)
class Tensor:
    """One stored tensor on one GPU: bytes = product of the shape × width of the dtype."""

    name: str
    category: Category
    shape: tuple[Int, ...]
    dtype: str
    sharded_by: tuple[str, ...]
    source: str

    @property
    def bytes(self) -> Int:
        """Bytes of one such tensor."""
        return prod(self.shape, start=BYTES[self.dtype])


@record(frozen=True, slots=True)
class Line:
    """`count` tensors that a stage holds during the moments in `alive`.

    `modelled` marks estimates of memory that no rule gives exactly (context, communicators, allocator); `lazy` is what
    the first optimizer step makes, so that the first iteration runs without it. A line of another stream than the one
    that computes may be alive at no moment that is told apart: then it only says how large its stream's pool grows.
    `bytes` are those of all tensors of the line.
    """

    tensor: Tensor
    count: Int
    alive: tuple[Moment, ...]
    scope: Scope = Scope.ALLOCATED
    modelled: bool = False
    lazy: bool = False
    stream: Stream = Stream.COMPUTE
    bytes: Int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Every line is added up for several moments and scopes, and on arrays a product is dear.
        object.__setattr__(self, "bytes", self.tensor.bytes * self.count)


def total_bytes(lines: Iterable[Line]) -> Int:
    """Sum of the lines' bytes."""
    total: Int = 0
    for line in lines:
        total = total + line.bytes
    return total


def alive_at(lines: Iterable[Line], moment: Moment) -> list[Line]:
    """The lines that exist at a moment, in ledger order."""
    return [line for line in lines if moment in line.alive]


class Totals:
    """Bytes of lines, by moment and scope.

    Lines share few lifetimes, so that adding up within each first saves most of the additions.
    """

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self._sizes: dict[tuple[tuple[Moment, ...], Scope, bool], Int] = {}
        self.add(lines)

    def add(self, lines: Iterable[Line]) -> None:
        """Count further lines."""
        sizes = self._sizes
        for line in lines:
            key = (line.alive, line.scope, line.lazy)
            sizes[key] = sizes.get(key, 0) + line.bytes

    def at_each(self, moments: Iterable[Moment], *, lazy: bool = True) -> dict[Moment, Int]:
        """Bytes alive at each of the moments, with or without what the first optimizer step makes."""
        groups = [(alive, size) for (alive, _, late), size in self._sizes.items() if lazy or not late]
        found: dict[Moment, Int] = {}
        for moment in moments:
            total: Int = 0
            for alive, size in groups:
                if moment in alive:
                    total = total + size
            found[moment] = total
        return found

    def resting(self, moments: Iterable[Moment]) -> Int:
        """Bytes that are there at every moment of a step, those of loading left out."""
        step = [each for each in moments if each not in LOADING]
        total: Int = 0
        for (alive, _, _), size in self._sizes.items():
            if all(moment in alive for moment in step):
                total = total + size
        return total

    def by_scope(self, moment: Moment) -> dict[Scope, Int]:
        """Bytes alive at a moment that each scope sees and those before it do not."""
        found: dict[Scope, Int] = dict.fromkeys(_SCOPES, 0)
        for (alive, scope, _), size in self._sizes.items():
            if moment in alive:
                found[scope] = found[scope] + size
        return found

    def peak(self, moments: Iterable[Moment], *, lazy: bool = True) -> Int:
        """The most bytes alive at one of the moments."""
        worst: Int = 0
        for total in self.at_each(moments, lazy=lazy).values():
            worst = maximum(worst, total)
        return worst
