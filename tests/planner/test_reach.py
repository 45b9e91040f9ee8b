"""How far a plan reaches, and the least recomputation with which a layout fits."""

from dataclasses import replace

import pytest

from service.calculator.estimate import estimate
from service.calculator.layout import Checkpointing, Layout
from service.calculator.units import GIB
from service.calculator.validity import violations
from service.planner.problem import Problem
from service.planner.reach import largest_micro_batch, longest_sequence, smallest_world_size
from service.planner.recompute import least_recomputation
from service.planner.search import Region, search
from service.planner.space import Choice, whole_space
from tests.builders import A100, LLAMA_3_8B, gpt, layout, recipe

PROBLEM = Problem(LLAMA_3_8B, recipe(), A100)
SPACE = whole_space(
    LLAMA_3_8B, recipe(), world_size=16, gpus_per_node=8, global_batch=64, sequence_length=8192
)  # fmt: skip
WINNER = layout(
    LLAMA_3_8B, tensor=2, sequence_parallel=1, data=8, micro_batches=8, sequence_length=8192, sharding_stage=1
)  # fmt: skip


def peak(one: Layout) -> int:
    return estimate(LLAMA_3_8B, one, recipe(), A100).peak.device_bytes


def test_the_smallest_cluster_has_a_layout_that_fits_and_the_next_smaller_has_none() -> None:
    smallest = smallest_world_size([(PROBLEM, SPACE)])
    assert smallest == 2
    for size, fits in ((smallest, True), (smallest // 2, False)):
        on_size = replace(SPACE, world_size=size)
        assert bool(search([Region(PROBLEM, on_size)]).candidates) == fits


def test_a_cluster_too_small_is_doubled() -> None:
    assert smallest_world_size([(PROBLEM, replace(SPACE, world_size=1))]) == 2


def test_without_full_checkpointing_more_gpus_are_needed() -> None:
    longer = replace(SPACE, sequence_length=65536, global_batch=16)
    plain = replace(longer, checkpointing=(Choice(),))
    with_full, without = (smallest_world_size([(PROBLEM, each)]) for each in (longer, plain))
    assert with_full is not None
    assert without is not None
    assert with_full < without


def test_no_cluster_may_be_large_enough() -> None:
    hopeless = replace(A100, usable_bytes=GIB)
    assert smallest_world_size([(replace(PROBLEM, accelerator=hopeless), replace(SPACE, world_size=2))]) is None


def test_the_search_for_a_cluster_can_be_stopped() -> None:
    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        smallest_world_size([(PROBLEM, SPACE)], stop)


def test_the_largest_micro_batch_fits_and_the_next_does_not() -> None:
    largest = largest_micro_batch(PROBLEM, WINNER)
    sizes = [1, 2, 4, 8]
    assert largest in sizes[:-1]
    safe = A100.total_bytes * 88 // 100
    for size, fits in ((largest, True), (2 * largest, False)):
        assert (peak(replace(WINNER, micro_batch=size, micro_batches=8 // size)) <= safe) == fits


def test_a_micro_batch_that_a_rule_forbids_is_left_out() -> None:
    """Interleaving over four stages needs four micro-batches, so eight sequences allow no more than two at a time."""
    model = gpt(256, 8, 8)
    one = layout(model, pipeline=4, virtual=2, micro_batches=8)
    assert largest_micro_batch(Problem(model, recipe(), A100), one) == 2


def test_the_longest_sequence_fits_and_the_next_does_not() -> None:
    longest = longest_sequence(PROBLEM, WINNER)
    assert longest > 8192
    assert longest % 2 == 0
    safe = A100.total_bytes * 88 // 100
    assert peak(replace(WINNER, sequence_length=longest)) <= safe
    assert peak(replace(WINNER, sequence_length=longest + 2)) > safe


def test_the_longest_sequence_keeps_the_rules() -> None:
    ring = replace(WINNER, context=4, data=2, shards=8)
    longest = longest_sequence(PROBLEM, ring)
    assert longest % (4 * 2) == 0
    assert violations(LLAMA_3_8B, replace(ring, sequence_length=longest)) == []


def test_a_table_of_positions_bounds_the_sequence() -> None:
    model = gpt(1024, 4, 16)
    assert longest_sequence(Problem(model, recipe(), A100), layout(model, sequence_length=1024)) == 2048


def test_a_layout_that_is_tight_reaches_as_far_as_tight_ones_do() -> None:
    safe = longest_sequence(PROBLEM, WINNER)
    tight = longest_sequence(PROBLEM, replace(WINNER, sequence_length=safe + 2))
    assert safe < tight
    assert peak(replace(WINNER, sequence_length=tight)) <= A100.usable_bytes
    assert peak(replace(WINNER, sequence_length=tight + 2)) > A100.usable_bytes


def test_a_layout_that_does_not_fit_reaches_no_further() -> None:
    beyond = replace(WINNER, sequence_length=65536, micro_batch=2, micro_batches=4)
    assert peak(beyond) > A100.usable_bytes
    assert longest_sequence(PROBLEM, beyond) == 65536
    assert largest_micro_batch(PROBLEM, beyond) == 2


STAGES = layout(LLAMA_3_8B, pipeline=4, tensor=2, micro_batches=16, sequence_length=8192)


def on_gpu(usable_bytes: int) -> Problem:
    return replace(PROBLEM, accelerator=replace(A100, usable_bytes=usable_bytes, total_bytes=2 * usable_bytes))


def stage_bytes(depth: int) -> list[int]:
    checkpointing = Checkpointing("full", "block", depth)
    found = estimate(LLAMA_3_8B, replace(STAGES, checkpointing=checkpointing), recipe(), A100)
    return [stage.device_bytes for stage in found.stages]


def test_nothing_is_recomputed_where_everything_fits() -> None:
    found = least_recomputation(on_gpu(max(stage_bytes(0))), STAGES)
    assert (found.layers, found.cost_seconds) == ((0, 0, 0, 0), 0.0)
    assert found.step_seconds == float(PROBLEM.time(STAGES).step_seconds)


def test_every_stage_recomputes_the_fewest_layers_with_which_it_fits() -> None:
    usable = stage_bytes(7)[0]
    layers = least_recomputation(on_gpu(usable), STAGES).layers
    assert layers is not None
    assert layers[0] > layers[1] >= layers[2]
    for stage, depth in enumerate(layers):
        assert stage_bytes(depth)[stage] <= usable
        assert depth == 0 or stage_bytes(depth - 1)[stage] > usable


def test_a_stage_of_its_own_costs_less_time_than_the_same_on_all() -> None:
    """The first stage holds most micro-batches and the last one has the head to compute."""
    found = least_recomputation(on_gpu(stage_bytes(7)[0]), STAGES)
    assert found.layers is not None
    assert found.step_seconds is not None
    same = replace(STAGES, checkpointing=Checkpointing("full", "block", max(found.layers)))
    everywhere = least_recomputation(on_gpu(stage_bytes(7)[0]), same)
    plain, all_alike = (float(PROBLEM.time(each).step_seconds) for each in (STAGES, same))
    assert plain <= found.step_seconds < all_alike
    assert everywhere.cost_seconds == pytest.approx(all_alike - plain)
    assert float(PROBLEM.time(STAGES, [max(found.layers)] * 4).step_seconds) == pytest.approx(all_alike)


def test_a_stage_that_never_fits_has_no_answer() -> None:
    found = least_recomputation(on_gpu(GIB), STAGES)
    assert (found.layers, found.step_seconds) == (None, None)


SMALL = gpt(1024, 4, 16, vocabulary=8192)
SMALL_SPACE = whole_space(SMALL, recipe(), world_size=8, gpus_per_node=4, global_batch=16, sequence_length=1024)


@pytest.mark.parametrize("usable_mib", [900, 1000, 1200, 1500, 2000, 3000])
def test_every_answer_is_what_trying_everything_finds(usable_mib: int) -> None:
    """Clusters, micro-batches and sequences one by one, each with the whole search or the single estimate."""
    gpu = replace(A100, usable_bytes=usable_mib << 20, total_bytes=2 * usable_mib << 20)
    problem = Problem(SMALL, recipe(), gpu)

    def fits(one: Layout) -> bool:
        return estimate(SMALL, one, recipe(), gpu).peak.device_bytes <= gpu.usable_bytes

    found = search([Region(problem, SMALL_SPACE)])
    sizes = [
        size
        for size in (1, 2, 4, 8, 16, 32, 64)
        if search([Region(problem, replace(SMALL_SPACE, world_size=size))]).candidates
    ]
    assert found.smallest_world_size == min(sizes, default=None)
    if not found.candidates:
        return
    winner = found.candidates[0].layout
    share = int(winner.micro_batch * winner.micro_batches)
    tried = [
        replace(winner, micro_batch=size, micro_batches=share // size)
        for size in range(1, share + 1)
        if share % size == 0
    ]
    allowed = [each for each in tried if not [rule for rule in violations(SMALL, each) if rule.kind != "W"]]
    assert found.largest_micro_batch == max(int(each.micro_batch) for each in allowed if fits(each))
    step = int(winner.context) * 2 * int(winner.tensor)
    lengths = [each for each in range(step, 2049, step) if fits(replace(winner, sequence_length=each))]
    assert found.longest_sequence is not None
    assert max(lengths) <= found.longest_sequence < max(lengths) + step


def test_the_longest_sequence_is_one_that_the_job_allows() -> None:
    """Megatron refuses a sequence above its own --max-position-embeddings."""
    longest = longest_sequence(PROBLEM, WINNER)
    assert longest_sequence(replace(PROBLEM, positions=longest - 1), WINNER) < longest
