"""The layouts that a search goes through: allowed values on each axis, and the cluster and batch that stay fixed."""

from dataclasses import dataclass
from math import gcd

from service.calculator.layout import Granularity, Method
from service.calculator.model import Model
from service.calculator.placement import EVEN, Split, expand_layout
from service.calculator.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Choice:
    """One kind of activation checkpointing, with the depths to try.

    `depths` are segment lengths (uniform) or checkpointed layers of a chunk (block); None means every depth that a
    chunk has. `partial` leaves out the depth at which block checkpoints a whole chunk, which uniform's depth 1 is too.
    `distribute_saved` splits stored inputs over the tensor group.
    """

    granularity: Granularity = "none"
    method: Method | None = None
    modules: tuple[str, ...] = ()
    depths: tuple[int, ...] | None = None
    partial: bool = False
    distribute_saved: bool = False

    def depths_of(self, layers: int) -> tuple[int, ...]:
        """Depths to try for chunks of at most `layers` layers."""
        if self.granularity != "full":
            return (1,)
        if self.depths is not None:
            return self.depths
        return tuple(range(1, layers if self.partial else layers + 1))


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Allowed values of every axis; an axis with one value is fixed.

    `virtual` None means every number of chunks that divides a stage's layers; `data` None every degree that follows
    from the others. `group` None is the pipeline degree. `sequence` holds 0 and 1.
    """

    world_size: int
    global_batch: int
    sequence_length: int
    tensor: tuple[int, ...]
    pipeline: tuple[int, ...]
    context: tuple[int, ...]
    micro: tuple[int, ...]
    sequence: tuple[int, ...] = (0, 1)
    virtual: tuple[int, ...] | None = None
    data: tuple[int, ...] | None = None
    sharding_stage: tuple[int, ...] = (0, 1)
    checkpointing: tuple[Choice, ...] = (Choice(),)
    split: Split = EVEN
    group: int | None = None
    context_method: str = "p2p"
    overlap_grad_reduce: bool = False
    overlap_param_gather: bool = False

    def chunks_of(self, layers: int, pipeline: int) -> tuple[int, ...]:
        """Numbers of chunks per rank to try: those that every rank's layers are a multiple of.

        One rank has nothing to interleave with, and a split that lists chunks says how many there are.
        """
        if self.virtual is not None:
            return self.virtual
        listed = listed_chunks(self.split)
        if listed:
            return (max(listed // pipeline, 1),)
        ends = [each for each in (self.split.first, self.split.last) if each is not None]
        counted = int(self.split.account_for_embedding) + int(self.split.account_for_loss)
        shared = layers + counted - sum(ends)
        ranks = pipeline - len(ends)
        if pipeline == 1 or ranks < 1 or shared < 1 or shared % ranks:
            return (1,)
        return divisors(gcd(shared // ranks, *ends))


def listed_chunks(split: Split) -> int:
    """Chunks that a split lists one by one, over all ranks; 0 when it lists none."""
    if split.layout is not None:
        return expand_layout(split.layout).count("|") + 1
    return len(split.layers or ())


def whole_space(
    model: Model,
    recipe: Recipe,
    *,
    world_size: int,
    gpus_per_node: int,
    global_batch: int,
    sequence_length: int,
    tensor_across_nodes: bool = False,
) -> SearchSpace:
    """Every layout of a cluster. Tensor parallelism stays inside a node unless `tensor_across_nodes`.

    Limits and what is fixed are set with `dataclasses.replace`. Selective checkpointing is tried where attention keeps
    its scores, so the recipe's kernel must be settled (`Recipe.on`); with a fused kernel it would save next to nothing
    (memory_model.md, section 6).
    """
    degrees = divisors(world_size)
    widest = world_size if tensor_across_nodes else min(gpus_per_node, world_size)
    selective = (Choice("selective", modules=("core_attn",)),) if recipe.scores_stored else ()
    return SearchSpace(
        world_size=world_size,
        global_batch=global_batch,
        sequence_length=sequence_length,
        tensor=tuple(each for each in degrees if each <= widest),
        pipeline=tuple(each for each in degrees if each <= model.layers),
        context=degrees,
        micro=divisors(global_batch),
        checkpointing=(Choice(), *selective, Choice("full", "uniform"), Choice("full", "block", partial=True)),
    )


def divisors(number: int) -> tuple[int, ...]:
    """All divisors, ascending."""
    small = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return tuple(sorted({*small, *(number // each for each in small)}))
