"""Micro-batches in flight of each chunk of a rank, at the moment when together they hold most."""

from collections.abc import Mapping, Sequence

from service.calculator.activations.saved import Saved
from service.calculator.layout import Layout
from service.calculator.schedules import InFlight, Schedule, in_flight, peak_counts
from service.calculator.stage import Stage
from service.calculator.units import Condition, Int, maximum, where


def heaviest_mix(stage: Stage, layout: Layout, rank: int, saved: Mapping[int, Sequence[Saved]]) -> InFlight:
    """The mix of a rank whose layers of each kind save the given tensors.

    Under interleaving the mix rotates: with unequal chunks it matters which of them has one micro-batch more.
    """
    schedule = Schedule(
        layout.schedule,
        layout.pipeline,
        layout.virtual,
        layout.micro_batches,
        layout.group,
        overlap_expert=layout.overlap_expert,
    )
    if len(set(stage.chunks)) == 1:
        return in_flight(schedule, rank)
    sizes = [_saved_bytes(chunk, saved) for chunk in stage.chunks]
    best, *others = peak_counts(schedule, rank)
    most = weighed(best.chunks, sizes)
    for mix in others:
        size = weighed(mix.chunks, sizes)
        best = InFlight(
            _chosen(size > most, mix.awaiting_backward, best.awaiting_backward),
            _chosen(size > most, mix.awaiting_weight_gradient, best.awaiting_weight_gradient),
        )
        most = maximum(most, size)
    return best


def weighed(counts: Sequence[Int], sizes: Sequence[Int]) -> Int:
    """The sum of each count times its size."""
    total: Int = 0
    for count, size in zip(counts, sizes, strict=True):
        total = total + count * size
    return total


def _chosen(better: Condition, new: Sequence[Int], old: Sequence[Int]) -> tuple[Int, ...]:
    return tuple(where(better, each, kept) for each, kept in zip(new, old, strict=True))


def _saved_bytes(chunk: Sequence[tuple[int, int]], saved: Mapping[int, Sequence[Saved]]) -> Int:
    total: Int = 0
    for kind, layers in chunk:
        for each in saved[kind]:
            total = total + each.tensor.bytes * each.copies * layers
    return total
