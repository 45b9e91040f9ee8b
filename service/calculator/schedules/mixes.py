"""The mixes of chunks that decide a rank's peak when its chunks differ in bytes.

In the steady state the mix rotates (memory_model.md 5): the peak is the maximum over moments of Σ count × bytes.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import index

import numpy as np
from numpy.typing import NDArray

from service.calculator.schedules.in_flight import InFlight, in_flight, last_backward, looped_moment
from service.calculator.schedules.order import op_order
from service.calculator.schedules.replay import replay
from service.calculator.schedules.rhythm import SPLIT_BACKWARD, Rhythm, rhythm_of
from service.calculator.schedules.schedule import Schedule
from service.calculator.schedules.v_shapes import V_SHAPED
from service.calculator.units import Int, ceil_div, maximum, minimum


def peak_counts(schedule: Schedule, stage: int) -> tuple[InFlight, ...]:
    """Mixes of pipeline rank `stage`, one of which has the largest Σ count × bytes whatever the bytes of the chunks.

    Micro-batches and group may be int64 arrays: every layout then has the mixes of its own numbers, some of them twice
    where another layout has more. Raises as `op_order` does.
    """
    if isinstance(schedule.micro_batches, int) and not isinstance(schedule.group, np.ndarray):
        return _mixes(schedule, stage)
    group = -1 if schedule.group is None else schedule.group
    runs, groups = np.broadcast_arrays(np.atleast_1d(schedule.micro_batches), group)
    pairs, row = np.unique(np.stack((runs, groups)), axis=1, return_inverse=True)
    found = [
        _mixes(replace(schedule, micro_batches=run, group=None if size < 0 else size), stage)
        for run, size in pairs.T.tolist()
    ]
    return tuple(_of_each(found, place, row.ravel()) for place in range(max(map(len, found))))


def _of_each(found: Sequence[tuple[InFlight, ...]], place: int, row: NDArray[np.intp]) -> InFlight:
    """The mix at a place, or the last one, of what each row's numbers have."""
    chosen = [mixes[min(place, len(mixes) - 1)] for mixes in found]
    backward = np.array([each.awaiting_backward for each in chosen], dtype=np.int64)
    weight = np.array([each.awaiting_weight_gradient for each in chosen], dtype=np.int64)
    return InFlight(tuple(backward[row].T), tuple(weight[row].T))


@lru_cache(maxsize=4096)
def _mixes(schedule: Schedule, stage: int) -> tuple[InFlight, ...]:
    if schedule.name in V_SHAPED or schedule.name in SPLIT_BACKWARD:
        return _replayed_mixes(schedule, stage)
    if schedule.virtual == 1:
        return (in_flight(schedule, stage),)
    rhythm = rhythm_of(schedule, stage)
    points = dict.fromkeys(index(point) for point in _turning_points(schedule, rhythm))
    return tuple(dict.fromkeys(looped_moment(schedule, rhythm, point) for point in points))


def _turning_points(schedule: Schedule, rhythm: Rhythm) -> list[Int]:
    """Numbers of backwards at which the forwards or the backwards go on to another chunk.

    Between them every count is linear in the number of backwards, so no maximum lies there. The first round and the
    last show all there is: the rounds between repeat the first.
    """
    v, group = schedule.virtual, rhythm.group
    whole_rounds = schedule.micro_batches // group
    in_whole_rounds: Int = whole_rounds * group * v
    rest: Int = schedule.micro_batches - whole_rounds * group
    last = last_backward(schedule, rhythm)
    points: list[Int] = [0, last]
    for lead in (rhythm.warmup + 1, 0):
        for start in (0, in_whole_rounds - rhythm.warmup - 1):
            first = ceil_div(start + lead, group)
            points += [(first + turn) * group - lead for turn in range(v + 1)]
        points += [in_whole_rounds + turn * rest - lead for turn in range(v)]
    return [minimum(maximum(0, point), last) for point in points]


@lru_cache(maxsize=1024)
def _replayed_mixes(schedule: Schedule, stage: int) -> tuple[InFlight, ...]:
    """Every mix that no other one exceeds in all counts."""
    moments = {*replay(op_order(_shortened(schedule, stage), stage), schedule.virtual), in_flight(schedule, stage)}
    maximal: list[InFlight] = []
    # A mix can only be exceeded by one with more chunks in total, and that one comes first.
    for moment in sorted(moments, key=lambda moment: index(moment.total), reverse=True):
        if not any(_covers(other, moment) for other in maximal):
            maximal.append(moment)
    return tuple(maximal)


def _shortened(schedule: Schedule, stage: int) -> Schedule:
    """The schedule with fewer micro-batches and the same mixes.

    After the forwards that lead to the peak, the mixes of a looped schedule repeat every round. Those of a V-shaped one
    repeat after a warm-up of at most 2p micro-batches.
    """
    m = index(schedule.micro_batches)
    if schedule.name in V_SHAPED:
        enough = 3 * schedule.pipeline + m % 2
    else:
        rhythm = rhythm_of(schedule, stage)
        group = index(rhythm.group)
        to_peak = rhythm.warmup + rhythm.weight_delay + 1
        enough = (index(ceil_div(to_peak, group * schedule.virtual)) + 1) * group
    return replace(schedule, micro_batches=min(m, enough))


def _covers(larger: InFlight, smaller: InFlight) -> bool:
    more = larger.awaiting_backward + larger.awaiting_weight_gradient
    less = smaller.awaiting_backward + smaller.awaiting_weight_gradient
    return all(each >= other for each, other in zip(more, less, strict=True))
