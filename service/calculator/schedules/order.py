"""The order of operations on one pipeline rank."""

from operator import index

from service.calculator.schedules.operations import Kind, Operation
from service.calculator.schedules.rhythm import SPLIT_BACKWARD, rhythm_of
from service.calculator.schedules.schedule import Schedule
from service.calculator.schedules.v_orders import v_order
from service.calculator.schedules.v_shapes import V_SHAPED


def op_order(schedule: Schedule, stage: int) -> list[Operation]:
    """All operations of pipeline rank `stage` (0 … p-1) in one step, for one layout (ints).

    Operations that overlap (forward and backward of `dualpipe`, `dualpipev`) follow one another, forward first: both
    are alive during the forward. Torch runs the backwards of `looped_bfs` from the last micro-batch to the first, which
    changes no count. Raises ValueError where the schedule needs more micro-batches, TypeError on arrays.
    """
    if schedule.name in V_SHAPED:
        return v_order(schedule, stage)
    return _looped_order(schedule, stage)


def _looped_order(schedule: Schedule, stage: int) -> list[Operation]:
    rhythm = rhythm_of(schedule, stage)
    split = schedule.name in SPLIT_BACKWARD
    passes = _passes(schedule.virtual, index(schedule.micro_batches), index(rhythm.group))
    forwards = [Operation(Kind.FORWARD, chunk, micro_batch) for chunk, micro_batch in passes]
    gradient = Kind.INPUT_GRADIENT if split else Kind.BACKWARD
    backwards = [Operation(gradient, schedule.virtual - 1 - chunk, micro_batch) for chunk, micro_batch in passes]
    weights = [Operation(Kind.WEIGHT_GRADIENT, chunk, micro_batch) for _, chunk, micro_batch in backwards]
    warmup, delay = min(index(rhythm.warmup), len(forwards)), index(rhythm.weight_delay)
    order = forwards[:warmup]
    for done, backward in enumerate(backwards):
        order += forwards[warmup + done : warmup + done + 1]
        order.append(backward)
        if split and done >= delay:
            order.append(weights[done - delay])
    return order + weights[max(0, len(weights) - delay) :] if split else order


def _passes(chunks: int, micro_batches: int, group: int) -> list[tuple[int, int]]:
    """(chunk, micro-batch) of every forward: a group of micro-batches on the first chunk, on the second, and so on."""
    return [
        (chunk, micro_batch)
        for first in range(0, micro_batches, group)
        for chunk in range(chunks)
        for micro_batch in range(first, min(first + group, micro_batches))
    ]
