"""A decoder layer of torch modules, and the tensors it saves."""

from dataclasses import replace

from service.calculator.activations.autograd.attention import attention
from service.calculator.activations.autograd.delta import delta_net
from service.calculator.activations.autograd.experts import experts
from service.calculator.activations.autograd.forward import BY_CONTEXT, Forward, Linear
from service.calculator.activations.autograd.latent import latent_attention
from service.calculator.activations.autograd.mamba import mamba
from service.calculator.activations.autograd.mlp import mlp
from service.calculator.activations.autograd.norms import norm
from service.calculator.activations.autograd.policy import kept_results
from service.calculator.activations.autograd.tape import Value
from service.calculator.activations.saved import Saved
from service.calculator.layout import Layout
from service.calculator.ledger import Category, Tensor
from service.calculator.model import (
    Attention,
    DeltaNet,
    FeedForward,
    LatentAttention,
    LayerKind,
    Mamba,
    Mixer,
    Mlp,
    Model,
    Moe,
)
from service.calculator.recipe import Recipe
from service.calculator.units import Int, where

SOURCES = {
    "hf": "memory_model.md 3.2; transformers 5.24.0, measured",
    "titan": "memory_model.md 3.2; torchtitan @ b5bcd76c",
    "torch": "memory_model.md 3.2; torch 2.13.0, measured",
}
"""Where the operations of each implementation were read, and what was measured."""


def autograd_tensors(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe) -> list[Saved]:
    """Saved tensors of one layer and one micro-batch, the layer's input first.

    A tensor that the backward does not read has 0 copies: the input where an eager norm keeps its fp32 copy instead,
    and results that operation-level checkpointing caches.
    """
    forward = Forward(model, layout, recipe)
    entry = _record(forward, kind)
    storages = forward.tape.storages()
    cached = kept_results(forward.tape.operations, layout.checkpointing.op, traced=recipe.compiled or recipe.traced)
    source = SOURCES[recipe.transformer_impl]
    rows = [_row(entry, source, storages.pop(entry, 0), cached=False, is_input=True)]
    rows += [_row(each, source, copies, cached=each in cached) for each, copies in storages.items()]
    rows += [_row(each, source, 0, cached=True) for each in cached if each not in storages]
    outliving = {each.name for each in forward.tape.outliving}
    return [replace(each, outlives=each.tensor.name in outliving) for each in rows] if outliving else rows


def head_tensors(model: Model, layout: Layout, recipe: Recipe, vocabulary: Int) -> list[Saved]:
    """What the final norm and the head, `vocabulary` columns wide on this GPU, save for one micro-batch."""
    forward = Forward(model, layout, recipe)
    output = forward.tokens("head.input", model.hidden_size, by=BY_CONTEXT)
    value = norm(forward, "final_norm", forward.residual("final_norm.input"), output)
    forward.linear(Linear("head", ("head",), model.hidden_size, vocabulary), "head", value)
    source = SOURCES[recipe.transformer_impl]
    return [_row(each, source, copies, cached=False) for each, copies in forward.tape.storages().items()]


def _row(value: Value, source: str, copies: Int, *, cached: bool, is_input: bool = False) -> Saved:
    """`copies` are those that the backward needs."""
    tensor = Tensor(value.name, Category.ACTIVATIONS, value.shape, value.dtype, value.sharded_by, source)
    return Saved(tensor, is_input=is_input, copies=copies, cached=value.copies if cached else 0)


def _record(forward: Forward, kind: LayerKind) -> Value:
    """Run the layer's forward; returns its input."""
    entry = middle = read = forward.residual("attention.input")
    shared = kind.parallel_residual and kind.norms == 1
    if kind.attention is not None:
        read = entry if kind.post_norm else _before(forward, "attention", entry)
        _after(forward, "attention", kind, _mixer(forward, kind.attention, _whole(forward, read)))
        middle = entry if kind.parallel_residual else forward.residual("mlp.input")
    if kind.mlp is not None:
        if not shared:
            read = middle if kind.post_norm else _before(forward, "mlp", middle)
        _after(forward, "mlp", kind, _feed_forward(forward, kind.mlp, _whole(forward, read)))
    return entry


def _before(forward: Forward, block: str, value: Value) -> Value:
    """The norm before a half. Its result is what the projections read, gathered over the tensor group."""
    output = forward.tokens(f"{block}.norm.output", forward.model.hidden_size, by=BY_CONTEXT)
    return norm(forward, f"{block}.norm", value, output)


def _whole(forward: Forward, value: Value) -> Value:
    """What projections read: the value itself, or what is gathered of it where each rank holds a part."""
    shards = forward.layout.sequence_shards
    if value.sharded_by == BY_CONTEXT or (isinstance(shards, int) and shards == 1):
        return value
    shape = (forward.layout.micro_batch, forward.layout.local_sequence, forward.model.hidden_size)
    return replace(value, shape=shape, sharded_by=BY_CONTEXT, copies=where(shards - 1, 1, 0), otherwise=value)


def _after(forward: Forward, block: str, kind: LayerKind, output: Value) -> None:
    """A norm behind a half, in a sandwich or instead of the one before it; a dropout's mask."""
    if kind.post_norm or kind.norms > 2:  # noqa: PLR2004  (one norm before each half)
        part = forward.residual(f"{block}.output", output.dtype)
        norm(forward, f"{block}.post_norm", part, forward.residual(f"{block}.normalised"))
    if forward.recipe.hidden_dropout > 0:
        mask = forward.residual(f"{block}.output_dropout_mask", "bool")
        forward.tape.record("dropout", f"{block}.dropout", (), (mask,))


def _mixer(forward: Forward, mixer: Mixer, value: Value) -> Value:
    match mixer:
        case Attention():
            return attention(forward, mixer, value)
        case LatentAttention():
            return latent_attention(forward, mixer, value)
        case DeltaNet():
            return delta_net(forward, mixer, value)
        case Mamba():
            return mamba(forward, mixer, value)


def _feed_forward(forward: Forward, feed_forward: FeedForward, value: Value) -> Value:
    match feed_forward:
        case Mlp():
            return mlp(forward, feed_forward, value)
        case Moe():
            return experts(forward, feed_forward, value)
