"""Embedding, final norm, logits and loss: what the ends of the model hold (memory_model.md, section 4)."""

from dataclasses import dataclass

from service.calculator.layout import Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Moment, Tensor
from service.calculator.model import Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div

TOKENS = ("context",)
RESIDUAL = ("sequence", "context")
LOGITS = ("tensor", "context")
SOURCE = "memory_model.md 4"


@dataclass(frozen=True, slots=True)
class EndCounts:
    """Micro-batches whose tensors an end of the model holds: in flight, and with logits kept."""

    in_flight: Int
    losses: Int


def embedding_lines(model: Model, layout: Layout, recipe: Recipe, in_flight: Int) -> list[Line]:
    """Token and position ids of the micro-batches in flight, and the mask of the embedding's dropout."""
    ids = Tensor(
        "embedding.ids", Category.ACTIVATIONS, (2, layout.micro_batch, layout.local_sequence), "int64", TOKENS, SOURCE
    )
    lines = [Line(ids, in_flight, WITH_ACTIVATIONS), *mask_lines(layout, recipe)]
    if recipe.hidden_dropout > 0:
        mask = Tensor("embedding.dropout_mask", Category.ACTIVATIONS, residual(model, layout), "bool", RESIDUAL, SOURCE)
        lines.append(Line(mask, in_flight, WITH_ACTIVATIONS))
    return lines


def mask_lines(layout: Layout, recipe: Recipe) -> list[Line]:
    """The dense mask that Megatron's data loader makes for the micro-batch in its forward, on the first and last stage.

    Source: `--no-create-attention-mask-in-dataloader` is off by default; Megatron-LM's 7B runs hold b·s² bytes more
    than their activations (CI golden values @ d98e8a64).
    """
    if not recipe.attention_mask:
        return []
    shape = (layout.micro_batch, layout.local_sequence, layout.sequence_length)
    mask = Tensor(
        "attention_mask", Category.ACTIVATIONS, shape, "bool", TOKENS, "megatron/core/datasets/gpt_dataset.py"
    )
    return [Line(mask, 1, (Moment.WARMUP_FORWARD, Moment.LOSS))]


def residual(model: Model, layout: Layout) -> tuple[Int, Int, Int]:
    """Shape of the residual stream on one GPU: (s/c over the sequence shards, b, h)."""
    return (layout.local_sequence // layout.sequence_shards, layout.micro_batch, model.hidden_size)


def head_lines(model: Model, layout: Layout, recipe: Recipe, counts: EndCounts) -> list[Line]:
    """Final norm, head input, and the loss recipe's copies of the logits at its three points."""
    mask = mask_lines(layout, recipe) if layout.pipeline > 1 else []
    return [
        *mask,
        *_final_norm(model, layout, recipe, counts.in_flight),
        *_logits(model, layout, recipe, counts.losses),
        *_head_backward(model, layout, recipe),
    ]


def _final_norm(model: Model, layout: Layout, recipe: Recipe, in_flight: Int) -> list[Line]:
    rows, batch, hidden = residual(model, layout)
    statistics = (rows, batch, 2 if model.normalization == "layernorm" else 1)
    labels = (2, layout.micro_batch, layout.local_sequence)
    tensors = [
        Tensor("final_norm.input", Category.ACTIVATIONS, (rows, batch, hidden), recipe.compute, RESIDUAL, SOURCE),
        Tensor("final_norm.statistics", Category.ACTIVATIONS, statistics, "fp32", RESIDUAL, SOURCE),
        Tensor("head.input", Category.ACTIVATIONS, (rows, batch, hidden), recipe.compute, RESIDUAL, SOURCE),
        Tensor("loss.labels_and_mask", Category.ACTIVATIONS, labels, "int64", TOKENS, SOURCE),
    ]
    return [Line(each, in_flight, WITH_ACTIVATIONS) for each in tensors]


def logits_shape(model: Model, layout: Layout, recipe: Recipe) -> tuple[tuple[Int, ...], tuple[str, ...]]:
    """Shape of the logits on one GPU, and what divides them."""
    vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
    columns = ceil_div(vocabulary, layout.tensor) if recipe.loss.vocabulary_parallel else vocabulary
    shape = (layout.local_sequence, layout.micro_batch, columns)
    return shape, LOGITS if recipe.loss.vocabulary_parallel else TOKENS


def _logits(model: Model, layout: Layout, recipe: Recipe, losses: Int) -> list[Line]:
    """Copies kept by every pending loss, and the extra ones of the loss that runs.

    `losses` micro-batches hold what the recipe keeps; the one that runs is at its own peak, so its kept copies are
    part of that peak and the pending ones are one fewer.
    """
    shape, sharded_by = logits_shape(model, layout, recipe)

    def line(name: str, dtype: str, count: Int, alive: tuple[Moment, ...]) -> Line:
        return Line(Tensor(name, Category.LOGITS, shape, dtype, sharded_by, SOURCE), count, alive)

    return [
        *(line("logits.pending", each, losses - 1, WITH_ACTIVATIONS) for each in recipe.loss.kept),
        *(line("logits.forward", each, 1, (Moment.LOSS,)) for each in recipe.loss.forward),
        *(line("logits.backward", each, 1, (Moment.FIRST_BACKWARD,)) for each in recipe.loss.backward),
        line("logits.gradient", recipe.compute, 1, (Moment.HEAD_BACKWARD,)),
    ]


def _head_backward(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Gradient of the head's input, and of its weight where that is not added straight into the buffer."""
    gathered = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    source = f"{SOURCE}; 3.7"
    lines = [_transient("head.input_gradient", gathered, recipe.compute, ("context",), source)]
    if not recipe.gradient_accumulation_fusion:
        vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
        weight = (ceil_div(vocabulary, layout.tensor), model.hidden_size)
        lines.append(_transient("head.weight_gradient", weight, recipe.compute, ("tensor",), source))
    return lines


def _transient(name: str, shape: tuple[Int, ...], dtype: str, sharded_by: tuple[str, ...], source: str) -> Line:
    tensor = Tensor(name, Category.ACTIVATIONS, shape, dtype, sharded_by, source)
    return Line(tensor, 1, (Moment.HEAD_BACKWARD,))
