"""Seconds of one decoder layer, for one micro-batch on one GPU."""

from collections.abc import Collection, Mapping

from service.calculator.activations.autograd.policy import EVERY_PRODUCT, PRODUCT
from service.calculator.layout import Checkpointing, Layout
from service.calculator.model import LayerKind, Mlp, Model
from service.calculator.recipe import Recipe
from service.calculator.routing import PERMILLE
from service.calculator.step_time.collectives import all_reduce_seconds, gather_seconds, group_of
from service.calculator.step_time.eager import eager_norm
from service.calculator.step_time.feedforward import feedforward_parts
from service.calculator.step_time.floats import Float, as_float, choose, larger, smaller
from service.calculator.step_time.kernels import Cost, passes
from service.calculator.step_time.mixers import mixer_parts
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

NORM_PASSES = {False: (2, 3), True: (18, 40)}
"""Full-width passes of a norm, forward and backward: fused, and as separate fp32 operations (PyTorch's own kernels
counted one by one; time_model.md 5 has 4 to 5 against 50 to 75 for both passes)."""

RESIDUAL_PASSES = (3, 2)
"""Read two and write one; the gradient is read once and written once."""

DROPOUT_PASSES = (0.5, 2.5)
"""Dropout before the residual, fused with it: a mask of one byte is written, and read beside the gradient."""

RECOMPUTED = {
    "core_attn": ("core",),
    "layernorm": ("norms",),
    "mlp": ("up", "down", "activation", "mlp_traffic"),
    "moe": ("router", "up", "down", "activation", "permute", "expert_traffic"),
    "moe_act": ("activation",),
    "mla_up_proj": ("up_projections", "rotary"),
    "shared_experts": ("shared_experts",),
    "gdn_norm_out": ("gated_norm",),
}
"""Parts of a layer whose forward runs again, by selective module (memory_model.md 6)."""

PRODUCTS = frozenset({"inputs", "output", "up_projections", "up", "down"})
"""Parts that are matrix products; a router's is always computed again."""


SLOWED = 0.13
"""What a collective and a product that run at the same time cost each other (Galvatron, time_model.md 3)."""


def layer_parts(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, rates: Rates) -> Mapping[str, Cost]:
    """Costs of a layer by part; together they are the layer."""
    width, hidden = BYTES[recipe.compute], model.hidden_size
    tokens = as_float(layout.tokens)
    residual = tokens * hidden / as_float(layout.sequence_shards)
    halves = sum(each is not None for each in (kind.attention, kind.mlp))
    dropped = float(recipe.hidden_dropout > 0)
    forward, backward = (each + dropped * more for each, more in zip(RESIDUAL_PASSES, DROPOUT_PASSES, strict=True))
    normed = NORM_PASSES[eager_norm(recipe, model.normalization)]
    parts = {
        "norms": passes(residual, *normed, width, rates).times(kind.norms),
        "residuals": passes(residual, forward, backward, width, rates).times(halves),
        **mixer_parts(kind.attention, hidden, layout, recipe, rates),
        **feedforward_parts(kind.mlp, hidden, layout, recipe, rates),
    }
    size = tokens * hidden * width
    if kind.attention is not None:
        parts["mixer_traffic"] = _tensor_traffic(size, parts["inputs"], layout, recipe, rates)
    if isinstance(kind.mlp, Mlp):
        parts["mlp_traffic"] = _tensor_traffic(size, parts["up"], layout, recipe, rates)
    return parts


def whole(parts: Mapping[str, Cost]) -> Cost:
    """The layer, all parts together."""
    total = Cost()
    for each in parts.values():
        total = total + each
    return total


def repeated_forward(parts: Mapping[str, Cost], checkpointing: Checkpointing) -> Float:
    """Seconds of the forward that run again in a layer that is checkpointed."""
    whole_forward = whole(parts).forward
    if checkpointing.granularity != "selective" or checkpointing.every:
        return whole_forward
    if checkpointing.modules:
        names = {name for module in checkpointing.modules for name in RECOMPUTED.get(module, ()) if name in parts}
        return _forward(parts, names)
    if checkpointing.budget_permille is not None:
        return whole_forward * (1.0 - checkpointing.budget_permille / PERMILLE)
    return whole_forward - _kept_operations(parts, checkpointing.op)


def _kept_operations(parts: Mapping[str, Cost], op: tuple[str, ...]) -> Float:
    """Forward seconds of operations whose results are kept: of plain products every second one, as torchtitan does."""
    share = 1.0 if EVERY_PRODUCT in op else 0.5 if PRODUCT in op else 0.0
    kept = _forward(parts, PRODUCTS) * share
    if "attention" in op:
        kept = kept + _forward(parts, {"core"})
    if "reduce_scatter" in op:
        kept = kept + _forward(parts, {"mixer_traffic", "mlp_traffic"}) / 2.0
    if "all_to_all" in op:
        kept = kept + _forward(parts, {"expert_traffic"})
    return kept


def _forward(parts: Mapping[str, Cost], names: Collection[str]) -> Float:
    total: Float = 0.0
    for name in sorted(names):
        if name in parts:
            total = total + parts[name].forward
    return total


def _tensor_traffic(size_bytes: Float, first: Cost, layout: Layout, recipe: Recipe, rates: Rates) -> Cost:
    """One half's tensor-parallel traffic: an all-reduce each way, or a gather and a scatter each way.

    Megatron sums a projection's input gradient while it computes that of its weight, half of the `first` product's
    backward, and with sequence parallelism gathers the input again behind the other half (tensor_parallel/layers.py);
    so recomputation costs more than a third (Korthikanti et al. 2022, section 5). Elsewhere nothing is hidden.
    """
    if isinstance(layout.tensor, int) and layout.tensor == 1:
        return Cost()
    group = group_of(layout.tensor, 1, rates.fabric)
    gathered = gather_seconds(group, size_bytes, rates.fabric)
    reduced = all_reduce_seconds(group, size_bytes, rates.fabric)
    summed = choose(layout.sequence_parallel == 1, gathered, reduced)
    if recipe.habits.weight_gradients_beside_sums:
        beside = first.backward / 2.0
        summed = larger(summed - beside, 0.0) + SLOWED * smaller(summed, beside)
    backward = choose(layout.sequence_parallel == 1, gathered + summed, summed)
    return Cost(choose(layout.sequence_parallel == 1, 2.0 * gathered, reduced), backward)
