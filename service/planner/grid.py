"""The layouts of a space as int64 columns, after the framework's rules: in groups that one evaluation can take.

Layouts that share pipeline, chunks, schedule and kind of checkpointing form a group; the other axes are columns.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from service.calculator.layout import Checkpointing, Layout, Placement
from service.calculator.model import Model
from service.calculator.placement import PATHS, PlacementError, place
from service.calculator.units import ceil_div, where
from service.calculator.validity import Facts, complete, model_facts, rules_of
from service.planner.problem import Column, Truths
from service.planner.space import Choice, SearchSpace

BLOCK = 65_536
"""Layouts evaluated together at most: bounds memory, and the time between two looks at a request to stop."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """The axes that do not decide a group, one row for each combination."""

    tensor: Column
    sequence: Column
    context: Column
    data: Column
    micro: Column
    accumulation: Column
    sharding_stage: Column
    expert: Column
    expert_tensor: Column

    def __len__(self) -> int:
        return len(self.tensor)

    def take(self, rows: NDArray[np.int64] | Truths) -> "Degrees":
        """Some of the rows, by index or mask."""
        return Degrees(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Group:
    """Layouts that share everything but their degrees and the depth of checkpointing."""

    space: SearchSpace
    pipeline: int
    virtual: int
    schedule: str
    placement: Placement
    choice: Choice
    degrees: Degrees
    depths: Column

    def __len__(self) -> int:
        return len(self.degrees) * len(self.depths)

    def blocks(self) -> Iterator[Column]:
        """Indexes of all layouts, at most `BLOCK` at a time."""
        for start in range(0, len(self), BLOCK):
            yield np.arange(start, min(start + BLOCK, len(self)), dtype=np.int64)

    def shallowest(self) -> Layout:
        """One layout for each row of degrees, all at the first depth."""
        return self.layouts(np.arange(len(self.degrees), dtype=np.int64) * len(self.depths))

    def without(self, rows: Truths) -> "Group":
        """The group without some rows of degrees, at every depth."""
        return replace(self, degrees=self.degrees.take(np.logical_not(rows)))

    def layouts(self, indexes: Column) -> Layout:
        """Many layouts as one, each varying field an int64 array."""
        rows = self.degrees.take(indexes // len(self.depths))
        space, choice = self.space, self.choice
        depth = self.depths[indexes % len(self.depths)]
        return Layout(
            tensor=rows.tensor,
            sequence_parallel=rows.sequence,
            context=rows.context,
            data=rows.data,
            pipeline=self.pipeline,
            virtual=self.virtual,
            schedule=self.schedule,
            group=space.group or self.pipeline,
            placement=self.placement,
            micro_batch=rows.micro,
            micro_batches=rows.accumulation,
            sequence_length=space.sequence_length,
            sharding_stage=rows.sharding_stage,
            shards=where(rows.sharding_stage, rows.data * rows.context, 1),
            checkpointing=Checkpointing(
                granularity=choice.granularity,
                method=choice.method,
                num_layers=depth,
                modules=choice.modules,
                distribute_saved=choice.distribute_saved,
                op=choice.op,
                every=choice.every,
                budget_permille=choice.budget_permille,
                offload=space.offload,
                offload_layers=space.offload_layers,
            ),
            context_method=space.context_method,
            expert=1 if space.expert == (1,) else rows.expert,
            expert_tensor=1 if space.expert_tensor == (1,) else rows.expert_tensor,
            routing=space.routing,
            overlap_grad_reduce=space.overlap_grad_reduce,
            overlap_param_gather=space.overlap_param_gather,
        )

    def layout(self, index: int) -> Layout:
        """One layout in Python ints."""
        many = self.layouts(np.array([index], dtype=np.int64))
        one = {
            each.name: value.item() if isinstance(value := getattr(many, each.name), np.ndarray) else value
            for each in fields(many)
        }
        depth = int(self.depths[index % len(self.depths)])
        return Layout(**{**one, "checkpointing": replace(many.checkpointing, num_layers=depth)})


@dataclass(frozen=True, slots=True)
class Part:
    """What one pipeline degree, number of chunks and schedule contributes: its groups, and what the rules refused."""

    groups: tuple[Group, ...]
    rejected: Counter[str]


def parts(model: Model, space: SearchSpace) -> Iterator[Part]:
    """The whole space, one pipeline degree, number of chunks and schedule at a time."""
    for pipeline in space.pipeline:
        for virtual in space.chunks_of(model.layers, pipeline):
            for schedule in space.schedules_of(pipeline, virtual):
                yield _part(model, space, pipeline, virtual, schedule)


def space_size(model: Model, space: SearchSpace) -> int:
    """Number of layouts in a space, those that a rule refuses included."""
    return sum(part.rejected.total() + sum(map(len, part.groups)) for part in parts(model, space))


def _part(model: Model, space: SearchSpace, pipeline: int, virtual: int, schedule: str) -> Part:
    degrees, broken = _admitted(model, space, pipeline, virtual, schedule)
    per_chunk = ceil_div(model.layers, pipeline * virtual)
    weight = sum(len(each.depths_of(int(per_chunk))) for each in space.checkpointing)
    rejected = Counter({code: count * weight for code, count in broken.items()})
    if len(degrees) == 0:
        return Part((), rejected)
    try:
        path = PATHS.get(schedule, "loop")
        placement = place(model.layers, pipeline, virtual, space.split, path=path)
    except PlacementError:
        rejected["stage_layers"] += len(degrees) * weight
        return Part((), rejected)
    deepest = max(len(layers) for rank in placement.chunks for layers in rank)
    groups = []
    for choice in space.checkpointing:
        depths = np.array(choice.depths_of(deepest), dtype=np.int64)
        allowed = _distributable(degrees) if choice.distribute_saved else degrees
        rejected["distributed_saves"] += (len(degrees) - len(allowed)) * len(depths)
        if len(depths) and len(allowed):
            groups.append(Group(space, pipeline, virtual, schedule, placement, choice, allowed, depths))
    return Part(tuple(groups), +rejected)


def _distributable(degrees: Degrees) -> Degrees:
    """Megatron's rule M19: stored inputs are split over a tensor group that does not split the sequence already."""
    return degrees.take((degrees.tensor > 1) & (degrees.sequence == 0))


def _admitted(
    model: Model, space: SearchSpace, pipeline: int, virtual: int, schedule: str
) -> tuple[Degrees, Counter[str]]:
    """Rows that no rule refuses, and how many each rule refused first."""
    facts = complete(_facts(model, space, pipeline, virtual, schedule))
    tensor, data, accumulation = facts.tensor, facts.data, facts.accumulation
    alive = np.ones(len(np.atleast_1d(np.asarray(tensor))), dtype=np.bool_)
    counts: Counter[str] = Counter()
    for rule in rules_of(space.framework):
        mask = rule.broken(facts) if rule.kind != "W" else None
        if mask is not None:
            first = alive & mask
            counts[rule.code] += int(np.count_nonzero(first))
            alive &= np.logical_not(first)
    columns = (
        tensor,
        facts.sequence,
        facts.context,
        data,
        facts.micro,
        accumulation,
        facts.sharding_stage,
        facts.expert,
        facts.expert_tensor,
    )
    rows = Degrees(*(np.broadcast_to(np.asarray(each, dtype=np.int64), alive.shape) for each in columns))
    return rows.take(alive), +counts


def _facts(model: Model, space: SearchSpace, pipeline: int, virtual: int, schedule: str) -> Facts:
    """All combinations of the free axes, each layout once."""
    pairs, experts = _tensor_pairs(space), _expert_pairs(space)
    axes = (np.arange(len(pairs)), space.context, space.micro, space.sharding_stage, np.arange(len(experts)))
    pair, context, micro, stage, expert_pair = (each.ravel() for each in np.meshgrid(*axes, indexing="ij"))
    tensor, sequence = np.array(pairs, dtype=np.int64).T[:, pair]
    expert, expert_tensor = np.array(experts, dtype=np.int64).T[:, expert_pair]
    expert_tensor = np.where(expert_tensor == 0, tensor, expert_tensor)
    grid = tensor * pipeline * context
    data = space.world_size // grid
    # Sharding on one rank, and experts split like tensors where these are not, repeat another layout.
    kept = (data * context > 1) | (stage == min(space.sharding_stage))
    kept &= (np.array(experts, dtype=np.int64)[expert_pair, 1] != 0) | (tensor > 1)
    if space.data is not None:
        kept &= np.isin(data, space.data) | (data * grid != space.world_size)
    listed = (space.split.layers, space.split.layout, space.split.spread) != (None, None, None)
    extra = int(space.split.account_for_embedding) + int(space.split.account_for_loss)
    return replace(
        model_facts(model),
        world_size=space.world_size,
        tensor=tensor[kept],
        sequence=sequence[kept],
        pipeline=pipeline,
        virtual=virtual,
        context=context[kept],
        expert=expert[kept],
        expert_tensor=expert_tensor[kept],
        interleaved=int(schedule == "interleaved"),
        group=space.group or pipeline,
        micro=micro[kept],
        global_batch=space.global_batch,
        sequence_length=space.sequence_length,
        sharding_stage=stage[kept],
        layers=None if listed else model.layers,
        extra_layers=extra,
        first=space.split.first or 0,
        last=space.split.last or 0,
    )


def _tensor_pairs(space: SearchSpace) -> list[tuple[int, int]]:
    """Tensor degrees with and without sequence parallelism, which is no choice at degree 1."""
    return sorted({(tensor, sequence if tensor > 1 else 0) for tensor in space.tensor for sequence in space.sequence})


def _expert_pairs(space: SearchSpace) -> list[tuple[int, int]]:
    """Expert and expert-tensor degrees; 0 stands for the tensor degree."""
    return [(expert, inner) for expert in space.expert for inner in space.expert_tensor or (0, 1)]
