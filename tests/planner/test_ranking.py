"""The order of candidates: near-equal times are ties, and neither the order nor the blocks of the rows matter."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.planner import ranking
from service.planner.ranking import Rows, contenders, least_checkpointing, no_rows, ranked

Row = tuple[int, float, int, int]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(100, 125).map(float),
        st.integers(0, 5),
        st.integers(0, 2),
    ),
    max_size=60,
)


def rows(values: list[Row]) -> Rows:
    """Rows of (verdict, step seconds, peak in bytes and in steps, changes), numbered in order."""
    columns = [np.array(column) for column in zip(*values, strict=True)] if values else [np.zeros(0)] * 4
    verdict, seconds, peak, changes = columns
    count = np.arange(len(values), dtype=np.int64)
    return Rows(
        verdict.astype(np.int64),
        seconds.astype(np.float64),
        peak.astype(np.int64),
        peak.astype(np.int64),
        changes.astype(np.int64),
        count,
        count * 0,
        count,
    )


def order(values: list[Row], top: int = 100) -> list[int]:
    return [int(index) for index in ranked(rows(values), top).index]


def test_faster_comes_first_beyond_a_tie() -> None:
    assert order([(0, 1.06, 1, 0), (0, 1.0, 9, 3)]) == [1, 0]


def test_a_tie_goes_to_the_larger_margin_then_to_fewer_changes_then_to_the_faster() -> None:
    tied = [(0, 1.0, 9, 0), (0, 1.04, 5, 2), (0, 1.05, 5, 1), (0, 1.03, 5, 2)]
    assert order(tied) == [2, 3, 1, 0]


def test_a_tie_reaches_no_further_than_from_its_fastest() -> None:
    assert order([(0, 1.0, 2, 0), (0, 1.04, 3, 0), (0, 1.08, 1, 0)]) == [0, 1, 2]


def test_what_is_tight_comes_after_everything_that_fits() -> None:
    assert order([(1, 1.0, 1, 0), (0, 9.0, 1, 0)]) == [1, 0]


def test_of_rows_with_one_base_the_fastest_that_fits_best_stays() -> None:
    """Deeper recomputation leaves more memory free, and would win every tie by it."""
    many = rows([(0, 1.04, 1, 0), (0, 1.0, 5, 0), (1, 0.9, 9, 0), (0, 1.02, 3, 0)])
    same = replace(many, base=np.array([7, 7, 7, 8]))
    assert least_checkpointing(same).index.tolist() == [1, 3]
    assert len(least_checkpointing(no_rows())) == 0


def test_nothing_ranks_to_nothing() -> None:
    assert len(ranked(no_rows(), 5)) == 0
    assert len(contenders(no_rows(), 5)) == 0


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_arrival(values: list[Row], random: object) -> None:
    many = rows(values)
    mixed = list(range(len(values)))
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert ranked(many.take(np.array(mixed, dtype=np.intp)), 100).index.tolist() == order(values)


@settings(max_examples=200)
@given(values=ROWS, top=st.integers(1, 8), block=st.integers(1, 20), crowded=st.sampled_from([4, 1 << 14]))
def test_blocks_lose_none_of_the_best(values: list[Row], top: int, block: int, crowded: int) -> None:
    many, kept = rows(values), no_rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "CROWDED", crowded)
        for start in range(0, len(values), block):
            kept = contenders(kept.with_more(many.take(np.arange(start, min(start + block, len(values))))), top)
    assert ranked(kept, top).index.tolist() == order(values, top)


def test_a_crowd_of_ties_is_thinned() -> None:
    generator = np.random.default_rng(0)
    count = 2 * ranking.CROWDED
    crowd = Rows(
        np.zeros(count, dtype=np.int64),
        1.0 + generator.random(count) * 0.04,
        generator.integers(0, 1000, count),
        generator.integers(0, 32, count),
        generator.integers(0, 5, count),
        np.arange(count),
        np.zeros(count, dtype=np.int64),
        np.arange(count),
    )
    kept = contenders(crowd, 10)
    assert len(kept) < 1000
    assert [each.name for each in fields(kept)] == [each.name for each in fields(crowd)]
    assert ranked(kept, 10).index.tolist() == ranked(crowd, 10).index.tolist()
