"""In-flight counts of every pipeline schedule: published tables, and closed forms against the replay of the order."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.schedules import (
    InFlight,
    Schedule,
    distinct_micro_batches,
    in_flight,
    op_order,
    peak_counts,
    replay,
    torch_group,
)
from service.calculator.units import Int

LOOPED = ("gpipe", "1f1b", "interleaved", "looped_bfs", "interleaved_zb", "zb_h1", "zb_h2")
EXACT_V = ("zbv", "v_half", "dualpipe", "dualpipev")
MANY_CHUNKS = ("interleaved", "looped_bfs", "interleaved_zb")


def one_chunk(name: str, micro_batches: int, pipeline: int = 4) -> Schedule:
    return Schedule(name, pipeline, 1, micro_batches)


def stages(schedule: Schedule) -> range:
    return range(schedule.pipeline)


def peaks(schedule: Schedule) -> list[InFlight]:
    return [in_flight(schedule, stage) for stage in stages(schedule)]


def first_peak(moments: list[InFlight]) -> InFlight:
    return max(moments, key=lambda moment: int(moment.total))


def counts_of(moment: InFlight) -> tuple[int, ...]:
    return tuple(int(count) for count in moment.awaiting_backward + moment.awaiting_weight_gradient)


def replayed_peak(schedule: Schedule, stage: int) -> InFlight:
    return first_peak(replay(op_order(schedule, stage), schedule.virtual))


# Appendix B of memory_model.md: four ranks; peak and the part needing B in full-stage equivalents, distinct
# micro-batches, chunks. DualPipe's counts are in stages, so its row is divided by one.
APPENDIX_B = [
    (one_chunk("gpipe", 8), 1, [8, 8, 8, 8], [8, 8, 8, 8], [8, 8, 8, 8], [[8], [8], [8], [8]]),
    (one_chunk("1f1b", 8), 1, [4, 3, 2, 1], [4, 3, 2, 1], [4, 3, 2, 1], [[4], [3], [2], [1]]),
    (one_chunk("1f1b", 2), 1, [2, 2, 2, 1], [2, 2, 2, 1], [2, 2, 2, 1], [[2], [2], [2], [1]]),
    (
        Schedule("interleaved", 4, 2, 8),
        2,
        [5.5, 4.5, 3.5, 2.5],
        [5.5, 4.5, 3.5, 2.5],
        [8, 8, 7, 5],
        [[7, 4], [5, 4], [4, 3], [4, 1]],
    ),
    (
        Schedule("interleaved", 4, 4, 8),
        4,
        [4.75, 4.25, 3.75, 3.25],
        [4.75, 4.25, 3.75, 3.25],
        [8, 8, 8, 8],
        [[7, 4, 4, 4], [5, 4, 4, 4], [4, 4, 4, 3], [4, 4, 4, 1]],
    ),
    (
        Schedule("interleaved", 4, 2, 4),
        2,
        [4, 4, 3.5, 2.5],
        [4, 4, 3.5, 2.5],
        [4, 4, 4, 4],
        [[4, 4], [4, 4], [4, 3], [4, 1]],
    ),
    (Schedule("looped_bfs", 4, 2, 8), 2, [8, 8, 8, 8], [8, 8, 8, 8], [8, 8, 8, 8], [[8, 8]] * 4),
    (one_chunk("zb_h1", 8), 1, [4, 4, 4, 4], [4, 3, 2, 1], [4, 4, 4, 4], [[4], [4], [4], [4]]),
    (one_chunk("zb_h2", 8), 1, [7, 7, 7, 7], [7, 5, 3, 1], [7, 7, 7, 7], [[7], [7], [7], [7]]),
    (Schedule("zbv", 4, 2, 8), 2, [4, 4, 4, 4], [4, 4, 4, 4], [8, 7, 6, 5], [[7, 1], [6, 2], [5, 3], [4, 4]]),
    (
        Schedule("dualpipev", 4, 2, 8),
        2,
        [4.5, 4.5, 4.5, 4.5],
        [4.5, 4.5, 4.5, 4.5],
        [8, 7, 6, 5],
        [[8, 1], [7, 2], [6, 3], [5, 4]],
    ),
    # The appendix numbers the micro-batches of each direction from 0 and so counts 4, 3, 3, 4 distinct ones; they are
    # different samples.
    (Schedule("dualpipe", 4, 2, 8), 1, [5, 5, 5, 5], [5, 5, 5, 5], [5, 5, 5, 5], [[4, 1], [3, 2], [3, 2], [4, 1]]),
]


@pytest.mark.parametrize(("schedule", "per_stage", "peak", "needing_b", "distinct", "chunks"), APPENDIX_B)
def test_the_simulated_schedules_of_appendix_b(
    schedule: Schedule,
    per_stage: int,
    peak: list[float],
    needing_b: list[float],
    distinct: list[int],
    chunks: list[list[int]],
) -> None:
    at_peak = peaks(schedule)
    assert [moment.total / per_stage for moment in at_peak] == peak
    assert [sum(moment.awaiting_backward) / per_stage for moment in at_peak] == needing_b
    assert [distinct_micro_batches(schedule, stage) for stage in stages(schedule)] == distinct
    assert [list(moment.chunks) for moment in at_peak] == chunks


# The second table of appendix B: the authors' generator with m = 4p, peak in stages (chunks / 2).
V_SCHEDULES = {
    "v_min": {2: 2, 3: 2, 4: 2, 6: 3, 8: 4, 9: 4, 12: 5, 16: 6},
    "v_half": {2: 2, 3: 2, 4: 3, 6: 4, 8: 5, 9: 5, 12: 7, 16: 9},
    "zbv": {2: 2, 3: 3, 4: 4, 6: 6, 8: 8, 9: 9, 12: 12, 16: 16},
}


@pytest.mark.parametrize("name", V_SCHEDULES)
def test_v_schedules_hold_on_every_rank_what_their_generator_was_measured_to_hold(name: str) -> None:
    for pipeline, expected in V_SCHEDULES[name].items():
        schedule = Schedule(name, pipeline, 2, 4 * pipeline)
        assert {moment.total for moment in peaks(schedule)} == {2 * expected}


def test_gpipe_holds_every_micro_batch() -> None:
    assert [moment.total for moment in peaks(one_chunk("gpipe", 13))] == [13] * 4


@pytest.mark.parametrize("micro_batches", [1, 2, 3, 4, 64])
def test_1f1b_holds_one_for_each_rank_behind_and_its_own_but_no_more_than_there_are(micro_batches: int) -> None:
    expected = [min(4 - stage, micro_batches) for stage in range(4)]
    assert [moment.total for moment in peaks(one_chunk("1f1b", micro_batches))] == expected


@pytest.mark.parametrize(("pipeline", "virtual"), list(product((2, 3, 8), (2, 3, 5))))
def test_interleaving_holds_p_of_each_middle_chunk_and_less_of_the_last_one_on_later_ranks(
    pipeline: int, virtual: int
) -> None:
    schedule = Schedule("interleaved", pipeline, virtual, 4 * pipeline)
    for stage in stages(schedule):
        ahead = 2 * (pipeline - stage - 1) + 1
        middle = [pipeline] * (virtual - 2)
        expected = [pipeline + max(0, ahead - pipeline), *middle, min(pipeline, ahead)]
        assert list(in_flight(schedule, stage).chunks) == expected


@given(pipeline=st.integers(1, 64), virtual=st.integers(2, 8), rounds=st.integers(2, 9))
def test_interleaving_raises_the_first_stage_and_the_last(pipeline: int, virtual: int, rounds: int) -> None:
    schedule = Schedule("interleaved", pipeline, virtual, rounds * pipeline)
    first, last = in_flight(schedule, 0), in_flight(schedule, pipeline - 1)
    # In stages: p + (p-1)/v instead of p, and p - (p-1)/v instead of 1.
    assert first.total == pipeline * virtual + pipeline - 1
    assert last.total == pipeline * virtual - (pipeline - 1)
    assert distinct_micro_batches(schedule, 0) == 2 * pipeline


def test_with_one_round_of_micro_batches_interleaving_costs_the_first_stage_nothing() -> None:
    schedule = Schedule("interleaved", 4, 2, 4)
    assert in_flight(schedule, 0).total == 2 * in_flight(one_chunk("1f1b", 4), 0).total
    assert in_flight(schedule, 1).total > 2 * in_flight(one_chunk("1f1b", 4), 1).total


def test_overlapping_expert_communication_adds_one_warm_up_forward() -> None:
    plain, overlapped = Schedule("interleaved", 4, 2, 16), Schedule("interleaved", 4, 2, 16, overlap_expert=True)
    for stage in range(4):
        assert in_flight(overlapped, stage).total == in_flight(plain, stage).total + 1
        assert in_flight(overlapped, stage) == replayed_peak(overlapped, stage)


@pytest.mark.parametrize(
    ("pipeline", "micro_batches", "group"), [(4, 8, 4), (4, 10, 5), (4, 3, 3), (4, 7, 7), (8, 64, 8), (1, 5, 1)]
)
def test_torch_splits_the_micro_batches_into_equal_rounds(pipeline: int, micro_batches: int, group: int) -> None:
    assert torch_group(pipeline, micro_batches) == group


def test_a_larger_group_holds_more_of_every_earlier_chunk() -> None:
    assert in_flight(Schedule("interleaved", 4, 3, 24, group=6), 3).chunks == (6, 6, 1)
    assert in_flight(Schedule("interleaved", 4, 3, 24), 3).chunks == (4, 4, 1)


@pytest.mark.parametrize("stage", range(4))
def test_the_zero_bubble_schedules_trade_forwards_for_delayed_weight_gradients(stage: int) -> None:
    assert in_flight(one_chunk("zb_h1", 8), stage) == InFlight((4 - stage,), (stage,))
    assert in_flight(one_chunk("zb_h1", 2), stage) == InFlight((min(2, 4 - stage),), (max(0, stage - 2),))
    assert in_flight(one_chunk("zb_h2", 8), stage) == InFlight((2 * (4 - stage) - 1,), (2 * stage,))
    for virtual, micro_batches in product((2, 3), (2, 8, 16)):
        schedule = Schedule("interleaved_zb", 4, virtual, micro_batches)
        assert in_flight(schedule, stage).total == min(micro_batches * virtual, (virtual - 1) * 4 + 4)


def test_dualpipe_holds_one_stage_more_than_there_are_ranks_and_mirrors_them() -> None:
    schedule = Schedule("dualpipe", 8, 2, 16)
    assert [moment.chunks for moment in peaks(schedule)[:4]] == [(8, 1), (7, 2), (6, 3), (5, 4)]
    assert peaks(schedule) == peaks(schedule)[::-1]


def looped_cases() -> Iterator[tuple[Schedule, int]]:
    """All p to 16, v to 8 and ranks: m at the cap of the count, one above, and one that walks through 1 … 64."""
    walk = 0
    for pipeline, virtual in product(range(1, 17), range(1, 9)):
        for stage in range(pipeline):
            walk += 1
            cap = (2 * (pipeline - stage) - 1) // virtual + pipeline
            for micro_batches in {min(cap, 64), min(cap + 1, 64), walk * 29 % 64 + 1}:
                yield Schedule("interleaved", pipeline, virtual, micro_batches), stage


def test_interleaved_counts_equal_the_replay_for_every_pipeline_and_chunk_number() -> None:
    assert all(in_flight(schedule, stage) == replayed_peak(schedule, stage) for schedule, stage in looped_cases())


@pytest.mark.parametrize(("pipeline", "virtual"), [(1, 2), (2, 3), (3, 2), (4, 1), (4, 4), (6, 2)])
def test_interleaved_counts_equal_the_replay_for_every_number_of_micro_batches(pipeline: int, virtual: int) -> None:
    for micro_batches, stage in product(range(1, 65), range(pipeline)):
        schedule = Schedule("interleaved", pipeline, virtual, micro_batches)
        assert in_flight(schedule, stage) == replayed_peak(schedule, stage)


@pytest.mark.parametrize("name", MANY_CHUNKS)
@settings(max_examples=150)
@given(data=st.data())
def test_counts_equal_the_replay_for_any_group(name: str, data: st.DataObject) -> None:
    pipeline, virtual, micro_batches, group = (data.draw(st.integers(1, top)) for top in (16, 8, 64, 32))
    schedule = Schedule(name, pipeline, virtual, micro_batches, group)
    stage = data.draw(st.integers(0, pipeline - 1))
    assert in_flight(schedule, stage) == replayed_peak(schedule, stage)


@pytest.mark.parametrize("name", [name for name in LOOPED if name not in MANY_CHUNKS])
@pytest.mark.parametrize("pipeline", [1, 2, 3, 4, 8, 16])
def test_counts_with_one_chunk_equal_the_replay(name: str, pipeline: int) -> None:
    for micro_batches, stage in product(range(1, 65, 1 if pipeline < 8 else 3), range(pipeline)):
        schedule = one_chunk(name, micro_batches, pipeline)
        assert in_flight(schedule, stage) == replayed_peak(schedule, stage)


def v_cases(name: str) -> Iterator[tuple[Schedule, int]]:
    step = 2 if name == "dualpipe" else 1
    for pipeline in (2, 4, 6, 8, 16) if name == "dualpipe" else (1, 2, 3, 4, 5, 6, 8, 9, 16):
        fewest = 2 * pipeline if name.startswith("dualpipe") else step
        around_full = range(2 * pipeline - 2, 2 * pipeline + 3, step)
        for micro_batches in {m for m in (step, 2, 4, pipeline, *around_full, 48) if m >= fewest}:
            for stage in range(pipeline):
                yield Schedule(name, pipeline, 2, micro_batches), stage


def held_micro_batches(moments: list[InFlight]) -> int:
    """Those of the first chunk, which runs first forward and last backward."""
    return max(int(moment.chunks[0]) for moment in moments)


@pytest.mark.parametrize("name", EXACT_V)
def test_counts_of_v_shaped_schedules_equal_the_replay(name: str) -> None:
    for schedule, stage in v_cases(name):
        moments = replay(op_order(schedule, stage), 2)
        assert in_flight(schedule, stage).chunks == first_peak(moments).chunks
        if name != "dualpipe":
            assert distinct_micro_batches(schedule, stage) == held_micro_batches(moments)


def test_the_limit_of_v_min_holds_and_is_reached_where_the_repeated_block_fills_it() -> None:
    for schedule, stage in v_cases("v_min"):
        limit, replayed = in_flight(schedule, stage), replayed_peak(schedule, stage)
        assert replayed.total <= limit.total
        if schedule.pipeline % 3 != 2:
            assert replayed.chunks == limit.chunks


@settings(max_examples=150)
@given(data=st.data())
def test_distinct_micro_batches_equal_the_replay(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(LOOPED))
    pipeline, micro_batches = data.draw(st.integers(1, 16)), data.draw(st.integers(1, 64))
    virtual = data.draw(st.integers(1, 8)) if name in MANY_CHUNKS else 1
    group = data.draw(st.integers(min(pipeline, micro_batches), 32))
    schedule = Schedule(name, pipeline, virtual, micro_batches, group)
    stage = data.draw(st.integers(0, pipeline - 1))
    moments = replay(op_order(schedule, stage), virtual)
    assert distinct_micro_batches(schedule, stage) == held_micro_batches(moments)


def any_schedule(data: st.DataObject) -> Schedule:
    name = data.draw(st.sampled_from((*LOOPED, *EXACT_V, "v_min")))
    pipeline = 2 * data.draw(st.integers(1, 6))
    chunks = data.draw(st.integers(1, 6)) if name in MANY_CHUNKS else 1 if name in LOOPED else 2
    fewest = pipeline if name.startswith("dualpipe") else 1
    micro_batches = 2 * data.draw(st.integers(fewest, fewest + 20))
    group = data.draw(st.integers(1, 16))
    return Schedule(name, pipeline, chunks, micro_batches, group)


def test_the_mix_of_chunks_rotates_in_the_steady_state() -> None:
    mixes = [moment.chunks for moment in peak_counts(Schedule("interleaved", 4, 2, 16), 0)]
    assert set(mixes) == {(7, 4), (8, 3)}


@pytest.mark.parametrize("name", ["interleaved_zb", "zb_h1", "zb_h2", *EXACT_V])
def test_peak_counts_of_long_steps_exceed_every_moment_under_a_split_backward_and_in_a_v(name: str) -> None:
    for pipeline, micro_batches in product((2, 4), (16, 32, 36)):
        virtual = 3 if name in MANY_CHUNKS else 1 if name in LOOPED else 2
        schedule = Schedule(name, pipeline, virtual, micro_batches)
        for stage in stages(schedule):
            mixes = [counts_of(mix) for mix in peak_counts(schedule, stage)]
            for moment in set(map(counts_of, replay(op_order(schedule, stage), virtual))):
                assert any(all(more >= less for more, less in zip(mix, moment, strict=True)) for mix in mixes)


@settings(max_examples=300)
@given(
    pipeline=st.integers(1, 8),
    micro_batches=st.integers(1, 40),
    group=st.integers(1, 12),
    sizes=st.lists(st.integers(0, 9), min_size=2, max_size=5),
    data=st.data(),
)
def test_peak_counts_of_interleaving_decide_for_any_bytes_of_the_chunks(
    pipeline: int, micro_batches: int, group: int, sizes: list[int], data: st.DataObject
) -> None:
    schedule = Schedule("interleaved", pipeline, len(sizes), micro_batches, group)
    stage = data.draw(st.integers(0, pipeline - 1))
    replayed = {moment.chunks for moment in replay(op_order(schedule, stage), len(sizes))}
    mixes = {mix.chunks for mix in peak_counts(schedule, stage)}

    def size_of(chunks: tuple[Int, ...]) -> int:
        return sum(int(count) * size for count, size in zip(chunks, sizes, strict=True))

    assert mixes <= replayed
    assert max(map(size_of, mixes)) == max(map(size_of, replayed))


@pytest.mark.parametrize("name", [*sorted(set(LOOPED) - {"gpipe", "looped_bfs"}), *EXACT_V, "v_min"])
def test_peak_counts_of_an_endless_step_are_those_of_a_short_one(name: str) -> None:
    virtual = 3 if name in MANY_CHUNKS else 1 if name in LOOPED else 2
    short, endless = (Schedule(name, 4, virtual, 4 * rounds) for rounds in (8, 10**12))
    assert [peak_counts(short, stage) for stage in range(4)] == [peak_counts(endless, stage) for stage in range(4)]


@pytest.mark.parametrize("name", ["gpipe", "looped_bfs"])
def test_running_every_forward_first_has_one_peak(name: str) -> None:
    schedule = Schedule(name, 4, 2 if name in MANY_CHUNKS else 1, 10**12)
    assert peak_counts(schedule, 1) == (in_flight(schedule, 1),)


@settings(max_examples=100)
@given(data=st.data())
def test_no_count_exceeds_the_micro_batches_that_exist(data: st.DataObject) -> None:
    schedule = any_schedule(data)
    for moment in peaks(schedule):
        assert all(0 <= count <= schedule.micro_batches for count in moment.chunks)
        assert 1 <= moment.total <= schedule.micro_batches * schedule.virtual


@settings(max_examples=100)
@given(pipeline=st.integers(1, 16), virtual=st.integers(1, 8), micro_batches=st.integers(1, 200))
def test_gradient_accumulation_adds_nothing_once_the_pipeline_is_full(
    pipeline: int, virtual: int, micro_batches: int
) -> None:
    more, full = (Schedule("interleaved", pipeline, virtual, 2 * pipeline + m) for m in (micro_batches, 0))
    assert peaks(more) == peaks(full)


@pytest.mark.parametrize("name", [*LOOPED, *EXACT_V, "v_min"])
def test_arrays_give_what_ints_give(name: str) -> None:
    pipeline, virtual = 4, 3 if name in MANY_CHUNKS else 1 if name in LOOPED else 2
    grid = list(product(range(pipeline), (2, 4, 6, 9, 30), (1, 3, 4, 7)))
    stage, micro_batches, group = (np.array(column, dtype=np.int64) for column in zip(*grid, strict=True))
    together = Schedule(name, pipeline, virtual, micro_batches, group)
    counts = in_flight(together, stage)
    distinct = distinct_micro_batches(together, stage)
    for position, (one_stage, m, g) in enumerate(grid):
        alone = Schedule(name, pipeline, virtual, m, g)
        one = in_flight(alone, one_stage)
        for attribute in ("awaiting_backward", "awaiting_weight_gradient", "chunks"):
            columns = [np.broadcast_to(column, stage.shape) for column in getattr(counts, attribute)]
            assert all(column.dtype == np.int64 for column in columns)
            assert tuple(int(column[position]) for column in columns) == getattr(one, attribute)
            assert all(type(count) is int for count in getattr(one, attribute))
        assert np.broadcast_to(distinct, stage.shape)[position] == distinct_micro_batches(alone, one_stage)


def test_peak_counts_of_interleaving_are_the_same_on_arrays() -> None:
    grid = list(product((2, 4, 9, 30), (1, 3, 4, 7)))
    micro_batches, group = (np.array(column, dtype=np.int64) for column in zip(*grid, strict=True))
    for stage in range(4):
        together = peak_counts(Schedule("interleaved", 4, 3, micro_batches, group), stage)
        for position, (m, g) in enumerate(grid):
            alone = {mix.chunks for mix in peak_counts(Schedule("interleaved", 4, 3, m, g), stage)}
            assert {tuple(int(np.asarray(count)[position]) for count in mix.chunks) for mix in together} == alone


def test_an_unknown_schedule_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown schedule 'zigzag'; known are gpipe, 1f1b, interleaved"):
        Schedule("zigzag", 4, 1, 8)


def test_a_number_of_chunks_that_a_schedule_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match="1f1b has 1 chunks on each rank, not 2"):
        Schedule("1f1b", 4, 2, 8)
    with pytest.raises(ValueError, match="zbv has 2 chunks on each rank, not 1"):
        Schedule("zbv", 4, 1, 8)
