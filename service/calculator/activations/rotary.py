"""Tables that an eager rotary embedding keeps (megatron/core/models/common/embeddings/rope_utils.py)."""

from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.recipe import Recipe

GATHERED = "Aleph-Alpha/scaling @ 737f8558 core/nn/rotary.py, vector_gather"


def rotary_tensors(width: int, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Cosines and sines of every position, made anew for queries and for keys in each layer.

    A fused rotary embedding keeps one table for all layers. `rotary_gathered`: each position looks its row up, so that
    every sequence has tables of its own.
    """
    if recipe.habits.rotary_gathered:
        own = (4, layout.local_sequence, layout.micro_batch, width)
        return [saved("attention.rotary_tables", own, recipe.compute, ("context",), GATHERED)]
    if recipe.rope_fused:
        return []
    shape = (4, layout.local_sequence, width)
    return [saved("attention.rotary_tables", shape, recipe.compute, ("context",), "megatron rope_utils.py")]
