"""Multi-head latent attention of torch modules (memory_model.md, section 3.3).

The values are a slice of the up-projected latent, so the part of it that became keys is kept with them; queries and
keys are concatenated from their parts into tensors of their own.
"""

from service.calculator.activations.autograd.attention import output_projection
from service.calculator.activations.autograd.core import attention_core
from service.calculator.activations.autograd.forward import BY_CONTEXT, Forward, Linear
from service.calculator.activations.autograd.norms import norm
from service.calculator.activations.autograd.tape import Value
from service.calculator.model import LatentAttention


def latent_attention(forward: Forward, kind: LatentAttention, value: Value) -> Value:
    """Latents and their norms, up-projections, core and output projection."""
    heads, width = forward.local(kind.heads), kind.nope_dim + kind.rope_dim
    _query(forward, kind, value)
    down = Linear("wkv_a", ("kv_a",), forward.model.hidden_size, kind.latent_rank + kind.rope_dim, BY_CONTEXT)
    joint = forward.linear(down, "attention.kv_latent", value)
    latent = forward.tokens("attention.kv_latent", kind.latent_rank, by=BY_CONTEXT, base=joint)
    latent = norm(forward, "attention.kv_norm", latent, forward.like(latent, "attention.kv_norm.output"))
    outputs = heads * (kind.nope_dim + kind.value_dim)
    up = forward.linear(Linear("wkv_b", ("kv_b",), kind.latent_rank, outputs), "attention.kv_heads", latent)
    output = attention_core(
        forward,
        forward.tokens("attention.query", heads, width),
        forward.tokens("attention.key", heads, width),
        forward.tokens("attention.value", heads, kind.value_dim, base=up),
    )
    if forward.recipe.transformer_impl == "hf" and forward.recipe.attention == "sdpa" and not forward.recipe.compiled:
        # Heads that were joined from parts are contiguous, and torch lays its output out like them: merging copies.
        output = forward.like(output, "attention.output_copy")
    return output_projection(forward, output, heads * kind.value_dim)


def _query(forward: Forward, kind: LatentAttention, value: Value) -> None:
    """The queries' projections; their parts are concatenated, so that the projected tensor is not kept."""
    outputs = forward.local(kind.heads) * (kind.nope_dim + kind.rope_dim)
    hidden = forward.model.hidden_size
    if not kind.query_rank:
        forward.linear(Linear("wq", ("q",), hidden, outputs), "attention.projected_query", value)
        return
    down = Linear("wq_a", ("q_a",), hidden, kind.query_rank, BY_CONTEXT)
    latent = forward.linear(down, "attention.query_latent", value)
    latent = norm(forward, "attention.query_norm", latent, forward.like(latent, "attention.query_norm.output"))
    forward.linear(Linear("wq_b", ("q_b",), kind.query_rank, outputs), "attention.projected_query", latent)
