"""Where step times rank and where they do not: what no public set of timed layouts covers is said with the answer.

Source: time_model.md, section 6; what is reached where there are runs is in docs/planner.md.
"""

from collections.abc import Iterator

from service.job.diagnostics import Diagnostic
from service.job.resolve import ResolvedModel
from service.planner.search import Candidate

NARROW = 2048
"""Width below which the host decides how long a step takes."""

MANY_NODES, FEW_MICRO_BATCHES = 32, 4
"""Nodes from which, and micro-batches below which, the network's noise decides."""


def unproven_times(resolved: ResolvedModel, first: Candidate | None, gpus_per_node: int) -> Iterator[Diagnostic]:
    """Yield what makes the order of a plan's layouts unproven, from the model and from its first candidate."""
    model, layout = resolved.model, None if first is None else first.layout
    if model.has_experts:
        yield _unproven("a mixture of experts", "/model/num_experts")
    if resolved.recipe.fp8 is not None:
        yield _unproven("8-bit training", "/precision/fp8")
    if model.hidden_size < NARROW:
        yield _unproven(f"a width below {NARROW}", "/model/hidden_size")
    if layout is not None and layout.context > 1:
        yield _unproven("context parallelism", "/parallelism/context")
    if (
        layout is not None
        and layout.world_size >= MANY_NODES * gpus_per_node
        and layout.micro_batches < FEW_MICRO_BATCHES
    ):
        yield _unproven(f"fewer than {FEW_MICRO_BATCHES} micro-batches on {MANY_NODES} nodes or more", "/batch/global")


def _unproven(what: str, field: str) -> Diagnostic:
    message = f"step times with {what} are not proven on timed layouts; measure the first candidates against each other"
    return Diagnostic("unproven_times", "info", message, (field,))
