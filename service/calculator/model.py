"""One architecture: its dimensions and its layers, in order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Normalization = Literal["rmsnorm", "layernorm"]
PositionEmbedding = Literal["rope", "learned", "alibi", "none"]
QkNorm = Literal["none", "per_head", "full"]
NormForm = Literal["cast_first", "scale_first", "offset"]
MlpKind = Literal["swiglu", "geglu", "gelu", "relu2", "relu"]


@dataclass(frozen=True, slots=True)
class Attention:
    """Multi-head, grouped-query or multi-query attention (a heads, g key/value groups, head width d).

    `window` is how far back a query sees (None: to the start); `sinks` adds one learned logit for each head;
    `softcap` squeezes the scores through a tanh. With `output_gate` the query's projection is twice as wide, and the
    sigmoid of its second half multiplies the output. Hugging Face's classes may project queries, keys and values in one
    product (`fused_projection`), build rotated heads by concatenation (`rotary_concatenated`), or copy keys and values
    to every query head always or never (`keys_expanded`; None: where a mask needs it).
    """

    heads: int
    groups: int
    head_dim: int
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: QkNorm = "none"
    window: int | None = None
    sinks: bool = False
    softcap: bool = False
    output_gate: bool = False
    fused_projection: bool = False
    rotary_concatenated: bool = False
    keys_expanded: bool | None = None

    @property
    def query_width(self) -> int:
        """Width of all queries, a·d; need not equal the hidden size."""
        return self.heads * self.head_dim

    @property
    def gate_width(self) -> int:
        """Width of the output's gate: that of the queries, or nothing."""
        return self.query_width if self.output_gate else 0

    @property
    def key_width(self) -> int:
        """Width of all keys (and of all values), g·d."""
        return self.groups * self.head_dim


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention: low-rank queries (no rank: 0) and a joint low-rank key/value latent.

    A head's query and key are `nope_dim` + `rope_dim` wide, its value `value_dim`. Source: DeepSeek-V2, section 2.1.
    """

    heads: int
    query_rank: int
    latent_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int

    @property
    def groups(self) -> int:
        """Keys and values exist for every head in training."""
        return self.heads


@dataclass(frozen=True, slots=True)
class Mamba:
    """A Mamba-2 mixer: `heads` of `head_dim`, a state `state` wide in `groups`, a convolution over `conv` tokens.

    Source: Dao and Gu 2024 (arXiv 2405.21060); megatron/core/ssm/mamba_mixer.py.
    """

    heads: int
    head_dim: int
    state: int
    groups: int
    conv: int

    @property
    def inner_width(self) -> int:
        """Width of all heads."""
        return self.heads * self.head_dim

    @property
    def state_width(self) -> int:
        """Width of the input and output matrices of the state, B and C together: 2·G·n."""
        return 2 * self.groups * self.state


@dataclass(frozen=True, slots=True)
class DeltaNet:
    """A gated delta net: linear attention whose state is a matrix of each value head.

    `key_heads` of `key_dim` serve `value_heads` of `value_dim`; a convolution over `conv` tokens runs on queries, keys
    and values. Source: Yang et al. 2024 (arXiv 2412.06464); transformers 5.24.0, Qwen3NextGatedDeltaNet.
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv: int

    @property
    def heads(self) -> int:
        """Heads that have a state."""
        return self.value_heads

    @property
    def key_width(self) -> int:
        """Width of all queries, and of all keys."""
        return self.key_heads * self.key_dim

    @property
    def value_width(self) -> int:
        """Width of all values, of their gate, and of the output."""
        return self.value_heads * self.value_dim

    @property
    def convolved(self) -> int:
        """Channels of the convolution: queries, keys and values."""
        return 2 * self.key_width + self.value_width


@dataclass(frozen=True, slots=True)
class Mlp:
    """A dense MLP whose branches are `width` wide.

    Hugging Face's classes may project both branches in one product (`fused_projection`), or spell GELU out in Python.
    """

    width: int
    kind: MlpKind
    bias: bool = False
    fused_projection: bool = False
    gelu_in_python: bool = False

    @property
    def branches(self) -> int:
        """Outputs of the first projection in multiples of the width: 2 when gated."""
        return 2 if self.kind in {"swiglu", "geglu"} else 1


@dataclass(frozen=True, slots=True)
class Moe:
    """A mixture of experts: `experts` routed MLPs of `width`, `top_k` of them for a token, beside shared ones.

    `shared_width` is the total width of the shared experts; `shared_gate` adds one h-wide gate for them;
    `expert_bias` is the balancing bias of the router, a buffer and no parameter; `bias` puts one on the experts'
    projections, `router_bias` on the router's. Hugging Face's classes may cast the chosen scores back from fp32 before
    they weigh the experts' outputs (`scores_cast`), take a softmax over the chosen ones alone (`chosen_softmax`), clamp
    both branches (`clamped`), multiply in the router in fp32 (`router_fp32`), or send every token to every expert and
    weigh the inputs (`every_expert`).
    """

    experts: int
    top_k: int
    width: int
    kind: MlpKind
    shared_width: int = 0
    shared_gate: bool = False
    expert_bias: bool = False
    bias: bool = False
    router_bias: bool = False
    scores_cast: bool = False
    chosen_softmax: bool = False
    clamped: bool = False
    router_fp32: bool = False
    every_expert: bool = False

    @property
    def fanout(self) -> int:
        """Experts that run on each token."""
        return self.experts if self.every_expert else self.top_k

    @property
    def branches(self) -> int:
        """Outputs of an expert's first projection in multiples of its width: 2 when gated."""
        return 2 if self.kind in {"swiglu", "geglu"} else 1


Recurrent: TypeAlias = Mamba | DeltaNet
"""Mixers that carry a state along the sequence, and compute no scores."""

Mixer: TypeAlias = Attention | LatentAttention | Recurrent
FeedForward: TypeAlias = Mlp | Moe


@dataclass(frozen=True, slots=True)
class LayerKind:
    """One kind of decoder layer; a model repeats a few kinds in some order.

    Layers of hybrid models have one half only: a mixer without an MLP, or an MLP without a mixer. `norms` is 1 for
    each half, 2 in a sandwich, and 1 in all where both halves of a parallel layer read one norm's output; with
    `post_norm` the norms stand behind the halves and none before (OLMo 2). A layer in `sixteen_bits` stays so where
    others run in 8.
    """

    attention: Mixer | None
    mlp: FeedForward | None
    norms: int = 2
    parallel_residual: bool = False
    post_norm: bool = False
    sixteen_bits: bool = False


@dataclass(frozen=True, slots=True)
class Prediction:
    """Multi-token prediction: `depths` times two norms, a projection from 2h to h, a layer of `kind`, a final norm.

    `shared`: all depths run one such layer. Source: megatron/core/transformer/multi_token_prediction.py.
    """

    depths: int
    kind: int
    shared: bool = False

    @property
    def copies(self) -> int:
        """Layers that hold parameters."""
        return 1 if self.shared else self.depths


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder: `pattern[i]` is the index into `kinds` of layer i; `prediction` its extra depths of prediction.

    `norm_form` is how Hugging Face's class writes its RMSNorm: cast back before the weight multiplies (Llama), after
    it (OLMo 2), or after an offset weight in fp32 (Gemma). A LayerNorm may have no bias (MPT), the embedding a norm of
    its own (BLOOM), learned positions rows before the first one (OPT). Where the embedding is `embedding_width` wide, a
    projection leads from it and one back to it before the tied head, and the last layer may have no norm behind it
    (OPT-350m).
    """

    name: str
    hidden_size: int
    vocab_size: int
    kinds: tuple[LayerKind, ...]
    pattern: tuple[int, ...]
    normalization: Normalization
    position_embedding: PositionEmbedding
    max_positions: int
    tied_embeddings: bool
    prediction: Prediction | None = None
    norm_form: NormForm = "cast_first"
    norm_bias: bool = True
    embedding_norm: bool = False
    embedding_width: int | None = None
    position_offset: int = 0
    final_norm: bool = True

    @property
    def layers(self) -> int:
        """Number of decoder layers, L."""
        return len(self.pattern)

    @property
    def has_experts(self) -> bool:
        """Whether any layer is a mixture of experts."""
        return any(isinstance(kind.mlp, Moe) for kind in self.kinds)

    def kinds_of(self, layers: Sequence[int]) -> Mapping[int, int]:
        """How many layers of each kind are among the given layer indexes."""
        return Counter(map(self.pattern.__getitem__, layers))

    def with_16_bit_ends(self, first: int, last: int) -> "Model":
        """The model whose `first` and `last` layers stay in 16 bits when the others run in 8."""
        kinds, pattern = list(self.kinds), list(self.pattern)
        for index in (*range(min(first, self.layers)), *range(max(self.layers - last, 0), self.layers)):
            kind = replace(kinds[pattern[index]], sixteen_bits=True)
            if kind not in kinds:
                kinds.append(kind)
            pattern[index] = kinds.index(kind)
        return replace(self, kinds=tuple(kinds), pattern=tuple(pattern))
