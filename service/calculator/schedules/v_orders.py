"""The order of operations under the V-shaped schedules.

Sources: torch/distributed/pipelining/schedules.py (ZB-V, DualPipeV); deepseek-ai/DualPipe, dualpipe.py (DualPipe is
DualPipeV over half the ranks, from both ends); Qi et al. 2024 (arXiv 2405.15362) with
sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py (V-Half, V-Min).
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from operator import index

from service.calculator.schedules.operations import Kind, Operation
from service.calculator.schedules.schedule import Schedule
from service.calculator.schedules.v_shapes import near_end

Step = tuple[Kind, int]
"""What is computed on which chunk; the micro-batch follows from the steps before."""

EARLY, LATE = 0, 1
F0, F1 = (Kind.FORWARD, EARLY), (Kind.FORWARD, LATE)
B0, B1 = (Kind.INPUT_GRADIENT, EARLY), (Kind.INPUT_GRADIENT, LATE)
W0, W1 = (Kind.WEIGHT_GRADIENT, EARLY), (Kind.WEIGHT_GRADIENT, LATE)
FULL0, FULL1 = (Kind.BACKWARD, EARLY), (Kind.BACKWARD, LATE)

PERIOD = 6
"""Slots between micro-batches in the repeated block of V-Half and V-Min: three operations on each of two chunks."""


def v_order(schedule: Schedule, stage: int) -> list[Operation]:
    """All operations of one rank; raises ValueError where DualPipe or DualPipeV has too few micro-batches."""
    p, m = schedule.pipeline, index(schedule.micro_batches)
    match schedule.name:
        case "zbv":
            return _zbv_order(p, m, stage)
        case "dualpipev":
            return _numbered(_dualpipe_steps(p, m, stage))
        case "dualpipe":
            if p % 2 or m % 2:
                raise ValueError(f"dualpipe runs on even numbers of ranks and micro-batches, not {p} and {m}")
            return _numbered(_dualpipe_steps(p // 2, m // 2, index(near_end(p, stage))))
        case "v_half":
            return _repeated_block(_v_half_block(p, stage), m)
        case "v_min":
            return _repeated_block(_v_min_block(p, stage), m)
        case _:
            raise ValueError(f"{schedule.name} is not a V-shaped schedule")


def _zbv_order(p: int, m: int, stage: int) -> list[Operation]:
    """Planned for at least 2p-1 micro-batches; those that do not exist are left out."""
    behind = p - stage - 1
    planned = max(m, 2 * p - 1)
    steps = [F0] * (2 * behind + 1) + [F1, F0] * stage + [F1, B1, W1] * (behind + 1)
    steps += [F0, B0, W0, F1, B1, W1] * (planned - p - behind)
    steps += [B0, W0, F1, B1, W1] * behind
    steps += [B0, B1] * stage + [B0, W0] * (behind + 1) + [W1] * stage + [W0] * stage
    return [operation for operation in _numbered(steps) if operation.micro_batch < m]


def _dualpipe_steps(p: int, m: int, stage: int) -> list[Step]:
    """The steps of DualPipeV; an adjacent F and full backward of the main phase run as one overlapped pair."""
    if m < 2 * p:
        raise ValueError(
            f"each direction of dualpipe and dualpipev needs {2 * p} micro-batches over {p} ranks, not {m}"
        )
    behind = p - stage - 1
    steps = [F0] * (2 * behind) + [F0, F1] * (stage + 1) + [B1, W1, F1] * behind
    steps += [F0, FULL1, F1, FULL0] * (m - p - behind)
    steps += [FULL1, F1, FULL0] * behind
    # Of the last backwards, late and early in turn, the second half leaves its weight gradients to fill the bubble.
    last = [LATE, EARLY] * (stage + 1)
    steps += [(Kind.BACKWARD, chunk) for chunk in last[: stage + 1]]
    steps += [(Kind.INPUT_GRADIENT, chunk) for chunk in last[stage + 1 :]]
    weights = [(Kind.WEIGHT_GRADIENT, chunk) for chunk in last[stage + 1 :] + [EARLY] * behind]
    for weight in weights[:behind]:
        steps += [weight, B0]
    return steps + weights[behind:]


def _numbered(steps: Iterable[Step]) -> list[Operation]:
    """Gives each chunk's forwards, and its backwards, the micro-batches in turn; weight gradients follow theirs."""
    forwards, backwards = (count(), count()), (count(), count())
    split: tuple[deque[int], deque[int]] = (deque(), deque())
    order = []
    for kind, chunk in steps:
        if kind is Kind.WEIGHT_GRADIENT:
            micro_batch = split[chunk].popleft()
        elif kind is Kind.FORWARD:
            micro_batch = next(forwards[chunk])
        else:
            micro_batch = next(backwards[chunk])
        if kind is Kind.INPUT_GRADIENT:
            split[chunk].append(micro_batch)
        order.append(Operation(kind, chunk, micro_batch))
    return order


def _v_half_block(p: int, stage: int) -> tuple[int, int, int, int]:
    """Slots of F0, F1, B1, B0 of the first micro-batch; a shift for even p keeps the blocks from colliding."""
    shift = 3 if p % 2 == 0 else 0
    return 2 * stage, 3 * p - stage - 2, 3 * p + shift + 2 * stage - 1, 6 * p + shift - stage - 2


def _v_min_block(p: int, stage: int) -> tuple[int, int, int, int]:
    """Slots of F0, F1, B1, B0 of the first micro-batch; a shift where 3 divides p keeps the blocks from colliding."""
    shift = 2 if p % 3 == 0 else 0
    return stage, 2 * p - stage - 1, 2 * p + shift + stage, 4 * p + shift - stage - 1


def _repeated_block(block: Sequence[int], m: int) -> list[Operation]:
    """The block once per micro-batch, `PERIOD` slots apart, weight gradients in the slots that are left.

    The generator of the V-Half and V-Min authors then moves warm-up and cool-down operations ahead where its memory
    limit allows; the steady state stays as it is here.
    """
    placed = [
        (slot + PERIOD * micro_batch, Operation(kind, chunk, micro_batch))
        for slot, (kind, chunk) in zip(block, (F0, F1, B1, B0), strict=True)
        for micro_batch in range(m)
    ]
    order: list[Operation] = []
    waiting: list[Operation] = []
    free_from = 0
    for slot, operation in sorted(placed):
        idle = slot - free_from
        order += waiting[:idle]
        del waiting[:idle]
        order.append(operation)
        if operation.kind is Kind.INPUT_GRADIENT:
            waiting.append(operation._replace(kind=Kind.WEIGHT_GRADIENT))
        free_from = slot + 1
    return order + waiting
