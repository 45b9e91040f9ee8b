"""Input, statistics and output of a layer's norms (memory_model.md, section 3.1 rows 1-3 and 9-11)."""

from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.units import Int

BY_SEQUENCE = ("sequence", "context")


def norm_tensors(block: str, model: Model, layout: Layout, recipe: Recipe, *, separate: bool = False) -> list[Saved]:
    """What the norm before a block keeps: its input (the residual), fp32 statistics, and its output.

    Transformer Engine fuses the norm into the projection that follows, where there is one projection: such a norm is
    recomputed with its block and never by itself (Megatron's transformer_layer.py skips an identity norm). A separate
    one, as before experts and latent attention, is recomputed by itself, and its output is the input that a recomputed
    block keeps.
    """
    rows = layout.local_sequence // layout.sequence_shards
    residual = (rows, layout.micro_batch, model.hidden_size)
    statistics = (rows, layout.micro_batch, 2 if model.normalization == "layernorm" else 1)
    fused = recipe.transformer_impl == "transformer_engine" and not separate
    dropped_by = (block,) if fused else ("layernorm",)
    source = "memory_model.md 3.1 rows 1-3, 9-11"
    rows_kept = [
        saved(f"{block}.input", residual, recipe.compute, BY_SEQUENCE, source),
        saved(f"{block}.norm.statistics", statistics, "fp32", BY_SEQUENCE, source, *dropped_by),
        _output(block, residual, layout, recipe, *dropped_by),
    ]
    if not recipe.norm_fused and not fused and model.normalization == "rmsnorm":
        source = "memory_model.md 3.2 eager RMSNorm"
        rows_kept.append(saved(f"{block}.norm.cast", residual, "fp32", BY_SEQUENCE, source, *dropped_by))
    return rows_kept


def _output(block: str, residual: tuple[Int, Int, Int], layout: Layout, recipe: Recipe, *dropped_by: str) -> Saved:
    """The norm's output, which the projections that follow keep: whole where they keep what was gathered for them."""
    source = "memory_model.md 3.1 rows 1-3, 9-11"
    if not recipe.habits.gathered_inputs_kept:
        return saved(f"{block}.norm.output", residual, recipe.compute, BY_SEQUENCE, source, *dropped_by)
    whole = (layout.local_sequence, *residual[1:])
    return saved(f"{block}.norm.output", whole, recipe.compute, ("context",), source, *dropped_by)
