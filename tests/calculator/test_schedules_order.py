"""The order of operations of every schedule: written out for small cases, complete and free of deadlock for others."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.schedules import InFlight, Kind, Operation, Schedule, op_order, replay

SPLIT = ("interleaved_zb", "zb_h1", "zb_h2", "zbv", "v_half", "v_min")


def written(schedule: Schedule, stage: int) -> str:
    """The order as `F0.2`: forward of chunk 0, micro-batch 2."""
    return " ".join(f"{kind}{chunk}.{micro_batch}" for kind, chunk, micro_batch in op_order(schedule, stage))


# Worked out by hand from the sources that `rhythm.py` and `v_orders.py` name.
ORDERS = [
    (Schedule("gpipe", 2, 1, 3), 1, "F0.0 F0.1 F0.2 BW0.0 BW0.1 BW0.2"),
    (Schedule("1f1b", 4, 1, 3), 2, "F0.0 F0.1 BW0.0 F0.2 BW0.1 BW0.2"),
    (Schedule("1f1b", 4, 1, 3), 3, "F0.0 BW0.0 F0.1 BW0.1 F0.2 BW0.2"),
    (Schedule("looped_bfs", 2, 2, 2), 0, "F0.0 F0.1 F1.0 F1.1 BW1.0 BW1.1 BW0.0 BW0.1"),
    (
        Schedule("interleaved", 2, 2, 4),
        0,
        "F0.0 F0.1 F1.0 F1.1 F0.2 BW1.0 F0.3 BW1.1 F1.2 BW0.0 F1.3 BW0.1 BW1.2 BW1.3 BW0.2 BW0.3",
    ),
    (
        Schedule("interleaved", 2, 2, 5, group=3),
        1,
        "F0.0 F0.1 F0.2 F1.0 BW1.0 F1.1 BW1.1 F1.2 BW1.2 F0.3 BW0.0 F0.4 BW0.1 F1.3 BW0.2 F1.4 BW1.3 BW1.4 BW0.3 BW0.4",
    ),
    (Schedule("zb_h1", 3, 1, 3), 0, "F0.0 F0.1 F0.2 B0.0 W0.0 B0.1 W0.1 B0.2 W0.2"),
    (Schedule("zb_h1", 3, 1, 4), 2, "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2 W0.0 F0.3 B0.3 W0.1 W0.2 W0.3"),
    (Schedule("zb_h2", 2, 1, 4), 0, "F0.0 F0.1 F0.2 B0.0 W0.0 F0.3 B0.1 W0.1 B0.2 W0.2 B0.3 W0.3"),
    (Schedule("interleaved_zb", 2, 2, 2), 1, "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 W1.0 B0.0 W1.1 B0.1 W0.0 W0.1"),
    (
        Schedule("zbv", 2, 2, 3),
        1,
        "F0.0 F1.0 F0.1 F1.1 B1.0 W1.0 F0.2 B0.0 W0.0 F1.2 B1.1 W1.1 B0.1 B1.2 B0.2 W0.1 W1.2 W0.2",
    ),
    (
        Schedule("dualpipev", 2, 2, 4),
        0,
        "F0.0 F0.1 F0.2 F1.0 B1.0 W1.0 F1.1 F0.3 BW1.1 F1.2 BW0.0 BW1.2 F1.3 BW0.1 BW1.3 B0.2 W0.2 B0.3 W0.3",
    ),
    (
        Schedule("dualpipe", 4, 2, 8),
        2,
        "F0.0 F1.0 F0.1 F1.1 F0.2 BW1.0 F1.2 BW0.0 F0.3 BW1.1 F1.3 BW0.1 BW1.2 BW0.2 B1.3 B0.3 W1.3 W0.3",
    ),
    (Schedule("v_half", 2, 2, 2), 0, "F0.0 F1.0 F0.1 B1.0 W1.0 F1.1 B0.0 B1.1 W0.0 W1.1 B0.1 W0.1"),
    (Schedule("v_min", 2, 2, 2), 1, "F0.0 F1.0 B1.0 B0.0 F0.1 F1.1 W1.0 W0.0 B1.1 B0.1 W1.1 W0.1"),
]


@pytest.mark.parametrize(("schedule", "stage", "expected"), ORDERS)
def test_small_orders_written_out(schedule: Schedule, stage: int, expected: str) -> None:
    assert written(schedule, stage) == expected


def any_schedule(data: st.DataObject) -> Schedule:
    name = data.draw(st.sampled_from(("1f1b", "gpipe", "interleaved", "looped_bfs", "dualpipe", "dualpipev", *SPLIT)))
    pipeline = 2 * data.draw(st.integers(1, 5))
    free = name in {"interleaved", "looped_bfs", "interleaved_zb"}
    both = name in {"zbv", "v_half", "v_min", "dualpipe", "dualpipev"}
    virtual = data.draw(st.integers(1, 5)) if free else 2 if both else 1
    fewest = pipeline if name.startswith("dualpipe") else 1
    return Schedule(name, pipeline, virtual, 2 * data.draw(st.integers(fewest, fewest + 12)))


def micro_batches_of_a_chunk(schedule: Schedule) -> int:
    return int(schedule.micro_batches) // (2 if schedule.name == "dualpipe" else 1)


@settings(max_examples=100)
@given(data=st.data())
def test_every_chunk_runs_every_micro_batch_forward_then_backward_then_the_weight_gradient(
    data: st.DataObject,
) -> None:
    schedule = any_schedule(data)
    order = op_order(schedule, data.draw(st.integers(0, schedule.pipeline - 1)))
    position = {operation: place for place, operation in enumerate(order)}
    assert len(position) == len(order)
    for chunk in range(schedule.virtual):
        for micro_batch in range(micro_batches_of_a_chunk(schedule)):
            forward, gradient, weight, full = (position.get(Operation(kind, chunk, micro_batch)) for kind in Kind)
            assert forward is not None
            if full is None:
                assert gradient is not None
                assert weight is not None
                assert forward < gradient < weight
            else:
                assert gradient is None
                assert weight is None
                assert forward < full


@settings(max_examples=100)
@given(data=st.data())
def test_a_step_begins_and_ends_with_nothing_alive(data: st.DataObject) -> None:
    schedule = any_schedule(data)
    moments = replay(op_order(schedule, data.draw(st.integers(0, schedule.pipeline - 1))), schedule.virtual)
    assert moments[0].total == 1
    assert moments[-1].total == 0


@pytest.mark.parametrize("name", SPLIT)
def test_a_split_backward_leaves_chunks_that_wait_for_their_weight_gradient_only(name: str) -> None:
    schedule = Schedule(name, 4, 2 if name.startswith("v_") or name in {"zbv", "interleaved_zb"} else 1, 8)
    kinds = Counter(kind for kind, _, _ in op_order(schedule, 2))
    assert kinds[Kind.INPUT_GRADIENT] == kinds[Kind.WEIGHT_GRADIENT] == kinds[Kind.FORWARD]
    waiting = [sum(moment.awaiting_weight_gradient) for moment in replay(op_order(schedule, 2), schedule.virtual)]
    assert max(waiting) > 0


def test_replay_moves_a_chunk_from_the_backward_to_the_weight_gradient_to_nothing() -> None:
    order = [
        Operation(Kind.FORWARD, 0, 0),
        Operation(Kind.FORWARD, 1, 0),
        Operation(Kind.INPUT_GRADIENT, 1, 0),
        Operation(Kind.BACKWARD, 0, 0),
        Operation(Kind.WEIGHT_GRADIENT, 1, 0),
    ]
    assert replay(order, 2) == [
        InFlight((1, 0), (0, 0)),
        InFlight((1, 1), (0, 0)),
        InFlight((1, 0), (0, 1)),
        InFlight((0, 0), (0, 1)),
        InFlight((0, 0), (0, 0)),
    ]


@pytest.mark.parametrize("name", ["dualpipe", "dualpipev"])
def test_too_few_micro_batches_for_both_ends_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="micro-batches over"):
        op_order(Schedule(name, 4, 2, 6), 0)


def test_dualpipe_over_an_odd_number_of_ranks_is_refused() -> None:
    with pytest.raises(ValueError, match="even numbers of ranks and micro-batches, not 3 and 12"):
        op_order(Schedule("dualpipe", 3, 2, 12), 0)


def test_an_order_is_that_of_one_layout() -> None:
    with pytest.raises(TypeError):
        op_order(Schedule("1f1b", 4, 1, np.array([4, 8], dtype=np.int64)), 0)
