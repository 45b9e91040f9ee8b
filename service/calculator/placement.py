"""Which layers a pipeline rank holds (memory_model.md, section 1.3; Megatron's transformer_block.py)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from service.calculator.layout import Path, Placement


class PlacementError(ValueError):
    """Layers cannot be placed as asked; the message names the rule."""


@dataclass(frozen=True, slots=True)
class Split:
    """How layers are divided over ranks: at most one of the four forms, or `spread` as evenly as can be.

    `spread` counts the embedding and the head as so many layers; what does not divide goes to the earlier stages.
    """

    layers: tuple[int, ...] | None = None
    first: int | None = None
    last: int | None = None
    account_for_embedding: bool = False
    account_for_loss: bool = False
    layout: str | None = None
    spread: tuple[int, int] | None = None


EVEN = Split()


PATHS: Mapping[str, Path] = {"zbv": "v", "v_half": "v", "v_min": "v", "dualpipev": "v", "dualpipe": "both_ways"}
"""The way through the chunks of the schedules that do not loop (memory_model.md, section 1.3)."""


def place(
    layers: int, pipeline: int, virtual: int, split: Split = EVEN, depths: int | None = None, path: Path = "loop"
) -> Placement:
    """Layer indexes of every chunk of every rank, and the rank that a layout string gives to multi-token prediction.

    A layout string must place as many depths of prediction as `depths` (None: unknown).
    Raises `PlacementError` when the layers cannot be divided by the rule that the split names.
    """
    if path == "both_ways":
        one_way = place(layers, pipeline, 1, split).chunks
        return Placement(
            tuple((down[0], up[0]) for down, up in zip(one_way, reversed(one_way), strict=True)), path=path
        )
    counts = _chunk_counts(layers, pipeline, virtual, split, path)
    ranges: list[list[tuple[int, ...]]] = [[] for _ in range(pipeline)]
    start = 0
    for chunk in range(virtual):
        back = path == "v" and chunk % 2 == 1
        for rank in reversed(range(pipeline)) if back else range(pipeline):
            stop = start + counts[rank][chunk]
            ranges[rank].append(tuple(range(start, stop)))
            start = stop
    if start != layers:
        raise PlacementError(f"the stages hold {start} layers, the model has {layers}")
    prediction = _prediction_rank(split.layout, pipeline, depths) if split.layout is not None else None
    return Placement(tuple(tuple(chunks) for chunks in ranges), prediction, path)


def _chunk_counts(layers: int, pipeline: int, virtual: int, split: Split, path: Path) -> list[list[int]]:
    if split.layout is not None:
        return _from_layout(split.layout, pipeline)
    if split.layers is not None:
        return _from_list(split.layers, pipeline, virtual)
    if split.first is not None or split.last is not None:
        return _first_and_last(layers, pipeline, virtual, split)
    if split.spread is not None:
        return _spread(layers, pipeline, virtual, split.spread, path)
    return _even(layers, pipeline, virtual, split, path)


def _from_list(listed: tuple[int, ...], pipeline: int, virtual: int) -> list[list[int]]:
    if len(listed) == pipeline * virtual:
        return [list(listed[rank * virtual : (rank + 1) * virtual]) for rank in range(pipeline)]
    if len(listed) == pipeline:
        return [_divide(count, virtual, "layers of each rank") for count in listed]
    raise PlacementError(f"{len(listed)} layer counts given for {pipeline} ranks of {virtual} chunks")


def _divide(layers: int, parts: int, what: str) -> list[int]:
    if layers % parts:
        raise PlacementError(f"{what}: {layers} cannot be divided by {parts}")
    return [layers // parts] * parts


def _first_and_last(layers: int, pipeline: int, virtual: int, split: Split) -> list[list[int]]:
    ends = [each for each in (split.first, split.last) if each is not None]
    middle, ranks = layers - sum(ends), pipeline - len(ends)
    if middle < 0 or (ranks == 0) != (middle == 0):
        raise PlacementError(f"{middle} layers are left for {ranks} middle ranks")
    inner = _divide(middle, ranks, "layers of the middle ranks") if ranks else []
    counts = [*([split.first] if split.first is not None else []), *inner]
    counts += [split.last] if split.last is not None else []
    return [_divide(count, virtual, "layers of each rank") for count in counts]


def _even(layers: int, pipeline: int, virtual: int, split: Split, path: Path) -> list[list[int]]:
    extra = int(split.account_for_embedding) + int(split.account_for_loss)
    per_rank = _divide(layers + extra, pipeline, "layers (with the embedding and loss counted as asked)")
    counts = [_divide(count, virtual, "layers of each rank") for count in per_rank]
    head_rank = 0 if path == "v" else -1
    counts[0][0] -= int(split.account_for_embedding)
    counts[head_rank][-1] -= int(split.account_for_loss)
    if counts[0][0] < 0 or counts[head_rank][-1] < 0:
        raise PlacementError("a chunk would hold fewer than no layers")
    return counts


def _spread(layers: int, pipeline: int, virtual: int, weights: tuple[int, int], path: Path) -> list[list[int]]:
    """Stages of equal weight, the first ones one layer more. Source: torchtitan distributed/pipeline_parallel.py."""
    stages = pipeline * virtual
    per_stage, extra = divmod(layers + sum(weights), stages)
    sizes = [per_stage + (stage < extra) for stage in range(stages)]
    sizes[0] -= weights[0]
    sizes[-1] -= weights[1]
    if min(sizes) < 0:
        raise PlacementError(f"{layers} layers are too few for {stages} stages with an embedding and a head")
    counts: list[list[int]] = [[] for _ in range(pipeline)]
    for chunk in range(virtual):
        back = path == "v" and chunk % 2 == 1
        for position in range(pipeline):
            counts[pipeline - 1 - position if back else position].append(sizes[chunk * pipeline + position])
    return counts


def _from_layout(layout: str, pipeline: int) -> list[list[int]]:
    """Parse Megatron's layout string: groups in order of chunk, then rank; `t` is a layer.

    Source: megatron/core/transformer/pipeline_parallel_layer_layout.py.
    """
    groups = expand_layout(layout).split("|")
    if len(groups) % pipeline:
        raise PlacementError(f"the layout has {len(groups)} groups, not a multiple of {pipeline} ranks")
    return [[group.count("t") for group in groups[rank::pipeline]] for rank in range(pipeline)]


def _prediction_rank(layout: str, pipeline: int, depths: int | None) -> int | None:
    """The rank whose last chunk holds the depths of prediction, all of them, behind the last layer; None without any.

    Source: megatron/core/transformer/pipeline_parallel_layer_layout.py, validate_layer_layout.
    """
    groups = expand_layout(layout).split("|")
    holders = [index for index, group in enumerate(groups) if "m" in group]
    found = [groups[index].count("m") for index in holders]
    if depths is not None and sum(found) != depths:
        raise PlacementError(f"the layout places {sum(found)} depths of prediction, the model has {depths}")
    if not holders:
        return None
    if len(holders) > 1:
        raise PlacementError("all depths of prediction must be in the same chunk")
    if holders[0] < len(groups) - pipeline:
        raise PlacementError("the depths of prediction must be in the last chunk of a rank")
    behind = groups[holders[0]].rpartition("m")[2] + "".join(groups[holders[0] + 1 :])
    if "t" in behind:
        raise PlacementError("layers must be placed before the depths of prediction")
    return holders[0] % pipeline


_LETTER = re.compile(r"(?P<body>[EtmL|])\*(?P<times>\d{1,5})")
_GROUP = re.compile(r"\((?P<body>[EtmL|]*)\)(?:\*(?P<times>\d{1,5}))?")


def expand_layout(layout: str, limit: int = 20_000) -> str:
    """Write out the repetitions of a layout string: `(tt|)*3` and `t*2`.

    Raises `PlacementError` on an unknown letter, an unbalanced bracket or an expansion past `limit` characters.
    """
    text = re.sub(r"[\s,]", "", layout)
    while (group := _LETTER.search(text) or _GROUP.search(text)) is not None:
        body, times = group["body"], int(group["times"] or 1)
        if len(text) + len(body) * times > limit:
            raise PlacementError(f"the layout is longer than {limit} characters")
        text = text[: group.start()] + body * times + text[group.end() :]
    unknown = sorted(set(text) - set("EtmL|"))
    if unknown:
        raise PlacementError(f"cannot read {' '.join(unknown)} in the layout; E, t, m, L, |, brackets and *n are known")
    return text
