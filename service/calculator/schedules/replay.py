"""Replay of an operation order: what is alive after each operation."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from operator import index

from service.calculator.schedules.in_flight import InFlight, in_flight
from service.calculator.schedules.operations import Kind, Operation
from service.calculator.schedules.order import op_order
from service.calculator.schedules.rhythm import rhythm_of
from service.calculator.schedules.schedule import Schedule
from service.calculator.schedules.v_shapes import V_SHAPED
from service.calculator.units import ceil_div

Counts = tuple[int, ...]
"""Micro-batches awaiting their backward on each chunk, then those awaiting only their weight gradient on each chunk."""


def replay(operations: Iterable[Operation], chunks: int) -> list[InFlight]:
    """What a rank of `chunks` chunks holds after each operation.

    Activations live from the start of their forward to the end of their backward: what is alive during a forward is
    the state after it, and what is alive during a backward is the state before it.
    """
    return [_in_flight(counts) for counts in _states(operations, chunks)]


@lru_cache(maxsize=4096)
def peak_counts(schedule: Schedule, stage: int) -> tuple[InFlight, ...]:
    """Every mix that pipeline rank `stage` holds at some moment and exceeds in all counts at no other (ints only).

    In the steady state the mix rotates: where chunks differ in bytes, the peak is the maximum over these mixes of
    Σ count × bytes. `in_flight` is one of them, or exceeds one. Raises as `op_order` does.
    """
    limit = in_flight(schedule, stage)
    mixes = set(_states(op_order(_shortened(schedule, stage), stage), schedule.virtual))
    mixes.add(tuple(index(count) for count in limit.awaiting_backward + limit.awaiting_weight_gradient))
    maximal: list[Counts] = []
    # A mix can only be exceeded by one with more chunks in total, and that one comes first.
    for mix in sorted(mixes, key=sum, reverse=True):
        if not any(_covers(other, mix) for other in maximal):
            maximal.append(mix)
    return tuple(_in_flight(mix) for mix in maximal)


def _states(operations: Iterable[Operation], chunks: int) -> Iterator[Counts]:
    alive = [0] * (2 * chunks)
    for kind, chunk, _ in operations:
        if kind is Kind.FORWARD:
            alive[chunk] += 1
        elif kind is Kind.WEIGHT_GRADIENT:
            alive[chunks + chunk] -= 1
        else:
            alive[chunk] -= 1
            alive[chunks + chunk] += kind is Kind.INPUT_GRADIENT
        yield tuple(alive)


def _in_flight(counts: Counts) -> InFlight:
    chunks = len(counts) // 2
    return InFlight(counts[:chunks], counts[chunks:])


def _covers(larger: Counts, smaller: Counts) -> bool:
    return all(more >= less for more, less in zip(larger, smaller, strict=True))


def _shortened(schedule: Schedule, stage: int) -> Schedule:
    """The schedule with fewer micro-batches and the same mixes.

    After the warm-up the mixes repeat, each round of the looped schedules, each micro-batch of the V-shaped ones (in
    each direction); the last round may be a smaller one.
    """
    m = index(schedule.micro_batches)
    if schedule.name in V_SHAPED:
        enough = 3 * schedule.pipeline + m % 2
    else:
        rhythm = rhythm_of(schedule, stage)
        group = index(rhythm.group)
        to_peak = rhythm.warmup + rhythm.weight_delay + 1
        enough = (index(ceil_div(to_peak, group * schedule.virtual)) + 2) * group + m % group
    return replace(schedule, micro_batches=min(m, enough))
