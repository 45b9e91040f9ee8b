"""Seconds of a layer's MLP: dense, or a mixture of experts with its dispatch."""

from collections.abc import Mapping

from service.calculator.layout import Layout
from service.calculator.model import FeedForward, Mlp, Moe
from service.calculator.recipe import Recipe
from service.calculator.routing import expert_rows, received_rows
from service.calculator.step_time.collectives import exchange_seconds, gather_seconds, group_of
from service.calculator.step_time.eager import eager_activation
from service.calculator.step_time.floats import Float, as_float, larger, smaller
from service.calculator.step_time.kernels import Cost, passes, product
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

ACTIVATION_PASSES = {(2, False): (3, 5), (1, False): (2, 3), (2, True): (5, 8), (1, True): (2, 3)}
"""In widths of one branch, by branches and whether they are separate kernels: gated reads two and writes one, its
backward reads three and writes two; apart, the gate's function and the product read and write on their own."""

PERMUTE_PASSES = (4, 4)
"""Rows are read and written once when they are sorted by expert, and once when they are put back."""

DEDUPLICATED = frozenset({"deepep", "hybridep"})
"""Dispatchers that send a token to a node once, however many experts it has there."""


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


def _dense(
    tokens: Float, inner: Float, branches: int, hidden: int, recipe: Recipe, rates: Rates, copies: Float = 1.0
) -> dict[str, Cost]:
    """Both projections and the activation between them, `copies` times side by side."""
    width = BYTES[recipe.compute]
    up = product(tokens, hidden, branches * inner, recipe, rates, copies=copies)
    down = product(tokens, inner, hidden, recipe, rates, copies=copies)
    times = ACTIVATION_PASSES[branches, eager_activation(recipe)]
    return {"up": up, "down": down, "activation": passes(copies * tokens * inner, *times, width, rates)}


def _experts(moe: Moe, hidden: int, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Router, dispatch, products of each expert of the rank, and shared experts (memory_model.md 10).

    A rank routes its own tokens; expert-tensor ranks gather each other's rows and share the experts' width.
    """
    width = BYTES[recipe.compute]
    own = as_float(layout.tokens) / as_float(layout.sequence_shards)
    rows, held = as_float(expert_rows(moe, layout)), moe.experts / as_float(layout.expert)
    inner = moe.width / as_float(layout.expert_tensor)
    experts = _dense(rows / held, inner, moe.branches, hidden, recipe, rates, held)
    launches = 0.0 if recipe.grouped_gemm else (held - 1.0) * rates.kernel_seconds
    received = as_float(received_rows(moe, layout))
    parts = {
        "router": product(own, hidden, float(moe.experts), recipe, rates, plain=True),
        "up": experts["up"].times(1.0 / rates.grouped) + Cost(launches, 2.0 * launches),
        "down": experts["down"].times(1.0 / rates.grouped) + Cost(launches, 2.0 * launches),
        "activation": experts["activation"],
        "permute": passes(received * hidden, *PERMUTE_PASSES, width, rates),
        "expert_traffic": _expert_traffic(moe, received * hidden * width, layout, recipe, rates),
    }
    if moe.shared_width:
        shared_inner = moe.shared_width / as_float(layout.tensor)
        shared = _dense(as_float(layout.tokens), shared_inner, moe.branches, hidden, recipe, rates)
        parts["shared_experts"] = shared["up"] + shared["down"] + shared["activation"]
    return parts


def _expert_traffic(moe: Moe, size_bytes: Float, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """Rows travel to their experts and back, each way in both passes, and are gathered over expert-tensor ranks."""
    group = group_of(layout.expert, layout.expert_tensor, rates.fabric)
    sent = size_bytes
    if recipe.dispatcher in DEDUPLICATED:
        sent = size_bytes * smaller(larger(group.nodes, 1.0), float(moe.top_k)) / moe.top_k
    exchange = exchange_seconds(group, sent, rates.fabric)
    inside = group_of(layout.expert_tensor, 1, rates.fabric)
    gathered = gather_seconds(inside, size_bytes * as_float(layout.expert_tensor), rates.fabric)
    once = 2.0 * (exchange + gathered)
    return Cost(once, once)
