"""All tensors that one layer saves, and what checkpointing keeps of them."""

from service.calculator.activations.attention import attention_tensors
from service.calculator.activations.mlp import mlp_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import LayerKind, Model
from service.calculator.recipe import Recipe


def layer_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Saved tensors of one layer and one micro-batch, in forward order.

    Sum for SwiGLU and RMSNorm under sequence parallelism: (T/t)·(8h + 4q + 4k + 6f + 4a + 8).
    """
    rows = attention_tensors(kind, model, layout, recipe) + mlp_tensors(kind, model, layout, recipe)
    if recipe.hidden_dropout > 0:
        shape = (layout.local_sequence // layout.sequence_shards, layout.micro_batch, model.hidden_size)
        source = "memory_model.md 3.1 hidden dropout"
        for block in ("attention", "mlp"):
            rows.append(saved(f"{block}.dropout_mask", shape, "bool", ("sequence", "context"), source))
    return rows
