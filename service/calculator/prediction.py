"""Multi-token prediction: what its depths save and what their losses keep (memory_model.md, sections 1.1 and 4).

Each depth normalises the decoder's output and the embedding of the next token, joins and projects them, and runs one
layer and a final norm; its output goes through the model's head. Source: Megatron-Core's multi_token_prediction.py.
"""

from collections.abc import Sequence

from service.calculator.activations.saved import Saved
from service.calculator.checkpointing import recompute_lines, stored_lines
from service.calculator.head import residual
from service.calculator.layout import Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Moment, Tensor
from service.calculator.loss import logits_shape
from service.calculator.model import Model, Prediction
from service.calculator.recipe import Recipe
from service.calculator.units import Int

SOURCE = "megatron/core/transformer/multi_token_prediction.py"
BY_SEQUENCE = ("sequence", "context")


def depth_lines(
    prediction: Prediction, model: Model, layout: Layout, recipe: Recipe, saved: Sequence[Saved], in_flight: Int
) -> list[Line]:
    """What all depths store for their backward: the joining projection, the layer and the final norm.

    Under full uniform checkpointing a depth keeps its two inputs; under block it is never checkpointed.
    """
    rows, batch, hidden = residual(model, layout)
    count = in_flight * prediction.depths
    inputs = _saved("inputs", (2, rows, batch, hidden), recipe.compute)
    output = _saved("head.input", (rows, batch, hidden), recipe.compute)
    lines = [Line(inputs, count, WITH_ACTIVATIONS), Line(output, count, WITH_ACTIVATIONS)]
    if _checkpointed(layout):
        return lines
    statistics = (3, rows, batch, 2 if model.normalization == "layernorm" else 1)
    inside = [
        _saved("norms.statistics", statistics, "fp32"),
        _saved("projection.input", (rows, batch, 2 * hidden), recipe.compute),
        _saved("final_norm.input", (rows, batch, hidden), recipe.compute),
    ]
    lines += [Line(each, count, WITH_ACTIVATIONS) for each in inside]
    return lines + stored_lines(saved, layout, [prediction.depths], [in_flight])


def depth_recompute_lines(prediction: Prediction, layout: Layout, saved: Sequence[Saved]) -> list[Line]:
    """What one depth computes again for its backward."""
    if layout.checkpointing.granularity == "full" and not _checkpointed(layout):
        return []
    return recompute_lines(saved, layout, [min(prediction.depths, 1)])


def prediction_loss_lines(
    prediction: Prediction, model: Model, layout: Layout, recipe: Recipe, losses: Int
) -> list[Line]:
    """What the depths' losses keep of their logits until the backward of the main loss is done."""
    shape, sharded_by = logits_shape(model, layout, recipe)
    until = (Moment.LOSS, Moment.FIRST_BACKWARD, Moment.HEAD_BACKWARD)
    lines = []
    for dtype in recipe.loss.kept:
        kept = Tensor("prediction.logits", Category.LOGITS, shape, dtype, sharded_by, "memory_model.md 4 MTP")
        lines.append(Line(kept, prediction.depths, until))
        lines.append(Line(kept, prediction.depths * (losses - 1), WITH_ACTIVATIONS))
    return lines


def _checkpointed(layout: Layout) -> bool:
    return layout.checkpointing.granularity == "full" and layout.checkpointing.method == "uniform"


def _saved(name: str, shape: tuple[Int, ...], dtype: str) -> Tensor:
    return Tensor(f"prediction.{name}", Category.ACTIVATIONS, shape, dtype, BY_SEQUENCE, SOURCE)
