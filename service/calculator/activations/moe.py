"""Tensors that a mixture of experts saves (memory_model.md, section 3.3)."""

from service.calculator.activations.norms import norm_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import Model, Moe
from service.calculator.recipe import Recipe
from service.calculator.routing import expert_rows, group_tokens, routed_tokens, sent_rows
from service.calculator.units import Int, ceil_div

BY_TOKENS = ("sequence", "context")
BY_EXPERTS = ("sequence", "context", "expert_tensor")
BY_WIDTH = ("tensor", "context")
SOURCE = "memory_model.md 3.3"
ROUTER = "megatron/core/transformer/moe/router.py"


def moe_tensors(moe: Moe, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, router, dispatch, routed and shared experts of one layer.

    Per routed row: 2h + 6f_e + 4 bytes for gated experts with a fused activation. The probability multiplies inside
    the activation, so the down-projection's output is not kept; deterministic algorithms add it up with a function
    that keeps its source.
    """
    rows = [
        *norm_tensors("mlp", model, layout, recipe, separate=True),
        *_router(moe, layout),
        *_dispatch(moe, model, layout, recipe),
        *_experts(moe, model, layout, recipe),
    ]
    if moe.shared_width:
        rows += _shared(moe, model, layout, recipe)
    return rows


def _router(moe: Moe, layout: Layout) -> list[Saved]:
    """Scores of all experts, once for the choice and once for the loss that balances it, and the chosen ones."""
    tokens = routed_tokens(layout)
    return [
        saved("router.scores", (tokens, moe.experts), "fp32", BY_TOKENS, SOURCE, "moe"),
        saved("router.balance_scores", (tokens, moe.experts), "fp32", BY_TOKENS, ROUTER, "moe"),
        saved("router.indices", (tokens, moe.top_k), "int64", BY_TOKENS, SOURCE, "moe"),
    ]


def _dispatch(moe: Moe, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Orders of the rows, the map from tokens to rows, and where rows are added up deterministically, those rows.

    The all-gather dispatcher sorts and adds up what it has gathered for its own experts, the others what they send.
    """
    gathers = recipe.dispatcher == "allgather"
    rows = expert_rows(moe, layout) if gathers else sent_rows(moe, layout)
    width = ceil_div(moe.experts, layout.expert) if gathers else 2 * moe.experts
    tokens = group_tokens(layout) if gathers else routed_tokens(layout)
    map_source = "TransformerEngine permutation.py: row_id_map; megatron moe_utils.py"
    found = [
        saved("dispatch.orders", (2, rows), "int64", BY_TOKENS, SOURCE, "moe"),
        saved("dispatch.map", (tokens, width), "bool" if gathers else "int32", BY_TOKENS, map_source, "moe"),
    ]
    if recipe.deterministic:
        shape = (rows, model.hidden_size)
        found.append(saved("dispatch.returned", shape, recipe.compute, BY_TOKENS, f"{SOURCE} deterministic", "moe"))
    return found


def _experts(moe: Moe, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Input, up-projection, probabilities and activation of the routed rows."""
    rows, width = expert_rows(moe, layout), ceil_div(moe.width, layout.expert_tensor)
    local = ceil_div(moe.experts, layout.expert)
    found = [
        saved("experts.input", (rows, model.hidden_size), recipe.compute, BY_EXPERTS, SOURCE, "moe"),
        saved("experts.up.output", (rows, moe.branches * width), recipe.compute, BY_EXPERTS, SOURCE, "moe"),
        saved("experts.probabilities", (rows,), "fp32", BY_EXPERTS, SOURCE, "moe"),
        saved("experts.activation", (rows, width), recipe.compute, BY_EXPERTS, SOURCE, "moe", "moe_act"),
        saved("experts.offsets", (local,), "int32", ("expert",), SOURCE, "moe"),
    ]
    unfused = saved("experts.unweighted", (rows, width), recipe.compute, BY_EXPERTS, SOURCE, "moe", "moe_act")
    return [*found, unfused.times(_unfused_copies(moe, recipe))]


def _unfused_copies(moe: Moe, recipe: Recipe) -> int:
    """Copies of the activation's width that are kept apart from the weighted one.

    Only gated experts have a fused function (megatron experts.py). Unfused ones keep the activation before its weight,
    and gated ones the activated branch too.
    """
    gated = moe.branches > 1
    if recipe.activation_fused and gated:
        return 0
    return 1 + int(gated)


def _shared(moe: Moe, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Up-projection and activation of the shared experts, on all tokens of the tensor group; the gate's operands."""
    sequence, batch = layout.local_sequence, layout.micro_batch
    width = ceil_div(moe.shared_width, layout.tensor)
    modules = ("moe", "shared_experts")
    up = (sequence, batch, moe.branches * width)
    found = [
        saved("shared_experts.up.output", up, recipe.compute, BY_WIDTH, SOURCE, *modules),
        saved("shared_experts.activation", (sequence, batch, width), recipe.compute, BY_WIDTH, SOURCE, *modules),
    ]
    if not recipe.activation_fused and moe.branches > 1:
        gate = saved(
            "shared_experts.gate_activation", (sequence, batch, width), recipe.compute, BY_WIDTH, SOURCE, *modules
        )
        found.append(gate)
    if moe.shared_gate:
        output: tuple[Int, ...] = (routed_tokens(layout), model.hidden_size + 1)
        found.append(saved("shared_experts.gated", output, recipe.compute, BY_TOKENS, ROUTER, *modules))
    return found
