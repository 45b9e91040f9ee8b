"""The space of layouts: each layout once, refused ones counted under the first rule that they break."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from service.calculator.layout import Layout
from service.calculator.model import Attention, LayerKind, Model, Moe
from service.calculator.placement import EVEN, Split
from service.calculator.validity import MEGATRON, Facts, complete, violations
from service.planner.grid import parts, space_size
from service.planner.space import Choice, SearchSpace, whole_space
from tests.builders import LLAMA_3_8B, gpt, recipe

SMALL = gpt(1024, 6, 12)
EXPERTS = replace(
    LLAMA_3_8B,
    kinds=(LayerKind(Attention(32, 8, 128), Moe(experts=8, top_k=2, width=4096, kind="swiglu")),),
    pattern=(0,) * 4,
)
KERNELS = recipe()


def space(**changes: object) -> SearchSpace:
    found = whole_space(SMALL, KERNELS, world_size=12, gpus_per_node=4, global_batch=12, sequence_length=1024)
    return replace(found, **{"splits": (EVEN,), **changes})  # type: ignore[arg-type]


def layouts(searched: SearchSpace) -> Iterator[Layout]:
    for part in parts(SMALL, searched):
        for group in part.groups:
            yield from (group.layout(index) for index in range(len(group)))


def test_the_whole_space_keeps_tensor_parallelism_inside_a_node_unless_told() -> None:
    def widest(**more: bool) -> int:
        found = whole_space(
            LLAMA_3_8B, KERNELS, world_size=64, gpus_per_node=8, global_batch=64, sequence_length=4096, **more
        )
        return max(found.tensor)

    assert widest() == 8
    assert widest(tensor_across_nodes=True) == 64


def kinds(model: Model, **changes: object) -> list[tuple[str, tuple[str, ...]]]:
    found = whole_space(
        model, recipe(**changes), world_size=4, gpus_per_node=4, global_batch=4, sequence_length=1024
    )  # fmt: skip
    return [(each.granularity, each.modules) for each in found.checkpointing]


def test_every_set_of_modules_that_the_model_has_is_checkpointed_alone() -> None:
    assert kinds(SMALL) == [
        ("none", ()),
        ("selective", ("layernorm",)),
        ("selective", ("mlp",)),
        ("selective", ("layernorm", "mlp")),
        ("full", ()),
        ("full", ()),
    ]
    assert {modules for granularity, modules in kinds(EXPERTS) if granularity == "selective"} == {
        ("layernorm",),
        ("moe_act",),
        ("layernorm", "moe_act"),
    }


def test_the_core_of_attention_is_tried_where_scores_are_stored() -> None:
    assert not any("core_attn" in modules for _, modules in kinds(SMALL))
    assert ("selective", ("core_attn",)) in kinds(SMALL, attention="unfused")


def test_experts_are_shared_by_every_degree_that_the_rules_allow() -> None:
    found = whole_space(EXPERTS, KERNELS, world_size=16, gpus_per_node=8, global_batch=16, sequence_length=1024)
    narrow = replace(found, pipeline=(1, 2), context=(1,), micro=(1,), checkpointing=(Choice(),))
    every = [
        each
        for part in parts(EXPERTS, narrow)
        for group in part.groups
        for each in map(group.layout, range(len(group)))
    ]
    assert {each.expert for each in every} == {1, 2, 4, 8}
    assert {(each.tensor, each.expert_tensor) for each in every} >= {(2, 1), (2, 2), (4, 4), (1, 1)}
    assert all(each.expert_tensor in {1, each.tensor} for each in every)
    assert all(each.world_size % (each.expert * each.expert_tensor * each.pipeline) == 0 for each in every)
    assert len({repr(each) for each in every}) == len(every)
    rejected = sum((part.rejected for part in parts(EXPERTS, narrow)), Counter[str]())
    assert {"experts_need_sequence", "expert_grid_not_divisible"} <= rejected.keys()


def test_schedules_are_tried_with_the_chunks_that_they_can_have() -> None:
    chosen = space(pipeline=(1, 2, 3), virtual=(1, 2), schedules=("1f1b", "gpipe", "interleaved", "zbv"))
    found = {(part.groups[0].pipeline, part.groups[0].virtual, part.groups[0].schedule)
             for part in parts(SMALL, chosen) if part.groups}  # fmt: skip
    assert found == {
        (1, 1, "1f1b"),
        *((p, 1, name) for p in (2, 3) for name in ("1f1b", "gpipe")),
        (3, 2, "interleaved"),
        (3, 2, "zbv"),
    }


@pytest.mark.parametrize(
    ("framework", "expected"),
    [
        ("megatron-core", {"sharding_stage": (0, 1), "virtual": None, "context": (1, 2, 4, 8)}),
        ("deepspeed", {"sharding_stage": (0, 1, 2, 3), "tensor": (1,), "pipeline": (1,), "context": (1,)}),
        ("megatron-deepspeed", {"sharding_stage": (0, 1, 2, 3), "tensor": (1, 2, 4, 8), "virtual": (1,)}),
        ("fsdp2", {"sharding_stage": (2, 3), "tensor": (1,), "context": (1, 2, 4, 8), "pipeline": (1,)}),
        ("torchtitan", {"sharding_stage": (2, 3), "virtual": None, "sequence": (1,), "expert_tensor": (1,)}),
        ("ddp", {"tensor": (1,), "pipeline": (1,), "sharding_stage": (0,)}),
    ],
)
def test_a_framework_opens_the_axes_that_it_has(framework: str, expected: dict[str, object]) -> None:
    layers = {"megatron-deepspeed": ("deepspeed", "local"), "torchtitan": ("fsdp2", "titan")}
    name, implementation = layers.get(framework, (framework, "hf"))
    kernels = recipe(framework=name, transformer_impl=implementation)
    found = whole_space(SMALL, kernels, world_size=8, gpus_per_node=8, global_batch=8, sequence_length=1024)
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_framework_has_rules_of_its_own() -> None:
    def rejected(framework: str, implementation: str = "transformer_engine") -> Counter[str]:
        kernels = recipe(framework=framework, transformer_impl=implementation)
        found = whole_space(
            LLAMA_3_8B, kernels, world_size=32, gpus_per_node=16, global_batch=32,
            sequence_length=1024,
        )  # fmt: skip
        return sum((part.rejected for part in parts(LLAMA_3_8B, found)), Counter[str]())

    assert "zero_with_pipeline" in rejected("deepspeed")
    assert "kv_heads_tp" in rejected("fsdp2", "titan")
    assert "kv_heads_tp" not in rejected("megatron-core")


def test_depths_cover_every_amount_of_recomputation_once() -> None:
    assert Choice().depths_of(8) == (1,)
    assert Choice("full", "uniform").depths_of(4) == (1, 2, 3, 4)
    assert Choice("full", "block", partial=True).depths_of(4) == (1, 2, 3)
    assert Choice("full", "block").depths_of(2) == (1, 2)
    assert Choice("full", "block", depths=(7,)).depths_of(4) == (7,)


def test_depths_reach_as_deep_as_the_deepest_chunk_of_an_uneven_split() -> None:
    split = Split(first=1, last=1)
    found = layouts(space(splits=(split,), pipeline=(3,), virtual=(1,), checkpointing=(Choice("full", "uniform"),)))
    assert {each.checkpointing.num_layers for each in found} == {1, 2, 3, 4}


def test_no_layout_occurs_twice() -> None:
    found = [repr(each) for each in layouts(space())]
    assert len(found) == len(set(found)) > 500


def test_every_layout_passes_the_rules_and_fills_the_cluster() -> None:
    for each in layouts(space()):
        assert [rule.code for rule in violations(SMALL, each) if rule.kind != "W"] == []
        assert each.world_size == 12
        assert each.micro_batch * each.micro_batches * each.data == 12
        assert sum(len(each.placement.layers_of(stage)) for stage in range(each.pipeline)) == SMALL.layers
        assert each.shards == (each.data * each.context if each.sharding_stage else 1)


def test_many_layouts_are_those_that_are_made_one_by_one() -> None:
    for part in parts(SMALL, space()):
        for group in part.groups:
            many = group.layouts(np.arange(len(group), dtype=np.int64))
            for index in range(0, len(group), 7):
                one = group.layout(index)
                assert one.tensor == many.tensor[index]  # type: ignore[index]
                assert one.shards == many.shards[index]  # type: ignore[index]
                assert one.checkpointing.num_layers == many.checkpointing.num_layers[index]  # type: ignore[index]


def test_refused_layouts_are_counted_under_the_first_rule_that_they_break() -> None:
    """Every combination of the axes, one by one, against the counts of the masks."""
    searched = space(tensor=(1, 2, 5), pipeline=(1, 2, 4, 6), virtual=(1, 2, 3), micro=(1, 2, 5))
    counts: Counter[str] = Counter()
    for pipeline, virtual, tensor, sequence, context, micro, stage in product(
        searched.pipeline, searched.virtual or (), searched.tensor, (0, 1), searched.context, searched.micro, (0, 1)
    ):
        if (tensor == 1 and sequence) or (stage and 12 // (tensor * pipeline * context) * context <= 1):
            continue
        facts = _complete_as_array(
            Facts(
                world_size=12,
                tensor=tensor,
                sequence=sequence,
                pipeline=pipeline,
                virtual=virtual,
                context=context,
                interleaved=int(virtual > 1),
                directions=0,
                group=pipeline,
                micro=micro,
                global_batch=12,
                sequence_length=1024,
                sharding_stage=stage,
                layers=6,
                heads=12,
                kv_heads=12,
                max_positions=2048,
                extra_layers=0,
                first=0,
                last=0,
            )
        )
        broken = [rule.code for rule in MEGATRON if rule.kind != "W" and bool(rule.broken(facts))]
        depths = sum(len(each.depths_of(-(-6 // (pipeline * virtual)))) for each in searched.checkpointing)
        counts[broken[0] if broken else "admitted"] += depths
    found = list(parts(SMALL, searched))
    rejected = sum((part.rejected for part in found), Counter[str]())
    assert rejected == Counter({code: count for code, count in counts.items() if code != "admitted"})
    assert sum(len(group) for part in found for group in part.groups) == counts["admitted"]
    assert space_size(SMALL, searched) == counts.total()
    assert len(rejected) >= 5


def _complete_as_array(facts: Facts) -> Facts:
    """A search judges inexact quotients rounded down, one layout alone leaves them unknown."""
    tensor = np.array([facts.tensor], dtype=np.int64)
    return complete(replace(facts, tensor=tensor))


def test_what_is_fixed_stays_fixed() -> None:
    fixed = space(tensor=(2,), pipeline=(3,), virtual=(1,), context=(1,), micro=(2,), sharding_stage=(1,), data=(2,))
    found = list(layouts(fixed))
    assert {(each.tensor, each.pipeline, each.data, each.micro_batch) for each in found} == {(2, 3, 2, 2)}
    assert {each.sharding_stage for each in found} == {1}


def test_another_data_degree_than_the_fixed_one_is_outside_the_space() -> None:
    found = list(layouts(space(data=(3,))))
    assert found
    assert {each.data for each in found} == {3}


def test_stored_inputs_are_distributed_where_the_sequence_is_not_split_already() -> None:
    searched = space(checkpointing=(Choice("full", "uniform", distribute_saved=True),))
    found = list(layouts(searched))
    assert found
    assert all(each.checkpointing.distribute_saved and each.tensor > 1 and not each.sequence_parallel for each in found)
    assert sum(part.rejected["distributed_saves"] for part in parts(SMALL, searched)) > 0
    plain = replace(searched, checkpointing=(Choice("full", "uniform"),))
    assert space_size(SMALL, searched) == space_size(SMALL, plain)


def test_a_group_size_of_its_own_is_kept() -> None:
    found = [each for each in layouts(space(group=(3,), pipeline=(3,), virtual=(2,))) if each.virtual == 2]
    assert {each.group for each in found} == {3}


@pytest.mark.parametrize(
    ("split", "pipeline", "rejected"),
    [
        (Split(layers=(2, 2, 2)), (3,), set()),
        (Split(layers=(2, 2, 1)), (3,), {"stage_layers"}),
        (Split(first=1, last=1), (4,), set()),
        (Split(first=1), (3,), {"uneven_stages"}),
    ],
)
def test_a_stated_split_is_followed(split: Split, pipeline: tuple[int, ...], rejected: set[str]) -> None:
    found = list(
        parts(SMALL, space(splits=(split,), pipeline=pipeline, virtual=(1,), tensor=(1,), context=(1,), micro=(1,)))
    )
    assert {code for part in found for code in part.rejected} == rejected
    assert any(part.groups for part in found) == (not rejected)
