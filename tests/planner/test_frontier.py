"""The frontier of peak memory against step time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.planner.frontier import pareto

POINTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=40)


def _frontier(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    peaks = np.array([peak for peak, _ in points], dtype=np.int64)
    times = np.array([time for _, time in points], dtype=np.float64)
    return [points[index] for index in pareto(peaks, times)]


@given(POINTS)
def test_the_frontier_is_what_no_other_point_beats(points: list[tuple[int, int]]) -> None:
    def beaten(point: tuple[int, int]) -> bool:
        return any(each != point and each[0] <= point[0] and each[1] <= point[1] for each in points)

    assert _frontier(points) == sorted({point for point in points if not beaten(point)})


@given(POINTS, POINTS)
def test_the_frontier_of_two_blocks_is_that_of_their_frontiers(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    assert _frontier([*_frontier(one), *_frontier(other)]) == _frontier([*one, *other])
