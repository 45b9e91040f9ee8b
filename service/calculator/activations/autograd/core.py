"""The attention core: one kernel that keeps its operands, or products around a stored matrix of scores."""

from service.calculator.activations.autograd.forward import BY_CONTEXT, BY_TENSOR, Forward
from service.calculator.activations.autograd.tape import Value


def stores_scores(forward: Forward, *, softcap: bool) -> bool:
    """Whether the scores are stored: as asked, or because torch's own kernels know no softcap."""
    return forward.recipe.scores_stored or (softcap and forward.recipe.attention not in {"flash", "flex"})


def attention_core(
    forward: Forward, query: Value, key: Value, value: Value, *, softcap: bool = False, sinks: bool = False
) -> Value:
    """Record the core on (b, s, heads, width) operands; returns its output."""
    if stores_scores(forward, softcap=softcap):
        return _stored_scores(forward, query, key, value, softcap=softcap, sinks=sinks)
    return _kernel(forward, query, key, value)


def _kernel(forward: Forward, query: Value, key: Value, value: Value) -> Value:
    """flash-attn, cuDNN, flex or torch's own choice: operands, output, and one fp32 number for each query.

    With a padding mask each layer of transformers keeps its own copy in the operands' type, which torch makes of the
    boolean one; the compiler sees that all layers' copies are one.
    """
    batch, sequence, heads, _ = query.shape
    output = forward.tokens("attention.output", heads, value.shape[-1])
    log_sum_exp = Value("attention.log_sum_exp", (batch, heads, sequence), "fp32", BY_TENSOR)
    keeps = [query, key, value, output, log_sum_exp]
    if masked(forward) and not forward.recipe.compiled:
        shape = (batch, sequence, forward.layout.sequence_length)
        keeps.append(Value("attention.mask", shape, forward.recipe.compute, BY_CONTEXT))
    forward.tape.record("attention", "attention", (output, log_sum_exp), tuple(keeps))
    return output


def masked(forward: Forward) -> bool:
    """Whether torch's own attention is called with a dense mask; flash-attn takes the padding out instead."""
    return (
        forward.recipe.transformer_impl == "hf" and forward.recipe.attention_mask and forward.recipe.attention == "sdpa"
    )


def _stored_scores(forward: Forward, query: Value, key: Value, value: Value, *, softcap: bool, sinks: bool) -> Value:
    """Two batched products: they keep contiguous copies of their operands, the softmax its result.

    transformers joins a sink to the scores as one more column, and takes the largest from each row: its index is kept.
    """
    recipe, layout = forward.recipe, forward.layout
    batch, sequence, heads, _ = query.shape
    query, key = forward.like(query, "attention.query"), forward.like(key, "attention.key")
    value = forward.like(value, "attention.value")
    joined = sinks and recipe.transformer_impl == "hf"
    shape = (batch, heads, sequence, layout.sequence_length + int(joined))
    if joined:
        largest = Value("attention.largest", (batch, heads, sequence), "int64", BY_TENSOR)
        forward.tape.record("max", "attention.largest", (), (largest,))

    def scores(name: str, dtype: str) -> Value:
        return Value(f"attention.{name}", shape, dtype, BY_TENSOR)

    forward.tape.record("bmm", "attention.scores", (), (query, key))
    if softcap:
        forward.tape.record("tanh", "attention.softcap", (), (scores("softcap", recipe.compute),))
    probabilities = scores("probabilities", recipe.compute)
    wide = scores("softmax", "fp32") if recipe.softmax_fp32 and recipe.compute != "fp32" else probabilities
    forward.tape.record("softmax", "attention.softmax", (probabilities,), (wide,))
    if recipe.attention_dropout > 0:
        # The second product keeps what dropout made; the probabilities stay only where they are the softmax's result.
        probabilities = scores("dropped_probabilities", recipe.compute)
        forward.tape.record("dropout", "attention.dropout", (probabilities,), (scores("dropout_mask", "bool"),))
    forward.tape.record("bmm", "attention.values", (), (probabilities, value))
    return forward.tokens("attention.output", heads, value.shape[-1])
