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
from service.calculator.placement import PATHS, PlacementError, Split, place
from service.calculator.schedules import torch_group
from service.calculator.units import ceil_div
from service.calculator.validity import DIRECTIONS, Facts, complete, model_facts, rules_of
from service.planner.problem import Column, Truths
from service.planner.space import Choice, SearchSpace

BLOCK = 65_536
"""Layouts evaluated together at most: bounds memory, and the time between two looks at a request to stop."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """The axes that do not decide a group, one row for each combination, numbered."""

    tensor: Column
    sequence: Column
    context: Column
    data: Column
    micro: Column
    accumulation: Column
    sharding_stage: Column
    shards: Column
    group: Column
    expert: Column
    expert_tensor: Column
    number: Column

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
    split: Split
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

    @property
    def is_ordered(self) -> bool:
        """Whether memory falls from each depth to the next."""
        return self.choice.method == "block" and len(self.depths) > 1

    def rows(self, indexes: Column) -> Column:
        """Rows of degrees of some layouts."""
        return indexes // len(self.depths)

    def places(self, indexes: Column) -> Column:
        """Places of some layouts among the depths."""
        return indexes % len(self.depths)

    def at(self, rows: Column, places: Column) -> Column:
        """Indexes of the layouts with these rows of degrees, each at its place among the depths."""
        return rows * len(self.depths) + places

    def shallowest(self) -> Layout:
        """One layout for each row of degrees, all at the first depth."""
        return self.layouts(np.arange(len(self.degrees), dtype=np.int64) * len(self.depths))

    def without(self, rows: Truths) -> "Group":
        """The group without some rows of degrees, at every depth."""
        return replace(self, degrees=self.degrees.take(np.logical_not(rows)))

    def layouts(self, indexes: Column) -> Layout:
        """Many layouts as one, each varying field an int64 array."""
        rows = self.degrees.take(self.rows(indexes))
        space, choice = self.space, self.choice
        depth = self.depths[self.places(indexes)]
        return Layout(
            tensor=rows.tensor,
            sequence_parallel=rows.sequence,
            context=rows.context,
            data=rows.data,
            pipeline=self.pipeline,
            virtual=self.virtual,
            schedule=self.schedule,
            group=rows.group,
            placement=self.placement,
            micro_batch=rows.micro,
            micro_batches=rows.accumulation,
            sequence_length=space.sequence_length,
            sharding_stage=rows.sharding_stage,
            shards=rows.shards,
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
            overlap_expert=space.overlap_expert,
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


@dataclass(frozen=True, slots=True)
class Stages:
    """A pipeline: its degree, chunks per rank, schedule, and how layers are divided."""

    pipeline: int
    virtual: int
    schedule: str
    split: Split


def parts(model: Model, space: SearchSpace) -> Iterator[Part]:
    """The whole space, one pipeline at a time."""
    for pipeline in space.pipeline:
        for virtual, split in space.stages_of(model, pipeline):
            for schedule in space.schedules_of(pipeline, virtual):
                yield _part(model, space, Stages(pipeline, virtual, schedule, split))


def space_size(model: Model, space: SearchSpace) -> int:
    """Number of layouts in a space, those that a rule refuses included."""
    return sum(part.rejected.total() + sum(map(len, part.groups)) for part in parts(model, space))


def _part(model: Model, space: SearchSpace, stages: Stages) -> Part:
    degrees, broken = _admitted(model, space, stages)
    per_chunk = ceil_div(model.layers, stages.pipeline * stages.virtual)
    weight = sum(len(each.depths_of(int(per_chunk))) for each in space.checkpointing)
    rejected = Counter({code: count * weight for code, count in broken.items()})
    if len(degrees) == 0:
        return Part((), rejected)
    try:
        path = PATHS.get(stages.schedule, "loop")
        depths = model.prediction.depths if model.prediction else 0
        placement = place(model.layers, stages.pipeline, stages.virtual, stages.split, depths, path)
    except PlacementError:
        rejected["stage_layers"] += len(degrees) * weight
        return Part((), rejected)
    deepest = max(len(layers) for rank in placement.chunks for layers in rank)
    groups = []
    for choice in space.checkpointing:
        tried = np.array(choice.depths_of(deepest), dtype=np.int64)
        allowed = _distributable(degrees) if choice.distribute_saved else degrees
        rejected["distributed_saves"] += (len(degrees) - len(allowed)) * len(tried)
        if len(tried) and len(allowed):
            kind = (stages.pipeline, stages.virtual, stages.schedule, stages.split, placement)
            groups.append(Group(space, *kind, choice, allowed, tried))
    return Part(tuple(groups), +rejected)


def _distributable(degrees: Degrees) -> Degrees:
    """Megatron's rule M19: stored inputs are split over a tensor group that does not split the sequence already."""
    return degrees.take((degrees.tensor > 1) & (degrees.sequence == 0))


def _admitted(model: Model, space: SearchSpace, stages: Stages) -> tuple[Degrees, Counter[str]]:
    """Rows that no rule refuses, and how many each rule refused first."""
    facts = complete(_facts(model, space, stages))
    alive = np.ones(len(np.atleast_1d(np.asarray(facts.tensor))), dtype=np.bool_)
    counts: Counter[str] = Counter()
    for rule in rules_of(space.framework):
        mask = rule.broken(facts) if rule.kind != "W" else None
        if mask is not None:
            first = alive & mask
            counts[rule.code] += int(np.count_nonzero(first))
            alive &= np.logical_not(first)
    columns = (
        facts.tensor,
        facts.sequence,
        facts.context,
        facts.data,
        facts.micro,
        facts.accumulation,
        facts.sharding_stage,
        facts.shards,
        facts.group,
        facts.expert,
        facts.expert_tensor,
        np.arange(len(alive)),
    )
    rows = Degrees(*(np.broadcast_to(np.asarray(each, dtype=np.int64), alive.shape) for each in columns))
    return rows.take(alive), +counts


def _facts(model: Model, space: SearchSpace, stages: Stages) -> Facts:
    """All combinations of the free axes, each layout once."""
    pairs, experts, split = _tensor_pairs(space), _expert_pairs(space), stages.split
    runs = space.groups_of(stages.pipeline, stages.schedule)
    axes = (
        np.arange(len(pairs)),
        space.context,
        space.micro,
        space.sharding_stage,
        np.arange(len(experts)),
        space.sharding_degree,
        runs,
    )
    pair, context, micro, stage, expert_pair, degree, run = (
        each.ravel() for each in np.meshgrid(*(np.array(axis, dtype=np.int64) for axis in axes), indexing="ij")
    )
    tensor, sequence = np.array(pairs, dtype=np.int64).T[:, pair]
    expert, expert_tensor = np.array(experts, dtype=np.int64).T[:, expert_pair]
    expert_tensor = np.where(expert_tensor == 0, tensor, expert_tensor)
    grid = tensor * stages.pipeline * context
    data = space.world_size // grid
    ranks = np.maximum(data * context, 1)
    # Sharding on one rank, and experts split like tensors where these are not, repeat another layout.
    kept = (ranks > 1) | (stage == min(space.sharding_stage))
    kept &= (np.array(experts, dtype=np.int64)[expert_pair, 1] != 0) | (tensor > 1) | (1 not in _inner_degrees(space))
    # So does a degree where nothing is sharded, and one that is all ranks.
    kept &= (degree == space.sharding_degree[0]) | (
        (stage > 0) & ((degree != ranks) | (0 not in space.sharding_degree))
    )
    kept &= (run != stages.pipeline) | (0 not in runs)
    if space.data is not None:
        kept &= np.isin(data, space.data) | (data * grid != space.world_size)
    listed = (split.layers, split.layout, split.spread) != (None, None, None)
    shards = np.where(stage > 0, np.where(degree > 0, degree, np.maximum(ranks // space.copies, 1)), 1)
    accumulation = np.maximum(space.global_batch // np.maximum(micro * data, 1), 1)
    own = torch_group(stages.pipeline, accumulation) if space.torch_pipelines else stages.pipeline
    return replace(
        model_facts(model),
        world_size=space.world_size,
        tensor=tensor[kept],
        sequence=sequence[kept],
        pipeline=stages.pipeline,
        virtual=stages.virtual,
        context=context[kept],
        expert=expert[kept],
        expert_tensor=expert_tensor[kept],
        interleaved=int(stages.schedule == "interleaved"),
        directions=DIRECTIONS.get(stages.schedule, 0),
        group=np.where(run > 0, run, own if stages.schedule == "interleaved" else stages.pipeline)[kept],
        micro=micro[kept],
        global_batch=space.global_batch,
        sequence_length=space.sequence_length,
        sharding_stage=stage[kept],
        shards=shards[kept],
        layers=None if listed else model.layers,
        extra_layers=int(split.account_for_embedding) + int(split.account_for_loss),
        first=split.first or 0,
        last=split.last or 0,
    )


def _tensor_pairs(space: SearchSpace) -> list[tuple[int, int]]:
    """Tensor degrees with and without sequence parallelism, which is no choice at degree 1."""
    return sorted({(tensor, sequence if tensor > 1 else 0) for tensor in space.tensor for sequence in space.sequence})


def _expert_pairs(space: SearchSpace) -> list[tuple[int, int]]:
    """Expert and expert-tensor degrees; 0 stands for the tensor degree."""
    return [(expert, inner) for expert in space.expert for inner in _inner_degrees(space)]


def _inner_degrees(space: SearchSpace) -> tuple[int, ...]:
    """Expert-tensor degrees; 0 stands for the tensor degree."""
    return (0, 1) if space.expert_tensor is None else space.expert_tensor
