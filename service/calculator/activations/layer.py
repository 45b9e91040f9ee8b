"""All tensors that one layer saves, and what checkpointing keeps of them."""

from service.calculator.activations.attention import attention_tensors
from service.calculator.activations.mlp import mlp_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import LayerKind, Model
from service.calculator.recipe import Recipe

PRE_NORMS = 2


def layer_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Saved tensors of one layer and one micro-batch, in forward order.

    Sum for SwiGLU and RMSNorm under sequence parallelism: (T/t)·(8h + 4q + 4k + 6f + 4a + 8).
    """
    rows = attention_tensors(kind, model, layout, recipe)
    mlp = mlp_tensors(kind, model, layout, recipe)
    # Both blocks of a parallel layer read one residual, which is stored once.
    rows += [each for each in mlp if not (kind.parallel_residual and each.tensor.name == "mlp.input")]
    for block in ("attention", "mlp"):
        rows += _after_block(block, kind, model, layout, recipe)
    return rows


def _after_block(block: str, kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """What is kept between a block and the residual: a sandwich norm's input and statistics, a dropout's mask."""
    rows = layout.local_sequence // layout.sequence_shards
    residual = (rows, layout.micro_batch, model.hidden_size)
    by = ("sequence", "context")
    found = []
    if kind.norms > PRE_NORMS:
        source = "memory_model.md 3.2 sandwich norms"
        statistics = (rows, layout.micro_batch, 2 if model.normalization == "layernorm" else 1)
        found.append(saved(f"{block}.post_norm.input", residual, recipe.compute, by, source))
        found.append(saved(f"{block}.post_norm.statistics", statistics, "fp32", by, source))
    if recipe.hidden_dropout > 0:
        found.append(saved(f"{block}.dropout_mask", residual, "bool", by, "memory_model.md 3.1 hidden dropout"))
    return found
