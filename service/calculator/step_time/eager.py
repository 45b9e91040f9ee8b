"""Which operations run as separate kernels of the framework instead of fused ones."""

from service.calculator.model import Normalization
from service.calculator.recipe import Recipe

EAGER = frozenset({"torch", "hf", "titan"})
"""Implementations made of torch modules; a compiler fuses what lies between products."""


def eager_rotary(recipe: Recipe) -> bool:
    """Whether rotary embeddings are separate products, sums and concatenations.

    Megatron's local layers have no kernel for them (megatron/core/models/common/embeddings/rope_utils.py).
    """
    return not recipe.compiled and (not recipe.rope_fused or recipe.transformer_impl in EAGER | {"local"})


def eager_activation(recipe: Recipe) -> bool:
    """Whether the gate and the product with it are separate kernels."""
    return not recipe.compiled and (not recipe.activation_fused or recipe.transformer_impl in EAGER)


def eager_norm(recipe: Recipe, normalization: Normalization) -> bool:
    """Whether a norm is a chain of fp32 operations; torch has one kernel for a LayerNorm."""
    return not recipe.compiled and not recipe.norm_fused and normalization == "rmsnorm"


def eager_host(recipe: Recipe) -> bool:
    """Whether Python issues every operation of a layer on its own."""
    issued = recipe.transformer_impl in EAGER | {"local"} or recipe.habits.torch_modules
    return issued and not recipe.compiled
