"""Buffers that a framework allocates once and keeps for the whole run."""

from collections.abc import Iterable

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, Category, Line, Tensor
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.units import ceil_div

MEGATRON_SCORES = "megatron/core/transformer/dot_product_attention.py"


def score_buffer_lines(model: Model, layout: Layout, recipe: Recipe, kinds: Iterable[int]) -> list[Line]:
    """The buffer that Megatron's local attention writes its scores into, one for all layers: b·a/t·s² elements.

    It is what the resident bytes of local layers hold beyond Transformer Engine's (CI golden values @ d98e8a64).
    """
    if recipe.transformer_impl != "local" or not recipe.scores_stored:
        return []
    heads = max((model.kinds[kind].attention.heads for kind in kinds), default=0)
    shape = (layout.micro_batch, ceil_div(heads, layout.tensor), layout.local_sequence, layout.sequence_length)
    scores = Tensor("attention.score_buffer", Category.WORKSPACE, shape, recipe.compute, ("tensor",), MEGATRON_SCORES)
    return [Line(scores, 1, ALWAYS)]
