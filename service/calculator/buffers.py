"""Buffers that a framework allocates once and keeps for the whole run."""

from collections.abc import Iterable, Sequence

from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, Category, Line, Tensor
from service.calculator.model import Model, Moe, Recurrent
from service.calculator.parameters import Parameter
from service.calculator.recipe import Recipe
from service.calculator.routing import group_tokens
from service.calculator.states import StageParameters
from service.calculator.units import Int, ceil_div, maximum, where

MEGATRON_BUFFER = "megatron/core/utils.py, GlobalMemoryBuffer"
NANOTRON_BUFFER = (
    "huggingface/nanotron @ 2411b022 parallel/tensor_parallel/functional.py, parallel/utils.py MemoryBuffer"
)
DUMMY_GRADIENT = "TransformerEngine module/base.py, get_dummy_wgrad"


def global_buffer_lines(
    model: Model, layout: Layout, recipe: Recipe, kinds: Iterable[int], *, head: bool
) -> list[Line]:
    """Megatron's one buffer for gathered inputs and scores, as long as its longest use on this stage.

    The head, and local layers, gather their input over the tensor group under sequence parallelism. Local attention
    writes its scores into it: that is what the resident bytes of local layers hold beyond Transformer Engine's (CI
    golden values @ d98e8a64). The all-gather dispatcher of a mixture of experts gathers its group's tokens into it.
    Frozen products gather elsewhere (tensor_parallel/layers.py, linear_with_frozen_weight).
    """
    if recipe.habits.gathers_in_buffers:
        return _nanotron_buffers(model, layout, recipe)
    elements: Int = 0
    local = recipe.transformer_impl == "local"
    if (head and recipe.trains("head")) or (local and recipe.adapters is None):
        gathers = where(layout.sequence_parallel, where(layout.tensor - 1, 1, 0), 0)
        elements = gathers * layout.tokens * model.hidden_size
    for kind in kinds:
        mixer, feed_forward = model.kinds[kind].attention, model.kinds[kind].mlp
        if local and recipe.scores_stored and mixer is not None and not isinstance(mixer, Recurrent):
            scores = layout.tokens * ceil_div(mixer.heads, layout.tensor) * layout.sequence_length
            elements = maximum(elements, scores)
        if isinstance(feed_forward, Moe) and recipe.dispatcher == "allgather":
            gathers = where(layout.expert * layout.expert_tensor - 1, 1, 0)
            elements = maximum(elements, gathers * group_tokens(layout) * model.hidden_size)
    tensor = Tensor("megatron.global_buffer", Category.COMMUNICATION, (elements,), recipe.compute, (), MEGATRON_BUFFER)
    return [Line(tensor, 1, ALWAYS)]


def _nanotron_buffers(model: Model, layout: Layout, recipe: Recipe) -> list[Line]:
    """The two buffers of nanotron, on every stage, under sequence parallelism.

    One for the gathered input of column-wise projections, in both passes, one for the gathered output gradient of
    row-wise ones.
    """
    gathers = where(layout.sequence_parallel, where(layout.tensor - 1, 1, 0), 0)
    shape = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    tensor = Tensor("nanotron.memory_buffer", Category.COMMUNICATION, shape, recipe.compute, (), NANOTRON_BUFFER)
    return [Line(tensor, 2 * gathers, ALWAYS)]


def dummy_gradient_lines(parameters: Sequence[StageParameters], recipe: Recipe) -> list[Line]:
    """One tensor for each shape of weight, handed to autograd in place of gradients that are already accumulated.

    With fused accumulation a weight's gradient goes straight into the buffer; Transformer Engine keeps a stand-in of
    every shape, which Megatron's own products (the head, adapters) use too.
    """
    if not recipe.runs_engine or not recipe.gradient_accumulation_fusion:
        return []
    weights = [
        each.parameter for each in parameters if each.trained and (_is_linear(each.parameter) or each.is_adapter)
    ]
    return [
        Line(
            Tensor(
                "gradients.stand_in", Category.WORKSPACE, each.shape, recipe.parameters, each.sharded_by, DUMMY_GRADIENT
            ),
            _is_new(each, weights[:index]),
            ALWAYS,
        )
        for index, each in enumerate(weights)
    ]


def _is_linear(parameter: Parameter) -> bool:
    """Whether it is the weight of a linear layer; norms, the router and the embedding accumulate another way."""
    return parameter.name.endswith(".weight") and not any(part in parameter.name for part in ("norm", "router"))


def _is_new(parameter: Parameter, earlier: Sequence[Parameter]) -> Int:
    """1 where no earlier weight has the same shape, else 0."""
    new: Int = 1
    for each in earlier:
        same = where(parameter.shape[0] == each.shape[0], where(parameter.shape[1] == each.shape[1], 1, 0), 0)
        new = where(same, 0, new)
    return new
