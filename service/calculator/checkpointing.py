"""What activation checkpointing stores, and what it brings back for the backward (memory_model.md, section 6).

Per micro-batch in flight a stage holds the stored tensors; one segment at a time is computed again. So the recomputed
segment counts once, however many micro-batches are in flight.
"""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.activations.saved import Saved
from service.calculator.layout import Checkpointing, Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Line, Moment, Tensor
from service.calculator.units import Int, ceil_div, maximum, minimum


def stored_lines(
    tensors: Sequence[Saved], layout: Layout, layers: Sequence[int], in_flight: Sequence[Int]
) -> list[Line]:
    """Lines of one kind of layer: `layers[j]` of them in chunk j, `in_flight[j]` micro-batches of that chunk."""
    inputs = _over_chunks(in_flight, [_stored_inputs(layout.checkpointing, count) for count in layers])
    whole = _over_chunks(in_flight, [_stored_whole(layout.checkpointing, count) for count in layers])
    modules = set(_modules(layout.checkpointing))
    lines = []
    for each in tensors:
        if each.is_input:
            lines.append(Line(_stored_input(each.tensor, layout), inputs, WITH_ACTIVATIONS))
        elif not modules.intersection(each.dropped_by):
            lines.append(Line(each.tensor, whole * each.copies, WITH_ACTIVATIONS))
    return lines


def recompute_lines(tensors: Sequence[Saved], layout: Layout, layers: Sequence[int]) -> list[Line]:
    """The segment that is being recomputed: whole layers under full, the dropped tensors of one layer under selective.

    The segment's first input is among the stored ones already.
    """
    checkpointing = layout.checkpointing
    if checkpointing.granularity == "none" or not any(layers):
        return []
    if checkpointing.granularity == "selective":
        modules = set(_modules(checkpointing))
        dropped = [each for each in tensors if modules.intersection(each.dropped_by)]
        return [_recomputed(each.tensor, each.copies) for each in dropped]
    length = segment_length(checkpointing, max(layers))
    lines = []
    for each in tensors:
        count = length - minimum(length, 1) if each.is_input else length * each.copies
        lines.append(_recomputed(each.tensor, count))
    return lines


def segment_length(checkpointing: Checkpointing, layers: int) -> Int:
    """Layers that are recomputed together: k under uniform, one under block (none when no layer is checkpointed)."""
    if checkpointing.method == "block":
        return minimum(checkpointing.num_layers, 1)
    return minimum(checkpointing.num_layers, layers)


def recomputed_layers(checkpointing: Checkpointing, layers: int) -> Int:
    """Layers of a chunk whose whole forward runs again."""
    if checkpointing.granularity != "full":
        return 0
    if checkpointing.method == "block":
        return minimum(checkpointing.num_layers, layers)
    return layers


def _stored_inputs(checkpointing: Checkpointing, layers: int) -> Int:
    if checkpointing.granularity == "full" and checkpointing.method == "uniform":
        return ceil_div(layers, checkpointing.num_layers)
    return layers


def _stored_whole(checkpointing: Checkpointing, layers: int) -> Int:
    return layers - recomputed_layers(checkpointing, layers)


def _modules(checkpointing: Checkpointing) -> tuple[str, ...]:
    return checkpointing.modules if checkpointing.granularity == "selective" else ()


def _over_chunks(in_flight: Sequence[Int], per_chunk: Sequence[Int]) -> Int:
    total: Int = 0
    for micro_batches, count in zip(in_flight, per_chunk, strict=True):
        total = total + micro_batches * count
    return total


def _stored_input(tensor: Tensor, layout: Layout) -> Tensor:
    """Megatron can split a stored input over the tensor group (tensor_parallel/random.py)."""
    if not layout.checkpointing.distribute_saved or layout.checkpointing.granularity != "full":
        return tensor
    rows, batch, hidden = tensor.shape
    shards = maximum(layout.tensor // layout.sequence_shards, 1)
    return replace(tensor, shape=(ceil_div(rows, shards), batch, hidden), sharded_by=(*tensor.sharded_by, "tensor"))


def _recomputed(tensor: Tensor, count: Int) -> Line:
    return Line(replace(tensor, name=f"recompute.{tensor.name}"), count, (Moment.RECOMPUTE,))
