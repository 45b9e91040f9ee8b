"""Parameters of each part of the model on one GPU (memory_model.md, sections 1.1 and 1.2).

Shapes are those of the local shard: what tensor parallelism divides is divided, what it replicates is whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from service.calculator.model import LayerKind, Model
from service.calculator.units import Int, ceil_div, round_up

BY_TENSOR = ("tensor",)
REPLICATED: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One weight or vector on one GPU, `copies` times."""

    name: str
    shape: tuple[Int, ...]
    sharded_by: tuple[str, ...]
    source: str
    copies: int = 1

    @property
    def elements(self) -> Int:
        """Elements of one copy."""
        total: Int = 1
        for each in self.shape:
            total = total * each
        return total


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
    rows = (2, width) if model.normalization == "layernorm" else (width,)
    return Parameter(name, rows, REPLICATED, "memory_model.md 1.1 norm", copies)


def _attention(kind: LayerKind, model: Model, tensor: Int) -> list[Parameter]:
    attention, hidden = kind.attention, model.hidden_size
    q, k = attention.query_width, attention.key_width
    source = "memory_model.md 1.1 attention"
    found = [
        Parameter("attention.qkv.weight", (ceil_div(q + 2 * k, tensor), hidden), BY_TENSOR, source),
        Parameter("attention.output.weight", (hidden, ceil_div(q, tensor)), BY_TENSOR, source),
    ]
    if attention.qkv_bias:
        found.append(Parameter("attention.qkv.bias", (ceil_div(q + 2 * k, tensor),), BY_TENSOR, source))
    if attention.output_bias:
        found.append(Parameter("attention.output.bias", (hidden,), REPLICATED, source))
    if attention.qk_norm == "per_head":
        found.append(_norm("attention.qk_norm", attention.head_dim, model, copies=2))
    if attention.qk_norm == "full":
        found.append(Parameter("attention.query_norm", (ceil_div(q, tensor),), BY_TENSOR, source))
        found.append(Parameter("attention.key_norm", (ceil_div(k, tensor),), BY_TENSOR, source))
    return found


def _mlp(kind: LayerKind, model: Model, tensor: Int) -> list[Parameter]:
    mlp, hidden = kind.mlp, model.hidden_size
    source = "memory_model.md 1.1 MLP"
    rows = ceil_div(mlp.branches * mlp.width, tensor)
    found = [
        Parameter("mlp.up.weight", (rows, hidden), BY_TENSOR, source),
        Parameter("mlp.down.weight", (hidden, ceil_div(mlp.width, tensor)), BY_TENSOR, source),
    ]
    if mlp.bias:
        found.append(Parameter("mlp.up.bias", (rows,), BY_TENSOR, source))
        found.append(Parameter("mlp.down.bias", (hidden,), REPLICATED, source))
    return found


def layer_parameters(kind: LayerKind, model: Model, tensor: Int) -> list[Parameter]:
    """Parameters of one layer of a kind on one GPU."""
    return [
        _norm("norms.weight", model.hidden_size, model, copies=kind.norms),
        *_attention(kind, model, tensor),
        *_mlp(kind, model, tensor),
    ]


def embedding_parameters(model: Model, tensor: Int, vocabulary: Int) -> list[Parameter]:
    """Word embedding (split over the vocabulary) and learned positions (replicated)."""
    source = "memory_model.md 1.1 embedding"
    found = [Parameter("embedding.word", (ceil_div(vocabulary, tensor), model.hidden_size), BY_TENSOR, source)]
    if model.position_embedding == "learned":
        found.append(Parameter("embedding.position", (model.max_positions, model.hidden_size), REPLICATED, source))
    return found


def head_parameters(model: Model, tensor: Int, vocabulary: Int, *, holds_embedding: bool) -> list[Parameter]:
    """Final norm and output head; a tied head costs a copy only where the embedding is on another stage.

    Source: megatron/core/models/common/language_module/language_module.py, setup_embeddings_and_output_layer.
    """
    found = [_norm("final_norm.weight", model.hidden_size, model)]
    if not (model.tied_embeddings and holds_embedding):
        shape = (ceil_div(vocabulary, tensor), model.hidden_size)
        found.append(Parameter("head.weight", shape, BY_TENSOR, "memory_model.md 1.1 head"))
    return found


def model_parameters(model: Model) -> int:
    """Parameters of the whole model as published: no padding, a tied head counted once."""
    layers = [
        int(count(layer_parameters(model.kinds[kind], model, 1))) * copies
        for kind, copies in model.kinds_of(range(model.layers)).items()
    ]
    ends = [
        *embedding_parameters(model, 1, model.vocab_size),
        *head_parameters(model, 1, model.vocab_size, holds_embedding=True),
    ]
    return sum(layers) + int(count(ends))
