"""How long ranks wait: closed forms against the published figures and against the orders run on a clock."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calculator.schedules import Kind, Operation, Schedule, bubble_fraction, bubble_slots, op_order, torch_group

V_PLACED = ("zbv", "v_half", "v_min", "dualpipev")
Event = tuple[str, int, int, int]
"""Forward, gradient or weight gradient; direction; stage of the model; micro-batch."""


class Clock:
    """Runs every rank's operations in order, each as soon as its rank is free and what it depends on is done."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.orders = [op_order(schedule, rank) for rank in range(schedule.pipeline)]
        self.stages = schedule.pipeline if schedule.name == "dualpipe" else schedule.pipeline * schedule.virtual
        self.chunk = Fraction(1) if schedule.name == "dualpipe" else Fraction(1, schedule.virtual)
        self.ends: dict[Event, Fraction] = {}

    def place(self, rank: int, chunk: int) -> tuple[int, int]:
        """Direction and stage of a rank's chunk."""
        p = self.schedule.pipeline
        if self.schedule.name == "dualpipe":
            near, from_the_end = min(rank, p - 1 - rank), int(2 * rank >= p)
            return (from_the_end, near) if chunk == 0 else (1 - from_the_end, p - 1 - near)
        if self.schedule.name in V_PLACED:
            return 0, rank if chunk == 0 else 2 * p - 1 - rank
        return 0, chunk * p + rank

    def event(self, rank: int, operation: Operation) -> Event:
        what = {"F": "forward", "B": "gradient", "BW": "gradient", "W": "weight"}[operation.kind]
        return what, *self.place(rank, operation.chunk), operation.micro_batch

    def awaited(self, event: Event) -> Event | None:
        what, direction, stage, micro_batch = event
        if what == "forward":
            return (what, direction, stage - 1, micro_batch) if stage else None
        if what == "weight":
            return "gradient", direction, stage, micro_batch
        last = stage == self.stages - 1
        return ("forward", direction, stage, micro_batch) if last else (what, direction, stage + 1, micro_batch)

    def run(self) -> list[tuple[Fraction, Fraction]]:
        """When each rank begins its first operation and ends its last; fails on a deadlock."""
        begun: list[Fraction | None] = [None] * len(self.orders)
        now = [Fraction(0)] * len(self.orders)
        left = [list(reversed(order)) for order in self.orders]
        while any(left):
            before = sum(map(len, left))
            for rank, operations in enumerate(left):
                for event, length in self.ready(rank, operations):
                    awaited = self.awaited(event)
                    start = max(now[rank], self.ends[awaited] if awaited else Fraction(0))
                    begun[rank] = start if begun[rank] is None else begun[rank]
                    now[rank] = self.ends[event] = start + length
            assert sum(map(len, left)) < before, "deadlock"
        return [(first or Fraction(0), last) for first, last in zip(begun, now, strict=True)]

    def ready(self, rank: int, operations: list[Operation]) -> Iterator[tuple[Event, Fraction]]:
        while operations:
            event = self.event(rank, operations[-1])
            awaited = self.awaited(event)
            if awaited is not None and awaited not in self.ends:
                return
            length = 2 if operations.pop().kind is Kind.BACKWARD else 1
            yield event, length * self.chunk


def clocked_bubble(schedule: Schedule) -> Fraction:
    return max(last for _, last in Clock(schedule).run()) - 3 * int(schedule.micro_batches)


# The last column of appendix B in memory_model.md: four ranks, forward units, F = B = W = 1.
@pytest.mark.parametrize(
    ("schedule", "slots"),
    [
        (Schedule("gpipe", 4, 1, 8), 9),
        (Schedule("1f1b", 4, 1, 8), 9),
        (Schedule("1f1b", 4, 1, 2), 9),
        (Schedule("interleaved", 4, 2, 8), 4.5),
        (Schedule("interleaved", 4, 4, 8), 2.25),
        (Schedule("interleaved", 4, 2, 4), 4.5),
        (Schedule("looped_bfs", 4, 2, 8), 4.5),
        (Schedule("zb_h1", 4, 1, 8), 3),
        (Schedule("zb_h2", 4, 1, 8), 3),
        (Schedule("zbv", 4, 2, 8), 1.5),
        (Schedule("dualpipev", 4, 2, 8), 1.5),
        (Schedule("dualpipe", 4, 2, 8), 1),
    ],
)
def test_the_bubbles_of_appendix_b(schedule: Schedule, slots: float) -> None:
    assert bubble_slots(schedule) == slots
    assert clocked_bubble(schedule) == slots


# Idle forwards of one chunk on the worst rank: sail-sg/zero-bubble-pipeline-parallelism @ 39f2c186, zbv_greedy.py, run
# with F = B = W = 1, no communication, m = 3p or 4p.
GENERATED = {
    "v_half": {2: 1, 3: 5, 4: 5, 5: 11, 6: 11, 7: 17, 8: 17, 9: 23, 10: 23, 12: 29, 16: 41},
    "v_min": {2: 3, 3: 5, 4: 11, 5: 15, 6: 17, 7: 23, 8: 27, 9: 29, 10: 35, 12: 41, 16: 59},
}


@pytest.mark.parametrize("name", GENERATED)
def test_the_bubbles_of_the_v_half_and_v_min_generator(name: str) -> None:
    for pipeline, chunk_slots in GENERATED[name].items():
        schedule = Schedule(name, pipeline, 2, 4 * pipeline)
        assert bubble_slots(schedule) == chunk_slots / 2
        # The plain repeated block, which our order is, waits at least as long.
        assert clocked_bubble(schedule) >= bubble_slots(schedule)


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "zb_h1", "zb_h2", "zbv", "dualpipev", "dualpipe"])
def test_closed_forms_equal_the_clock(name: str) -> None:
    virtual = 2 if name.startswith("dualpipe") or name == "zbv" else 1
    step = 2 if name == "dualpipe" else 1
    for pipeline in range(step, 9, step):
        fewest = 2 * pipeline if name.startswith("dualpipe") else 1
        for micro_batches in range(fewest, 2 * pipeline + 6, step):
            schedule = Schedule(name, pipeline, virtual, micro_batches)
            assert bubble_slots(schedule) == float(clocked_bubble(schedule))


def allowed_groups(name: str, pipeline: int, micro_batches: int) -> list[int]:
    """What Megatron allows: p to m, a last group of at least p; torch wants equal groups, all of m where m < p."""
    if micro_batches < pipeline or name == "looped_bfs":
        return [micro_batches]
    if name == "interleaved_zb":
        group = torch_group(pipeline, micro_batches)
        return [] if micro_batches % group else [group]
    groups = range(pipeline, min(micro_batches, 2 * pipeline) + 1)
    return [group for group in groups if not 0 < micro_batches % group < pipeline]


@pytest.mark.parametrize("name", ["interleaved", "looped_bfs", "interleaved_zb"])
@pytest.mark.parametrize("pipeline", [1, 2, 3, 4, 6])
def test_closed_forms_of_many_chunks_equal_the_clock(name: str, pipeline: int) -> None:
    for virtual in (1, 2, 3):
        for micro_batches in (*range(1, pipeline + 3), 2 * pipeline, 3 * pipeline + 1):
            for group in allowed_groups(name, pipeline, micro_batches):
                schedule = Schedule(name, pipeline, virtual, micro_batches, group)
                assert bubble_slots(schedule) == pytest.approx(float(clocked_bubble(schedule)), abs=1e-12)


@pytest.mark.parametrize("name", ["zb_h2", "zbv"])
def test_the_bubble_of_zb_h2_and_zb_v_is_skew_and_no_rank_waits(name: str) -> None:
    schedule = Schedule(name, 4, 2 if name == "zbv" else 1, 12)
    assert [last - first for first, last in Clock(schedule).run()] == [3 * 12] * 4


pipelines, chunks, steps = st.integers(1, 64), st.integers(1, 8), st.integers(1, 64)


@given(pipeline=pipelines, virtual=chunks, rounds=steps)
def test_bubble_fractions_are_those_of_the_papers(pipeline: int, virtual: int, rounds: int) -> None:
    m = rounds * pipeline
    plain = bubble_fraction(Schedule("1f1b", pipeline, 1, m))
    interleaved = bubble_fraction(Schedule("interleaved", pipeline, virtual, m))
    assert plain == pytest.approx((pipeline - 1) / (m + pipeline - 1))
    assert interleaved == pytest.approx((pipeline - 1) / (virtual * m + pipeline - 1))


@given(pipeline=pipelines, virtual=chunks, rounds=steps)
def test_interleaving_reaches_a_bubble_with_one_vth_of_the_micro_batches(
    pipeline: int, virtual: int, rounds: int
) -> None:
    m = rounds * pipeline
    interleaved = bubble_fraction(Schedule("interleaved", pipeline, virtual, m))
    assert interleaved == pytest.approx(bubble_fraction(Schedule("1f1b", pipeline, 1, virtual * m)))


@given(pipeline=pipelines, rounds=steps)
def test_zb_h1_leaves_a_third_of_the_bubble_of_1f1b(pipeline: int, rounds: int) -> None:
    m = rounds * pipeline
    assert 3 * bubble_slots(Schedule("zb_h1", pipeline, 1, m)) == bubble_slots(Schedule("1f1b", pipeline, 1, m))


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "interleaved", "looped_bfs", "interleaved_zb", "zb_h1", "zbv"])
def test_arrays_give_what_ints_give(name: str) -> None:
    virtual = 1 if name in {"gpipe", "1f1b", "zb_h1"} else 2
    micro_batches = np.array([1, 2, 3, 4, 8, 30], dtype=np.int64)
    together = bubble_fraction(Schedule(name, 4, virtual, micro_batches))
    alone = [bubble_fraction(Schedule(name, 4, virtual, int(m))) for m in micro_batches]
    assert np.asarray(together).tolist() == alone
