"""Gated delta nets of torch modules: over flash-linear-attention's kernels, or written in torch's operations.

The kernels need a GPU: what they keep was read (flash-linear-attention @ bc3b101d, gated_delta_rule/chunk.py;
causal_conv1d @ 0d2252d1, causal_conv1d_interface.py), and what is around them was measured with stand-ins that keep the
same. transformers falls back to operations where they are not installed, which was measured as it is.
"""

from service.calculator.activations.autograd.forward import BY_CONTEXT, BY_TENSOR, Forward, Linear
from service.calculator.activations.autograd.tape import Value
from service.calculator.activations.delta import CHUNK
from service.calculator.model import DeltaNet
from service.calculator.units import Int, round_up

KEY_TENSORS = ("key", "query", "step_key", "solved_key", "decayed_key", "decayed_query")
"""fp32 tensors of the keys' width that the written-out rule keeps over whole chunks."""

VALUE_TENSORS = ("value", "solved_value", "new_value")
CHUNK_TENSORS = ("decays", "key_products", "query_products", "system", "scores")


def delta_net(forward: Forward, kind: DeltaNet, value: Value) -> Value:
    """Projections, convolution, gates, delta rule, gated norm and output projection."""
    _projections(forward, kind, value)
    _gates(forward, kind)
    if forward.recipe.recurrence_fused:
        _kernels(forward, kind)
    else:
        _operations(forward, kind)
    return _output(forward, kind)


def _projections(forward: Forward, kind: DeltaNet, value: Value) -> None:
    """One projection each in torchtitan; transformers has one of queries, keys, values and gate, and one of numbers."""
    hidden, keys, values = forward.model.hidden_size, kind.key_width, kind.value_width
    widths = {"qkvz": kind.convolved + values, "ba": 2 * kind.value_heads}
    if forward.recipe.transformer_impl == "titan":
        widths = {"q": keys, "k": keys, "v": values, "z": values, "a": kind.value_heads, "b": kind.value_heads}
    for name, width in widths.items():
        linear = Linear(f"in_proj_{name}", (), hidden, forward.local(width))
        forward.linear(linear, f"delta.projected_{name}", value)
    convolved = forward.tokens("delta.convolution.input", forward.local(kind.convolved))
    forward.tape.record("convolution", "delta.convolution", (), (convolved,))


def _gates(forward: Forward, kind: DeltaNet) -> None:
    """The step is the sigmoid of a number, the decay an exponential of the softplus of another, in fp32."""
    heads = forward.local(kind.value_heads)
    keeps = [forward.tokens("delta.step", heads)]
    keeps += [_wide(forward, f"delta.decay_{name}", heads) for name in ("input", "softplus")]
    if forward.recipe.compiled:
        keeps = keeps[:1]
    else:
        # Of the decay's own parameter, the exponential and its negative.
        keeps += [Value(f"delta.decay_{name}", (heads,), "fp32", ("tensor",)) for name in ("rate", "negative_rate")]
    forward.tape.record("pointwise", "delta.gates", (), tuple(keeps))


def _kernels(forward: Forward, kind: DeltaNet) -> None:
    """The chunked rule: normalised queries and keys, values, cumulated decays, and one solved matrix a chunk.

    torchtitan copies queries and keys to the heads of the values before it.
    """
    heads = forward.local(kind.value_heads)
    repeated = forward.recipe.transformer_impl == "titan"
    key_heads = heads if repeated else forward.local(kind.key_heads)
    keeps = [
        forward.tokens("delta.query", key_heads, kind.key_dim),
        forward.tokens("delta.key", key_heads, kind.key_dim),
        _wide(forward, "delta.query_statistics", key_heads),
        _wide(forward, "delta.key_statistics", key_heads),
        forward.tokens("delta.value", heads, kind.value_dim),
        _wide(forward, "delta.decay", heads),
        forward.tokens("delta.solved", heads, CHUNK),
    ]
    forward.tape.record("delta_rule", "delta.rule", (), tuple(keeps))


def _operations(forward: Forward, kind: DeltaNet) -> None:
    """The rule as transformers spells it (torch_chunk_gated_delta_rule): all in fp32, sequences padded to whole chunks.

    The convolution pads its output by its width. One state is kept for each chunk.
    """
    layout, heads = forward.layout, forward.local(kind.value_heads)
    batch, padded = layout.micro_batch, round_up(layout.local_sequence, CHUNK)

    def rows(name: str, *widths: Int) -> Value:
        return Value(f"delta.{name}", (batch, padded, heads, *widths), "fp32", BY_TENSOR)

    rolled = (batch, layout.local_sequence + kind.conv - 1, forward.local(kind.convolved))
    keeps = [Value("delta.convolution.output", rolled, forward.recipe.compute, BY_TENSOR)]
    keeps += [_wide(forward, f"delta.{each}_fp32", heads, kind.key_dim) for each in ("query", "key")]
    keeps += [_wide(forward, f"delta.{each}_statistics", heads) for each in ("query", "key")]
    keeps += [rows(each, kind.key_dim) for each in KEY_TENSORS]
    keeps += [rows(each, kind.value_dim) for each in VALUE_TENSORS]
    keeps += [rows(each, CHUNK) for each in CHUNK_TENSORS]
    keeps += [rows(each) for each in ("step_fp32", "decay", "key_decay", "query_decay")]
    chunks = padded // CHUNK
    keeps.append(Value("delta.states", (batch, chunks, heads, kind.key_dim, kind.value_dim), "fp32", BY_TENSOR))
    keeps.append(Value("delta.chunk_decay", (batch, chunks, heads), "fp32", BY_TENSOR))
    keeps.append(Value("delta.mask", (CHUNK, CHUNK), "bool", ()))
    forward.tape.record("delta_rule", "delta.rule", (), tuple(keeps))


def _output(forward: Forward, kind: DeltaNet) -> Value:
    """The norm over each head, times the gate's activation in fp32, and the projection back.

    transformers casts the normalised output before its weight multiplies, torchtitan after.
    """
    heads = forward.local(kind.value_heads)
    if forward.recipe.compiled:
        gate = forward.tokens("delta.gate", heads, kind.value_dim)
        output = forward.tokens("delta.output", heads, kind.value_dim)
        keeps = [output, _wide(forward, "delta.gated_norm.statistics", heads), gate]
    else:
        wide = [_wide(forward, f"delta.{each}", heads, kind.value_dim) for each in ("output_fp32", "gate", "gated")]
        keeps = [*wide, _wide(forward, "delta.gated_norm.statistics", heads)]
        last = "fp32" if forward.trained and forward.recipe.transformer_impl == "titan" else forward.recipe.compute
        weighted = "fp32" if forward.autocasts else forward.recipe.compute
        shape = (*output_shape(forward), heads, kind.value_dim)
        if forward.trained:
            keeps.append(Value("delta.gated_norm.normalised", shape, last, BY_TENSOR))
        keeps.append(Value("delta.gated_norm.weighted", shape, weighted, BY_TENSOR))
    forward.tape.record("norm", "delta.gated_norm", (), tuple(keeps))
    width = forward.local(kind.value_width)
    linear = Linear("out_proj", (), width, forward.model.hidden_size, BY_CONTEXT)
    projected = forward.linear(linear, "delta.out", forward.tokens("delta.out.input", width))
    forward.reduce_scatter("delta")
    return projected


def output_shape(forward: Forward) -> tuple[Int, Int]:
    """Sequences and their tokens on this GPU."""
    return forward.layout.micro_batch, forward.layout.local_sequence


def _wide(forward: Forward, name: str, *widths: Int) -> Value:
    return Value(name, (*output_shape(forward), *widths), "fp32", BY_TENSOR)
