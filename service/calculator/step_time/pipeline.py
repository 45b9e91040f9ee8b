"""Seconds of the pipeline: messages between stages, and the time in which stages wait for each other."""

from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.schedules import Schedule, bubble_slots
from service.calculator.step_time.collectives import group_of, send_seconds
from service.calculator.step_time.floats import Float, as_float, larger
from service.calculator.step_time.kernels import Cost
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

UNSYNCHRONISED = frozenset({"zb_h2", "zbv"})
"""Schedules whose optimizer checks its step afterwards instead of waiting for all stages: the skew between the first
and the last stage carries over into the next step (Qi et al. 2024, arXiv 2401.10241, section 4)."""

SLOTS = 3.0
"""Slots of a stage's forward and backward together, as `bubble_slots` counts them."""


def sends(model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Activations to the next stage and gradients to the one before, for each chunk.

    Interleaving sends behind the next chunk's work (Megatron's default), so that only the fixed cost shows.
    """
    if layout.pipeline == 1:
        return Cost()
    width = BYTES[recipe.compute]
    shards = as_float(layout.sequence_shards)
    size = as_float(layout.tokens) * model.hidden_size * width / shards
    stride = layout.tensor * layout.context * layout.data
    group = group_of(layout.pipeline, stride, rates.fabric)
    shown = size if layout.virtual == 1 else size * 0.0
    once = send_seconds(group, shown, rates.fabric) * layout.virtual
    return Cost(once, once)


def pipeline_seconds(layout: Layout, slowest: Float, others: Float) -> Float:
    """All micro-batches through the slowest stage, and the fill and drain through the others.

    `others` is the mean of one micro-batch's seconds on the stages beside the slowest.
    """
    return as_float(layout.micro_batches) * slowest + _waiting(layout) * others


def waiting_fraction(layout: Layout) -> Float:
    """The part of the pipeline's time in which a stage waits, 0 … 1."""
    waiting = _waiting(layout)
    return waiting / (as_float(layout.micro_batches) + waiting)


def _waiting(layout: Layout) -> Float:
    """How many micro-batches could run while a stage waits."""
    slots = bubble_slots(schedule_of(layout))
    if layout.schedule in UNSYNCHRONISED:
        slots = larger(slots - (layout.pipeline - 1.0), 0.0)
    return slots / SLOTS


def schedule_of(layout: Layout) -> Schedule:
    """The layout's schedule with its sizes."""
    return Schedule(
        layout.schedule,
        layout.pipeline,
        layout.virtual,
        layout.micro_batches,
        layout.group,
        overlap_expert=layout.overlap_expert,
    )
