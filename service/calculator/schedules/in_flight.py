"""Activations that a pipeline rank holds at its peak: closed forms on ints and int64 arrays.

Counts are (chunk, micro-batch) pairs; divided by the number of chunks they are full-stage equivalents. The replay of
the op order (`replay.py`) is what each form must equal. Source: memory_model.md 5.
"""

from dataclasses import dataclass

from service.calculator.schedules.rhythm import SPLIT_BACKWARD, Rhythm, rhythm_of
from service.calculator.schedules.schedule import Schedule
from service.calculator.schedules.v_shapes import V_SHAPED, distinct_of_v, peak_of_v
from service.calculator.units import Int, maximum, minimum, where


@dataclass(frozen=True, slots=True)
class InFlight:
    """Micro-batches alive at one moment, per chunk of the rank.

    Those awaiting their backward hold every saved tensor. Those awaiting only their weight gradient, under a split
    backward, hold the inputs and output gradients of the matrix products.
    """

    awaiting_backward: tuple[Int, ...]
    awaiting_weight_gradient: tuple[Int, ...]

    @property
    def chunks(self) -> tuple[Int, ...]:
        """Micro-batches alive per chunk, whatever they wait for."""
        both = zip(self.awaiting_backward, self.awaiting_weight_gradient, strict=True)
        return tuple(backward + weight for backward, weight in both)

    @property
    def total(self) -> Int:
        """Chunks alive on the rank."""
        return sum(self.chunks)


def in_flight(schedule: Schedule, stage: Int) -> InFlight:
    """What pipeline rank `stage` (0 … p-1) holds when it first holds the most chunks.

    Equal to the replay of `op_order`, except for `v_min`: there it is the limit that its generator keeps on every rank,
    which some ranks do not reach where p = 2 modulo 3.
    """
    if schedule.name in V_SHAPED:
        first, second = peak_of_v(schedule, stage)
        return InFlight((first, second), (0, 0))
    rhythm = rhythm_of(schedule, stage)
    return looped_moment(schedule, rhythm, minimum(rhythm.weight_delay, last_backward(schedule, rhythm)))


def last_backward(schedule: Schedule, rhythm: Rhythm) -> Int:
    """Backwards done when the last forward has run; from then on the rank only gives back."""
    return maximum(0, schedule.micro_batches * schedule.virtual - rhythm.warmup - 1)


def looped_moment(schedule: Schedule, rhythm: Rhythm, backwards: Int) -> InFlight:
    """What a rank holds when it has done that many backwards and the forward that comes before the next one.

    `backwards` lies between 0 and `last_backward`.
    """
    forwards = minimum(schedule.micro_batches * schedule.virtual, rhythm.warmup + 1 + backwards)
    split = schedule.name in SPLIT_BACKWARD
    weights = maximum(0, backwards - rhythm.weight_delay)
    awaiting_backward, awaiting_weight_gradient = [], []
    for chunk in range(schedule.virtual):
        # Backwards and weight gradients take the chunks from the last to the first.
        from_last = schedule.virtual - 1 - chunk
        returned = _passes(schedule, rhythm.group, backwards, from_last)
        awaiting_backward.append(_passes(schedule, rhythm.group, forwards, chunk) - returned)
        # A whole backward leaves nothing that waits for its weight gradient.
        finished = _passes(schedule, rhythm.group, weights, from_last) if split else returned
        awaiting_weight_gradient.append(returned - finished)
    return InFlight(tuple(awaiting_backward), tuple(awaiting_weight_gradient))


def distinct_micro_batches(schedule: Schedule, stage: Int) -> Int:
    """Most micro-batches of which rank `stage` holds anything at one time.

    Holds for groups of at least min(p, m), as Megatron and torch ask for. Under `dualpipe` the micro-batches of both
    directions count.
    """
    if schedule.name in V_SHAPED:
        return distinct_of_v(schedule, stage)
    rhythm = rhythm_of(schedule, stage)
    most = minimum(schedule.micro_batches, rhythm.warmup + rhythm.weight_delay + 1)
    return most if schedule.virtual == 1 else minimum(most, 2 * rhythm.group)


def _passes(schedule: Schedule, group: Int, count: Int, position: int) -> Int:
    """How many of the first `count` passes were on the chunk that is at `position` in the order of the chunks.

    Passes go in rounds: `group` micro-batches on the first chunk, the same on the second, and so on; the last round
    has the micro-batches that are left.
    """
    if schedule.virtual == 1:
        return count
    whole = schedule.micro_batches // group
    rounds = minimum(count // (group * schedule.virtual), whole)
    rest: Int = count - rounds * group * schedule.virtual
    size = where(rounds < whole, group, schedule.micro_batches - whole * group)
    return rounds * group + minimum(maximum(rest - position * size, 0), size)
