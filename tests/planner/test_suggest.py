"""The smallest changes with which a job fits."""

from dataclasses import replace
from typing import Any

import pytest

from service.calculator.estimate import estimate
from service.calculator.layout import Checkpointing, Layout
from service.calculator.units import GIB
from service.calculator.validity import violations
from service.planner.changes import KEYS
from service.planner.problem import Problem
from service.planner.space import SearchSpace, whole_space
from service.planner.suggest import Suggestion, Variant, suggest
from tests.builders import A100, LLAMA_3_8B, layout, recipe

PROBLEM = Problem(LLAMA_3_8B, recipe(), A100)
SPACE = whole_space(LLAMA_3_8B, recipe(), world_size=8, gpus_per_node=8, global_batch=64, sequence_length=8192)
SHAPE: dict[str, Any] = {
    "tensor": 2,
    "data": 4,
    "micro_batch": 2,
    "micro_batches": 8,
    "sequence_length": 8192,
    "sharding_stage": 1,
}
TOO_LARGE = layout(LLAMA_3_8B, **SHAPE)


def found(one: Layout = TOO_LARGE, space: SearchSpace = SPACE, **more: Any) -> list[Suggestion]:
    return suggest(PROBLEM, one, space, **more)


@pytest.fixture(scope="module")
def every() -> list[Suggestion]:
    return found(most=40)


def test_a_job_that_fits_needs_no_change() -> None:
    assert found(replace(TOO_LARGE, micro_batch=1, micro_batches=16)) == []


def test_every_change_fits_and_has_the_bytes_of_its_estimate(every: list[Suggestion]) -> None:
    before = estimate(LLAMA_3_8B, TOO_LARGE, recipe(), A100).peak.device_bytes
    assert len(every) > 5
    assert {each.candidate.verdict for each in every} <= {"fits", "tight"}
    for each in every:
        again = estimate(LLAMA_3_8B, each.candidate.layout, recipe(), A100).peak.device_bytes
        assert each.candidate.estimate.peak.device_bytes == again
        assert each.saved_bytes == before - again > 0


def test_the_named_keys_are_all_that_changes(every: list[Suggestion]) -> None:
    for each in every:
        after, changes = each.candidate.layout, dict(each.changes)
        stated = {
            "/parallelism/tensor": (TOO_LARGE.tensor, after.tensor),
            "/parallelism/sequence": (bool(TOO_LARGE.sequence_parallel), bool(after.sequence_parallel)),
            "/parallelism/pipeline": (TOO_LARGE.pipeline, after.pipeline),
            "/parallelism/context": (TOO_LARGE.context, after.context),
            "/batch/micro": (TOO_LARGE.micro_batch, after.micro_batch),
            "/sharding/stage": (TOO_LARGE.sharding_stage, after.sharding_stage),
            "/checkpointing/granularity": ("none", after.checkpointing.granularity),
        }
        for key, (old, new) in stated.items():
            assert changes.get(key, old) == new
            assert (key in changes) == (old != new)


def test_fewer_keys_come_first_and_none_is_superfluous(every: list[Suggestion]) -> None:
    for verdict in ("fits", "tight"):
        counts = [len(each.changes) for each in every if each.candidate.verdict == verdict]
        assert counts == sorted(counts)
    for place, each in enumerate(every):
        for earlier in every[:place]:
            if earlier.changes.keys() < each.changes.keys():
                assert each.step_ratio < earlier.step_ratio / 1.05 or earlier.candidate.verdict == "tight"


def test_of_single_keys_the_fastest_comes_first(every: list[Suggestion]) -> None:
    singles = [each for each in every if len(each.changes) == 1 and each.candidate.verdict == "fits"]
    assert dict(singles[0].changes) == {"/batch/micro": 1}
    ratios = [each.step_ratio for each in singles]
    assert ratios == sorted(ratios)


def test_no_single_key_that_would_do_is_missed(every: list[Suggestion]) -> None:
    """Every neighbour that differs in one degree, one by one."""
    changes = {
        "/parallelism/tensor": [{"tensor": t, "data": 8 // t, "micro_batches": 8 * t // 2} for t in (1, 4, 8)],
        "/parallelism/sequence": [{"sequence_parallel": 1}],
        "/batch/micro": [{"micro_batch": 1, "micro_batches": 16}],
        "/sharding/stage": [{"sharding_stage": 0}],
    }
    named = {next(iter(each.changes)) for each in every if len(each.changes) == 1}
    for key, shapes in changes.items():
        peaks = [
            estimate(LLAMA_3_8B, layout(LLAMA_3_8B, **{**SHAPE, **shape}), recipe(), A100).peak.device_bytes
            for shape in shapes
        ]
        assert (min(peaks) < A100.usable_bytes) == (key in named), key


def test_checkpointing_is_the_least_that_fits(every: list[Suggestion]) -> None:
    [block] = [
        each for each in every if each.changes.get("/checkpointing/method") == "block" and len(each.changes) == 3
    ]
    depth = block.changes["/checkpointing/num_layers"]
    shallower = replace(TOO_LARGE, checkpointing=Checkpointing("full", "block", depth - 1))
    peak = estimate(LLAMA_3_8B, shallower, recipe(), A100).peak.device_bytes
    assert peak > A100.total_bytes * 88 // 100
    assert block.step_ratio < 1.2


def test_what_stays_fixed(every: list[Suggestion]) -> None:
    for each in every:
        one = each.candidate.layout
        assert one.micro_batch * one.micro_batches * one.data == 64
        assert (one.sequence_length, one.world_size) == (8192, 8)
        assert one.tensor <= 8
        assert [rule.code for rule in violations(LLAMA_3_8B, one) if rule.kind != "W"] == []
        assert each.changes.keys() <= set(KEYS)


def test_a_limited_axis_is_left_alone() -> None:
    limited = replace(SPACE, micro=(2,), context=(1,), tensor=(2,))
    for each in found(space=limited, most=20):
        assert not {"/batch/micro", "/parallelism/context", "/parallelism/tensor"} & each.changes.keys()


def test_a_change_beside_the_layout_is_one_of_the_changes() -> None:
    """Moments in 16 bits: the one change that is offered when the space allows no other."""
    peak = estimate(LLAMA_3_8B, TOO_LARGE, recipe(), A100).peak.device_bytes
    short = replace(PROBLEM, accelerator=replace(A100, usable_bytes=peak - 1, total_bytes=2 * peak))
    fixed = replace(SPACE, tensor=(2,), pipeline=(1,), context=(1,), micro=(2,), sharding_stage=(1,))
    fixed = replace(fixed, sequence=(0,), checkpointing=fixed.checkpointing[:1])
    assert suggest(short, TOO_LARGE, fixed) == []
    thin = Variant({"/optimizer/moments": ["bf16", "bf16"]}, recipe(moments=("bf16", "bf16")))
    [only] = suggest(short, TOO_LARGE, fixed, variants=[thin])
    assert dict(only.changes) == {"/optimizer/moments": ["bf16", "bf16"]}
    assert only.candidate.layout == TOO_LARGE
    assert only.saved_bytes >= 4 * 1_000_000_000


def test_when_nothing_fits_safely_what_is_tight_is_named() -> None:
    cramped = replace(PROBLEM, accelerator=replace(A100, usable_bytes=24 * GIB, total_bytes=25 * GIB))
    verdicts = [each.candidate.verdict for each in suggest(cramped, TOO_LARGE, SPACE, most=30)]
    assert verdicts == sorted(verdicts)
