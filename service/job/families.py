"""What a Hugging Face `model_type` implies when a config does not say it: shapes, biases, ties, class defaults.

Source: the configuration and modelling classes of transformers 5.24.0 (`models/<type>/`), read as facts. A family is
listed only when the canonical job can describe its layers; an unknown `model_type` implies nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

Normalization = Literal["rmsnorm", "layernorm"]
MlpKind = Literal["swiglu", "geglu", "gelu", "relu2", "relu"]
PositionEmbedding = Literal["rope", "learned", "alibi", "none"]
QkNorm = Literal["none", "per_head", "full"]
NormForm = Literal["cast_first", "scale_first", "offset"]

_NO_DIMENSIONS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Writing:
    """How a class writes down its layer, which decides what autograd keeps of it; the defaults are Llama's.

    `norm_form`: the RMSNorm casts back before its weight multiplies, after it, or its weight is an offset in fp32.
    `fused_attention` and `fused_mlp`: one projection makes queries, keys and values, or both branches. Rotated heads
    are concatenated from parts where only some of their width turns. `softmax_fp32` is that of eager attention.
    `scores_cast`: the router hands its fp32 scores on in the type of its logits. `chosen_softmax`: it takes the softmax
    of the chosen ones alone. `clamped`: experts clamp both branches; `router_fp32`: the router multiplies in fp32;
    `every_expert`: transformers runs all experts on every token. `keys_expanded`: keys and values are copied to every
    query head, masked or not (None: where masked). `eager_only`: the class has no other attention than stored scores;
    `masked`: it always makes a mask.
    """

    norm_form: NormForm = "cast_first"
    post_norm: bool = False
    fused_attention: bool = False
    fused_mlp: bool = False
    rotary_concatenated: bool = False
    gelu_in_python: bool = False
    softcap: bool = False
    softmax_fp32: bool = True
    scores_cast: bool = False
    chosen_softmax: bool = False
    clamped: bool = False
    router_fp32: bool = False
    every_expert: bool = False
    keys_expanded: bool | None = None
    eager_only: bool = False
    masked: bool = False


@dataclass(frozen=True, slots=True)
class FamilyDefaults:
    """What one `model_type` implies; the defaults of this class are those of the Llama family.

    `num_key_value_heads` and `head_dim` are what the class fills in for an absent key; None means the number of query
    heads and hidden_size / num_attention_heads. `expert_bias` is the buffer that balances the choice of experts;
    `attention_bias_on_output` says whether the key `attention_bias` also covers the output projection. Of every
    `full_attention_interval` layers all but the last are linear attention. `dropout` is the class's probability on
    residuals and attention weights (on the latter `attention_dropout` where it is another); `dimensions` are its values
    for keys that a shortened config.json may omit.
    """

    class_name: str
    normalization: Normalization = "rmsnorm"
    norms_per_layer: Literal[1, 2, 4] = 2
    norm_bias: bool = True
    embedding_norm: bool = False
    position_offset: int = 0
    mlp: MlpKind = "swiglu"
    position_embedding: PositionEmbedding = "rope"
    qk_norm: QkNorm = "none"
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    attention_bias_on_output: bool = True
    tie_word_embeddings: bool = False
    parallel_residual: bool = False
    moe: bool = False
    latent_attention: bool = False
    output_gate: bool = False
    full_attention_interval: int | None = None
    attention_sinks: bool = False
    router_bias: bool = False
    shared_expert_gate: bool = False
    expert_bias: bool = False
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    dropout: float = 0.0
    attention_dropout: float | None = None
    writing: Writing = Writing()
    dimensions: Mapping[str, int] = field(default_factory=lambda: _NO_DIMENSIONS)

    @property
    def gated(self) -> bool:
        """Whether the MLP multiplies two branches."""
        return self.mlp in {"swiglu", "geglu"}


def family_defaults(model_type: str | None) -> FamilyDefaults | None:
    """What `model_type` implies, or None for `custom`, an unknown type, or none given."""
    return _FAMILIES.get(model_type or "")


PYTHON_GELUS = frozenset({"gelu_new", "gelu_fast", "gelu_python"})
"""Activations that transformers writes out in torch operations instead of calling one kernel (activations.py)."""


def gelu_in_python(writing: Writing, hidden_act: str | None) -> bool:
    """Whether GELU is written out: as the class's default is, unless the config names another activation."""
    return writing.gelu_in_python if hidden_act is None else hidden_act.lower() in PYTHON_GELUS


def known_model_types() -> list[str]:
    """Every `model_type` with an entry, sorted."""
    return sorted(_FAMILIES)


def mlp_kind(gated: bool, hidden_act: str) -> MlpKind | None:
    """Shape of an MLP with this activation (Hugging Face's name), or None when the job has no word for it."""
    act = hidden_act.lower()
    if act in {"silu", "swish"}:
        return "swiglu" if gated else None
    if act.startswith(("gelu", "quick_gelu")):
        return "geglu" if gated else "gelu"
    if gated:
        return None
    return {"relu": "relu", "relu2": "relu2", "relu_squared": "relu2", "squared_relu": "relu2"}.get(act)  # type: ignore[return-value]


def _dimensions(
    hidden: int, layers: int, heads: int, ffn: int, vocab: int, positions: int, **more: int
) -> Mapping[str, int]:
    """The class defaults of the keys that every family has, and those of its own."""
    return MappingProxyType(
        {
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": ffn,
            "vocab_size": vocab,
            "max_position_embeddings": positions,
            **more,
        }
    )


_LLAMA = FamilyDefaults("LlamaConfig", dimensions=_dimensions(4096, 32, 32, 11008, 32000, 2048))
_MISTRAL = FamilyDefaults(
    "MistralConfig", num_key_value_heads=8, dimensions=_dimensions(4096, 32, 32, 14336, 32000, 131072)
)
_QWEN2 = FamilyDefaults(
    "Qwen2Config",
    qkv_bias=True,
    attention_bias_on_output=False,
    dimensions=_dimensions(4096, 32, 32, 22016, 151936, 32768),
)
_QWEN3 = FamilyDefaults(
    "Qwen3Config",
    qk_norm="per_head",
    head_dim=128,
    dimensions=_dimensions(4096, 32, 32, 22016, 151936, 32768),
)
_QWEN3_MOE = FamilyDefaults(
    "Qwen3MoeConfig",
    writing=Writing(scores_cast=True),
    qk_norm="per_head",
    moe=True,
    num_key_value_heads=4,
    dimensions=_dimensions(
        2048, 24, 32, 6144, 151936, 32768,
        decoder_sparse_step=1, moe_intermediate_size=768, num_experts=128, num_experts_per_tok=8,
    ),
)  # fmt: skip
_QWEN3_NEXT = replace(
    _QWEN3_MOE,
    class_name="Qwen3NextConfig",
    writing=Writing(norm_form="offset", rotary_concatenated=True, scores_cast=True),
    output_gate=True,
    full_attention_interval=4,
    shared_expert_gate=True,
    num_key_value_heads=2,
    head_dim=256,
    dimensions=_dimensions(
        2048, 48, 16, 5632, 151936, 32768,
        decoder_sparse_step=1, moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts=512,
        num_experts_per_tok=10, linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_value_head_dim=128,
        linear_num_key_heads=16, linear_num_value_heads=32,
    ),
)  # fmt: skip
_DEEPSEEK_V3 = FamilyDefaults(
    "DeepseekV3Config",
    moe=True,
    expert_bias=True,
    latent_attention=True,
    dimensions=_dimensions(
        7168, 61, 128, 18432, 129280, 4096,
        moe_intermediate_size=2048, n_shared_experts=1, num_experts=256, num_experts_per_tok=8, first_k_dense_replace=3,
        kv_lora_rank=512, q_lora_rank=1536, qk_rope_head_dim=64, v_head_dim=128, qk_nope_head_dim=128,
    ),
)  # fmt: skip
_GEMMA = FamilyDefaults(
    "GemmaConfig",
    mlp="geglu",
    writing=Writing(norm_form="offset"),
    tie_word_embeddings=True,
    head_dim=256,
    dimensions=_dimensions(3072, 28, 16, 24576, 256000, 8192),
)
_GEMMA2 = replace(
    _GEMMA,
    class_name="Gemma2Config",
    norms_per_layer=4,
    writing=Writing(norm_form="offset", softcap=True),
    num_key_value_heads=4,
    dimensions=_dimensions(2304, 26, 8, 9216, 256000, 8192, sliding_window=4096),
)
_OLMO2 = FamilyDefaults(
    "Olmo2Config",
    qk_norm="full",
    writing=Writing(norm_form="scale_first", post_norm=True),
    dimensions=_dimensions(4096, 32, 32, 11008, 50304, 2048),
)
_GLM4 = FamilyDefaults(
    "Glm4Config",
    norms_per_layer=4,
    writing=Writing(fused_mlp=True, rotary_concatenated=True),
    qkv_bias=True,
    attention_bias_on_output=False,
    num_key_value_heads=2,
    head_dim=128,
    dimensions=_dimensions(4096, 40, 32, 13696, 151552, 131072),
)

_GPT_LIKE = FamilyDefaults(
    "GPTConfig",
    normalization="layernorm",
    mlp="gelu",
    qkv_bias=True,
    output_bias=True,
    mlp_bias=True,
    tie_word_embeddings=True,
)
_BLOOM = replace(
    _GPT_LIKE,
    class_name="BloomConfig",
    writing=Writing(fused_attention=True, eager_only=True),
    position_embedding="alibi",
    embedding_norm=True,
    dimensions=_dimensions(64, 2, 8, 256, 250880, 2048),
)
_OPT = replace(
    _GPT_LIKE,
    class_name="OPTConfig",
    mlp="relu",
    position_embedding="learned",
    position_offset=2,
    dropout=0.1,
    attention_dropout=0.0,
    dimensions=_dimensions(768, 12, 12, 3072, 50272, 2048),
)
# Falcon 7B: one norm and one group of keys; the later ones have two norms and more groups.
_FALCON = replace(
    _GPT_LIKE,
    class_name="FalconConfig",
    writing=Writing(keys_expanded=False, masked=True),
    norms_per_layer=1,
    parallel_residual=True,
    qkv_bias=False,
    output_bias=False,
    mlp_bias=False,
    num_key_value_heads=1,
    dimensions=_dimensions(4544, 32, 71, 18176, 65024, 2048),
)
_MPT = replace(
    _GPT_LIKE,
    class_name="MptConfig",
    writing=Writing(fused_attention=True, eager_only=True),
    norm_bias=False,
    position_embedding="alibi",
    qkv_bias=False,
    output_bias=False,
    mlp_bias=False,
    dimensions=_dimensions(2048, 24, 16, 8192, 50368, 2048),
)
_BAMBA = FamilyDefaults(
    "BambaConfig",
    writing=Writing(rotary_concatenated=True),
    num_key_value_heads=8,
    dimensions=_dimensions(
        4096, 32, 32, 14336, 128000, 262144,
        mamba_n_heads=128, mamba_n_groups=1, mamba_d_state=256, mamba_d_conv=4, mamba_expand=2,
    ),
)  # fmt: skip
# With experts or without: a config of the latter kind says that it has none.
_GRANITE_HYBRID = FamilyDefaults(
    "GraniteMoeHybridConfig",
    writing=Writing(scores_cast=True, chosen_softmax=True),
    position_embedding="none",
    dimensions=_dimensions(
        4096, 32, 32, 11008, 32000, 2048,
        mamba_n_heads=128, mamba_n_groups=1, mamba_d_state=256, mamba_d_conv=4, mamba_expand=2,
    ),
)  # fmt: skip
_NEMOTRON_H = FamilyDefaults(
    "NemotronHConfig",
    mlp="relu2",
    writing=Writing(norm_form="offset"),
    position_embedding="none",
    expert_bias=True,
    num_key_value_heads=8,
    head_dim=128,
    dimensions=_dimensions(
        4096, 52, 32, 21504, 131072, 4096,
        mamba_n_heads=128, mamba_d_head=64, mamba_n_groups=8, mamba_d_state=128, mamba_d_conv=4,
    ),
)  # fmt: skip

_FAMILIES: Mapping[str, FamilyDefaults] = MappingProxyType(
    {
        "llama": _LLAMA,
        "granite": replace(_LLAMA, class_name="GraniteConfig"),
        "mistral": replace(_MISTRAL, dimensions={**_MISTRAL.dimensions, "sliding_window": 4096}),
        "mixtral": replace(
            _MISTRAL,
            class_name="MixtralConfig",
            moe=True,
            dimensions={**_MISTRAL.dimensions, "num_experts": 8, "num_experts_per_tok": 2},
        ),
        "smollm3": FamilyDefaults(
            "SmolLM3Config",
            tie_word_embeddings=True,
            num_key_value_heads=4,
            dimensions=_dimensions(2048, 36, 16, 11008, 128256, 32768),
        ),
        "seed_oss": FamilyDefaults(
            "SeedOssConfig",
            dropout=0.1,
            qkv_bias=True,
            attention_bias_on_output=False,
            num_key_value_heads=8,
            head_dim=128,
            dimensions=_dimensions(4096, 64, 80, 27648, 155136, 524288),
        ),
        "qwen2": _QWEN2,
        "qwen2_moe": replace(
            _QWEN2,
            class_name="Qwen2MoeConfig",
            writing=Writing(scores_cast=True),
            moe=True,
            shared_expert_gate=True,
            dimensions=_dimensions(
                2048,
                24,
                16,
                5632,
                151936,
                32768,
                decoder_sparse_step=1,
                moe_intermediate_size=1408,
                shared_expert_intermediate_size=5632,
                num_experts=60,
                num_experts_per_tok=4,
            ),
        ),
        "qwen3": _QWEN3,
        "qwen3_moe": _QWEN3_MOE,
        "qwen3_next": _QWEN3_NEXT,
        "bamba": _BAMBA,
        "bloom": _BLOOM,
        "opt": _OPT,
        "falcon": _FALCON,
        "mpt": _MPT,
        "granitemoehybrid": _GRANITE_HYBRID,
        "nemotron_h": _NEMOTRON_H,
        "deepseek_v2": replace(
            _DEEPSEEK_V3,
            class_name="DeepseekV2Config",
            writing=Writing(router_fp32=True),
            expert_bias=False,
            dimensions=_dimensions(
                4096,
                32,
                32,
                11008,
                102400,
                2048,
                moe_intermediate_size=1407,
                n_shared_experts=2,
                num_experts=64,
                first_k_dense_replace=0,
                kv_lora_rank=512,
                q_lora_rank=1536,
                qk_rope_head_dim=64,
                v_head_dim=128,
                qk_nope_head_dim=128,
            ),
        ),
        "deepseek_v3": _DEEPSEEK_V3,
        # Kimi K2 ships DeepSeek-V3's classes under its own name.
        "kimi_k2": _DEEPSEEK_V3,
        "gemma": _GEMMA,
        "gemma2": _GEMMA2,
        "gemma3_text": replace(
            _GEMMA2,
            class_name="Gemma3TextConfig",
            qk_norm="per_head",
            writing=Writing(norm_form="offset"),
            dimensions=_dimensions(2304, 26, 8, 9216, 262208, 131072, sliding_window=4096),
        ),
        "gpt2": FamilyDefaults(
            "GPT2Config",
            writing=Writing(fused_attention=True, gelu_in_python=True, softmax_fp32=False),
            normalization="layernorm",
            mlp="gelu",
            position_embedding="learned",
            qkv_bias=True,
            output_bias=True,
            mlp_bias=True,
            tie_word_embeddings=True,
            dropout=0.1,
            dimensions=_dimensions(768, 12, 12, 3072, 50257, 1024),
        ),
        "gpt_neox": FamilyDefaults(
            "GPTNeoXConfig",
            writing=Writing(fused_attention=True, rotary_concatenated=True),
            normalization="layernorm",
            mlp="gelu",
            qkv_bias=True,
            output_bias=True,
            mlp_bias=True,
            parallel_residual=True,
            dimensions=_dimensions(6144, 44, 64, 24576, 50432, 2048),
        ),
        "starcoder2": FamilyDefaults(
            "Starcoder2Config",
            normalization="layernorm",
            mlp="gelu",
            qkv_bias=True,
            output_bias=True,
            mlp_bias=True,
            tie_word_embeddings=True,
            num_key_value_heads=2,
            dimensions=_dimensions(3072, 30, 24, 12288, 49152, 4096),
        ),
        "nemotron": FamilyDefaults(
            "NemotronConfig",
            writing=Writing(rotary_concatenated=True),
            normalization="layernorm",
            mlp="relu2",
            dimensions=_dimensions(6144, 32, 48, 24576, 256000, 4096),
        ),
        "olmo2": _OLMO2,
        "olmo3": replace(_OLMO2, class_name="Olmo3Config", dimensions={**_OLMO2.dimensions, "sliding_window": 4096}),
        "olmoe": replace(
            _OLMO2,
            class_name="OlmoeConfig",
            writing=Writing(scores_cast=True),
            moe=True,
            dimensions=_dimensions(2048, 16, 16, 2048, 50304, 4096, num_experts=64, num_experts_per_tok=8),
        ),
        "phi3": FamilyDefaults(
            "Phi3Config",
            writing=Writing(fused_attention=True, fused_mlp=True, rotary_concatenated=True),
            dimensions=_dimensions(3072, 32, 32, 8192, 32064, 4096),
        ),
        # Router, experts and attention have biases; each layer also has one learned sink per head.
        "gpt_oss": FamilyDefaults(
            "GptOssConfig",
            writing=Writing(
                norm_form="scale_first",
                rotary_concatenated=True,
                softmax_fp32=False,
                scores_cast=True,
                chosen_softmax=True,
                clamped=True,
            ),
            qkv_bias=True,
            output_bias=True,
            mlp_bias=True,
            moe=True,
            attention_sinks=True,
            router_bias=True,
            num_key_value_heads=8,
            head_dim=64,
            dimensions=_dimensions(
                2880, 36, 64, 2880, 201088, 131072, sliding_window=128, num_experts=128, num_experts_per_tok=4
            ),
        ),
        "glm4": _GLM4,
        "glm4_moe": replace(
            _GLM4,
            class_name="Glm4MoeConfig",
            norms_per_layer=2,
            writing=Writing(rotary_concatenated=True),
            qkv_bias=False,
            moe=True,
            expert_bias=True,
            num_key_value_heads=8,
            head_dim=None,
            dimensions=_dimensions(
                4096,
                46,
                96,
                10944,
                151552,
                131072,
                moe_intermediate_size=1408,
                n_shared_experts=1,
                num_experts=128,
                num_experts_per_tok=8,
                first_k_dense_replace=1,
            ),
        ),
        # Queries and keys pass a norm without weights, which adds no parameters.
        "llama4_text": FamilyDefaults(
            "Llama4TextConfig",
            writing=Writing(every_expert=True),
            moe=True,
            num_key_value_heads=8,
            head_dim=128,
            dimensions=_dimensions(
                5120,
                48,
                40,
                16384,
                202048,
                131072,
                moe_intermediate_size=8192,
                n_shared_experts=1,
                num_experts=16,
                num_experts_per_tok=1,
            ),
        ),
    }
)
