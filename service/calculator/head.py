"""Embedding, final norm, logits and loss: what the ends of the model hold (memory_model.md, section 4)."""

from dataclasses import dataclass

from service.calculator.activations.autograd.layer import SOURCES, head_tensors
from service.calculator.activations.frozen import adapted_head
from service.calculator.layout import Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Moment, Tensor
from service.calculator.loss import TOKENS, logits_columns, loss_lines
from service.calculator.model import Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div

RESIDUAL = ("sequence", "context")
SOURCE = "memory_model.md 4"
IN_THE_LAYERS = (Moment.LAYER_BACKWARD, Moment.RECOMPUTE)
UNTIL_THE_LAYERS = tuple(each for each in WITH_ACTIVATIONS if each not in IN_THE_LAYERS)
MASKING = "transformers 5.24.0 masking_utils.py; memory_model.md 3.2"


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
    if model.embedding_norm:
        lines += [Line(each, in_flight, WITH_ACTIVATIONS) for each in _embedding_norm(model, layout, recipe)]
    if recipe.hidden_dropout > 0:
        mask = Tensor("embedding.dropout_mask", Category.ACTIVATIONS, residual(model, layout), "bool", RESIDUAL, SOURCE)
        lines.append(Line(mask, in_flight, WITH_ACTIVATIONS))
    return lines


def _embedding_norm(model: Model, layout: Layout, recipe: Recipe) -> list[Tensor]:
    """Input and statistics of the norm behind the embedding (BLOOM)."""
    rows, batch, hidden = residual(model, layout)
    statistics = (rows, batch, 2 if model.normalization == "layernorm" else 1)
    return [
        Tensor("embedding.norm.input", Category.ACTIVATIONS, (rows, batch, hidden), recipe.compute, RESIDUAL, SOURCE),
        Tensor("embedding.norm.statistics", Category.ACTIVATIONS, statistics, "fp32", RESIDUAL, SOURCE),
    ]


def mask_lines(layout: Layout, recipe: Recipe) -> list[Line]:
    """The dense mask of a micro-batch in its forward, which Megatron's data loader makes on the first and last stage.

    Source: `--no-create-attention-mask-in-dataloader` is off by default; Megatron-LM's 7B runs hold b·s² bytes more
    than their activations (CI golden values @ d98e8a64). transformers makes one for all layers; each layer keeps a copy
    of its own, save in compiled code, where all share one in the type of activations.
    """
    if not recipe.attention_mask:
        return []
    shape = (layout.micro_batch, layout.local_sequence, layout.sequence_length)
    if recipe.transformer_impl == "hf" and recipe.compiled:
        shared = Tensor("attention_mask", Category.ACTIVATIONS, shape, recipe.compute, TOKENS, MASKING)
        return [Line(shared, 1, WITH_ACTIVATIONS)]
    source = MASKING if recipe.transformer_impl == "hf" else "megatron/core/datasets/gpt_dataset.py"
    mask = Tensor("attention_mask", Category.ACTIVATIONS, shape, "bool", TOKENS, source)
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
        *loss_lines(model, layout, recipe, counts.losses),
        *_head_backward(model, layout, recipe),
    ]


def _final_norm(model: Model, layout: Layout, recipe: Recipe, in_flight: Int) -> list[Line]:
    """What the final norm and the head keep, and the labels with their mask; the layers' backward finds them freed."""
    shape = (2, layout.micro_batch, layout.local_sequence)
    labels = Tensor("loss.labels_and_mask", Category.ACTIVATIONS, shape, "int64", TOKENS, SOURCE)
    tensors = [*_norm_and_head(model, layout, recipe), labels]
    lines = [Line(each, in_flight, UNTIL_THE_LAYERS) for each in tensors]
    return lines + [Line(each, in_flight - 1, IN_THE_LAYERS) for each in tensors]


def _norm_and_head(model: Model, layout: Layout, recipe: Recipe) -> list[Tensor]:
    if recipe.transformer_impl in SOURCES:
        columns = logits_columns(model, layout, recipe)
        return [each.tensor for each in head_tensors(model, layout, recipe, columns)]
    rows, batch, hidden = residual(model, layout)
    statistics = (rows, batch, 2 if model.normalization == "layernorm" else 1)
    return [
        Tensor("final_norm.input", Category.ACTIVATIONS, (rows, batch, hidden), recipe.compute, RESIDUAL, SOURCE),
        Tensor("final_norm.statistics", Category.ACTIVATIONS, statistics, "fp32", RESIDUAL, SOURCE),
        *([_head_input(rows, model, layout, recipe)] if recipe.trains("head") else []),
        *adapted_head(model, layout, recipe),
    ]


def _head_input(rows: Int, model: Model, layout: Layout, recipe: Recipe) -> Tensor:
    whole = recipe.habits.gathered_inputs_kept
    shape = (layout.local_sequence if whole else rows, layout.micro_batch, model.hidden_size)
    by = TOKENS if whole else RESIDUAL
    return Tensor("head.input", Category.ACTIVATIONS, shape, recipe.compute, by, SOURCE)


def _head_backward(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Gradient of the head's input, and of its weight where that is not added straight into the buffer.

    Other frameworks' gradients of weights are among the states.
    """
    gathered = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    source = f"{SOURCE}; 3.7"
    lines = []
    if not recipe.loss.hidden:
        lines.append(_transient("head.input_gradient", gathered, recipe.compute, ("context",), source))
    if not recipe.gradient_accumulation_fusion and recipe.trains("head"):
        vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
        weight = (ceil_div(vocabulary, layout.tensor), model.hidden_size)
        lines.append(_transient("head.weight_gradient", weight, recipe.compute, ("tensor",), source))
    return lines


def _transient(name: str, shape: tuple[Int, ...], dtype: str, sharded_by: tuple[str, ...], source: str) -> Line:
    tensor = Tensor(name, Category.ACTIVATIONS, shape, dtype, sharded_by, source)
    return Line(tensor, 1, (Moment.HEAD_BACKWARD,))
