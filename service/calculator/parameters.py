"""Parameters of each part of the model on one GPU (memory_model.md, sections 1.1 and 1.2).

Shapes are those of the local shard: what tensor parallelism divides is divided, what it replicates is whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from service.calculator.model import (
    Attention,
    DeltaNet,
    LatentAttention,
    LayerKind,
    Mamba,
    Mlp,
    Model,
    Moe,
    Prediction,
)
from service.calculator.units import Int, ceil_div, round_up

BY_TENSOR = ("tensor",)
BY_EXPERT = ("expert", "expert_tensor")
REPLICATED: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One weight or vector on one GPU, `copies` times; `elements` are those of one copy."""

    name: str
    shape: tuple[Int, ...]
    sharded_by: tuple[str, ...]
    source: str
    copies: Int = 1
    elements: Int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Every parameter is counted for many lines, and on arrays a product is dear.
        total: Int = 1
        for each in self.shape:
            total = total * each
        object.__setattr__(self, "elements", total)

    @property
    def is_expert(self) -> bool:
        """Whether it belongs to a routed expert, whose data-parallel group is another one."""
        return self.sharded_by == BY_EXPERT


@dataclass(frozen=True, slots=True)
class ExpertGrid:
    """How routed experts are divided: over `expert` ranks, and each expert over `tensor` ranks."""

    expert: Int = 1
    tensor: Int = 1


WHOLE_EXPERTS = ExpertGrid()


def count(parameters: Iterable[Parameter]) -> Int:
    """Elements of all parameters, copies included."""
    total: Int = 0
    for each in parameters:
        total = total + each.elements * each.copies
    return total


def padded_vocabulary(vocab_size: int, tensor: Int, multiple: int) -> Int:
    """Rows of the embedding: the next multiple of `multiple`·t (Megatron: 128·t); multiple 1 pads nothing.

    Source: megatron/core/tokenizers/utils/build_tokenizer.py, vocab_size_with_padding.
    """
    if multiple == 1:
        return vocab_size
    return round_up(vocab_size, multiple * tensor)


def _norm(name: str, width: int, model: Model, copies: int = 1) -> Parameter:
    rows = (2, width) if model.normalization == "layernorm" and model.norm_bias else (width,)
    return Parameter(name, rows, REPLICATED, "memory_model.md 1.1 norm", copies)


def _attention(attention: Attention, model: Model, tensor: Int) -> list[Parameter]:
    hidden = model.hidden_size
    q, k = attention.query_width, attention.key_width
    source = "memory_model.md 1.1 attention"
    rows = ceil_div(q + attention.gate_width + 2 * k, tensor)
    found = [
        Parameter("attention.qkv.weight", (rows, hidden), BY_TENSOR, source),
        Parameter("attention.output.weight", (hidden, ceil_div(q, tensor)), BY_TENSOR, source),
    ]
    if attention.qkv_bias:
        found.append(Parameter("attention.qkv.bias", (rows,), BY_TENSOR, source))
    if attention.output_bias:
        found.append(Parameter("attention.output.bias", (hidden,), REPLICATED, source))
    if attention.qk_norm == "per_head":
        found.append(_norm("attention.qk_norm", attention.head_dim, model, copies=2))
    if attention.qk_norm == "full":
        found.append(Parameter("attention.query_norm", (ceil_div(q, tensor),), BY_TENSOR, source))
        found.append(Parameter("attention.key_norm", (ceil_div(k, tensor),), BY_TENSOR, source))
    if attention.sinks:
        found.append(Parameter("attention.sinks", (ceil_div(attention.heads, tensor),), BY_TENSOR, source))
    return found


def _latent_attention(attention: LatentAttention, model: Model, tensor: Int) -> list[Parameter]:
    """Down-projections to the latents are replicated, up-projections to the heads are split over the tensor group."""
    hidden, heads, latent = model.hidden_size, attention.heads, attention.latent_rank
    query = heads * (attention.nope_dim + attention.rope_dim)
    key_value = heads * (attention.nope_dim + attention.value_dim)
    source = "memory_model.md 1.1 MLA"
    found = [
        Parameter("attention.kv_down.weight", (latent + attention.rope_dim, hidden), REPLICATED, source),
        _norm("attention.kv_norm", latent, model),
        Parameter("attention.kv_up.weight", (ceil_div(key_value, tensor), latent), BY_TENSOR, source),
        Parameter(
            "attention.output.weight", (hidden, ceil_div(heads * attention.value_dim, tensor)), BY_TENSOR, source
        ),
    ]
    if not attention.query_rank:
        return [Parameter("attention.query.weight", (ceil_div(query, tensor), hidden), BY_TENSOR, source), *found]
    return [
        Parameter("attention.query_down.weight", (attention.query_rank, hidden), REPLICATED, source),
        _norm("attention.query_norm", attention.query_rank, model),
        Parameter("attention.query_up.weight", (ceil_div(query, tensor), attention.query_rank), BY_TENSOR, source),
        *found,
    ]


def _mamba(mamba: Mamba, model: Model, tensor: Int) -> list[Parameter]:
    hidden, inner, state = model.hidden_size, mamba.inner_width, mamba.state_width
    heads, convolved = ceil_div(mamba.heads, tensor), ceil_div(inner + state, tensor)
    source = "memory_model.md 1.1 Mamba-2 mixer"
    return [
        Parameter("mamba.in.weight", (ceil_div(2 * inner + state, tensor) + heads, hidden), BY_TENSOR, source),
        Parameter("mamba.convolution", (convolved, mamba.conv + 1), BY_TENSOR, source),
        Parameter("mamba.decay_skip_and_step", (3, heads), BY_TENSOR, source),
        Parameter("mamba.norm", (ceil_div(inner, tensor),), BY_TENSOR, source),
        Parameter("mamba.out.weight", (hidden, ceil_div(inner, tensor)), BY_TENSOR, source),
    ]


def _delta_net(delta: DeltaNet, model: Model, tensor: Int) -> list[Parameter]:
    """Queries, keys, values and their gate in one projection, with two numbers a head: step and decay."""
    hidden, heads = model.hidden_size, ceil_div(delta.value_heads, tensor)
    projected = ceil_div(delta.convolved + delta.value_width, tensor) + 2 * heads
    source = "memory_model.md 1.1 gated delta net"
    return [
        Parameter("delta.in.weight", (projected, hidden), BY_TENSOR, source),
        Parameter("delta.convolution", (ceil_div(delta.convolved, tensor), delta.conv), BY_TENSOR, source),
        Parameter("delta.decay_and_step", (2, heads), BY_TENSOR, source),
        Parameter("delta.norm", (delta.value_dim,), REPLICATED, source),
        Parameter("delta.out.weight", (hidden, ceil_div(delta.value_width, tensor)), BY_TENSOR, source),
    ]


def _mlp(name: str, mlp: Mlp, model: Model, tensor: Int) -> list[Parameter]:
    hidden = model.hidden_size
    source = "memory_model.md 1.1 MLP"
    rows = ceil_div(mlp.branches * mlp.width, tensor)
    found = [
        Parameter(f"{name}.up.weight", (rows, hidden), BY_TENSOR, source),
        Parameter(f"{name}.down.weight", (hidden, ceil_div(mlp.width, tensor)), BY_TENSOR, source),
    ]
    if mlp.bias:
        found.append(Parameter(f"{name}.up.bias", (rows,), BY_TENSOR, source))
        found.append(Parameter(f"{name}.down.bias", (hidden,), REPLICATED, source))
    return found


def _moe(moe: Moe, model: Model, tensor: Int, grid: ExpertGrid) -> list[Parameter]:
    """Router, shared experts, and this rank's routed experts, each a parameter of its own."""
    hidden = model.hidden_size
    source = "memory_model.md 1.1 MoE layer"
    local = ceil_div(moe.experts, grid.expert)
    found = [Parameter("router.weight", (moe.experts, hidden), REPLICATED, source)]
    if moe.router_bias:
        found.append(Parameter("router.bias", (moe.experts,), REPLICATED, source))
    if moe.shared_width:
        found += _mlp("shared_experts", Mlp(moe.shared_width, moe.kind), model, tensor)
    if moe.shared_gate:
        found.append(Parameter("shared_experts.gate", (1, hidden), REPLICATED, source))
    rows = ceil_div(moe.branches * moe.width, grid.tensor)
    found.append(Parameter("experts.up.weight", (rows, hidden), BY_EXPERT, source, local))
    found.append(Parameter("experts.down.weight", (hidden, ceil_div(moe.width, grid.tensor)), BY_EXPERT, source, local))
    if moe.bias:
        found.append(Parameter("experts.up.bias", (rows,), BY_EXPERT, source, local))
        found.append(Parameter("experts.down.bias", (hidden,), BY_EXPERT, source, local))
    return found


def layer_parameters(kind: LayerKind, model: Model, tensor: Int, grid: ExpertGrid = WHOLE_EXPERTS) -> list[Parameter]:
    """Parameters of one layer of a kind on one GPU."""
    found = [_norm("norms.weight", model.hidden_size, model, copies=kind.norms)]
    match kind.attention:
        case Attention():
            found += _attention(kind.attention, model, tensor)
        case LatentAttention():
            found += _latent_attention(kind.attention, model, tensor)
        case Mamba():
            found += _mamba(kind.attention, model, tensor)
        case DeltaNet():
            found += _delta_net(kind.attention, model, tensor)
    match kind.mlp:
        case Mlp():
            found += _mlp("mlp", kind.mlp, model, tensor)
        case Moe():
            found += _moe(kind.mlp, model, tensor, grid)
    return found


def prediction_parameters(
    prediction: Prediction, model: Model, tensor: Int, grid: ExpertGrid = WHOLE_EXPERTS
) -> list[Parameter]:
    """Parameters of one depth of multi-token prediction: two norms, projection, layer, final norm."""
    source = "memory_model.md 1.1 MTP depth"
    return [
        _norm("prediction.norms", model.hidden_size, model, copies=3),
        Parameter(
            "prediction.projection", (ceil_div(model.hidden_size, tensor), 2 * model.hidden_size), BY_TENSOR, source
        ),
        *layer_parameters(model.kinds[prediction.kind], model, tensor, grid),
    ]


def embedding_parameters(model: Model, tensor: Int, vocabulary: Int) -> list[Parameter]:
    """Word embedding (split over the vocabulary) and learned positions (replicated)."""
    source = "memory_model.md 1.1 embedding"
    found = [_table("embedding.word", model, tensor, vocabulary, source)]
    if model.position_embedding == "learned":
        rows = model.max_positions + model.position_offset
        found.append(Parameter("embedding.position", (rows, model.hidden_size), REPLICATED, source))
    if model.embedding_norm:
        found.append(_norm("embedding.norm", model.hidden_size, model))
    if model.embedding_width is not None:
        shape = (model.hidden_size, model.embedding_width)
        found.append(Parameter("embedding.projection", shape, REPLICATED, source))
    return found


def _table(name: str, model: Model, tensor: Int, vocabulary: Int, source: str) -> Parameter:
    """A row for each token, split over the vocabulary."""
    return Parameter(
        name, (ceil_div(vocabulary, tensor), model.embedding_width or model.hidden_size), BY_TENSOR, source
    )


def head_parameters(model: Model, tensor: Int, vocabulary: Int, *, holds_embedding: bool) -> list[Parameter]:
    """Final norm and output head; a tied head costs a copy only where the embedding is on another stage.

    Source: megatron/core/models/common/language_module/language_module.py, setup_embeddings_and_output_layer.
    """
    source = "memory_model.md 1.1 head"
    found = [_norm("final_norm.weight", model.hidden_size, model)] if model.final_norm else []
    if model.embedding_width is not None:
        found.append(Parameter("head.projection", (model.embedding_width, model.hidden_size), REPLICATED, source))
    if not (model.tied_embeddings and holds_embedding):
        found.append(_table("head.weight", model, tensor, vocabulary, source))
    return found


def model_parameters(model: Model) -> int:
    """Parameters of the whole model as published: no padding, a tied head counted once, no depths of prediction."""
    layers = [
        int(count(layer_parameters(model.kinds[kind], model, 1))) * copies
        for kind, copies in model.kinds_of(range(model.layers)).items()
    ]
    ends = [
        *embedding_parameters(model, 1, model.vocab_size),
        *head_parameters(model, 1, model.vocab_size, holds_embedding=True),
    ]
    return sum(layers) + int(count(ends))
