"""What one pipeline rank holds: its layers by kind, the ends of the model, and the depths of prediction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.model import Model

_FALLING = frozenset({"gpipe", "1f1b", "interleaved"})
"""Schedules whose in-flight count never rises from one rank to the next."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A pipeline rank's part of the model; ranks with equal parts hold the same, but for micro-batches in flight.

    `chunks` has the kinds of each chunk's layers with their counts. `embedding` and `head` are the chunks that have
    these ends, if any; `first` and `last` are the kinds of the layers that run first and last.
    """

    chunks: tuple[tuple[tuple[int, int], ...], ...]
    embedding: int | None
    head: int | None
    predicts: bool
    first: int | None
    last: int | None

    @property
    def kinds(self) -> Mapping[int, int]:
        """How many layers of each kind there are, without the depths of prediction."""
        counts: dict[int, int] = {}
        for chunk in self.chunks:
            for kind, layers in chunk:
                counts[kind] = counts.get(kind, 0) + layers
        return counts

    def per_chunk(self, kind: int) -> list[int]:
        """How many layers of a kind each chunk has."""
        return [dict(chunk).get(kind, 0) for chunk in self.chunks]


def stage_of(model: Model, layout: Layout, rank: int) -> Stage:
    """The part of the model that is on a pipeline rank."""
    placement, prediction = layout.placement, model.prediction
    held = placement.chunks[rank]
    predicts = prediction is not None and placement.predicts(rank)
    first = next((model.pattern[chunk[0]] for chunk in held if chunk), None)
    last = next((model.pattern[chunk[-1]] for chunk in reversed(held) if chunk), None)
    return Stage(
        chunks=tuple(tuple(sorted(model.kinds_of(chunk).items())) for chunk in held),
        embedding=placement.embedding_chunk(rank),
        head=placement.head_chunk(rank),
        predicts=predicts,
        first=first,
        last=prediction.kind if prediction is not None and predicts else last,
    )


def distinct_ranks(stages: Sequence[Stage], schedule: str) -> list[int]:
    """The ranks that can be the worst: the first of all that hold the same.

    Where in-flight counts never rise along the pipeline, a later rank with the same part cannot hold more.
    """
    if schedule not in _FALLING:
        return list(range(len(stages)))
    firsts: dict[Stage, int] = {}
    for rank, stage in enumerate(stages):
        firsts.setdefault(stage, rank)
    return list(firsts.values())
