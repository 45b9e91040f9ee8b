"""The layouts that a search goes through: allowed values on each axis, and the cluster and batch that stay fixed."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import gcd
from types import MappingProxyType

from service.calculator.layout import Granularity, Method, Routing
from service.calculator.model import LatentAttention, Mlp, Model, Moe
from service.calculator.placement import EVEN, Split, expand_layout
from service.calculator.recipe import Recipe
from service.calculator.schedules.schedule import CHUNKS
from service.calculator.units import ceil_div

BALANCED = Routing()


@dataclass(frozen=True, slots=True)
class Choice:
    """One kind of activation checkpointing, with the depths to try.

    `depths` are segment lengths (uniform) or checkpointed layers of a chunk (block); None means every depth that a
    chunk has. `partial` leaves out the depth at which block checkpoints a whole chunk, which uniform's depth 1 is too.
    `distribute_saved` splits stored inputs over the tensor group. `op`, `every` and `budget_permille` are those of
    `Checkpointing`.
    """

    granularity: Granularity = "none"
    method: Method | None = None
    modules: tuple[str, ...] = ()
    depths: tuple[int, ...] | None = None
    partial: bool = False
    distribute_saved: bool = False
    op: tuple[str, ...] = ()
    every: int = 0
    budget_permille: int | None = None

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
    from the others; `expert_tensor` None the tensor degree or 1. `group` None is the pipeline degree. `sequence` holds
    0 and 1. Of the `schedules` those are tried that can have a number of chunks. What is offloaded stays so.
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
    schedules: tuple[str, ...] = ("1f1b", "interleaved")
    data: tuple[int, ...] | None = None
    expert: tuple[int, ...] = (1,)
    expert_tensor: tuple[int, ...] | None = (1,)
    sharding_stage: tuple[int, ...] = (0, 1)
    checkpointing: tuple[Choice, ...] = (Choice(),)
    split: Split = EVEN
    group: int | None = None
    context_method: str = "p2p"
    routing: Routing = BALANCED
    offload: tuple[str, ...] = ()
    offload_layers: int | None = None
    overlap_grad_reduce: bool = False
    overlap_param_gather: bool = False
    framework: str = "megatron-core"

    def schedules_of(self, pipeline: int, virtual: int) -> tuple[str, ...]:
        """Schedules to try with so many chunks on a rank; one rank with one chunk has nothing to schedule."""
        if pipeline == virtual == 1:
            return ("1f1b",)
        return tuple(name for name in self.schedules if _takes(name, virtual))

    def chunks_of(self, layers: int, pipeline: int) -> tuple[int, ...]:
        """Numbers of chunks per rank to try: those that every rank's layers are a multiple of.

        One rank has nothing to interleave with, and a split that lists chunks says how many there are.
        """
        if self.virtual is not None:
            return self.virtual
        listed = listed_chunks(self.split)
        if listed:
            return (max(listed // pipeline, 1),)
        if self.split.spread is not None:
            return _spread_chunks(layers + sum(self.split.spread), pipeline)
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


def _spread_chunks(weight: int, pipeline: int) -> tuple[int, ...]:
    """Chunks per rank that some number of layers per stage gives, and torchtitan's default of two.

    Source: torchtitan distributed/pipeline_parallel.py, which cuts `weight` layers into stages of a stated length.
    """
    if pipeline == 1:
        return (1,)
    stages = {int(ceil_div(weight, length)) for length in range(1, weight + 1)}
    chunks = {each // pipeline for each in stages if each % pipeline == 0}
    return tuple(sorted(chunks | {1} | ({2} if weight >= 2 * pipeline else set())))


def _takes(schedule: str, virtual: int) -> bool:
    """Whether a schedule runs so many chunks on each rank; looped ones need more than one."""
    chunks = CHUNKS[schedule]
    return virtual > 1 if chunks is None else chunks == virtual


@dataclass(frozen=True, slots=True)
class Reach:
    """What a framework can split and save: the axes that a search of its layouts opens."""

    tensor: bool = False
    pipeline: bool = False
    context: bool = False
    expert: bool = False
    interleaves: bool = False
    sequence: tuple[int, ...] = (0, 1)
    sharding_stage: tuple[int, ...] = (0,)
    selective: bool = False
    segments: bool = False
    blocks: bool = False


REACH: Mapping[str, Reach] = MappingProxyType(
    {
        "megatron-core": Reach(
            tensor=True,
            pipeline=True,
            context=True,
            expert=True,
            interleaves=True,
            sharding_stage=(0, 1),
            selective=True,
            segments=True,
            blocks=True,
        ),
        "nanotron": Reach(tensor=True, pipeline=True, sharding_stage=(0, 1)),
        "deepspeed": Reach(tensor=True, pipeline=True, sharding_stage=(0, 1, 2, 3), segments=True),
        "fsdp2": Reach(tensor=True, pipeline=True, context=True, interleaves=True, sequence=(1,), sharding_stage=(3,)),
        "fsdp1": Reach(sharding_stage=(3,)),
        "hf-trainer": Reach(sharding_stage=(0,)),
        "ddp": Reach(),
    }
)
"""By framework: degrees that its launchers take, sharding stages, and forms of checkpointing (importers.md, section
5). torchtitan splits the sequence wherever it splits tensors."""


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
    """Every layout of a cluster that the recipe's framework has.

    Tensor parallelism stays inside a node unless `tensor_across_nodes`. Limits and what is fixed are set with
    `dataclasses.replace`. The recipe's kernel must be settled (`Recipe.on`): what selective checkpointing is worth
    depends on it.
    """
    degrees, reach = divisors(world_size), REACH.get(recipe.framework, Reach())
    widest = world_size if tensor_across_nodes else min(gpus_per_node, world_size)
    experts = max((kind.mlp.experts for kind in model.kinds if isinstance(kind.mlp, Moe)), default=1)
    shared = tuple(each for each in divisors(experts) if world_size % each == 0)
    return SearchSpace(
        world_size=world_size,
        global_batch=global_batch,
        sequence_length=sequence_length,
        tensor=tuple(each for each in degrees if each <= widest) if reach.tensor else (1,),
        pipeline=tuple(each for each in degrees if each <= model.layers) if reach.pipeline else (1,),
        context=degrees if reach.context else (1,),
        micro=divisors(global_batch),
        sequence=reach.sequence,
        virtual=None if reach.interleaves else (1,),
        expert=shared if reach.expert else (1,),
        expert_tensor=None if reach.expert and model.has_experts else (1,),
        sharding_stage=reach.sharding_stage,
        checkpointing=_choices(model, recipe, reach),
        framework=recipe.framework,
    )


def selective_choices(model: Model, recipe: Recipe) -> tuple[Choice, ...]:
    """Every set of modules that Megatron can checkpoint alone and that the model has.

    The core of attention is among them where it keeps its scores; with a fused kernel it would save next to nothing
    (memory_model.md, section 6).
    """
    found = ["core_attn"] if recipe.scores_stored else []
    found.append("layernorm")
    if any(isinstance(kind.attention, LatentAttention) for kind in model.kinds):
        found.append("mla_up_proj")
    if model.has_experts:
        found.append("moe_act")
    if any(isinstance(kind.mlp, Mlp) for kind in model.kinds):
        found.append("mlp")
    sets = (each for size in range(1, len(found) + 1) for each in combinations(found, size))
    return tuple(Choice("selective", modules=each) for each in sets)


def _choices(model: Model, recipe: Recipe, reach: Reach) -> tuple[Choice, ...]:
    selective = selective_choices(model, recipe) if reach.selective else ()
    whole = Choice("full", "uniform", depths=None if reach.segments else (1,))
    blocks = (Choice("full", "block", partial=True),) if reach.blocks else ()
    return (Choice(), *selective, whole, *blocks)


def divisors(number: int) -> tuple[int, ...]:
    """All divisors, ascending."""
    small = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return tuple(sorted({*small, *(number // each for each in small)}))
