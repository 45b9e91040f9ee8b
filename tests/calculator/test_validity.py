"""The rules that a framework enforces: known cases, and the same verdicts for one layout as for many at once."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.calculator.placement import PlacementError, Split, place
from service.calculator.validity import MEGATRON, Facts, Rule, broken_rules, complete, sequence_divisor, violations
from tests.builders import LLAMA_3_8B, gpt, layout

VALID = Facts(
    world_size=64,
    tensor=4,
    sequence=1,
    pipeline=4,
    virtual=2,
    context=2,
    expert=1,
    interleaved=1,
    directions=0,
    micro=1,
    global_batch=32,
    sequence_length=4096,
    sharding_stage=1,
    shards=2,
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    linear_heads=64,
    experts=0,
    max_positions=8192,
    extra_layers=0,
    first=0,
    last=0,
)


def codes(**changes: Any) -> set[str]:
    return {rule.code for rule in broken_rules(replace(VALID, **changes))}


def test_a_valid_layout_breaks_nothing() -> None:
    assert codes() == set()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"world_size": 60}, "world_size_not_divisible"),
        ({"data": 3}, "world_size_mismatch"),
        ({"expert": 3, "experts": 6}, "expert_grid_not_divisible"),
        ({"heads": 30, "kv_heads": 2}, "heads_tp"),
        ({"heads": 48, "kv_heads": 6}, "kv_heads_tp"),
        ({"experts": 10, "expert": 4}, "experts_not_divisible"),
        ({"expert": 4}, "experts_not_divisible"),
        ({"experts": 8, "sequence": 0}, "experts_need_sequence"),
        ({"layers": 30}, "layers_not_divisible"),
        ({"layers": 31, "extra_layers": 2}, "layers_not_divisible"),
        ({"first": 6}, "uneven_stages"),
        ({"first": 16, "last": 16}, "uneven_stages"),
        ({"virtual": 3}, "vpp_remainder"),
        ({"first": 7, "last": 7, "layers": 30}, "vpp_remainder"),
        ({"pipeline": 1}, "interleaving_without_pipeline"),
        ({"global_batch": 33}, "batch_triad"),
        ({"accumulation": 4}, "batch_triad"),
        ({"global_batch": 6}, "micro_batches_too_few"),
        ({"group": 3, "global_batch": 24}, "micro_batches_too_few"),
        ({"group": 6, "global_batch": 18}, "micro_batches_too_few"),
        ({"directions": 1, "global_batch": 14}, "micro_batches_too_few"),
        ({"directions": 2, "global_batch": 18}, "micro_batches_too_few"),
        ({"shards": 3}, "sharding_degree"),
        ({"shards": 2, "context": 4, "world_size": 128}, "sharding_degree"),
        ({"sequence_length": 4100}, "seq_divisor"),
        ({"sequence_length": 4098, "context": 1, "world_size": 32}, "seq_divisor"),
        ({"sequence_length": 16384}, "sequence_too_long"),
        ({"tensor": 1}, "ignored_option"),
        ({"world_size": 16, "context": 1, "virtual": 1, "interleaved": 0}, "ignored_option"),
    ],
)
def test_a_broken_rule_is_named(changes: dict[str, int], code: str) -> None:
    assert code in codes(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"tensor": 16, "context": 1, "world_size": 128},  # keys of 8 groups are replicated
        {"kv_heads": 2},
        {"layers": 30, "extra_layers": 2},  # embedding and loss count as a layer each
        {"first": 6, "last": 6, "layers": 28},
        {"group": 6, "global_batch": 20},  # 10 micro-batches: a group of six, then four that fill four stages
        {"sequence_length": 4098, "context": 1, "world_size": 32, "sequence": 0},
        {"virtual": 1, "interleaved": 0, "global_batch": 6},
        {"expert": 4, "experts": 8, "expert_tensor": 1},
        {"directions": 2, "global_batch": 16},
        {"shards": 4},
        {"experts": 8, "sequence": 0, "tensor": 1},
    ],
)
def test_what_the_framework_allows_passes(changes: dict[str, int]) -> None:
    assert codes(**changes) == set()


def test_one_mistake_is_reported_once() -> None:
    """Without a whole data-parallel degree, nothing can be said about the batch."""
    assert codes(world_size=60, global_batch=31) == {"world_size_not_divisible"}


def test_a_rule_whose_facts_are_unknown_is_skipped() -> None:
    known = complete(VALID)
    for rule in MEGATRON:
        assert rule.broken(known) is not None
        assert all(rule.broken(replace(known, **{name: None})) is None for name in rule.needs)
    assert [rule.code for rule in broken_rules(Facts(heads=30, tensor=4, layers=31))] == ["heads_tp"]


def test_facts_that_follow_are_filled_in() -> None:
    known = complete(VALID)
    assert (known.data, known.accumulation, known.group, known.expert_tensor) == (2, 16, 4, 4)
    assert complete(Facts(tensor=2, pipeline=3, context=1, data=5)).world_size == 30


def test_the_sequence_divisor_joins_context_and_sequence_parallelism() -> None:
    assert sequence_divisor(4, 1, 1) == 4
    assert sequence_divisor(4, 0, 1) == 1
    assert sequence_divisor(3, 1, 2) == 2 * 6
    assert sequence_divisor(3, 0, 2) == 2 * 2


def test_a_layout_is_checked_through_its_facts() -> None:
    good = layout(LLAMA_3_8B, tensor=4, sequence_parallel=1, pipeline=2, data=2)
    assert violations(LLAMA_3_8B, good) == []
    broken = {rule.code for rule in violations(LLAMA_3_8B, replace(good, tensor=64, sequence_length=2050))}
    assert broken == {"heads_tp", "seq_divisor"}


def test_learned_positions_bound_the_sequence_and_computed_ones_do_not() -> None:
    model = gpt(1024, 4, 16)
    assert [rule.code for rule in violations(model, layout(model, sequence_length=4096))] == ["sequence_too_long"]
    assert violations(LLAMA_3_8B, layout(LLAMA_3_8B, sequence_length=1 << 20)) == []


NUMBERS = {
    "world_size": st.sampled_from([8, 12, 64, 96, 512]),
    "tensor": st.integers(1, 16),
    "sequence": st.integers(0, 1),
    "pipeline": st.integers(1, 16),
    "virtual": st.integers(1, 6),
    "context": st.integers(1, 8),
    "expert": st.integers(1, 8),
    "expert_tensor": st.integers(1, 8),
    "data": st.integers(1, 16),
    "interleaved": st.integers(0, 1),
    "group": st.integers(1, 16),
    "micro": st.integers(1, 8),
    "global_batch": st.integers(1, 512),
    "accumulation": st.integers(1, 64),
    "sequence_length": st.integers(1, 8192),
    "sharding_stage": st.integers(0, 1),
    "layers": st.integers(1, 96),
    "hidden": st.integers(64, 8192),
    "heads": st.integers(1, 96),
    "kv_heads": st.integers(1, 16),
    "experts": st.integers(0, 16),
    "max_positions": st.integers(1, 8192),
    "extra_layers": st.integers(0, 2),
    "first": st.integers(0, 8),
    "last": st.integers(0, 8),
}


@settings(max_examples=50)
@given(rows=st.lists(st.fixed_dictionaries(NUMBERS), min_size=1, max_size=8))
def test_a_mask_over_many_equals_the_verdict_on_each(rows: list[dict[str, int]]) -> None:
    columns = {name: np.array([row[name] for row in rows], dtype=np.int64) for name in NUMBERS}
    for rule in MEGATRON:
        mask = np.broadcast_to(np.asarray(rule.broken(Facts(**columns))), len(rows))
        assert mask.tolist() == [rule.broken(Facts(**row)) for row in rows]


@given(
    layers=st.integers(1, 40),
    pipeline=st.integers(1, 8),
    virtual=st.integers(1, 4),
    first=st.integers(0, 8),
    last=st.integers(0, 8),
)
def test_layers_can_be_placed_exactly_where_no_rule_on_layers_is_broken(
    layers: int, pipeline: int, virtual: int, first: int, last: int
) -> None:
    facts = Facts(layers=layers, extra_layers=0, first=first, last=last, pipeline=pipeline, virtual=virtual)
    try:
        place(layers, pipeline, virtual, Split(first=first or None, last=last or None))
        placed = True
    except PlacementError:
        placed = False
    assert placed == (broken_rules(replace(facts, virtual=virtual)) in ([], [_interleaving()]))


def _interleaving() -> Rule:
    return next(rule for rule in MEGATRON if rule.code == "interleaving_without_pipeline")
