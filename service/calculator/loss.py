"""The logits and what the loss makes of them (memory_model.md, section 4)."""

from collections.abc import Iterable, Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import WITH_ACTIVATIONS, Category, Line, Moment, Scope, Tensor
from service.calculator.model import Model
from service.calculator.parameters import padded_vocabulary
from service.calculator.recipe import Recipe
from service.calculator.units import Int, ceil_div, maximum, minimum, power_of_two, where

TOKENS = ("context",)
LOGITS = ("tensor", "context")
SOURCE = "memory_model.md 4"
UNTIL_THE_HEAD = (Moment.LOSS, Moment.FIRST_BACKWARD)
THROUGH_THE_HEAD = (*UNTIL_THE_HEAD, Moment.HEAD_BACKWARD)


def logits_columns(model: Model, layout: Layout, recipe: Recipe) -> Int:
    """Columns of the logits on one GPU."""
    vocabulary = padded_vocabulary(model.vocab_size, layout.tensor, recipe.vocabulary_multiple)
    return ceil_div(vocabulary, layout.tensor) if recipe.loss.vocabulary_parallel else vocabulary


def logits_shape(model: Model, layout: Layout, recipe: Recipe) -> tuple[tuple[Int, ...], tuple[str, ...]]:
    """Shape of the logits on one GPU, and what divides them."""
    shape = (layout.local_sequence, layout.micro_batch, logits_columns(model, layout, recipe))
    return shape, _divided_by(recipe)


def loss_lines(model: Model, layout: Layout, recipe: Recipe, losses: Int) -> list[Line]:
    """Copies kept by every pending loss, and the extra ones of the loss that runs.

    `losses` micro-batches hold what the recipe keeps; the one that runs is at its own peak, so its kept copies are
    part of that peak and the pending ones are one fewer.
    """
    loss, (shape, _) = recipe.loss, logits_shape(model, layout, recipe)
    shifted = where(layout.micro_batch - 1, 1, 0)
    gradient = () if loss.fused_with_head else (recipe.compute,)
    return [
        *_copies("logits.pending", loss.kept, shape, recipe, WITH_ACTIVATIONS, losses - 1),
        *_copies("logits.forward", loss.forward, shape, recipe, (Moment.LOSS,)),
        *_copies("logits.shifted", loss.shifted, shape, recipe, (Moment.LOSS,), shifted),
        *_copies("logits.backward", loss.backward, shape, recipe, (Moment.FIRST_BACKWARD,)),
        *_copies("logits.gradient", gradient, shape, recipe, (Moment.HEAD_BACKWARD,)),
        *_chunks(model, layout, recipe),
        *_stranded(model, layout, recipe),
        *_gathered(model, layout, recipe),
        *_beside_the_logits(model, layout, recipe),
        *_deferred(model, layout, recipe),
    ]


def _chunks(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Copies of one part of the logits."""
    columns = logits_columns(model, layout, recipe)
    shape = (chunk_rows(columns, model, layout, recipe), columns)
    return [
        *_copies("logits.chunk", recipe.loss.chunk_forward, shape, recipe, (Moment.LOSS,)),
        *_copies("logits.chunk", recipe.loss.chunk_backward, shape, recipe, (Moment.FIRST_BACKWARD,)),
    ]


def _stranded(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Memory of the 16-bit logits that is free at the backward's peak and too small for what is needed then.

    They are cast to fp32, and after that no tensor of the loss is as small as they were. torchtitan's small model with
    40960 tokens a step reserves 2 bytes a logit more than its tensors, 9.8 GiB (its runs of September 2024).
    """
    loss, narrow = recipe.loss, recipe.compute
    cast = narrow in loss.forward or loss.logits == "fp32"
    if narrow == "fp32" or not cast or "fp32" not in loss.forward or narrow in loss.backward:
        return []
    shape, sharded_by = logits_shape(model, layout, recipe)
    source = f"modelled: {SOURCE}; torch c10/cuda/CUDACachingAllocator.cpp"
    tensor = Tensor("allocator.stranded_logits", Category.ALLOCATOR, shape, narrow, sharded_by, source)
    return [Line(tensor, 1, (Moment.FIRST_BACKWARD,), Scope.RESERVED, modelled=True)]


def _gathered(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Logits twice, where every tensor rank gathers them whole: in NCCL's flat buffer, and in the list of shards.

    Both are dropped as soon as the whole is put together, but NCCL's stream still uses them when the loss asks for
    memory: the allocator gives them back no earlier than their event (torch ProcessGroupNCCL.cpp, recordStream).
    """
    if recipe.loss.vocabulary_parallel or recipe.loss.fused_with_head or not recipe.habits.logits_gathered:
        return []
    shape, sharded_by = logits_shape(model, layout, recipe)
    source = "modelled: torch csrc/distributed/c10d/ProcessGroupNCCL.cpp; Aleph-Alpha/scaling core/nn/linear/utils.py"
    tensor = Tensor("allocator.gathered_logits", Category.ALLOCATOR, shape, recipe.compute, sharded_by, source)
    gathers = where(layout.tensor - 1, 2, 0)
    return [Line(tensor, gathers, (Moment.LOSS, Moment.FIRST_BACKWARD), Scope.RESERVED, modelled=True)]


def chunk_rows(columns: Int, model: Model, layout: Layout, recipe: Recipe) -> Int:
    """Tokens of one part: an equal share, or (Liger) the power of two that makes a part as large as the head's input.

    Source: linkedin/Liger-Kernel @ ead96b61, ops/fused_linear_cross_entropy.py.
    """
    if recipe.loss.chunks_by_width:
        return minimum(power_of_two(ceil_div(layout.tokens, ceil_div(columns, model.hidden_size))), layout.tokens)
    return ceil_div(layout.tokens, recipe.loss.chunks)


def _beside_the_logits(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Gradients that the loss's forward makes when it runs the head too."""
    loss = recipe.loss
    hidden = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    weight = (logits_columns(model, layout, recipe), model.hidden_size)
    return [
        *_copies("loss.input_gradient", loss.hidden_forward, hidden, recipe, (Moment.LOSS,)),
        *_copies("loss.input_gradient", loss.hidden, hidden, recipe, THROUGH_THE_HEAD),
        *_copies("loss.weight_gradient", loss.weight_forward, weight, recipe, (Moment.LOSS,)),
        *_copies("loss.weight_gradient", loss.weight, weight, recipe, UNTIL_THE_HEAD),
    ]


def _deferred(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """Operands of head gradients that wait for the end of the step, of all micro-batches but the running one.

    Megatron's `defer_embedding_wgrad_compute`: the head's input and the gradient of its logits, of as many
    micro-batches as its limit says, 0 for all. Source: megatron/core/tensor_parallel/layers.py.
    """
    if recipe.deferred_head is None:
        return []
    limit = recipe.deferred_head
    waiting = layout.micro_batches if limit == 0 else minimum(limit, layout.micro_batches)
    shape, sharded_by = logits_shape(model, layout, recipe)
    rows = (layout.local_sequence // layout.sequence_shards, layout.micro_batch, model.hidden_size)
    source = "megatron/core/tensor_parallel/layers.py"
    gradient = Tensor("head.deferred_gradient", Category.LOGITS, shape, recipe.compute, sharded_by, source)
    operand = Tensor("head.deferred_input", Category.ACTIVATIONS, rows, recipe.compute, ("sequence", "context"), source)
    count = maximum(waiting - 1, 0)
    return [Line(gradient, count, WITH_ACTIVATIONS), Line(operand, count, WITH_ACTIVATIONS)]


def _copies(
    name: str,
    dtypes: Iterable[str],
    shape: Sequence[Int],
    recipe: Recipe,
    alive: tuple[Moment, ...],
    count: Int = 1,
) -> list[Line]:
    category = Category.LOGITS if name.startswith("logits.") else Category.ACTIVATIONS
    by = _divided_by(recipe)
    return [Line(Tensor(name, category, tuple(shape), each, by, SOURCE), count, alive) for each in dtypes]


def _divided_by(recipe: Recipe) -> tuple[str, ...]:
    return LOGITS if recipe.loss.vocabulary_parallel else TOKENS
