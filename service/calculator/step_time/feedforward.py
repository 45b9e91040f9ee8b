"""Seconds of a layer's MLP: dense, or a mixture of experts with its dispatch."""

from collections.abc import Mapping

from service.calculator.layout import Layout
from service.calculator.model import FeedForward, Mlp, Moe
from service.calculator.recipe import Recipe
from service.calculator.step_time.collectives import gather_seconds, group_of
from service.calculator.step_time.floats import Float, as_float
from service.calculator.step_time.kernels import Cost, passes, product
from service.calculator.step_time.rates import GROUPED, Rates
from service.calculator.units import BYTES

ACTIVATION_PASSES = {2: (3, 5), 1: (2, 3)}
"""In widths of one branch, by branches: gated reads two and writes one, its backward reads three and writes two."""

PERMUTE_PASSES = (4, 4)
"""Rows are read and written once when they are sorted by expert, and once when they are put back."""


def feedforward_parts(
    mlp: FeedForward | None, hidden: int, layout: Layout, recipe: Recipe, rates: Rates
) -> Mapping[str, Cost]:
    """Costs of a layer's MLP by part, its norm and its tensor-parallel traffic aside."""
    tokens = as_float(layout.tokens)
    if isinstance(mlp, Mlp):
        return _dense(tokens, mlp.width / as_float(layout.tensor), mlp.branches, hidden, recipe, rates)
    if isinstance(mlp, Moe):
        return _experts(mlp, hidden, layout, recipe, rates)
    return {}


def _dense(tokens: Float, inner: Float, branches: int, hidden: int, recipe: Recipe, rates: Rates) -> dict[str, Cost]:
    width = BYTES[recipe.compute]
    up = product(tokens, hidden, branches * inner, width, rates)
    return {
        "mlp": up + product(tokens, inner, hidden, width, rates),
        "activation": passes(tokens * inner, *ACTIVATION_PASSES[branches], width, rates),
    }


def _experts(moe: Moe, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Router, dispatch, grouped products over balanced experts, and shared experts (memory_model.md 10).

    A rank routes its own tokens; expert-tensor ranks gather each other's rows and share the experts' width.
    """
    width = BYTES[recipe.compute]
    own = as_float(layout.tokens) / as_float(layout.sequence_shards)
    split = as_float(layout.expert_tensor)
    rows = moe.top_k * own
    grouped = _dense(rows * split, moe.width / split, moe.branches, hidden, recipe, rates)
    parts = {
        "router": product(own, hidden, float(moe.experts), width, rates),
        "mlp": grouped["mlp"].times(1.0 / GROUPED),
        "activation": grouped["activation"],
        "permute": passes(rows * hidden, *PERMUTE_PASSES, width, rates),
        "expert_traffic": _expert_traffic(rows * hidden * width, layout, rates),
    }
    if moe.shared_width:
        inner = moe.shared_width / as_float(layout.tensor)
        shared = _dense(as_float(layout.tokens), inner, moe.branches, hidden, recipe, rates)
        parts["shared_experts"] = shared["mlp"] + shared["activation"]
    return parts


def _expert_traffic(size_bytes: Float, layout: Layout, rates: Rates) -> Cost:
    """Rows travel to their experts and back, each way in both passes, and are gathered over expert-tensor ranks."""
    exchange = gather_seconds(group_of(layout.expert, layout.expert_tensor, rates), size_bytes, rates)
    gathered = size_bytes * as_float(layout.expert_tensor)
    inside = gather_seconds(group_of(layout.expert_tensor, 1, rates), gathered, rates)
    once = 2.0 * (exchange + inside)
    return Cost(once, once)
