"""Pipeline schedules: what each rank has in flight, in which order it works, and how long it waits."""

from service.calculator.schedules.bubble import bubble_fraction, bubble_slots
from service.calculator.schedules.in_flight import InFlight, distinct_micro_batches, in_flight
from service.calculator.schedules.mixes import peak_counts
from service.calculator.schedules.operations import Kind, Operation
from service.calculator.schedules.order import op_order
from service.calculator.schedules.replay import replay
from service.calculator.schedules.schedule import Schedule, torch_group

__all__ = [
    "InFlight",
    "Kind",
    "Operation",
    "Schedule",
    "bubble_fraction",
    "bubble_slots",
    "distinct_micro_batches",
    "in_flight",
    "op_order",
    "peak_counts",
    "replay",
    "torch_group",
]
