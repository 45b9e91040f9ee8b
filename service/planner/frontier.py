"""The Pareto frontier: layouts that no other beats in both peak memory and step time."""

import numpy as np
from numpy.typing import NDArray


def pareto(peak_bytes: NDArray[np.int64], step_seconds: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indexes of the frontier, least memory first; of equal points the first one stays."""
    if len(peak_bytes) == 0:
        return np.zeros(0, dtype=np.intp)
    order = np.lexsort((step_seconds, peak_bytes))
    times = step_seconds[order]
    best_before = np.concatenate(([np.inf], np.minimum.accumulate(times)[:-1]))
    return order[times < best_before]
