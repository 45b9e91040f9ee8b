"""Time that a pipeline rank waits in one step: closed forms, in forwards of one full stage with F = B = W.

Floats on purpose: these are times. Sources: memory_model.md 5, 10 and appendix B; every order of `order.py`, run
against the clock, gives the same numbers. V-Half and V-Min: the generator of their authors
(sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py), run for p from 2 to 10, 12 and 16.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.calculator.schedules.schedule import Schedule
from service.calculator.units import Int, maximum

Float: TypeAlias = float | NDArray[np.floating[Any]]


def bubble_slots(schedule: Schedule) -> Float:
    """Length of the step less the work of one rank, which is 3m; communication takes no time.

    Under `zb_h2` and `zbv` no rank waits once it has begun: the slots are the skew between the first and the last rank,
    a cost only where the step ends with a global synchronisation. Groups of micro-batches are taken to be at least p,
    or all of m, as the frameworks demand. `dualpipe` and `dualpipev` need 2p micro-batches; `v_half` and `v_min` hold
    from 2p-1.
    """
    return _chunk_slots(schedule) / schedule.virtual


def bubble_fraction(schedule: Schedule) -> Float:
    """The part of the step in which a rank waits, 0 … 1."""
    slots = bubble_slots(schedule)
    return slots / (3 * schedule.micro_batches + slots)


def _chunk_slots(schedule: Schedule) -> Int:
    """The bubble in forwards of one chunk."""
    p, v, m = schedule.pipeline, schedule.virtual, schedule.micro_batches
    missing = maximum(0, p - m)
    slots: Int
    match schedule.name:
        case "gpipe" | "1f1b" | "interleaved" | "looped_bfs":
            slots = 3 * (p - 1 + (v - 1) * missing)
        case "interleaved_zb" | "zb_h1":
            slots = p - 1 + maximum(v * missing, (2 * v - 1) * p - (3 * v - 2) * m)
        case "zb_h2":
            slots = p - 1 + maximum(0, p - 1 - m // 2)
        case "zbv":
            slots = maximum(p - 1, 2 * (2 * p - 1 - m))
        case "dualpipev":
            slots = p - 1
        case "dualpipe":
            slots = p - 2
        case "v_half":
            slots = max(3 * p - 7, 1) if p % 2 == 0 else max(3 * p - 4, 0)
        case _:  # v_min
            slots = max(4 * p - (7 if p % 3 == 0 else 5), 0)
    return slots
