"""Ways to divide layers over pipeline stages: evenly, with fewer layers at the heavy ends, or stage by stage.

Megatron takes an even split, a split in which the embedding or the loss counts as a layer, numbers of layers for its
first and last ranks, or a layout written out (memory_model.md, section 1.3). torchtitan and DeepSpeed spread layers by
themselves.
"""

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Final, Literal

from service.calculator.model import Model, Moe
from service.calculator.parameters import count, layer_parameters
from service.calculator.placement import EVEN, Split, expand_layout, place
from service.calculator.units import ceil_div

SplitKind = Literal["even", "account_for", "first_last", "layout"]
SPLIT_KINDS: Final[tuple[SplitKind, ...]] = ("even", "account_for", "first_last", "layout")
"""Kinds of split that a search can be limited to."""

MOST_LIGHTENED = 8
"""Layers at most by which the last stage is lightened."""

WRITTEN_CHUNKS = (1, 2, 3, 4)
"""Chunks of a rank that are tried where stages are uneven, unless others are asked for."""

Choices = tuple[tuple[int, Split], ...]
"""Numbers of chunks per rank, each with a way to divide the layers."""


def splits(model: Model, pipeline: int, kinds: Sequence[SplitKind], chunks: Sequence[int] | None) -> Choices:
    """Ways to divide a model's layers over Megatron's stages, each placement once; `chunks` None means any number.

    Beside even stages those whose ends are lighter, by up to what the head weighs: first by what divides, then by what
    is left over. A layout is written out only where nothing else gives that number of chunks.
    """
    if pipeline == 1:
        return tuple((each, EVEN) for each in ([1] if chunks is None else chunks))
    found: dict[tuple[int, Split], None] = {}
    for split in _ends(model.layers, pipeline, head_layers(model)):
        if kind_of(split) in kinds:
            most = model.layers if kind_of(split) == "even" or chunks is not None else max(WRITTEN_CHUNKS)
            divided = chunks_of(split, model.layers, pipeline)
            found |= dict.fromkeys((each, split) for each in divided if each <= most)
    wanted = [pair for pair in found if chunks is None or pair[0] in chunks]
    if "layout" in kinds and (model.layers % pipeline or chunks is not None):
        done = {virtual for virtual, _ in wanted}
        wanted += _written(model, pipeline, [each for each in chunks or WRITTEN_CHUNKS if each not in done])
    placed: dict[object, tuple[int, Split]] = {}
    for pair in wanted:
        placed.setdefault(_sizes(model, pipeline, *pair), pair)
    return tuple(sorted(placed.values(), key=lambda pair: pair[0])) or tuple((each, EVEN) for each in chunks or (1,))


def kind_of(split: Split) -> SplitKind:
    """Which form a split has; a list of layers counts as a layout."""
    if split.layers is not None or split.layout is not None:
        return "layout"
    if split.first is not None or split.last is not None:
        return "first_last"
    return "account_for" if split.account_for_embedding or split.account_for_loss else "even"


def chunks_of(split: Split, layers: int, pipeline: int) -> tuple[int, ...]:
    """Numbers of chunks per rank to try: those that every rank's layers are a multiple of.

    One rank has nothing to interleave with, and a split that lists chunks says how many there are.
    """
    listed = listed_chunks(split)
    if listed:
        return (max(listed // pipeline, 1),)
    if split.spread is not None:
        return _spread_chunks(layers + sum(split.spread), pipeline)
    ends = [each for each in (split.first, split.last) if each is not None]
    counted = int(split.account_for_embedding) + int(split.account_for_loss)
    shared = layers + counted - sum(ends)
    ranks = pipeline - len(ends)
    if ranks == shared == 0:
        return divisors(gcd(*ends))
    if pipeline == 1 or ranks < 1 or shared < 1 or shared % ranks:
        return (1,)
    return divisors(gcd(shared // ranks, *ends))


def listed_chunks(split: Split) -> int:
    """Chunks that a split lists one by one, over all ranks; 0 when it lists none."""
    if split.layout is not None:
        return expand_layout(split.layout).count("|") + 1
    return len(split.layers or ())


def head_layers(model: Model) -> int:
    """How many layers have as many weights at work as the head, rounded."""
    sizes = [_active(model, kind) for kind in model.pattern]
    return max(round(model.vocab_size * model.hidden_size * len(sizes) / max(sum(sizes), 1)), 0)


def divisors(number: int) -> tuple[int, ...]:
    """All divisors, ascending."""
    small = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return tuple(sorted({*small, *(number // each for each in small)}))


def _sizes(model: Model, pipeline: int, virtual: int, split: Split) -> tuple[tuple[int, ...], ...]:
    """Layers of every chunk of every rank."""
    depths = model.prediction.depths if model.prediction else 0
    return tuple(tuple(map(len, rank)) for rank in place(model.layers, pipeline, virtual, split, depths).chunks)


def _active(model: Model, kind: int) -> int:
    """Weights of a layer that one token meets: of its experts, those that it is sent to."""
    mlp = model.kinds[kind].mlp
    share = mlp.top_k / mlp.experts if isinstance(mlp, Moe) else 1.0
    parameters = layer_parameters(model.kinds[kind], model, 1)
    experts = int(count(each for each in parameters if each.is_expert))
    return int(count(parameters)) - experts + round(experts * share)


def _ends(layers: int, pipeline: int, head: int) -> Iterator[Split]:
    """Splits with stages of x layers but for the ends: a fewer on the first, b fewer on the last."""
    found = False
    for first, last in _lightened(min(head + 1, MOST_LIGHTENED)):
        if (layers + first + last) % pipeline == 0 and (layers + first + last) // pipeline > max(first, last):
            found = True
            yield _split((layers + first + last) // pipeline, first, last)
    if found:
        return
    each = int(ceil_div(layers, pipeline))
    missing = each * pipeline - layers
    for first in {0, missing // 2}:
        if each > missing - first:
            yield _split(each, first, missing - first)


def _lightened(most: int) -> Iterator[tuple[int, int]]:
    """Layers fewer on the first and on the last stage."""
    yield 0, 0
    for last in range(max(most, 1) + 1):
        for first in (0, 1):
            if first or last:
                yield first, last


def _split(each: int, first: int, last: int) -> Split:
    """The simplest form of a split."""
    if max(first, last) <= 1:
        return Split(account_for_embedding=bool(first), account_for_loss=bool(last))
    return Split(first=each - first if first else None, last=each - last)


def _written(model: Model, pipeline: int, chunks: Sequence[int]) -> Iterator[tuple[int, Split]]:
    """Layouts written out, as even as the head lets them be; what is left over lightens the first chunks."""
    for virtual in chunks:
        stages = pipeline * virtual
        if stages > model.layers:
            continue
        head = min(head_layers(model), MOST_LIGHTENED, int(ceil_div(model.layers, stages)) - 1)
        most = int(ceil_div(model.layers + head, stages))
        sizes = [most] * stages
        sizes[-1] -= head
        for stage in range(max(sum(sizes) - model.layers, 0)):
            sizes[stage] -= 1
        if sum(sizes) == model.layers:
            yield virtual, Split(layout=_text(sizes, model.prediction.depths if model.prediction else 0))


def _text(sizes: Sequence[int], depths: int) -> str:
    """Layers of each stage in Megatron's letters: `Ettt|ttt|ttL`."""
    groups = ["t" if size == 1 else f"t*{size}" if size else "" for size in sizes]
    groups[0] = f"E{groups[0]}"
    groups[-1] += "m" * depths + "L"
    return "|".join(groups)


def _spread_chunks(weight: int, pipeline: int) -> tuple[int, ...]:
    """Chunks per rank that some number of layers per stage gives, and torchtitan's default of two.

    Source: torchtitan distributed/pipeline_parallel.py, which cuts `weight` layers into stages of a stated length.
    """
    if pipeline == 1:
        return (1,)
    stages = {int(ceil_div(weight, length)) for length in range(1, weight + 1)}
    chunks = {each // pipeline for each in stages if each % pipeline == 0}
    return tuple(sorted(chunks | {1} | ({2} if weight >= 2 * pipeline else set())))
