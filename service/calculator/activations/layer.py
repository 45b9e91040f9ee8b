"""All tensors that one layer saves, and what checkpointing keeps of them."""

from dataclasses import replace

from service.calculator.activations.attention import attention_tensors
from service.calculator.activations.autograd.layer import SOURCES, autograd_tensors
from service.calculator.activations.delta import delta_net_tensors
from service.calculator.activations.fp8 import eight_bit_inputs
from service.calculator.activations.frozen import beside_frozen_weights
from service.calculator.activations.mamba import mamba_tensors
from service.calculator.activations.mla import latent_attention_tensors
from service.calculator.activations.mlp import mlp_tensors
from service.calculator.activations.moe import moe_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import Attention, DeltaNet, LatentAttention, LayerKind, Mamba, Mlp, Model, Moe
from service.calculator.recipe import Recipe

NORM = frozenset({"mlp.norm.statistics", "mlp.norm.output", "mlp.norm.cast"})
"""What the norm before the MLP keeps, which a parallel layer with one norm keeps once."""


def layer_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Saved tensors of one layer and one micro-batch, in forward order; the first is the layer's input.

    Sum for SwiGLU and RMSNorm under sequence parallelism: (T/t)·(8h + 4q + 4k + 6f + 4a + 8). Layers that are not
    Megatron's are replayed operation by operation.
    """
    if recipe.transformer_impl in SOURCES:
        return autograd_tensors(kind, model, layout, recipe)
    rows = mixer_tensors(kind, model, layout, recipe) + feed_forward_tensors(kind, model, layout, recipe)
    rows = [replace(rows[0], is_input=True), *rows[1:]]
    eight_bits = recipe.fp8 is not None and not kind.sixteen_bits
    if recipe.adapters is not None:
        rows = beside_frozen_weights(rows, layout, recipe, eight_bits=eight_bits)
    return eight_bit_inputs(rows, recipe) if eight_bits else rows


def mixer_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """What the first half of a layer saves, up to the residual; nothing where there is no such half."""
    match kind.attention:
        case Attention():
            rows = attention_tensors(kind.attention, model, layout, recipe)
        case LatentAttention():
            rows = latent_attention_tensors(kind.attention, model, layout, recipe)
        case Mamba():
            rows = mamba_tensors(kind.attention, model, layout, recipe)
        case DeltaNet():
            rows = delta_net_tensors(kind.attention, model, layout, recipe)
        case None:
            return []
    return rows + _after_block("attention", kind, model, layout, recipe)


def feed_forward_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """What the second half of a layer saves, from the residual on; nothing where there is no such half."""
    match kind.mlp:
        case Mlp():
            rows = mlp_tensors(kind.mlp, model, layout, recipe)
        case Moe():
            rows = moe_tensors(kind.mlp, model, layout, recipe)
        case None:
            return []
    if kind.parallel_residual:
        # Both blocks of a parallel layer read one residual, which is stored once.
        shared = {"mlp.input"} if kind.norms > 1 else {"mlp.input", *NORM}
        rows = [each for each in rows if each.tensor.name not in shared]
    return rows + _after_block("mlp", kind, model, layout, recipe)


def _after_block(block: str, kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """What is kept between a block and the residual: a sandwich norm's input and statistics, a dropout's mask."""
    rows = layout.local_sequence // layout.sequence_shards
    residual = (rows, layout.micro_batch, model.hidden_size)
    by = ("sequence", "context")
    halves = sum(each is not None for each in (kind.attention, kind.mlp))
    found = []
    if kind.norms > halves:
        source = "memory_model.md 3.2 sandwich norms"
        statistics = (rows, layout.micro_batch, 2 if model.normalization == "layernorm" else 1)
        found.append(saved(f"{block}.post_norm.input", residual, recipe.compute, by, source))
        found.append(saved(f"{block}.post_norm.statistics", statistics, "fp32", by, source))
    if recipe.hidden_dropout > 0:
        found.append(saved(f"{block}.dropout_mask", residual, "bool", by, "memory_model.md 3.1 hidden dropout"))
    return found
