"""Tensors that exist only while a layer runs or a stage sends and receives (memory_model.md, sections 3.3, 3.7, 5)."""

from collections.abc import Sequence
from dataclasses import replace

from service.calculator.activations.autograd.layer import SOURCES
from service.calculator.activations.delta import CHUNK
from service.calculator.activations.saved import Saved
from service.calculator.checkpointing import segment_length
from service.calculator.head import residual
from service.calculator.layout import Layout
from service.calculator.ledger import ALWAYS, WITH_ACTIVATIONS, Category, Line, Moment, Tensor
from service.calculator.model import Attention, DeltaNet, LatentAttention, LayerKind, Mamba, Mlp, Model, Moe
from service.calculator.parameters import BY_EXPERT, ExpertGrid, layer_parameters
from service.calculator.recipe import Recipe
from service.calculator.routing import expert_rows, group_tokens, received_rows, sent_rows
from service.calculator.stage import Stage
from service.calculator.units import BYTES, Int, ceil_div, maximum, where

FP32_WEIGHTING = 6
"""Widths of a row, in the activations' 16 bits, of the gradients around an fp32 product with routing weights."""

MIXER = ("attention.", "mamba.", "delta.")
TORCH_STAGE = "torch/distributed/pipelining/stage.py, _setup_forward_recv_info"
PEFT = "huggingface/peft @ 5d602fdb tuners/lora/layer.py, ParamWrapper"
AO_CASTS = "modelled: torchao @ 36027d82 float8/float8_training_tensor.py, _ToFloat8ConstrFunc"
DISPATCH = "megatron/core/transformer/moe/token_dispatcher.py"


def forward_lines(
    kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]
) -> list[Line]:
    """Rows on their way that a mixture of experts holds when it combines the experts' outputs.

    Beside what is saved for the backward, the caller still holds the rows as sent and as received, the experts'
    output, and its copy in the order of the ranks or as sent back (moe_layer.py keeps them in local variables). A rank
    with one expert does not sort, and one alone does not send. The all-gather dispatcher gathers into a buffer that
    stays, and holds the experts' output and its sum over all gathered tokens.
    """
    moe = kind.mlp
    if not isinstance(moe, Moe):
        return _cast_lines(kind, model, layout, recipe, alive)
    changes = _changes_of_experts(moe, model, layout, recipe, alive)
    sent, received, rows = sent_rows(moe, layout), received_rows(moe, layout), expert_rows(moe, layout)
    sends = where(layout.expert * layout.expert_tensor - 1, 1, 0)
    sorts = where(ceil_div(moe.experts, layout.expert) - 1, 1, 0)
    if recipe.dispatcher == "allgather":
        counts: list[tuple[str, Int]] = [("expert_output", rows), ("summed", group_tokens(layout))]
    else:
        counts = [
            ("sent", sent),
            ("received", received * sends * sorts),
            ("expert_output", rows),
            ("returned", where(sorts, rows, sent * sends)),
        ]
    return [
        Line(
            _tensor(f"dispatch.{name}", (each, model.hidden_size), recipe, ("sequence", "context"), DISPATCH), 1, alive
        )
        for name, each in counts
    ] + changes


def _changes_of_experts(
    moe: Moe, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]
) -> list[Line]:
    """What adapters on stacked experts make of their factors: a change as large as the weights, and its gradient.

    The product of the factors is scaled into a second tensor in the adapters' type, of the up-projections while the
    change of the down-projections waits; the gradient of the sum goes the same way back. Source: huggingface/peft
    @ 5d602fdb, tuners/lora/layer.py, ParamWrapper.get_delta_weight and _LoraParameterProxy.
    """
    adapters = recipe.adapters
    if adapters is None or not (adapters.changes("up") or adapters.changes("down")):
        return []
    experts, width = ceil_div(moe.experts, layout.expert), ceil_div(moe.width, layout.expert_tensor)
    up = adapters.changes("up")
    largest = (experts, (moe.branches if up else 1) * width, model.hidden_size)
    change = Tensor("adapter.experts.change", Category.WEIGHTS, largest, adapters.dtype, BY_EXPERT, PEFT)
    lines = [Line(change, 2, alive)]
    if up and adapters.changes("down"):
        waiting = (experts, model.hidden_size, width)
        tensor = Tensor("adapter.experts.change", Category.WEIGHTS, waiting, recipe.running_weights, BY_EXPERT, PEFT)
        lines.append(Line(tensor, 1, alive))
    return lines


def backward_lines(
    kind: LayerKind,
    model: Model,
    layout: Layout,
    recipe: Recipe,
    saved: Sequence[Saved],
    alive: tuple[Moment, ...],
) -> list[Line]:
    """Gradients that a layer's backward holds beside the tensors it saved, during the given moments.

    The second half of a layer runs backward first. Where the first half then needs more than the second has held and
    freed, the difference is a line of its own.
    """
    half = _feed_forward_gradients(kind, model, layout, recipe, alive)
    lines = [
        _gradient("backward.output_gradient", residual(model, layout), recipe, ("sequence", "context"), alive),
        *half,
        _gathered("backward.gathered_input", model, layout, recipe, alive),
    ]
    freed: Int = 0
    for each in saved:
        if not each.tensor.name.startswith(MIXER):
            freed = freed + each.tensor.bytes * each.copies
    for line in half:
        freed = freed + line.bytes
    beyond = maximum(_mixer_gradients(kind, layout, recipe) - freed, 0)
    excess = Tensor(
        "backward.mixer_excess", Category.ACTIVATIONS, (beyond,), "uint8", ("tensor", "context"), "memory_model.md 3.7"
    )
    lines.append(Line(excess, 1, alive))
    lines += _cast_lines(kind, model, layout, recipe, alive)
    if not recipe.gradient_accumulation_fusion:
        lines.append(_weight_gradient(kind, model, layout, recipe, alive))
    return lines


def _cast_lines(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]) -> list[Line]:
    """What casting the largest operand of a layer's 8-bit products makes in fp32: it scaled, and it clamped.

    An operand is as wide as the residual stream or the MLP, and has as many rows as there are tokens or columns.
    Source: torchao @ 36027d82 float8/float8_training_tensor.py, _ToFloat8ConstrFunc, and float8_utils.py.
    """
    if not recipe.casts_eagerly:
        return []
    hidden = model.hidden_size
    width: Int = 0
    if isinstance(kind.mlp, Mlp):
        width = ceil_div(kind.mlp.width * (2 if kind.mlp.fused_projection else 1), layout.tensor)
    largest = maximum(layout.tokens, hidden) * maximum(hidden, width)
    casts = Tensor("products.casts", Category.ACTIVATIONS, (2, largest), "fp32", ("tensor", "context"), AO_CASTS)
    return [Line(casts, 1, alive, modelled=True)]


def last_backward_lines(
    kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, saved: Sequence[Saved]
) -> list[Line]:
    """The first layer's saved tensors, and its backward's; then the gradient that the embedding gets."""
    held: Int = 0
    for each in saved:
        held = held + each.tensor.bytes * each.copies
    if layout.checkpointing.granularity == "full":
        held = held * maximum(segment_length(layout.checkpointing, model.layers), 1)
    source = "memory_model.md 3.7, 6"
    left = Tensor("backward.first_layer", Category.ACTIVATIONS, (held,), "uint8", ("tensor", "context"), source)
    alive = (Moment.LAST_BACKWARD,)
    gradient = _gradient(
        "backward.embedding_gradient",
        residual(model, layout),
        recipe,
        ("sequence", "context"),
        (Moment.EMBEDDING_BACKWARD,),
    )
    return [Line(left, 1, alive), *backward_lines(kind, model, layout, recipe, saved, alive), gradient]


def _feed_forward_gradients(
    kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]
) -> list[Line]:
    """Gradient of a dense up-projection's output; of experts, the widest pair of gradients between two steps.

    First the returned rows and the rows as the experts had them, then those and the activation's, then the
    up-projection's output. Torch modules multiply outputs and routing weights in fp32: that step's gradients are 12h
    bytes a row (measured on torchtitan's, at three shapes).
    """
    match kind.mlp:
        case Mlp() as mlp:
            width = _mlp_gradient_width(mlp, layout, recipe)
            up = (layout.local_sequence, layout.micro_batch, width)
            return [_gradient("backward.mlp_gradient", up, recipe, ("tensor", "context"), alive)]
        case Moe() as moe:
            width, hidden = ceil_div(moe.width, layout.expert_tensor), model.hidden_size
            together = recipe.compiled or recipe.traced
            weighted = FP32_WEIGHTING if recipe.transformer_impl in SOURCES and not together else 2
            widest = maximum(maximum(moe.branches * width, hidden + width), weighted * hidden)
            shape = (expert_rows(moe, layout), widest)
            gradients = _gradient("backward.expert_gradients", shape, recipe, ("sequence", "context"), alive)
            return [gradients, *_changes_of_experts(moe, model, layout, recipe, alive)[:1]]
        case None:
            return []


def _mlp_gradient_width(mlp: Mlp, layout: Layout, recipe: Recipe) -> Int:
    """Columns of the gradients that an MLP's backward holds beyond the tensors that it has freed.

    The gradient of the down-projection's input takes that input's place, where the projection kept it; then come those
    of the up-projection's output, or of the two factors of a GELU written in Python (all measured).
    """
    width = ceil_div(mlp.width, layout.tensor)
    written_out = mlp.gelu_in_python and mlp.branches == 1 and recipe.transformer_impl == "hf" and not recipe.compiled
    adapters = recipe.adapters
    kept = adapters is None or "down" in adapters.modules
    return width * ((2 if written_out else mlp.branches) + int(not kept))


def _mixer_gradients(kind: LayerKind, layout: Layout, recipe: Recipe) -> Int:
    """Bytes of gradients that the first half's backward holds at once.

    Fused attention: gradients of output, queries, keys and values, and queries' again in fp32, into which the kernel
    adds, and the gate's where there is one. Stored scores: their gradient before and after the softmax. Mamba:
    gradients of the scan's output and of the in-projection's output. Gated delta net: those, and what the kernel
    computes again and the gradients that it makes of it (chunk_gated_delta_rule_bwd), its states aside.
    """
    width, tokens = BYTES[recipe.compute], layout.tokens
    match kind.attention:
        case Attention() as mixer:
            query, key, value, output = mixer.query_width, mixer.key_width, mixer.key_width, mixer.query_width
        case LatentAttention() as mixer:
            query = key = mixer.heads * (mixer.nope_dim + mixer.rope_dim)
            value = output = mixer.heads * mixer.value_dim
        case Mamba() as mamba:
            return tokens * ceil_div(3 * mamba.inner_width + mamba.state_width + mamba.heads, layout.tensor) * width
        case DeltaNet() as delta:
            return tokens * _delta_gradient_width(delta, layout) * width
        case None:
            return 0
    if recipe.scores_stored:
        heads = ceil_div(mixer.heads, layout.tensor)
        return 2 * tokens * heads * layout.sequence_length * width
    gate = mixer.gate_width if isinstance(mixer, Attention) else 0
    kept = ceil_div(query + key + value + output + gate, layout.tensor) * width
    return tokens * (kept + ceil_div(query, layout.tensor) * BYTES["fp32"])


def _delta_gradient_width(delta: DeltaNet, layout: Layout) -> Int:
    """Columns of 16 bits that a delta rule's backward holds for each token.

    Gradients of the output and its gate; w and u, the new values and their gradient, computed again for each value
    head; one state a chunk and its gradient; gradients of queries, keys (fp32 for each value head) and values.
    Source: flash-linear-attention @ bc3b101d, gated_delta_rule/chunk.py, common/chunk_delta_h.py, common/chunk_o.py.
    """
    heads = ceil_div(delta.value_heads, layout.tensor)
    key, value = heads * delta.key_dim, heads * delta.value_dim
    states = 2 * key * delta.value_dim // CHUNK
    return 2 * value + (key + 3 * value) + states + (3 * 2 * key + value)


def _tensor(name: str, shape: tuple[Int, ...], recipe: Recipe, sharded_by: tuple[str, ...], source: str) -> Tensor:
    return Tensor(name, Category.ACTIVATIONS, shape, recipe.compute, sharded_by, source)


def _gradient(
    name: str, shape: tuple[Int, ...], recipe: Recipe, sharded_by: tuple[str, ...], alive: tuple[Moment, ...]
) -> Line:
    return Line(_tensor(name, shape, recipe, sharded_by, "memory_model.md 3.7"), 1, alive)


def _gathered(name: str, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]) -> Line:
    """The norm's output gathered over the tensor group again, with sequence parallelism."""
    shape = (layout.local_sequence, layout.micro_batch, model.hidden_size)
    tensor = Tensor(name, Category.COMMUNICATION, shape, recipe.compute, ("context",), "memory_model.md 3.6")
    return Line(tensor, where(layout.sequence_parallel, where(layout.tensor - 1, 1, 0), 0), alive)


def _weight_gradient(kind: LayerKind, model: Model, layout: Layout, recipe: Recipe, alive: tuple[Moment, ...]) -> Line:
    """The largest weight's gradient before it is added to the accumulation buffer.

    A grouped product makes those of all experts together.
    """
    grid = ExpertGrid(layout.expert, layout.expert_tensor)
    largest: Int = 0
    for each in layer_parameters(kind, model, layout.tensor, grid):
        together = each.copies if each.is_expert and recipe.grouped_gemm else 1
        largest = maximum(largest, each.elements * together)
    return _gradient("backward.weight_gradient", (largest,), recipe, ("tensor",), alive)


def pipeline_lines(stage: Stage, model: Model, layout: Layout, recipe: Recipe, in_flight: Int) -> list[Line]:
    """Boundary tensors in transit: one received input or sent output, one output gradient (section 5).

    Without deallocation, a stage also keeps the output of every micro-batch in flight. torch's pipelines receive into
    a buffer for each micro-batch of the step, made before it begins: inputs of every chunk but the model's first,
    gradients of every chunk but its last.
    """
    if layout.pipeline == 1:
        return []
    shape = residual(model, layout)
    if recipe.habits.torch_pipelines:
        received = 2 * layout.virtual - sum(each is not None for each in (stage.embedding, stage.head))
        buffer = Tensor(
            "pipeline.received", Category.COMMUNICATION, shape, recipe.compute, ("sequence", "context"), TORCH_STAGE
        )
        output = replace(buffer, name="pipeline.output", category=Category.ACTIVATIONS)
        return [
            Line(buffer, received * layout.micro_batches, ALWAYS),
            Line(output, in_flight, WITH_ACTIVATIONS),
        ]
    source = "memory_model.md 5; megatron/core/pipeline_parallel/schedules.py"
    transit = Tensor(
        "pipeline.boundary", Category.COMMUNICATION, shape, recipe.compute, ("sequence", "context"), source
    )
    lines = [Line(transit, 2, WITH_ACTIVATIONS)]
    if not recipe.deallocate_pipeline_outputs:
        output = Tensor("pipeline.output", Category.ACTIVATIONS, shape, recipe.compute, ("sequence", "context"), source)
        lines.append(Line(output, in_flight, WITH_ACTIVATIONS))
    return lines
