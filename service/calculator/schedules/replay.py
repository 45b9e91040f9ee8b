"""Replay of an operation order: what is alive after each operation."""

from collections.abc import Iterable

from service.calculator.schedules.in_flight import InFlight
from service.calculator.schedules.operations import Kind, Operation


def replay(operations: Iterable[Operation], chunks: int) -> list[InFlight]:
    """What a rank of `chunks` chunks holds after each operation.

    Activations live from the start of their forward to the end of their backward: what is alive during a forward is
    the state after it, and what is alive during a backward is the state before it.
    """
    awaiting_backward, awaiting_weight_gradient = [0] * chunks, [0] * chunks
    states = []
    for kind, chunk, _ in operations:
        if kind is Kind.FORWARD:
            awaiting_backward[chunk] += 1
        elif kind is Kind.WEIGHT_GRADIENT:
            awaiting_weight_gradient[chunk] -= 1
        else:
            awaiting_backward[chunk] -= 1
            awaiting_weight_gradient[chunk] += kind is Kind.INPUT_GRADIENT
        states.append(InFlight(tuple(awaiting_backward), tuple(awaiting_weight_gradient)))
    return states
