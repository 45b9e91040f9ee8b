"""Communicators: one for each process group that a layout uses (memory_model.md, section 8)."""

from dataclasses import replace
from typing import Any

import pytest

from service.calculator.communicators import CHANNELS, CONNECTION_BYTES, NVLS_BYTES, communicator_lines
from service.calculator.recipe import Recipe
from service.calculator.units import MIB
from tests.builders import A100, H100, LLAMA_3_8B, layout, recipe

RING = CHANNELS * CONNECTION_BYTES


def sizes(kept: Recipe | None = None, gpu: Any = A100, **changes: Any) -> dict[str, int]:
    found = communicator_lines(LLAMA_3_8B, layout(LLAMA_3_8B, **changes), kept or recipe(), gpu)
    return {line.tensor.name.removeprefix("communicator."): int(line.bytes) for line in found if line.bytes}


def test_one_gpu_talks_to_nobody() -> None:
    assert sizes() == {}


def test_only_groups_of_more_than_one_rank_are_connected() -> None:
    assert sizes(tensor=2, pipeline=2).keys() == {"tensor", "pipeline", "world", "model"}
    assert sizes(data=4, sharding_stage=1).keys() == {"data", "world"}


@pytest.mark.parametrize(("stage", "trees"), [(0, 2), (1, 0)])
def test_sums_to_all_ranks_need_trees_beside_the_ring(stage: int, trees: int) -> None:
    assert sizes(data=4, sharding_stage=stage)["data"] == RING * (1 + trees)


def test_sequence_parallelism_scatters_and_gathers_around_a_ring() -> None:
    assert sizes(tensor=2, sequence_parallel=1)["tensor"] == RING
    assert sizes(tensor=2)["tensor"] == 3 * RING


def test_replicas_of_a_sharding_group_reduce_among_themselves() -> None:
    found = sizes(recipe(framework="fsdp2"), data=16, sharding_stage=3, shards=8)
    assert found.keys() == {"data", "replicas", "world"}


def test_whole_hopper_nodes_multicast() -> None:
    small, whole = (sizes(gpu=H100, tensor=ranks, sequence_parallel=1)["tensor"] for ranks in (4, 8))
    assert (small, whole) == (RING, RING + NVLS_BYTES)


def test_amds_library_takes_more_for_each_communicator() -> None:
    amd = replace(A100, vendor="AMD", architecture="gfx942")
    found = sizes(gpu=amd, tensor=2, data=2)
    assert found["world"] == 1024 * MIB
    assert found["tensor"] == found["data"] == 666 * MIB
