"""How one job is spread over GPUs and over time.

Degrees, batch sizes and the depth of checkpointing may be int64 arrays: then one `Layout` stands for many layouts that
share a pipeline, a schedule and a checkpointing method, and every formula evaluates all of them at once.
"""

from dataclasses import dataclass
from typing import Literal

from service.calculator.units import Int, maximum, where

Path = Literal["loop", "v", "both_ways"]
Granularity = Literal["none", "selective", "full"]
Method = Literal["uniform", "block"]


@dataclass(frozen=True, slots=True)
class Checkpointing:
    """Activation checkpointing: what is stored for the backward and what is computed again.

    `num_layers` is the length of a uniform segment, or the number of checkpointed layers of each chunk under block.
    Selective checkpointing names Megatron's `modules`, or the operations and modules whose results are kept (`op`), or
    checkpoints every n-th layer whole (`every`), or gives the compiler a budget (`budget_permille` of what no
    checkpointing stores). `offload` moves layer inputs, everything, or the inputs of named modules to the host, in
    `offload_layers` layers of each stage (None: all).
    """

    granularity: Granularity = "none"
    method: Method | None = None
    num_layers: Int = 1
    modules: tuple[str, ...] = ()
    distribute_saved: bool = False
    op: tuple[str, ...] = ()
    every: int = 0
    budget_permille: int | None = None
    offload: tuple[str, ...] = ()
    offload_layers: int | None = None


@dataclass(frozen=True, slots=True)
class Routing:
    """How tokens reach experts: thousandths of a balanced share.

    `capacity_permille` is what an expert accepts (None: everything, dropless), `padded` that it always gets as much;
    `imbalance_permille` the rows that the fullest rank receives.
    """

    capacity_permille: int | None = None
    padded: bool = False
    imbalance_permille: Int = 1000


@dataclass(frozen=True, slots=True)
class Placement:
    """Which layers each pipeline rank holds: `chunks[rank][chunk]` is a range of layer indexes.

    `path` is the way through the chunks: a `loop` passes the ranks in the same order for every chunk, a `v` comes back
    from the last rank to the first, and `both_ways` runs one whole copy of the model in each direction. Depths of
    multi-token prediction are in the last chunk of the rank `prediction` (None: the last rank).
    """

    chunks: tuple[tuple[tuple[int, ...], ...], ...]
    prediction: int | None = None
    path: Path = "loop"

    def embedding_chunk(self, stage: int) -> int | None:
        """The chunk of a rank that begins with the embedding, if one does."""
        if stage == 0:
            return 0
        return 1 if self.path == "both_ways" and stage == len(self.chunks) - 1 else None

    def head_chunk(self, stage: int) -> int | None:
        """The chunk of a rank that ends with the head and the loss, if one does."""
        last = len(self.chunks) - 1
        if self.path == "both_ways":
            return {last: 0, 0: 1}.get(stage)
        return len(self.chunks[stage]) - 1 if stage == (0 if self.path == "v" else last) else None

    def layers_of(self, stage: int) -> tuple[int, ...]:
        """All layer indexes of a rank, chunk by chunk."""
        return tuple(layer for chunk in self.chunks[stage] for layer in chunk)

    def predicts(self, stage: int) -> bool:
        """Whether the depths of multi-token prediction are on a rank."""
        return stage == (len(self.chunks) - 1 if self.prediction is None else self.prediction)


@dataclass(frozen=True, slots=True)
class Layout:
    """Parallel degrees, batch, schedule, placement, sharding and checkpointing.

    `sequence_parallel` is 0 or 1; `shards` is the number of ranks over which optimizer states are split (1 for none);
    `expert` ranks share the routed experts, and `expert_tensor` ranks split each of them;
    `group` is the number of micro-batches that an interleaved schedule runs in a row on one chunk.
    """

    tensor: Int
    sequence_parallel: Int
    context: Int
    data: Int
    pipeline: int
    virtual: int
    schedule: str
    group: Int
    placement: Placement
    micro_batch: Int
    micro_batches: Int
    sequence_length: Int
    sharding_stage: Int
    shards: Int
    checkpointing: Checkpointing = Checkpointing()
    context_method: str = "p2p"
    expert: Int = 1
    expert_tensor: Int = 1
    routing: Routing = Routing()
    overlap_grad_reduce: bool = False
    overlap_param_gather: bool = False
    overlap_expert: bool = False

    @property
    def local_sequence(self) -> Int:
        """Tokens of one sequence on one GPU, s/c."""
        return self.sequence_length // self.context

    @property
    def tokens(self) -> Int:
        """Tokens of one micro-batch on one GPU, T = s·b/c."""
        return self.local_sequence * self.micro_batch

    @property
    def sequence_shards(self) -> Int:
        """Ranks over which norms and residuals are split: the tensor degree with sequence parallelism, else 1."""
        return where(self.sequence_parallel, self.tensor, 1)

    @property
    def expert_shards(self) -> Int:
        """Ranks over which the states of routed experts are split.

        They are the ranks that hold the same experts, world / (p·e·et), in as many instances as those of other weights.
        Source: megatron/core/parallel_state.py, expert-data-parallel groups.
        """
        ranks = self.tensor * self.shards // (self.expert * self.expert_tensor)
        return where(self.sharding_stage, maximum(ranks, 1), 1)

    @property
    def world_size(self) -> Int:
        """GPUs of the whole job, t·p·c·D."""
        return self.tensor * self.pipeline * self.context * self.data
