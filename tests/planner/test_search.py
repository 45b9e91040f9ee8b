"""The search against its own oracle: every layout of a space, estimated one by one."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from service.calculator.device import Accelerator
from service.calculator.estimate import estimate
from service.calculator.layout import Checkpointing, Layout
from service.calculator.recipe import Recipe
from service.calculator.step_time import step_time
from service.calculator.units import MIB
from service.calculator.validity import violations
from service.planner import grid
from service.planner import search as search_module
from service.planner.grid import parts
from service.planner.problem import Problem
from service.planner.search import Region, SearchCancelled, SearchResult, search
from service.planner.space import Choice, SearchSpace, whole_space
from service.planner.verdict import judge
from tests.builders import A100, gpt, recipe

MODEL = gpt(1024, 4, 16, vocabulary=8192)
KERNELS = recipe(attention="unfused")
SPACE = replace(
    whole_space(MODEL, KERNELS, world_size=4, gpus_per_node=4, global_batch=8, sequence_length=1024),
    micro=(1, 4),
    checkpointing=(
        Choice(),
        Choice("selective", modules=("core_attn",)),
        Choice("full", "uniform"),
        Choice("full", "block", partial=True),
    ),
)
FULL_SIZE = 1_000_000


def device(usable_mib: int) -> Accelerator:
    return replace(A100, total_bytes=(usable_mib + 16) * MIB, usable_bytes=usable_mib * MIB)


TIGHT = device(3400)


def wider(device_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
    """An interval that reaches 5 % up."""
    return device_bytes + device_bytes // 20


def found(gpu: Accelerator = TIGHT, space: SearchSpace = SPACE, top: int = 10) -> SearchResult:
    return search([region(gpu, space)], top=top)


def region(gpu: Accelerator = TIGHT, space: SearchSpace = SPACE, kernels: Recipe = KERNELS) -> Region:
    return Region(Problem(MODEL, kernels, gpu, wider), space)


def one_by_one(space: SearchSpace, gpu: Accelerator) -> list[tuple[Layout, int, str, float, float]]:
    rows = []
    for part in parts(MODEL, space):
        for group in part.groups:
            for index in range(len(group)):
                layout = group.layout(index)
                peak = estimate(MODEL, layout, KERNELS, gpu).peak.device_bytes
                verdict = judge(peak, peak + peak // 20, gpu)
                time = step_time(MODEL, layout, KERNELS, gpu)
                rows.append((layout, peak, verdict, float(time.step_seconds), float(time.recompute_fraction)))
    return rows


@pytest.fixture(scope="module")
def oracle() -> list[tuple[Layout, int, str, float, float]]:
    return one_by_one(SPACE, TIGHT)


def least(rows: list[tuple[Layout, int, str, float, float]]) -> dict[str, tuple[Layout, int, str, float, float]]:
    """Of layouts that differ in checkpointing alone the fastest of those that fit best."""
    best: dict[str, tuple[Layout, int, str, float, float]] = {}
    for row in sorted(rows, key=lambda row: (row[2], row[3], row[1])):
        if row[2] != "does_not_fit":
            best.setdefault(repr(replace(row[0], checkpointing=Checkpointing())), row)
    return best


@pytest.mark.parametrize("block", [grid.BLOCK, 7])
def test_the_search_finds_what_estimating_one_by_one_finds(
    oracle: list[tuple[Layout, int, str, float, float]], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "BLOCK", block)
    monkeypatch.setattr(search_module, "FEW", 0)
    result = found(top=FULL_SIZE)
    fitting = [row for row in oracle if row[2] != "does_not_fit"]
    expected = least(oracle)
    assert len(fitting) > len(expected) > 20
    assert Counter(row[2] for row in expected.values()).keys() == {"fits", "tight"}
    assert len(result.candidates) == len(expected)
    for each in result.candidates:
        layout, peak, verdict, seconds, recompute = expected[repr(replace(each.layout, checkpointing=Checkpointing()))]
        assert each.layout == layout
        assert each.estimate.peak.device_bytes == max(each.peak_bytes) == peak
        assert each.verdict == verdict
        assert each.time.step_seconds == pytest.approx(seconds, rel=1e-12)
        assert each.time.recompute_fraction == pytest.approx(recompute, rel=1e-12)
    assert result.rejected["does_not_fit"] == len(oracle) - len(fitting)
    assert result.searched == sum(result.rejected.values()) + len(fitting)


def test_no_candidate_recomputes_more_than_it_must(oracle: list[tuple[Layout, int, str, float, float]]) -> None:
    """No other checkpointing of the same layout fits as well in less time."""
    for each in found(top=FULL_SIZE).candidates:
        own = replace(each.layout, checkpointing=Checkpointing())
        same = [row for row in oracle if replace(row[0], checkpointing=Checkpointing()) == own]
        as_good = [row for row in same if row[2] in {"fits", each.verdict}]
        assert all(row[3] >= each.time.step_seconds * (1 - 1e-12) for row in as_good)


def test_the_frontier_holds_the_bytes_of_the_single_estimate(
    oracle: list[tuple[Layout, int, str, float, float]],
) -> None:
    result = found()
    assert len(result.frontier) > 2
    for point in result.frontier:
        assert estimate(MODEL, point.layout, KERNELS, TIGHT).peak.device_bytes == point.device_bytes
        beaten = [row for row in oracle if row[1] < point.device_bytes and row[3] < point.step_seconds * (1 - 1e-9)]
        assert beaten == []


def test_the_best_ten_are_the_first_of_all() -> None:
    assert [each.layout for each in found(top=10).candidates] == [
        each.layout for each in found(top=FULL_SIZE).candidates[:10]
    ]


def test_candidates_that_fit_come_first_then_by_time_with_ties_of_5_percent() -> None:
    candidates = found(top=FULL_SIZE).candidates
    order = ["fits", "tight"]
    assert [each.verdict for each in candidates] == sorted((each.verdict for each in candidates), key=order.index)
    for verdict in order:
        times = [float(each.time.step_seconds) for each in candidates if each.verdict == verdict]
        assert all(later > earlier / 1.05 for earlier, later in zip(np.maximum.accumulate(times), times, strict=True))


def test_every_candidate_passes_the_rules() -> None:
    for each in found(top=FULL_SIZE).candidates:
        assert [rule.code for rule in violations(MODEL, each.layout) if rule.kind != "W"] == []


def test_more_memory_never_removes_a_layout() -> None:
    sizes = [
        {
            repr(replace(each.layout, checkpointing=Checkpointing()))
            for each in found(device(size), top=FULL_SIZE).candidates
        }
        for size in (2400, 3400, 4600)
    ]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_wider_axis_never_removes_a_layout() -> None:
    narrow = found(space=replace(SPACE, tensor=(2,), micro=(4,)), top=FULL_SIZE)
    layouts = {repr(each.layout) for each in found(top=FULL_SIZE).candidates}
    assert narrow.candidates
    assert {repr(each.layout) for each in narrow.candidates} <= layouts


def test_progress_reaches_the_total_and_never_falls() -> None:
    seen: list[tuple[int, int]] = []
    result = search([region()], progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {result.searched}
    assert seen[-1][0] == result.searched


def test_a_search_stops_when_asked() -> None:
    looks = iter([False, False, True])
    with pytest.raises(SearchCancelled):
        search([region()], cancelled=lambda: next(looks))


def test_nothing_fits_on_a_gpu_that_is_too_small() -> None:
    result = found(device(64))
    assert (result.candidates, result.frontier) == ((), ())
    assert (result.largest_micro_batch, result.longest_sequence) == (None, None)
    assert result.rejected["does_not_fit"] > 0


def test_kernels_that_the_framework_chooses_are_settled_by_the_gpu() -> None:
    local = replace(KERNELS, transformer_impl="local")
    automatic, unfused = (
        search([region(kernels=replace(local, attention=each))]).candidates for each in ("auto", "unfused")
    )
    assert [(each.layout, each.peak_bytes) for each in automatic] == [
        (each.layout, each.peak_bytes) for each in unfused
    ]
