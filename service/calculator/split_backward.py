"""What a layer keeps between its input gradients and its weight gradients, under schedules that split the backward.

The weight gradient of a matrix product needs the product's input and its output gradient; everything else that the
forward saved is free by then. Source: Qi et al. 2023, Zero Bubble Pipeline Parallelism (arXiv 2401.10241), section 2;
memory_model.md 5 (ZB-H1: "W-part = GEMM inputs only").
"""

from collections.abc import Sequence

from service.calculator.activations.saved import Saved
from service.calculator.head import residual
from service.calculator.layout import Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Tensor
from service.calculator.model import Attention, LayerKind, Mlp, Model
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div, maximum

PRODUCT_INPUTS = {"attention.norm.output", "attention.output", "mlp.norm.output", "mlp.activation"}
SOURCE = "memory_model.md 5; arXiv 2401.10241 section 2"


def awaiting_weight_lines(
    kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, saved: Sequence[Saved], count: Int
) -> list[Line]:
    """Lines of `count` layers whose input gradients are done and whose weight gradients are not.

    A layer whose matrix products are not known by name keeps all that it saved.
    """
    inputs = [each for each in saved if each.tensor.name in PRODUCT_INPUTS]
    if not isinstance(kind.attention, Attention) or not isinstance(kind.mlp, Mlp) or len(inputs) != len(PRODUCT_INPUTS):
        return [Line(each.tensor, count * each.copies, WITH_ACTIVATIONS) for each in saved]
    lines = [Line(each.tensor, count * each.copies, WITH_ACTIVATIONS) for each in inputs]
    sequence, batch = layout.local_sequence, layout.micro_batch
    heads = ceil_div(kind.attention.heads, layout.tensor)
    groups = maximum(kind.attention.groups // layout.tensor, 1)
    up = kind.mlp.branches * ceil_div(kind.mlp.width, layout.tensor)
    whole, by_rows, by_columns = residual(model, layout), ("sequence", "context"), ("tensor", "context")
    gradients: list[tuple[str, tuple[Int, ...], tuple[str, ...]]] = [
        ("attention.qkv", (sequence, batch, heads + 2 * groups, kind.attention.head_dim), by_columns),
        ("attention.projection", whole, by_rows),
        ("mlp.up", (sequence, batch, up), by_columns),
        ("mlp.down", whole, by_rows),
    ]
    for name, shape, sharded_by in gradients:
        tensor = Tensor(f"{name}.output_gradient", Category.ACTIVATIONS, shape, recipe.compute, sharded_by, SOURCE)
        lines.append(Line(tensor, count, WITH_ACTIVATIONS))
    return lines
