"""Tensors that a Mamba-2 mixer saves.

Source: megatron/core/ssm/mamba_mixer.py runs state-spaces/mamba's memory-efficient function, which keeps the
in-projection's output and the scan's output and computes the convolution and the chunks' states again.
"""

from service.calculator.activations.norms import norm_tensors
from service.calculator.activations.saved import Saved, saved
from service.calculator.layout import Layout
from service.calculator.model import Mamba, Model
from service.calculator.recipe import Recipe
from service.calculator.units import ceil_div

BY_HEADS = ("tensor", "context")
SOURCE = "mamba_ssm/ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn"


def mamba_tensors(mamba: Mamba, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Norm, projections and scan of one layer: 4h + 2(2d_in + 2G·n + H) + 4d_in + 4G bytes a token, and statistics."""
    sequence, batch = layout.local_sequence, layout.micro_batch
    inner = ceil_div(mamba.inner_width, layout.tensor)
    projected = ceil_div(2 * mamba.inner_width + mamba.state_width + mamba.heads, layout.tensor)
    groups = ceil_div(mamba.groups, layout.tensor)
    return [
        *norm_tensors("mamba", model, layout, recipe),
        saved("mamba.in.output", (batch, sequence, projected), recipe.compute, BY_HEADS, SOURCE),
        saved("mamba.scan.output", (batch, sequence, inner), recipe.compute, BY_HEADS, SOURCE),
        saved("mamba.norm.gate_statistics", (batch, sequence, groups), "fp32", BY_HEADS, SOURCE),
        saved("mamba.out.input", (sequence, batch, inner), recipe.compute, BY_HEADS, SOURCE),
    ]
