"""How unevenly tokens may be routed before the fullest rank runs out of memory (memory_model.md, section 3.3)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from service.calculator.layout import Layout
from service.calculator.model import Model, Moe
from service.calculator.routing import PERMILLE, reachable_imbalance
from service.calculator.units import Int

POINTS = 256
"""Shares asked at once: two rounds find the thousandth of up to 256² of them."""


def break_even_imbalance(
    model: Model, layout: Layout, usable_bytes: int, peak: Callable[[Layout], Int]
) -> float | None:
    """The rows of the fullest rank, in shares of a balanced one, at which the peak stage just fills the usable bytes.

    `peak` gives the peak bytes of a layout, or of many at once. None where routing cannot fill the memory (no experts,
    one rank, padded to a capacity, or room for the worst that routing can do), and where balanced routing overfills it.
    """
    experts = [kind.mlp for kind in model.kinds if isinstance(kind.mlp, Moe)]
    most = max((int(reachable_imbalance(each, layout)) for each in experts), default=PERMILLE)
    if most <= PERMILLE or layout.routing.padded or not usable_bytes:
        return None
    low, high = PERMILLE, most
    if not _fits(low, layout, usable_bytes, peak) or _fits(high, layout, usable_bytes, peak):
        return None
    while high - low > 1:
        shares = np.unique(np.linspace(low, high, POINTS).astype(np.int64))
        routed = replace(layout, routing=replace(layout.routing, imbalance_permille=shares))
        fitting = shares[np.asarray(peak(routed)) <= usable_bytes]
        low = int(fitting[-1])
        high = int(shares[len(fitting)])
    return low / PERMILLE


def _fits(share: int, layout: Layout, usable_bytes: int, peak: Callable[[Layout], Int]) -> bool:
    routed = replace(layout, routing=replace(layout.routing, imbalance_permille=share))
    return bool(peak(routed) <= usable_bytes)
