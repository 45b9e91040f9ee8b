"""Mamba-2 mixers of transformers, over mamba_ssm's one kernel for convolution, scan, gated norm and output projection.

It keeps the in-projection's output, the scan's output and the norm's statistics, and computes the convolution, the
chunks' states and the output projection's input again. Source: state-spaces/mamba @ e9594ce1, ssd_combined.py,
MambaSplitConv1dScanCombinedFn; transformers 5.24.0 calls it in training (bamba, granitemoehybrid, nemotron_h, mamba2).
"""

from service.calculator.activations.autograd.forward import BY_TENSOR, Forward, Linear
from service.calculator.activations.autograd.tape import Value
from service.calculator.model import Mamba


def mamba(forward: Forward, kind: Mamba, value: Value) -> Value:
    """Projection, and the kernel that does the rest; returns the mixer's output."""
    hidden, inner = forward.model.hidden_size, forward.local(kind.inner_width)
    heads = forward.local(kind.heads)
    projected = forward.local(2 * kind.inner_width + kind.state_width) + heads
    output = forward.linear(Linear("in_proj", (), hidden, projected), "mamba.in.output", value)
    rows = (forward.layout.micro_batch, forward.layout.local_sequence)
    keeps = [
        output,
        forward.tokens("mamba.scan.output", inner),
        Value("mamba.norm.gate_statistics", (*rows, forward.local(kind.groups)), "fp32", BY_TENSOR),
        # Of the decay's own parameter, the exponential and its negative.
        *(Value(f"mamba.decay_{each}", (heads,), "fp32", ("tensor",)) for each in ("rate", "negative_rate")),
    ]
    forward.tape.record("scan", "mamba.scan", (), tuple(keeps))
    return forward.residual("mamba.out.output", forward.recipe.compute)
