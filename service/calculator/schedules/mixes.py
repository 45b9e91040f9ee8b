"""The mixes of chunks that decide a rank's peak when its chunks differ in bytes.

In the steady state the mix rotates (memory_model.md 5): the peak is the maximum over moments of Σ count × bytes.
"""

from dataclasses import replace
from functools import lru_cache
from operator import index

from service.calculator.schedules.in_flight import InFlight, in_flight, last_backward, looped_moment
from service.calculator.schedules.order import op_order
from service.calculator.schedules.replay import replay
from service.calculator.schedules.rhythm import SPLIT_BACKWARD, Rhythm, rhythm_of
from service.calculator.schedules.schedule import Schedule
from service.calculator.schedules.v_shapes import V_SHAPED
from service.calculator.units import Int, ceil_div, maximum, minimum


def peak_counts(schedule: Schedule, stage: Int) -> tuple[InFlight, ...]:
    """Mixes of pipeline rank `stage`, one of which has the largest Σ count × bytes whatever the bytes of the chunks.

    Schedules with a whole backward take ints and int64 arrays; where arrays are given, mixes may come twice. V-shaped
    schedules and those with a split backward take ints only, and raise as `op_order` does.
    """
    if schedule.name in V_SHAPED or schedule.name in SPLIT_BACKWARD:
        return _replayed_mixes(schedule, index(stage))
    if schedule.virtual == 1:
        return (in_flight(schedule, stage),)
    rhythm = rhythm_of(schedule, stage)
    points = _turning_points(schedule, rhythm)
    if all(isinstance(point, int) for point in points):
        points = list(dict.fromkeys(index(point) for point in points))
    return tuple(looped_moment(schedule, rhythm, point) for point in points)


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
