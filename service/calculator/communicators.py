"""Buffers of NCCL's and RCCL's communicators: one for each process group that a layout really uses (section 8).

They are seen only by the driver. A group is connected when it is first used: around a ring for scatters, gathers and
messages between neighbours, along trees too where sums are reduced to all ranks.
"""

from dataclasses import dataclass

from service.calculator.device import Accelerator
from service.calculator.layout import Layout
from service.calculator.ledger import FROM_START, Category, Line, Scope, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.units import MIB, Int, where

CHANNELS = 16
CONNECTION_BYTES = 12 * MIB
"""One connection of one channel: 10 MiB on the receiving and 2 MiB on the sending side (nccl init.cc, transport/p2p.cc:
4 MiB, 0.5 MiB and 4.6875 MiB for the three protocols)."""

TREE_CONNECTIONS = 2
"""Connections that a tree adds to the ring's on a middle rank. Ring and tree together take 576 MiB; 544 MB between two
GPUs and 688 MB between more are reported on A100 (nccl issue 964)."""

NVLS_BYTES = 256 * MIB
"""Multicast buffers of a communicator of a whole Hopper node: 16 channels of two 128 KiB chunks for 8 heads
(nccl transport/nvls.cc)."""

NVLS_RANKS = 8
RCCL_FIRST_BYTES = 1024 * MIB
RCCL_FURTHER_BYTES = 666 * MIB
"""RCCL's first communicator and each further one, as reported on MI250X (LUMI-AI-Guide issue 111)."""


@dataclass(frozen=True, slots=True)
class Group:
    """A process group: its ranks, and whether sums are reduced to all of them."""

    name: str
    ranks: Int
    reduces: Int = 0


def process_groups(model: Model, layout: Layout, recipe: Recipe) -> list[Group]:
    """The groups that a rank takes part in and uses; those of one rank are never connected.

    Source: megatron/core/parallel_state.py and process_groups_config.py; torchtitan distributed/parallel_dims.py.
    """
    sharded = where(layout.sharding_stage, 1, 0)
    replicas = layout.data * layout.context
    groups = [
        Group("tensor", layout.tensor, 1 - layout.sequence_parallel),
        Group("pipeline", layout.pipeline),
        Group("context", layout.context),
        Group("data", where(sharded, layout.shards, replicas), 1 - sharded),
        Group("replicas", where(sharded, replicas // layout.shards, 1), 1),
        Group("world", layout.world_size, 1),
    ]
    if model.has_experts:
        groups += [Group("expert", layout.expert * layout.expert_tensor), Group("expert_data", layout.expert_shards)]
    if recipe.habits.model_group:
        # Norms of gradients are summed over the ranks that hold one replica of the model.
        groups.append(Group("model", layout.tensor * layout.pipeline, 1))
        if model.tied_embeddings:
            groups.append(Group("embedding", min(layout.pipeline, 2), 1))
    return groups


def communicator_lines(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> list[Line]:
    """One line for each group of more than one rank."""
    rccl = accelerator.vendor == "AMD"
    lines = []
    for group in process_groups(model, layout, recipe):
        used = where(group.ranks - 1, 1, 0)
        if rccl:
            size: Int = RCCL_FIRST_BYTES if group.name == "world" else RCCL_FURTHER_BYTES
            source = "memory_model.md 8 RCCL"
        else:
            size, source = _nccl_bytes(group, accelerator), "memory_model.md 8 NCCL"
        tensor = Tensor(
            f"communicator.{group.name}", Category.COMMUNICATION, (size,), "uint8", (), f"modelled: {source}"
        )
        lines.append(Line(tensor, used, FROM_START, Scope.DEVICE, modelled=True))
    return lines


def _nccl_bytes(group: Group, accelerator: Accelerator) -> Int:
    ring = CHANNELS * CONNECTION_BYTES
    multicast = NVLS_BYTES if accelerator.architecture == "sm90" else 0
    whole_node = where(group.ranks // NVLS_RANKS, 1, 0)
    return ring * (1 + TREE_CONNECTIONS * group.reduces) + multicast * whole_node
