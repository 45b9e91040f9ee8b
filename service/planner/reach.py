"""How far a plan reaches: the smallest cluster that fits, the largest micro-batch and longest sequence at a layout."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from service.calculator import limits
from service.calculator.layout import Layout
from service.calculator.parameters import model_parameters
from service.calculator.units import BYTES, ceil_div
from service.calculator.validity import positions_limit, sequence_divisor, violations
from service.planner.grid import parts
from service.planner.problem import Problem
from service.planner.space import SearchSpace
from service.planner.splits import divisors
from service.planner.verdict import DOES_NOT_FIT

DOUBLINGS = 6
"""A cluster up to 2^6 times as large is looked at when the one given is too small."""


def smallest_world_size(
    asked: Sequence[tuple[Problem, SearchSpace]], checkpoint: Callable[[], None] = lambda: None
) -> int | None:
    """The fewest GPUs with a layout that fits: among the divisors of the cluster's size, then its doublings.

    Only the layouts that hold least are looked at: the smallest micro-batch, and full checkpointing where it is
    allowed. `checkpoint` is called between evaluations and may raise.
    """
    if not asked:
        return None
    world_size = asked[0][1].world_size
    doublings = [world_size << power for power in range(1, DOUBLINGS + 1)]
    least = [_states_alone(problem) for problem, _ in asked]
    for size in (*divisors(world_size), *doublings):
        for states, (problem, space) in zip(least, asked, strict=True):
            if states <= size <= limits.WORLD_SIZE and _any_fits(problem, _thrifty(space, size), checkpoint):
                return size
    return None


def largest_micro_batch(problem: Problem, layout: Layout) -> int:
    """The largest micro-batch whose verdict is no worse than the layout's, at the same global batch.

    The number of micro-batches falls as their size grows; sizes that a rule forbids are left out. A layout that does
    not fit keeps its own.
    """
    share = int(layout.micro_batch * layout.micro_batches)
    allowed = [
        size
        for size in divisors(share)
        if size >= layout.micro_batch
        and not _refused(problem, replace(layout, micro_batch=size, micro_batches=share // size))
    ]
    sizes = np.array(allowed, dtype=np.int64)
    many = replace(layout, micro_batch=sizes, micro_batches=share // sizes)
    fitting = sizes[problem.verdicts(problem.peaks(many)) <= _allowed(problem, layout)]
    return int(fitting.max(initial=int(layout.micro_batch)))


def longest_sequence(problem: Problem, layout: Layout) -> int:
    """The longest sequence (tokens) whose verdict is no worse than the layout's.

    Memory grows with the sequence, so the answer is bracketed by doubling and the bracket is then halved. A layout that
    does not fit keeps its own.
    """
    step = int(sequence_divisor(layout.tensor, layout.sequence_parallel, layout.context))
    longest = min(positions_limit(problem.model) or limits.SEQUENCE, problem.positions or limits.SEQUENCE) // step
    allowed = _allowed(problem, layout)

    def fits(steps: int) -> bool:
        return _verdict(problem, replace(layout, sequence_length=steps * step)) <= allowed

    good, bad = int(layout.sequence_length) // step, longest + 1
    while bad > longest and good < longest:
        tried = min(2 * good, longest)
        good, bad = (tried, bad) if fits(tried) else (good, tried)
    while good < bad - 1:
        tried = (good + bad) // 2
        good, bad = (tried, bad) if fits(tried) else (good, tried)
    return good * step


def _states_alone(problem: Problem) -> int:
    """GPUs below which not even one copy of weights, gradients and optimizer states fits, spread perfectly."""
    recipe = problem.recipe
    types = (recipe.parameters, recipe.gradients, *recipe.moments, *([recipe.master] if recipe.master else []))
    states = model_parameters(problem.model) * sum(BYTES[each] for each in types)
    return int(ceil_div(states, problem.accelerator.usable_bytes))


def _refused(problem: Problem, layout: Layout) -> bool:
    return any(rule.kind != "W" for rule in violations(problem.model, layout))


def _verdict(problem: Problem, layout: Layout) -> int:
    return int(problem.verdicts(problem.peaks(layout))[0])


def _allowed(problem: Problem, layout: Layout) -> int:
    """The worst verdict that still counts as fitting in the way the layout does."""
    return min(_verdict(problem, layout), DOES_NOT_FIT - 1)


def _thrifty(space: SearchSpace, world_size: int) -> SearchSpace:
    """The part of a space, on another number of GPUs, that holds least."""
    full = [each for each in space.checkpointing if each.method == "uniform"]
    plain = [each for each in space.checkpointing if each.granularity == "none"]
    choices = (*full, *plain) if full else space.checkpointing
    return replace(space, world_size=world_size, micro=(min(space.micro),), checkpointing=choices)


def _any_fits(problem: Problem, space: SearchSpace, checkpoint: Callable[[], None]) -> bool:
    for part in parts(problem.model, space):
        for group in part.groups:
            for indexes in group.blocks():
                checkpoint()
                if (problem.verdicts(problem.peaks(group.layouts(indexes))) != DOES_NOT_FIT).any():
                    return True
    return False
