"""Layers on stages by Megatron's rules (memory_model.md, section 1.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.calculator.placement import PlacementError, Split, expand_layout, place


def counts(layers: int, pipeline: int, virtual: int = 1, split: Split | None = None) -> list[list[int]]:
    placed = place(layers, pipeline, virtual, split or Split())
    return [[len(chunk) for chunk in rank] for rank in placed.chunks]


def test_even() -> None:
    assert counts(32, 4) == [[8], [8], [8], [8]]


def test_chunk_j_of_rank_r_follows_chunk_j_of_the_rank_before() -> None:
    placed = place(8, 2, 2)
    assert placed.chunks == (((0, 1), (4, 5)), ((2, 3), (6, 7)))
    assert placed.layers_of(1) == (2, 3, 6, 7)


def test_first_and_last_share_what_is_left() -> None:
    assert counts(30, 4, split=Split(first=7, last=7)) == [[7], [8], [8], [7]]
    assert counts(7, 3, split=Split(last=1)) == [[3], [3], [1]]


def test_the_embedding_and_the_loss_count_as_layers_when_asked() -> None:
    split = Split(account_for_embedding=True, account_for_loss=True)
    assert counts(30, 4, split=split) == [[7], [8], [8], [7]]
    assert counts(14, 4, 2, split) == [[1, 2], [2, 2], [2, 2], [2, 1]]


def test_counts_per_rank_or_per_chunk() -> None:
    assert counts(10, 2, split=Split(layers=(4, 6))) == [[4], [6]]
    assert counts(10, 2, 2, Split(layers=(4, 6))) == [[2, 2], [3, 3]]
    assert counts(10, 2, 2, Split(layers=(1, 2, 3, 4))) == [[1, 2], [3, 4]]


def test_a_layout_string_is_read_chunk_by_chunk() -> None:
    assert counts(7, 2, 2, Split(layout="Et|(tt|)*2ttL")) == [[1, 2], [2, 2]]


@pytest.mark.parametrize(
    ("layout", "rank"), [("Ett|ttmL", 1), ("Ett|tt|tm|L", 2), ("Ettt|ttt|m|L", 2), ("Et|t|t|t|t|t|m|L", 2)]
)
def test_depths_of_prediction_stand_where_the_layout_says(layout: str, rank: int) -> None:
    groups, pipeline = layout.count("|") + 1, min(layout.count("|") + 1, 4)
    placed = place(layout.count("t"), pipeline, groups // pipeline, Split(layout=layout), depths=1)
    assert [each for each in range(pipeline) if placed.predicts(each)] == [rank]


def test_depths_of_prediction_are_on_the_last_rank_unless_a_layout_says_more() -> None:
    assert [place(8, 4, 1, depths=1).predicts(rank) for rank in range(4)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("layout", "depths", "message"),
    [
        ("Ett|ttL", 1, "places 0 depths of prediction, the model has 1"),
        ("Et|tm|mL", 2, "in the same chunk"),
        ("Et|tm|t|L", 1, "last chunk of a rank"),
        ("Et|mttL", 1, "layers must be placed before"),
    ],
)
def test_depths_of_prediction_out_of_place(layout: str, depths: int, message: str) -> None:
    groups = layout.count("|") + 1
    pipeline = 2 if groups == 4 else groups
    with pytest.raises(PlacementError, match=message):
        place(layout.count("t"), pipeline, groups // pipeline, Split(layout=layout), depths)


@pytest.mark.parametrize(
    ("text", "written_out"),
    [("Et*2|(tt|)*3tL", "Ett|tt|tt|tt|tL"), ("((t|)*2)*2", "t|t|t|t|"), ("E t , t | L", "Ett|L"), ("(t)", "t")],
)
def test_repetitions_are_written_out(text: str, written_out: str) -> None:
    assert expand_layout(text) == written_out


@pytest.mark.parametrize(
    ("layers", "pipeline", "virtual", "split", "message"),
    [
        (30, 4, 1, Split(), "30 cannot be divided by 4"),
        (8, 4, 3, Split(), "cannot be divided by 3"),
        (8, 2, 1, Split(layers=(4, 5)), "the stages hold 9 layers"),
        (8, 2, 1, Split(layers=(4, 2, 2)), "3 layer counts given"),
        (8, 2, 1, Split(first=4, last=3), "1 layers are left for 0 middle ranks"),
        (8, 4, 1, Split(first=9), "-1 layers are left"),
        (8, 2, 1, Split(layout="Et|x"), "cannot read x"),
        (8, 2, 1, Split(layout="(t|"), r"cannot read \("),
        (8, 2, 1, Split(layout="((((t*99999)*99999)*99999)*99999)"), "longer than"),
        (8, 2, 1, Split(layout="t|t|t"), "not a multiple of 2"),
    ],
)
def test_what_cannot_be_placed_says_why(layers: int, pipeline: int, virtual: int, split: Split, message: str) -> None:
    with pytest.raises(PlacementError, match=message):
        place(layers, pipeline, virtual, split)


@given(st.integers(1, 16), st.integers(1, 4), st.integers(1, 8))
def test_every_layer_is_placed_once(pipeline: int, virtual: int, each: int) -> None:
    placed = place(pipeline * virtual * each, pipeline, virtual)
    found = sorted(layer for rank in placed.chunks for chunk in rank for layer in chunk)
    assert found == list(range(pipeline * virtual * each))


def test_a_v_comes_back_to_the_first_rank() -> None:
    """Rank r holds stages r and 2p-1-r, so the first rank holds both the embedding and the head."""
    placed = place(8, 2, 2, path="v")
    assert placed.chunks == (((0, 1), (6, 7)), ((2, 3), (4, 5)))
    assert [placed.embedding_chunk(rank) for rank in range(2)] == [0, None]
    assert [placed.head_chunk(rank) for rank in range(2)] == [1, None]


def test_a_v_counts_the_loss_on_the_first_rank() -> None:
    split = Split(account_for_embedding=True, account_for_loss=True)
    placed = place(30, 4, 2, split, path="v")
    assert [[len(chunk) for chunk in rank] for rank in placed.chunks] == [[3, 3], [4, 4], [4, 4], [4, 4]]


def test_both_ways_holds_the_model_twice() -> None:
    """DualPipe: one copy runs down the ranks, the other up."""
    placed = place(8, 4, 2, path="both_ways")
    assert placed.chunks[0] == ((0, 1), (6, 7))
    assert placed.chunks[3] == ((6, 7), (0, 1))
    assert [placed.embedding_chunk(rank) for rank in range(4)] == [0, None, None, 1]
    assert [placed.head_chunk(rank) for rank in range(4)] == [1, None, None, 0]


def test_torchtitan_spreads_layers_with_embedding_and_head_counted_as_one_each() -> None:
    """32 layers on 4 stages: 34 weigh 9, 9, 8, 8, of which the ends give one to the embedding and the head."""
    placed = place(32, 4, 1, Split(spread=(1, 1)))
    assert [len(placed.layers_of(rank)) for rank in range(4)] == [8, 9, 8, 7]


def test_layers_that_do_not_divide_go_to_the_earlier_stages() -> None:
    assert [len(place(32, 5, 1, Split(spread=(0, 0))).layers_of(rank)) for rank in range(5)] == [7, 7, 6, 6, 6]


def test_spread_chunks_follow_the_path_of_a_v() -> None:
    chunks = place(10, 2, 2, Split(spread=(0, 0)), path="v").chunks
    assert [[len(chunk) for chunk in rank] for rank in chunks] == [[3, 2], [3, 2]]
    assert chunks[0][1] == (8, 9)


def test_too_few_layers_cannot_be_spread() -> None:
    with pytest.raises(PlacementError):
        place(2, 4, 1, Split(spread=(3, 1)))
