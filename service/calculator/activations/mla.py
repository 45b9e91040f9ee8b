"""Tensors that multi-head latent attention saves in training (memory_model.md, section 3.3).

Keys and values are made for every head, so the latents save parameters and no activations. The latents are made from
this rank's share of the sequence by replicated projections; their up-projections split the heads.
"""

from service.calculator.activations.core import BY_HEADS, core_tensors, output_copy
from service.calculator.activations.norms import BY_SEQUENCE, norm_tensors
from service.calculator.activations.rotary import rotary_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import LatentAttention, Model
from service.calculator.recipe import Recipe
from service.calculator.units import ceil_div

SOURCE = "memory_model.md 3.3 MLA"
UP_PROJECTION = "mla_up_proj"


def latent_attention_tensors(attention: LatentAttention, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, latents, heads and attention core of one layer.

    Sum: 2·(2h + 2r_q + (r_kv + d_r) + r_kv + 2a(d_n + d_r) + 2a·d_v) + 4a + 12 bytes a token. Recomputing the
    up-projections drops everything between the latents and the attention core (multi_latent_attention.py).
    """
    sequence, batch = layout.local_sequence, layout.micro_batch
    heads = ceil_div(attention.heads, layout.tensor)
    key = (sequence, batch, heads, attention.nope_dim + attention.rope_dim)
    value = (sequence, batch, heads, attention.value_dim)
    rows = norm_tensors("attention", model, layout, recipe, separate=True)
    if attention.query_rank:
        rows += _latent("query", attention.query_rank, 0, model, layout, recipe)
    rows += _latent("kv", attention.latent_rank, attention.rope_dim, model, layout, recipe)
    rows += [
        saved("attention.query", key, recipe.compute, BY_HEADS, SOURCE, UP_PROJECTION),
        saved("attention.key", key, recipe.compute, BY_HEADS, SOURCE, UP_PROJECTION),
        saved("attention.value", value, recipe.compute, BY_HEADS, SOURCE, UP_PROJECTION),
        saved("attention.output", value, recipe.compute, BY_HEADS, SOURCE),
        *output_copy(value, layout, recipe, equal_heads=attention.nope_dim + attention.rope_dim == attention.value_dim),
        *rotary_tensors(attention.rope_dim, layout, recipe),
        *core_tensors(attention.heads, layout, recipe),
    ]
    return rows


def _latent(name: str, rank: int, beside: int, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """A latent with what shares its storage, the statistics of its norm, and its normalised copy."""
    rows = layout.local_sequence // layout.sequence_shards
    statistics = (rows, layout.micro_batch, 2 if model.normalization == "layernorm" else 1)
    raw, normalised = (rows, layout.micro_batch, rank + beside), (rows, layout.micro_batch, rank)
    return [
        saved(f"attention.{name}_latent", raw, recipe.compute, BY_SEQUENCE, SOURCE),
        saved(f"attention.{name}_norm.statistics", statistics, "fp32", BY_SEQUENCE, SOURCE, UP_PROJECTION),
        saved(f"attention.{name}_norm.output", normalised, recipe.compute, BY_SEQUENCE, SOURCE, UP_PROJECTION),
    ]
