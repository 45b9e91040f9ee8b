"""Tables that an eager rotary embedding keeps (megatron/core/models/common/embeddings/rope_utils.py)."""

from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.recipe import Recipe


def rotary_tensors(width: int, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Cosines and sines of every position, made anew for queries and for keys in each layer.

    A fused rotary embedding keeps one table for all layers.
    """
    if recipe.rope_fused:
        return []
    shape = (4, layout.local_sequence, width)
    return [saved("attention.rotary_tables", shape, recipe.compute, ("context",), "megatron rope_utils.py")]
