"""What activation checkpointing stores, and what it brings back for the backward (memory_model.md, section 6).

Per micro-batch in flight a stage holds the stored tensors; one segment at a time is computed again. So the recomputed
segment counts once, however many micro-batches are in flight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.calculator.activations.autograd.forward import WEIGHT_CAST
from service.calculator.activations.saved import Saved
from service.calculator.layout import Checkpointing, Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Moment, Tensor
from service.calculator.offload import moves, on_gpu, on_host
from service.calculator.units import Int, ceil_div, maximum, minimum

PERMILLE = 1000
BUDGET = "torch._functorch.config.activation_memory_budget"


@dataclass(frozen=True, slots=True)
class Stored:
    """Layers of one kind on a stage, each counted once for every micro-batch in flight.

    `whole` keep all that their backward reads, `inputs` is the number of layer inputs kept instead of layers, and
    `thinned` layers keep their input and what operation-level checkpointing or the compiler's budget chose.
    """

    whole: Int
    inputs: Int
    thinned: Int


def stored_lines(
    tensors: Sequence[Saved], layout: Layout, layers: Sequence[int], in_flight: Sequence[Int]
) -> list[Line]:
    """Lines of one kind of layer: `layers[j]` of them in chunk j, `in_flight[j]` micro-batches of that chunk."""
    checkpointing, lines = layout.checkpointing, _stored(tensors, layout, layers, in_flight)
    kept = [on_gpu(checkpointing, line, layers) if moved else line for line, moved in lines]
    return kept + _weight_cache(tensors, checkpointing, layers) + _of_the_step_before(tensors, checkpointing, layers)


def offloaded_lines(
    tensors: Sequence[Saved], layout: Layout, layers: Sequence[int], in_flight: Sequence[Int]
) -> list[Line]:
    """What the host holds of one kind of layer."""
    checkpointing, lines = layout.checkpointing, _stored(tensors, layout, layers, in_flight)
    return [on_host(checkpointing, line, layers) for line, moved in lines if moved]


def _weight_cache(tensors: Sequence[Saved], checkpointing: Checkpointing, layers: Sequence[int]) -> list[Line]:
    """16-bit copies of weights that autocast caches until its forward ends, of layers that do not store them.

    Source: torch ATen/autocast_mode.cpp, cached_cast; transformers computes its loss inside the same forward.
    """
    if checkpointing.granularity == "none":
        return []
    casts = [each for each in tensors if each.tensor.name.endswith(WEIGHT_CAST)]
    again = sum(checkpointed_layers(checkpointing, layers))
    return [Line(each.tensor, again * each.copies, (Moment.WARMUP_FORWARD, Moment.LOSS)) for each in casts]


def _of_the_step_before(tensors: Sequence[Saved], checkpointing: Checkpointing, layers: Sequence[int]) -> list[Line]:
    """What the micro-batch before left, until this one's loss takes the place of its: of layers that run once."""
    once = sum(layers) - sum(checkpointed_layers(checkpointing, layers))
    alive = (Moment.WARMUP_FORWARD, Moment.LOSS)
    return [
        Line(replace(each.tensor, name=f"before.{each.tensor.name}"), once * each.copies, alive)
        for each in tensors
        if each.outlives
    ]


def _stored(
    tensors: Sequence[Saved], layout: Layout, layers: Sequence[int], in_flight: Sequence[Int]
) -> list[tuple[Line, bool]]:
    """What is stored, on the GPU or not, and whether it is moved to the host."""
    checkpointing = layout.checkpointing
    held = stored_layers(checkpointing, layers, in_flight)
    modules = set(_modules(checkpointing))
    lines: list[tuple[Line, bool]] = []
    for each in tensors:
        moved = moves(checkpointing, each.tensor.name, is_input=each.is_input)
        if each.is_input:
            stored = _stored_input(each.tensor, layout)
            whole, inputs = held.whole * each.copies, held.inputs + held.thinned
            if stored is each.tensor:
                lines.append((Line(stored, whole + inputs, WITH_ACTIVATIONS), moved))
            else:
                lines.append((Line(stored, inputs, WITH_ACTIVATIONS), moved))
                lines.append((Line(each.tensor, whole, WITH_ACTIVATIONS), moved))
        elif not modules.intersection(each.dropped_by):
            count = held.whole * each.copies + held.thinned * each.cached
            lines.append((Line(each.tensor, count, WITH_ACTIVATIONS), moved))
    if checkpointing.budget_permille is not None:
        lines.append((_budget_line("budget.kept", tensors, checkpointing.budget_permille, held.thinned), False))
    return lines


def recompute_lines(tensors: Sequence[Saved], layout: Layout, layers: Sequence[int]) -> list[Line]:
    """The segment that is being recomputed: whole layers under full, the dropped tensors of one layer under selective.

    The segment's first input is among the stored ones already.
    """
    checkpointing = layout.checkpointing
    if checkpointing.granularity == "none" or not any(layers):
        return []
    modules = _modules(checkpointing)
    if modules:
        dropped = [each for each in tensors if set(modules).intersection(each.dropped_by)]
        return [_recomputed(each.tensor, each.copies) for each in dropped]
    if checkpointing.budget_permille is not None:
        line = _budget_line("budget.recomputed", tensors, PERMILLE - checkpointing.budget_permille, 1)
        return [replace(line, alive=(Moment.RECOMPUTE,))]
    length = segment_length(checkpointing, max(layers))
    lines = []
    for each in tensors:
        first = minimum(length, 1)
        count = (length - first) * each.copies if each.is_input else length * (each.copies - each.cached * each.copies)
        lines.append(_recomputed(each.tensor, count))
    return lines


def stored_layers(checkpointing: Checkpointing, layers: Sequence[int], in_flight: Sequence[Int]) -> Stored:
    """How the layers of one kind are stored over all chunks of a stage."""
    again = checkpointed_layers(checkpointing, layers)
    thinned = bool(checkpointing.op) or checkpointing.budget_permille is not None
    segments = [ceil_div(count, checkpointing.num_layers) if _uniform(checkpointing) else count for count in again]
    whole = [count - recomputed for count, recomputed in zip(layers, again, strict=True)]
    return Stored(
        whole=_over_chunks(in_flight, whole),
        inputs=0 if thinned else _over_chunks(in_flight, segments),
        thinned=_over_chunks(in_flight, again) if thinned else 0,
    )


def checkpointed_layers(checkpointing: Checkpointing, layers: Sequence[int]) -> list[Int]:
    """Layers of each chunk whose forward runs again, all of it or what operation-level checkpointing leaves out."""
    found: list[Int] = []
    before = 0
    for count in layers:
        if checkpointing.every:
            # torchtitan counts its layers through all chunks of a rank: activation_checkpoint.py at 2025-02.
            found.append((before + count) // checkpointing.every - before // checkpointing.every)
            before += count
        elif checkpointing.op or checkpointing.budget_permille is not None:
            found.append(count)
        else:
            found.append(recomputed_layers(checkpointing, count))
    return found


def segment_length(checkpointing: Checkpointing, layers: int) -> Int:
    """Layers that are recomputed together: k under uniform, one under block (none when no layer is checkpointed)."""
    if checkpointing.granularity != "full":
        return 1
    if checkpointing.method == "block":
        return minimum(checkpointing.num_layers, 1)
    return minimum(checkpointing.num_layers, layers)


def recomputed_layers(checkpointing: Checkpointing, layers: int) -> Int:
    """Layers of a chunk whose whole forward runs again."""
    if checkpointing.granularity == "selective" and checkpointing.every:
        return layers // checkpointing.every
    if checkpointing.granularity != "full":
        return 0
    if checkpointing.method == "block":
        return minimum(checkpointing.num_layers, layers)
    return layers


def _uniform(checkpointing: Checkpointing) -> bool:
    return checkpointing.granularity == "full" and checkpointing.method != "block"


def _modules(checkpointing: Checkpointing) -> tuple[str, ...]:
    return checkpointing.modules if checkpointing.granularity == "selective" else ()


def _over_chunks(in_flight: Sequence[Int], per_chunk: Sequence[Int]) -> Int:
    total: Int = 0
    for micro_batches, count in zip(in_flight, per_chunk, strict=True):
        total = total + micro_batches * count
    return total


def _stored_input(tensor: Tensor, layout: Layout) -> Tensor:
    """A stored input can be split over the tensor group.

    Megatron's `--distribute-saved-activations` (tensor_parallel/random.py); DeepSpeed's `partition_activations`.
    """
    if not layout.checkpointing.distribute_saved or layout.checkpointing.granularity != "full":
        return tensor
    *rows, hidden = tensor.shape
    shards = maximum(layout.tensor // layout.sequence_shards, 1)
    return replace(tensor, shape=(*rows, ceil_div(hidden, shards)), sharded_by=(*tensor.sharded_by, "tensor"))


def _budget_line(name: str, tensors: Sequence[Saved], permille: int, count: Int) -> Line:
    """The share of a layer's tensors that the compiler's budget keeps, its input aside.

    The partitioner solves a knapsack over the tensors, so that it keeps at most this share; modelled.
    """
    total: Int = 0
    for each in tensors:
        if not each.is_input:
            total = total + each.tensor.bytes * each.copies
    share = total * permille // PERMILLE
    tensor = Tensor(name, Category.ACTIVATIONS, (share,), "uint8", ("tensor", "context"), BUDGET)
    return Line(tensor, count, WITH_ACTIVATIONS, modelled=True)


def _recomputed(tensor: Tensor, count: Int) -> Line:
    return Line(replace(tensor, name=f"recompute.{tensor.name}"), count, (Moment.RECOMPUTE,))
