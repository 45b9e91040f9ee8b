"""Activations in host memory: what leaves the GPU, and what is on it while it travels (memory_model.md, section 6)."""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.layout import Checkpointing
from service.calculator.ledger import Line
from service.calculator.units import Int, minimum

INPUTS_OF = {
    "attn_norm": ("attention.input",),
    "qkv_linear": ("attention.norm.output",),
    "core_attn": ("attention.query", "attention.key", "attention.value"),
    "attn_proj": ("attention.output", "attention.output_copy"),
    "mlp_norm": ("mlp.input",),
    "expert_fc1": ("experts.input",),
    "moe_act": ("experts.up.output",),
    "fused_group_mlp": ("experts.input", "experts.up.output", "experts.activation"),
}
"""What Megatron's fine-grained offload moves: the inputs of the named modules (transformer_config.py)."""

LAYER_INPUTS, EVERYTHING = "inputs", "all"

TRAVELLING = 1
"""Layers whose tensors are on the GPU though they are offloaded: on their way out, or brought back for the backward.

Megatron leaves the last layer's where they are (fine_grained_activation_offload.py, the margin); Transformer Engine and
torchtune copy one layer while the next one runs.
"""


def moves(checkpointing: Checkpointing, name: str, *, is_input: bool) -> bool:
    """Whether a saved tensor is moved to the host."""
    if not checkpointing.offload:
        return False
    if EVERYTHING in checkpointing.offload:
        return True
    if LAYER_INPUTS in checkpointing.offload and is_input:
        return True
    return any(name in INPUTS_OF.get(module, ()) for module in checkpointing.offload)


def moved_count(checkpointing: Checkpointing, line: Line, layers: Sequence[int]) -> Int:
    """How many of a line's tensors are moved: all, or those of `offload_layers` of the stage's layers."""
    held = sum(layers)
    if checkpointing.offload_layers is None or held == 0:
        return line.count
    return line.count * min(checkpointing.offload_layers, held) // held


def on_gpu(checkpointing: Checkpointing, line: Line, layers: Sequence[int]) -> Line:
    """The line without what is on the host."""
    moved = moved_count(checkpointing, line, layers)
    return replace(line, count=line.count - moved + minimum(moved, TRAVELLING))


def on_host(checkpointing: Checkpointing, line: Line, layers: Sequence[int]) -> Line:
    """What the host holds of the line."""
    tensor = replace(line.tensor, name=f"host.{line.tensor.name}")
    return replace(line, tensor=tensor, count=moved_count(checkpointing, line, layers))
