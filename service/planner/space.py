"""The layouts that a search goes through: allowed values on each axis, and the cluster and batch that stay fixed."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from service.calculator.layout import Granularity, Method, Routing
from service.calculator.model import LatentAttention, Mlp, Model, Moe
from service.calculator.placement import EVEN, Split
from service.calculator.recipe import Recipe
from service.calculator.schedules.schedule import CHUNKS
from service.planner.splits import SPLIT_KINDS, Choices, SplitKind, chunks_of, divisors, splits

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
    from the others; in `expert_tensor` 0 stands for the tensor degree, and None for that or 1. `splits` are ways to
    divide layers over stages, None those that `split_kinds` allow for the model. `sequence` holds 0 and 1. Of the
    `schedules` those are tried that can have a number of chunks; the framework has `every_schedule`. In `group` 0
    stands for what the framework takes by itself, and nothing at all for multiples of the pipeline degree; in
    `sharding_degree` 0 stands for all ranks, or as many as make so many `copies`. What is offloaded stays so.
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
    group: tuple[int, ...] = (0,)
    data: tuple[int, ...] | None = None
    expert: tuple[int, ...] = (1,)
    expert_tensor: tuple[int, ...] | None = (1,)
    sharding_stage: tuple[int, ...] = (0, 1)
    sharding_degree: tuple[int, ...] = (0,)
    copies: int = 1
    checkpointing: tuple[Choice, ...] = (Choice(),)
    splits: tuple[Split, ...] | None = (EVEN,)
    split_kinds: tuple[SplitKind, ...] = SPLIT_KINDS
    context_method: str = "p2p"
    routing: Routing = BALANCED
    offload: tuple[str, ...] = ()
    offload_layers: int | None = None
    overlap_grad_reduce: bool = False
    overlap_param_gather: bool = False
    overlap_expert: bool = False
    framework: str = "megatron-core"
    torch_pipelines: bool = False
    every_schedule: tuple[str, ...] = ("1f1b", "interleaved")

    def stages_of(self, model: Model, pipeline: int) -> Choices:
        """Numbers of chunks per rank to try, each with a way to divide the layers."""
        if self.splits is None:
            return splits(model, pipeline, self.split_kinds, self.virtual)
        found = {
            (virtual, split): None
            for split in self.splits
            for virtual in self.virtual or chunks_of(split, model.layers, pipeline)
        }
        return tuple(found)

    def schedules_of(self, pipeline: int, virtual: int) -> tuple[str, ...]:
        """Schedules to try with so many chunks on a rank; one rank with one chunk has nothing to schedule."""
        if pipeline == virtual == 1:
            return ("1f1b",)
        return tuple(name for name in self.schedules if _takes(name, virtual))

    def groups_of(self, pipeline: int, schedule: str) -> tuple[int, ...]:
        """Micro-batches to run in a row on one chunk; 0 is the framework's own number."""
        if schedule != "interleaved":
            return (0,)
        return self.group or (0, *(pipeline << power for power in range(1, DOUBLED_GROUPS + 1)))


DOUBLED_GROUPS = 3
"""Groups of up to 2^3 times the pipeline degree are tried where any size is allowed."""


def _takes(schedule: str, virtual: int) -> bool:
    """Whether a schedule runs so many chunks on each rank; looped ones need more than one."""
    chunks = CHUNKS[schedule]
    return virtual > 1 if chunks is None else chunks == virtual


@dataclass(frozen=True, slots=True)
class Reach:
    """What a framework can split and save: the axes that a search of its layouts opens.

    `uneven` opens ways to divide layers over stages, `hybrid` sharding over part of the data-parallel ranks.
    `every_schedule` are those that it runs beside the usual two; they are searched when asked for.
    """

    tensor: bool = False
    pipeline: bool = False
    context: bool = False
    expert: bool = False
    interleaves: bool = False
    uneven: bool = False
    hybrid: bool = False
    sequence: tuple[int, ...] = (0, 1)
    sharding_stage: tuple[int, ...] = (0,)
    selective: bool = False
    segments: bool = False
    blocks: bool = False
    every_schedule: tuple[str, ...] = ("1f1b", "interleaved")


REACH: Mapping[str, Reach] = MappingProxyType(
    {
        "megatron-core": Reach(
            tensor=True,
            pipeline=True,
            context=True,
            expert=True,
            interleaves=True,
            uneven=True,
            sharding_stage=(0, 1),
            selective=True,
            segments=True,
            blocks=True,
        ),
        "nanotron": Reach(tensor=True, pipeline=True, sharding_stage=(0, 1)),
        "deepspeed": Reach(sharding_stage=(0, 1, 2, 3)),
        "megatron-deepspeed": Reach(tensor=True, pipeline=True, sharding_stage=(0, 1, 2, 3), segments=True),
        "fsdp2": Reach(context=True, sharding_stage=(2, 3), hybrid=True),
        "torchtitan": Reach(
            tensor=True,
            pipeline=True,
            context=True,
            expert=True,
            interleaves=True,
            sequence=(1,),
            sharding_stage=(2, 3),
            hybrid=True,
            every_schedule=("gpipe", "1f1b", "interleaved", "looped_bfs", "interleaved_zb", "zbv", "dualpipev"),
        ),
        "fsdp1": Reach(sharding_stage=(2, 3), hybrid=True),
        "hf-trainer": Reach(sharding_stage=(0,)),
        "ddp": Reach(),
    }
)
"""By framework: degrees that its launchers take, sharding stages, and forms of checkpointing (importers.md, section
5). torchtitan splits the sequence wherever it splits tensors, and has the schedules of torch.distributed.pipelining;
with layers of transformers, FSDP and DeepSpeed split no tensors and have no pipeline."""


def reach_of(recipe: Recipe) -> Reach:
    """What the framework of a recipe can split and save, with the layers that it runs."""
    name = _WITH_LAYERS.get((recipe.framework, recipe.transformer_impl), recipe.framework)
    return REACH.get(name, Reach())


_WITH_LAYERS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("deepspeed", "local"): "megatron-deepspeed",
        ("deepspeed", "transformer_engine"): "megatron-deepspeed",
        ("fsdp2", "titan"): "torchtitan",
    }
)


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
    degrees, reach = divisors(world_size), reach_of(recipe)
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
        sharding_degree=(0, *_nodes(world_size, gpus_per_node)) if reach.hybrid else (0,),
        checkpointing=_choices(model, recipe, reach),
        splits=None if reach.uneven else (EVEN,),
        framework=recipe.framework,
        torch_pipelines=recipe.habits.torch_pipelines,
        every_schedule=reach.every_schedule,
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


def _nodes(world_size: int, gpus_per_node: int) -> tuple[int, ...]:
    """GPUs of one node, of two, and so on: over so many of them, states are sharded and then copied."""
    nodes = divisors(world_size // gpus_per_node) if world_size % gpus_per_node == 0 else ()
    return tuple(gpus_per_node * each for each in nodes[:-1])


def _choices(model: Model, recipe: Recipe, reach: Reach) -> tuple[Choice, ...]:
    selective = selective_choices(model, recipe) if reach.selective else ()
    whole = Choice("full", "uniform", depths=None if reach.segments else (1,))
    blocks = (Choice("full", "block", partial=True),) if reach.blocks else ()
    return (Choice(), *selective, whole, *blocks)
