"""The kind of every layer of a model, from the keys of its config: which mixer, dense or with experts, which window."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.calculator.model import (
    Attention,
    DeltaNet,
    FeedForward,
    LatentAttention,
    LayerKind,
    Mamba,
    Mixer,
    Mlp,
    Moe,
)
from service.job.families import FamilyDefaults, gelu_in_python

Known = Mapping[str, Any]

_Look = tuple[str | None, str | None, bool]
"""A layer's block, its type of attention, and whether it is a mixture of experts."""

MAMBA, ATTENTION, MLP, EXPERTS, DELTA = "mamba", "attention", "mlp", "moe", "linear_attention"
BLOCKS: Mapping[str, str] = {
    "mamba": MAMBA,
    "mamba2": MAMBA,
    "M": MAMBA,
    "attention": ATTENTION,
    "*": ATTENTION,
    "mlp": MLP,
    "-": MLP,
    "moe": EXPERTS,
    "E": EXPERTS,
    "linear_attention": DELTA,
    "gated_delta_net": DELTA,
    "G": DELTA,
}
"""Entries of `layers_block_type`: words of Hugging Face, letters of Megatron's hybrid pattern."""

RECURRENT = frozenset(each for each, kind in BLOCKS.items() if kind in {MAMBA, DELTA})
"""Words for layers that carry a state along the sequence."""

ATTENTION_TYPES = frozenset({"full_attention", "sliding_attention", "chunked_attention", "attention"})
"""Entries of `layer_types` that are softmax attention, over different stretches of the sequence."""

DELTA_NETS = frozenset({None, "custom", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"})
"""Model types whose linear attention is a gated delta net; other types mean other layers by the same word."""

MAMBA_TYPES = frozenset({"bamba", "granitemoehybrid", "nemotron_h", "mamba2"})
"""Model types whose linear attention is a Mamba-2 mixer, and whose layers may stand in either list."""

FIRST_MAMBA = frozenset({"mamba", "falcon_mamba", "jamba", "zamba"})
"""Model types whose state-space layers are those of the first Mamba, which keep other tensors."""

HALF_LAYERS = frozenset({None, "custom", "mamba2", "nemotron_h"})
"""Model types whose hybrid layers are a mixer or an MLP alone; those of other types have both."""


def unknown_kinds(known: Known) -> list[tuple[str, str]]:
    """Key and name of each kind of layer that cannot be itemised."""
    words = ATTENTION_TYPES | ({DELTA} if known.get("model_type") in DELTA_NETS else set())
    if known.get("model_type") in MAMBA_TYPES:
        words = frozenset({*BLOCKS, "full_attention"})
    found = [("layer_types", each) for each in known.get("layer_types") or () if each not in words]
    blocks = {*BLOCKS, "full_attention"}
    found += [("layers_block_type", each) for each in known.get("layers_block_type") or () if each not in blocks]
    if known.get("model_type") in FIRST_MAMBA:
        found.append(("model_type", known["model_type"]))
    return sorted(set(found))


def wrong_lengths(known: Known) -> list[str]:
    """Keys with one entry for each layer that have another number of entries."""
    layers = known.get("num_hidden_layers")
    keys = ("layer_types", "layers_block_type", "moe_layer_pattern")
    return [key for key in keys if layers and known.get(key) and len(known[key]) != layers]


def interval_types(layers: int, every: int) -> list[str]:
    """Kinds of layers of which every n-th is full attention and the others are linear."""
    return [DELTA if (index + 1) % every else "full_attention" for index in range(layers)]


def missing_dimensions(known: Known, family: FamilyDefaults | None) -> list[str]:
    """Dimensions that the model's layers, or those of its family, need and the config does not give."""
    needed = ["hidden_size", "num_hidden_layers"]
    blocks = _blocks(known)
    experts = _has_experts(known) or bool(family and family.moe)
    if blocks is None or ATTENTION in blocks:
        needed.append("num_attention_heads")
    if _has_dense(known, blocks) or (experts and not known.get("moe_intermediate_size")):
        needed.append("intermediate_size")
    if known.get("kv_lora_rank") or (family and family.latent_attention):
        needed += ["kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"]
    if experts:
        needed += ["num_experts", "num_experts_per_tok"]
    if blocks is not None and MAMBA in blocks:
        needed += ["mamba_d_state", "mamba_d_head"]
    if DELTA in (blocks or ()) or (blocks is None and DELTA in (known.get("layer_types") or ())):
        needed += ["linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"]
    return [key for key in (*needed, "vocab_size") if known.get(key) is None]


def layer_kinds(known: Known, family: FamilyDefaults | None) -> tuple[tuple[LayerKind, ...], tuple[int, ...]]:
    """The kinds of layers in order of appearance, and for each layer the index of its kind.

    The family tells what no key does: sinks, gates, and biases of the router.
    """
    traits = family or FamilyDefaults("custom")
    looks = _looks(known)
    kinds: dict[LayerKind, int] = {}
    numbers = {look: kinds.setdefault(_layer(known, traits, look), len(kinds)) for look in dict.fromkeys(looks)}
    return tuple(kinds), tuple(numbers[look] for look in looks)


def _looks(known: Known) -> list[_Look]:
    """What the config says of each layer."""
    layers = known["num_hidden_layers"]
    unsaid = [None] * layers
    sparse = [_has_experts(known) and is_sparse(known, index) for index in range(layers)]
    types = None if known.get("model_type") in MAMBA_TYPES else known.get("layer_types")
    return list(zip(_blocks(known) or unsaid, types or unsaid, sparse, strict=True))


def _blocks(known: Known) -> list[str] | None:
    blocks, hybrid = known.get("layers_block_type"), known.get("model_type") in MAMBA_TYPES
    if hybrid:
        blocks = blocks or known.get("layer_types")
    if not blocks:
        return None
    words = {**BLOCKS, "full_attention": ATTENTION, **({DELTA: MAMBA} if hybrid else {})}
    return [words.get(each, each) for each in blocks]


def _halves(known: Known) -> bool:
    blocks = _blocks(known) or ()
    return known.get("model_type") in HALF_LAYERS or MLP in blocks or EXPERTS in blocks


def _has_experts(known: Known) -> bool:
    return bool(known.get("num_experts") or known.get("num_experts_per_tok"))


def _has_dense(known: Known, blocks: Sequence[str] | None) -> bool:
    if blocks is not None and _halves(known):
        return MLP in blocks
    layers = known.get("num_hidden_layers")
    return layers is None or any(not is_sparse(known, index) for index in range(layers))


def is_sparse(known: Known, index: int) -> bool:
    """Whether a layer is a mixture of experts.

    A pattern says it layer by layer. Otherwise the first `first_k_dense_replace` layers and `mlp_only_layers` are
    dense; of the others every `moe_layer_freq`-th is sparse, counted from 0 (Megatron, DeepSeek), and every
    `decoder_sparse_step`-th, counted from 1 (Qwen, Llama 4).
    """
    if not _has_experts(known):
        return False
    pattern = known.get("moe_layer_pattern")
    if pattern:
        # A pattern of another length than the layers is refused by a rule of its own.
        return index < len(pattern) and bool(pattern[index])
    if index < (known.get("first_k_dense_replace") or 0) or index in (known.get("mlp_only_layers") or ()):
        return False
    every, step = known.get("moe_layer_freq") or 1, known.get("decoder_sparse_step") or 1
    return index % every == 0 and (index + 1) % step == 0


def _layer(known: Known, traits: FamilyDefaults, look: _Look) -> LayerKind:
    block, attention, sparse = look
    if block is not None and _halves(known):
        return _half_layer(known, traits, block)
    mixer = _mamba(known) if block == MAMBA else _attention(known, traits, attention or block)
    feed_forward: FeedForward = _experts(known, traits) if sparse else _dense(known, traits)
    post_norm = traits.writing.post_norm
    return LayerKind(mixer, feed_forward, known["norms_per_layer"], known["parallel_residual"], post_norm)


def _half_layer(known: Known, traits: FamilyDefaults, block: str) -> LayerKind:
    norms = known["norms_per_layer"] // 2
    if block == MAMBA:
        return LayerKind(_mamba(known), None, norms)
    if block in {ATTENTION, DELTA}:
        return LayerKind(_attention(known, traits, block), None, norms)
    return LayerKind(None, _dense(known, traits) if block == MLP else _experts(known, traits), norms)


def _attention(known: Known, traits: FamilyDefaults, attention: str | None) -> Mixer:
    if attention == DELTA:
        return _delta_net(known)
    if known.get("kv_lora_rank"):
        return LatentAttention(
            heads=known["num_attention_heads"],
            query_rank=known.get("q_lora_rank") or 0,
            latent_rank=known["kv_lora_rank"],
            nope_dim=known["qk_nope_head_dim"],
            rope_dim=known["qk_rope_head_dim"],
            value_dim=known["v_head_dim"],
        )
    return Attention(
        heads=known["num_attention_heads"],
        groups=known["num_key_value_heads"],
        head_dim=known["head_dim"],
        qkv_bias=known["qkv_bias"],
        output_bias=known["output_bias"],
        qk_norm=known["qk_norm"],
        window=None if attention == "full_attention" else known.get("sliding_window"),
        sinks=traits.attention_sinks,
        softcap=traits.writing.softcap,
        output_gate=bool(known.get("attn_output_gate")),
        fused_projection=traits.writing.fused_attention,
        rotary_concatenated=traits.writing.rotary_concatenated,
        keys_expanded=_keys_expanded(known, traits),
    )


def _keys_expanded(known: Known, traits: FamilyDefaults) -> bool | None:
    """Falcon copies more groups than one to every head (new_decoder_architecture), and leaves one alone."""
    if traits.writing.keys_expanded is False and known["num_key_value_heads"] > 1:
        return True
    return traits.writing.keys_expanded


def _delta_net(known: Known) -> DeltaNet:
    return DeltaNet(
        key_heads=known.get("linear_num_key_heads") or known["linear_num_value_heads"],
        value_heads=known["linear_num_value_heads"],
        key_dim=known["linear_key_head_dim"],
        value_dim=known["linear_value_head_dim"],
        conv=known.get("linear_conv_kernel_dim") or 4,
    )


def _mamba(known: Known) -> Mamba:
    width = known["mamba_d_head"]
    inner = (known.get("mamba_expand") or 2) * known["hidden_size"]
    return Mamba(
        heads=known.get("mamba_n_heads") or inner // width,
        head_dim=width,
        state=known["mamba_d_state"],
        groups=known.get("mamba_n_groups") or 1,
        conv=known.get("mamba_d_conv") or 4,
    )


def _dense(known: Known, traits: FamilyDefaults) -> Mlp:
    return Mlp(
        known["intermediate_size"],
        known["mlp"],
        known["mlp_bias"],
        fused_projection=traits.writing.fused_mlp,
        gelu_in_python=gelu_in_python(traits.writing, known.get("hidden_act")),
    )


def _experts(known: Known, traits: FamilyDefaults) -> Moe:
    width = known.get("moe_intermediate_size") or known["intermediate_size"]
    shared = known.get("shared_expert_intermediate_size")
    return Moe(
        experts=known["num_experts"],
        top_k=known["num_experts_per_tok"],
        width=width,
        kind=known["mlp"],
        shared_width=width * (known.get("n_shared_experts") or 0) if shared is None else shared,
        shared_gate=traits.shared_expert_gate,
        expert_bias=traits.expert_bias,
        bias=known["mlp_bias"],
        router_bias=traits.router_bias,
        scores_cast=traits.writing.scores_cast,
        chosen_softmax=traits.writing.chosen_softmax,
        clamped=traits.writing.clamped,
        router_fp32=traits.writing.router_fp32,
    )
