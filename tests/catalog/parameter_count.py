"""Parameters of a preset, counted block by block: written for the tests alone, so that it can contradict the catalogue.

Source of the counts: memory_model.md, section 1.1; the classes of transformers 5.24.0 for sinks, router biases, gated
attention and gated delta nets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from service.catalog.models import ModelPreset


@dataclass(frozen=True, slots=True)
class Traits:
    """What a model type implies for the count."""

    layernorm: bool = False
    norms_per_layer: int = 2
    gated_mlp: bool = True
    learned_positions: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: str = "none"
    output_gate: bool = False
    sinks: bool = False
    router_bias: bool = False
    shared_expert_gate: bool = False
    norm_bias: bool = True
    embedding_norm: bool = False
    position_offset: int = 0


GPT = Traits(layernorm=True, gated_mlp=False, learned_positions=True, qkv_bias=True, output_bias=True, mlp_bias=True)
LLAMA = Traits()
TRAITS = {
    "llama": LLAMA,
    "llama4_text": LLAMA,
    "mistral": LLAMA,
    "mixtral": LLAMA,
    "phi3": LLAMA,
    "deepseek_v2": LLAMA,
    "deepseek_v3": LLAMA,
    "kimi_k2": LLAMA,
    "qwen2": Traits(qkv_bias=True),
    "qwen3": Traits(qk_norm="per_head"),
    "qwen3_moe": Traits(qk_norm="per_head"),
    "qwen3_next": Traits(qk_norm="per_head", output_gate=True, shared_expert_gate=True),
    "gemma2": Traits(norms_per_layer=4),
    "gemma3_text": Traits(norms_per_layer=4, qk_norm="per_head"),
    "olmo2": Traits(qk_norm="full"),
    "gpt2": GPT,
    "custom": GPT,  # the GPT-3 sizes
    "bloom": replace(GPT, learned_positions=False, embedding_norm=True),
    "opt": replace(GPT, position_offset=2),
    "falcon": Traits(layernorm=True, gated_mlp=False),
    "mpt": Traits(layernorm=True, gated_mlp=False, norm_bias=False),
    "gpt_neox": Traits(layernorm=True, gated_mlp=False, qkv_bias=True, output_bias=True, mlp_bias=True),
    "gpt_oss": Traits(qkv_bias=True, output_bias=True, mlp_bias=True, sinks=True, router_bias=True),
    "glm4_moe": Traits(qkv_bias=True),
}


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the blocks of one preset."""

    preset: ModelPreset

    @property
    def config(self) -> Mapping[str, Any]:
        return self.preset.config

    def size(self, key: str, default: int = 0) -> int:
        return int(self.config.get(key, default))

    @property
    def traits(self) -> Traits:
        return TRAITS[self.config["model_type"]]

    @property
    def hidden(self) -> int:
        return self.size("hidden_size")

    def total(self) -> int:
        """Everything but multi-token prediction depths."""
        tables = 1 if self.config["tie_word_embeddings"] else 2
        rows = self.size("max_position_embeddings") + self.traits.position_offset
        positions = rows * self.hidden if self.traits.learned_positions else 0
        layers = sum(self.layer(index) for index in range(self.size("num_hidden_layers")))
        width = self.size("word_embed_proj_dim", self.hidden)
        projections = 2 * width * self.hidden if width != self.hidden else 0
        norms = int(self.config.get("do_layer_norm_before", True)) + int(self.traits.embedding_norm)
        return layers + norms * self.norm() + tables * self.size("vocab_size") * width + positions + projections

    def prediction_depth(self) -> int:
        """One multi-token prediction depth: a layer like the last, the joining projection, three norms."""
        return self.layer(self.size("num_hidden_layers") - 1) + 2 * self.hidden**2 + 3 * self.norm()

    def layer(self, index: int) -> int:
        mlp = self.experts() if self.is_sparse(index) else self.mlp(self.size("intermediate_size"))
        norms = self.size("norms_per_layer", self.traits.norms_per_layer)
        return self.mixer(index) + mlp + norms * self.norm()

    def is_sparse(self, index: int) -> bool:
        if not self.size("num_experts") or index < self.size("first_k_dense_replace"):
            return False
        return (index + 1) % self.size("decoder_sparse_step", 1) == 0

    def mixer(self, index: int) -> int:
        kinds = self.config.get("layer_types")
        if kinds and kinds[index] == "linear_attention":
            return self.delta_net()
        return self.latent_attention() if "kv_lora_rank" in self.config else self.attention()

    def norm(self) -> int:
        return (2 if self.traits.layernorm and self.traits.norm_bias else 1) * self.hidden

    def attention(self) -> int:
        traits, h = self.traits, self.hidden
        a, g = self.size("num_attention_heads"), self.size("num_key_value_heads")
        d = self.size("head_dim", h // a)
        q, k = a * d, g * d
        count = h * (q + 2 * k) + q * h
        count += h * q if traits.output_gate else 0
        count += q + 2 * k if traits.qkv_bias else 0
        count += h if traits.output_bias else 0
        count += a if traits.sinks else 0
        return count + {"none": 0, "per_head": 2 * d, "full": q + k}[self.config.get("qk_norm", traits.qk_norm)]

    def latent_attention(self) -> int:
        h, a, r_q, r_kv = (
            self.size(key) for key in ("hidden_size", "num_attention_heads", "q_lora_rank", "kv_lora_rank")
        )
        d_n, d_r, d_v = (self.size(key) for key in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
        query = h * r_q + r_q + r_q * a * (d_n + d_r) if r_q else h * a * (d_n + d_r)
        return query + h * (r_kv + d_r) + r_kv + r_kv * a * (d_n + d_v) + a * d_v * h

    def delta_net(self) -> int:
        h, heads, width = self.hidden, self.size("linear_num_value_heads"), self.size("linear_value_head_dim")
        keys, values = self.size("linear_num_key_heads") * self.size("linear_key_head_dim"), heads * width
        projections = h * (2 * keys + 2 * values) + h * 2 * heads + values * h
        return projections + (2 * keys + values) * self.size("linear_conv_kernel_dim") + 2 * heads + width

    def mlp(self, f: int) -> int:
        branches = 2 if self.traits.gated_mlp else 1
        bias = branches * f + self.hidden if self.traits.mlp_bias else 0
        return (branches + 1) * self.hidden * f + bias

    def experts(self) -> int:
        h, experts = self.hidden, self.size("num_experts")
        width = self.size("moe_intermediate_size", self.size("intermediate_size"))
        shared = self.size("shared_expert_intermediate_size", self.size("n_shared_experts") * width)
        gate = h if self.traits.shared_expert_gate else 0
        router = h * experts + (experts if self.traits.router_bias else 0)
        return experts * self.mlp(width) + router + (self.mlp(shared) if shared else 0) + gate
