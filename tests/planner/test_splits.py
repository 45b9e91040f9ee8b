"""Ways to divide layers over pipeline stages."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.calculator.model import Model
from service.calculator.placement import EVEN, Split, place
from service.planner.splits import SPLIT_KINDS, chunks_of, divisors, head_layers, kind_of, splits
from tests.builders import LLAMA_3_8B, gpt


def llama(layers: int) -> Model:
    return replace(LLAMA_3_8B, pattern=(0,) * layers)


def test_divisors_are_ascending_and_complete() -> None:
    assert divisors(1) == (1,)
    assert divisors(36) == (1, 2, 3, 4, 6, 9, 12, 18, 36)


@pytest.mark.parametrize(
    ("split", "pipeline", "layers", "chunks"),
    [
        (EVEN, 1, 24, (1,)),
        (EVEN, 4, 24, (1, 2, 3, 6)),
        (EVEN, 5, 24, (1,)),
        (Split(first=6, last=6), 4, 24, (1, 2, 3, 6)),
        (Split(first=4, last=4), 4, 24, (1, 2, 4)),
        (Split(first=4, last=4), 2, 8, (1, 2, 4)),
        (Split(account_for_embedding=True, account_for_loss=True), 4, 22, (1, 2, 3, 6)),
        (Split(layers=(6, 6, 6, 6)), 4, 24, (1,)),
        (Split(layers=(3,) * 8), 4, 24, (2,)),
        (Split(layout="E(t*3|)*7t*3L"), 4, 24, (2,)),
        (Split(spread=(1, 1)), 4, 32, (1, 2, 3)),
    ],
)
def test_numbers_of_chunks_divide_the_layers_of_every_rank(
    split: Split, pipeline: int, layers: int, chunks: tuple[int, ...]
) -> None:
    assert chunks_of(split, layers, pipeline) == chunks


def test_the_head_weighs_as_many_layers_as_it_has_weights() -> None:
    """Llama 3 8B: 128256 x 4096 of the head against 218 million of a layer."""
    assert head_layers(LLAMA_3_8B) == 2
    assert head_layers(gpt(12288, 96, 96)) == 0


@pytest.mark.parametrize("layers", [29, 61, 126])
@pytest.mark.parametrize("pipeline", [2, 3, 4, 5, 7, 8, 16, 24])
def test_layers_that_do_not_divide_are_placed(layers: int, pipeline: int) -> None:
    """61 layers as DeepSeek-V3 has, 126 as Llama 3.1 405B, 29 for another prime."""
    found = splits(llama(layers), pipeline, SPLIT_KINDS, None)
    for virtual, split in found:
        placement = place(layers, pipeline, virtual, split, 0)
        assert sum(len(placement.layers_of(stage)) for stage in range(pipeline)) == layers
        assert all(placement.layers_of(stage) for stage in range(pipeline))
    assert {virtual for virtual, _ in found} >= {1, *([2] if 2 * pipeline <= layers else [])}


@example(layers=4, pipeline=2, chunks=None)
@given(layers=st.integers(1, 130), pipeline=st.integers(1, 64), chunks=st.sampled_from([None, (1,), (2, 4)]))
def test_no_placement_comes_twice(layers: int, pipeline: int, chunks: tuple[int, ...] | None) -> None:
    if pipeline > layers:
        return
    placed = []
    for virtual, split in splits(llama(layers), pipeline, SPLIT_KINDS, chunks):
        assert chunks is None or virtual in chunks
        try:
            placed.append(place(layers, pipeline, virtual, split, 0))
        except ValueError:
            assert split == EVEN, "only what nothing else divides is left to be refused by a rule"
    assert len(set(placed)) == len(placed)


def test_the_405b_model_loses_a_layer_at_each_end_as_its_authors_placed_it() -> None:
    """Llama 3 report (arXiv 2407.21783), section 3.3.2: one layer fewer on the first and on the last of 16 stages."""
    found = splits(llama(126), 16, SPLIT_KINDS, None)
    assert (1, Split(account_for_embedding=True, account_for_loss=True)) in found


def test_a_heavy_head_lightens_the_last_stage() -> None:
    kinds = {kind_of(split) for _, split in splits(LLAMA_3_8B, 4, SPLIT_KINDS, None)}
    assert kinds == {"even", "first_last"}
    counts = [len(place(32, 4, 1, split).layers_of(3)) for virtual, split in splits(LLAMA_3_8B, 4, SPLIT_KINDS, (1,))]
    assert counts == [8, 6]


@pytest.mark.parametrize("kind", SPLIT_KINDS)
def test_kinds_can_be_limited(kind: str) -> None:
    found = splits(llama(61), 8, (kind,), None)  # type: ignore[arg-type]
    assert {kind_of(split) for _, split in found} <= {kind, "even"}
