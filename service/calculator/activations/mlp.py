"""Tensors that a dense MLP saves (memory_model.md, section 3.1 rows 9-13)."""

from service.calculator.activations.norms import norm_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import Mlp, Model
from service.calculator.recipe import Recipe
from service.calculator.units import ceil_div

BY_WIDTH = ("tensor", "context")


def mlp_tensors(mlp: Mlp, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, first projection's output and activation output; an eager gated activation keeps one branch more."""
    sequence, batch = layout.local_sequence, layout.micro_batch
    width = ceil_div(mlp.width, layout.tensor)
    up = (sequence, batch, mlp.branches * width)
    down = (sequence, batch, width)
    rows = [
        *norm_tensors("mlp", model, layout, recipe),
        saved("mlp.up.output", up, recipe.compute, BY_WIDTH, "memory_model.md 3.1 row 12", "mlp"),
        saved("mlp.activation", down, recipe.compute, BY_WIDTH, "memory_model.md 3.1 row 13", "mlp"),
    ]
    if not recipe.activation_fused and mlp.branches > 1:
        rows.append(saved("mlp.gate_activation", down, recipe.compute, BY_WIDTH, "memory_model.md 3.2", "mlp"))
    return rows
