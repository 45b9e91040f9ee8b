"""Pools of the caching allocator: memory freed on one stream is not used by another.

So what is reserved is the sum of the streams' own peaks, whenever each of them falls (torch c10/cuda
CUDACachingAllocator.cpp: blocks belong to the stream that allocated them). FSDP2 makes its gathered buffers and its
sharded gradients on streams of their own: torchtitan's runs of 8B on 8 H100 reserve 6.9 GiB more with it than with
collectives on the computing stream (PR 1881).
"""

from collections.abc import Sequence

from service.calculator.ledger import FROM_START, Category, Line, Moment, Scope, Stream, Tensor, Totals
from service.calculator.units import Int, maximum

SOURCE = "torch c10/cuda/CUDACachingAllocator.cpp; torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"


def pool_lines(lines: Sequence[Line], moments: Sequence[Moment], together: Int) -> list[Line]:
    """What the pools hold beyond the peak of all lines, which is `together`."""
    if {line.stream for line in lines} <= {Stream.COMPUTE}:
        return []
    by_stream: dict[Stream, list[Line]] = {}
    for line in lines:
        by_stream.setdefault(line.stream, []).append(line)
    pools: Int = 0
    for own in by_stream.values():
        largest = Totals(own).peak(moments)
        for line in own:
            if not line.alive:
                largest = maximum(largest, line.bytes)
        pools = pools + largest
    tensor = Tensor("allocator.streams", Category.ALLOCATOR, (pools - together,), "uint8", (), f"modelled: {SOURCE}")
    return [Line(tensor, 1, FROM_START, Scope.RESERVED, modelled=True)]
