"""Pools of memory that the caching allocator keeps for each stream."""

from dataclasses import replace

from service.calculator.estimate import estimate
from service.calculator.ledger import Category, Line, Moment, Stream, Tensor, Totals
from service.calculator.pools import pool_lines
from service.calculator.recipe import Sharding
from tests.builders import H100, LLAMA_3_8B, layout, recipe

FORWARD, STEP = Moment.WARMUP_FORWARD, Moment.OPTIMIZER_STEP
BOTH = (FORWARD, STEP)


def line(size: int, *alive: Moment, stream: Stream = Stream.COMPUTE) -> Line:
    return Line(Tensor("x", Category.ACTIVATIONS, (size,), "uint8", (), "test"), 1, alive, stream=stream)


def beyond(*lines: Line) -> int:
    found = pool_lines(lines, BOTH, Totals(lines).peak(BOTH))
    return int(found[0].bytes) if found else 0


def test_one_stream_has_one_pool() -> None:
    assert pool_lines([line(5, FORWARD), line(3, STEP)], BOTH, 5) == []


def test_memory_of_another_stream_is_not_used_when_it_is_free() -> None:
    """8 bytes of gradients exist at the step alone, yet their pool is there at the forward's peak of 10."""
    assert beyond(line(10, FORWARD), line(8, STEP, stream=Stream.REDUCE)) == 8


def test_what_is_alive_at_the_peak_anyway_is_not_counted_again() -> None:
    assert beyond(line(10, FORWARD), line(8, *BOTH, stream=Stream.REDUCE)) == 0


def test_a_buffer_between_moments_sizes_its_pool() -> None:
    assert beyond(line(10, FORWARD), line(2, FORWARD, stream=Stream.GATHER), line(7, stream=Stream.GATHER)) == 5


def test_fsdp_reserves_a_pool_for_sharded_gradients() -> None:
    """8B on 8 ranks: 4P/8 bytes of fp32 gradients, and a layer and the head while the one hands over to the other."""
    sharded = recipe(
        framework="fsdp2",
        transformer_impl="titan",
        attention="sdpa",
        parameters="fp32",
        master=None,
        vocabulary_multiple=1,
    )
    spread = layout(LLAMA_3_8B, data=8, sharding_stage=3, shards=8, micro_batches=1, sequence_length=8192)
    (stage,) = estimate(LLAMA_3_8B, spread, sharded, H100).stages
    pools = [each for each in stage.lines if each.tensor.name == "allocator.streams"]
    whole, layer, head = 8030261248, 218112000, 4096 * 128256 + 4096
    assert int(pools[0].bytes) == 4 * whole // 8 + 2 * (layer + head)
    shared = replace(sharded, sharding=Sharding(own_streams=False))
    (alone,) = estimate(LLAMA_3_8B, spread, shared, H100).stages
    gaps = sum(int(each.bytes) for each in alone.lines if each.tensor.name == "allocator.fragmentation")
    assert stage.reserved_bytes - int(pools[0].bytes) == alone.reserved_bytes - gaps
    assert gaps >= alone.allocated_bytes * 3 // 100
    assert stage.allocated_bytes == alone.allocated_bytes
