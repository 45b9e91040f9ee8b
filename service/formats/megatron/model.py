"""Model flags to the job's `model`: what is written, then what Megatron implies.

Rules: NVIDIA/Megatron-LM @ d98e8a64, megatron/training/arguments.py (validate_args, network size, MoE, MLA) and
megatron/core/transformer/transformer_config.py.
"""

import re
from collections.abc import Mapping

from service.formats.draft import Draft
from service.formats.megatron.flags import Flags
from service.formats.syntax.expressions import ExpressionFault, layer_pattern
from service.formats.syntax.words import Hole
from service.job.layer_kinds import DELTA

_COUNTS = {
    "num_layers": "num_hidden_layers",
    "hidden_size": "hidden_size",
    "ffn_hidden_size": "intermediate_size",
    "num_attention_heads": "num_attention_heads",
    "kv_channels": "head_dim",
    "max_position_embeddings": "max_position_embeddings",
    "mtp_num_layers": "num_nextn_predict_layers",
}
_EXPERT_COUNTS = {
    "num_experts": "num_experts",
    "moe_ffn_hidden_size": "moe_intermediate_size",
    "moe_router_topk": "num_experts_per_tok",
    "moe_shared_expert_intermediate_size": "shared_expert_intermediate_size",
}
# Flag, key and Megatron's default (transformer_config.py).
_LINEAR = (
    ("linear_conv_kernel_dim", "linear_conv_kernel_dim", 4),
    ("linear_key_head_dim", "linear_key_head_dim", 128),
    ("linear_value_head_dim", "linear_value_head_dim", 128),
    ("linear_num_key_heads", "linear_num_key_heads", 16),
    ("linear_num_value_heads", "linear_num_value_heads", 32),
)
_LATENT = (
    ("q_lora_rank", "q_lora_rank", None),
    ("kv_lora_rank", "kv_lora_rank", 32),
    ("qk_head_dim", "qk_nope_head_dim", 128),
    ("qk_pos_emb_head_dim", "qk_rope_head_dim", 64),
    ("v_head_dim", "v_head_dim", 128),
)
_POSITIONS = {"learned_absolute": "learned", "rope": "rope", "yarn": "rope", "mrope": "rope", "alibi": "alibi"}
_HYBRID_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe", "G": DELTA}
_DELTA_NETS = frozenset({"gdn", "gated_delta_net"})
# Sizes that public tokenizers have; a hint for people, never a value.
_TOKENIZERS = {"GPT2BPETokenizer": 50257, "Llama2Tokenizer": 32000}

REQUIRED = {
    "num_hidden_layers": "num_layers",
    "hidden_size": "hidden_size",
    "num_attention_heads": "num_attention_heads",
}


def read_model(flags: Flags, draft: Draft, hidden: Mapping[str, Hole]) -> None:
    """Writes everything the flags and Megatron's rules say about the model; names what they leave open."""
    for flag, key in _COUNTS.items():
        flags.put(flag, f"/model/{key}")
    _vocabulary(flags, draft)
    _positions(flags, draft)
    _hybrid(flags, draft)
    _linear_attention(flags, draft)
    _shape(flags, draft)
    _experts(flags, draft)
    _latent_attention(flags, draft)
    if draft.get("/model/preset") is None:
        _defaults(draft)
        _key_value_heads(flags, draft)
        _widths(draft)
        _required(flags, draft, hidden)


def _vocabulary(flags: Flags, draft: Draft) -> None:
    flags.put("vocab_size", "/model/vocab_size")
    flags.put("padded_vocab_size", "/model/vocab_size")
    multiple = flags.integer("make_vocab_size_divisible_by")
    if multiple is not None and multiple != 128:  # noqa: PLR2004  (Megatron's default)
        draft.note(
            "ignored_option",
            "info",
            f"the vocabulary is padded to a multiple of 128 times tensor parallelism here, not of {multiple}",
            fields=["/model/vocab_size"],
            found=str(multiple),
        )


def _positions(flags: Flags, draft: Draft) -> None:
    named = flags.text("position_embedding_type")
    if named is not None:
        kind = _POSITIONS.get(named, "none")
        draft.set("/model/position_embedding", kind, flags.origin, flags.where("position_embedding_type"))
    elif "use_rotary_position_embeddings" in flags:
        where = flags.where("use_rotary_position_embeddings")
        draft.set("/model/position_embedding", "rope", flags.origin, where)
    elif "no_position_embedding" in flags:
        draft.set("/model/position_embedding", "none", flags.origin, flags.where("no_position_embedding"))


def _shape(flags: Flags, draft: Draft) -> None:
    """Normalisation, activation, biases, tying: each set by a flag of its own."""
    norm = flags.text("normalization")
    if norm is not None:
        kind = "rmsnorm" if norm.lower() == "rmsnorm" else "layernorm"
        draft.set("/model/normalization", kind, flags.origin, flags.where("normalization"))
    for flag, kind in (("swiglu", "swiglu"), ("squared_relu", "relu2"), ("quick_geglu", "geglu")):
        if flags.on(flag):
            draft.set("/model/mlp", kind, flags.origin, flags.where(flag))
    if flags.on("disable_bias_linear"):
        for key in ("qkv_bias", "output_bias", "mlp_bias"):
            draft.set(f"/model/{key}", False, flags.origin, flags.where("disable_bias_linear"))
    if flags.on("add_qkv_bias"):
        draft.set("/model/qkv_bias", True, flags.origin, flags.where("add_qkv_bias"))
    if flags.on("qk_layernorm"):
        draft.set("/model/qk_norm", "per_head", flags.origin, flags.where("qk_layernorm"))
    if flags.on("untie_embeddings_and_output_weights"):
        where = flags.where("untie_embeddings_and_output_weights")
        draft.set("/model/tie_word_embeddings", False, flags.origin, where)
    window = flags.text("window_size", "/model/sliding_window")
    if window is not None:
        # Two numbers, left and right of the token; the left one bounds what is stored.
        left = re.match(r"[('\"\s]*(\d{1,9})\b", window)
        width = int(left.group(1)) if left else None
        draft.set("/model/sliding_window", width, flags.origin, flags.where("window_size"))


def _experts(flags: Flags, draft: Draft) -> None:
    if not flags.integer("num_experts"):
        return
    for flag, key in _EXPERT_COUNTS.items():
        flags.put(flag, f"/model/{key}")
    if draft.get("/model/preset") is None:
        draft.fill("/model/num_experts_per_tok", 2, "default", "Megatron-LM: --moe-router-topk 2")
    _expert_layers(flags, draft)


def _expert_layers(flags: Flags, draft: Draft) -> None:
    """`--moe-layer-freq`: a list of 0 and 1, or N for a mixture of experts on layers 0, N, 2N and so on."""
    text = flags.text("moe_layer_freq", "/model/moe_layer_pattern")
    if draft.get("/model/moe_layer_pattern") is not None:
        return
    if text is None:
        if draft.get("/model/preset") is None:
            draft.fill("/model/moe_layer_freq", 1, "default", "Megatron-LM: every layer")
        return
    where = flags.where("moe_layer_freq")
    try:
        pattern = layer_pattern(text)
    except ExpressionFault as fault:
        _bad_expression(draft, where, text, fault, "/model/moe_layer_pattern")
        return
    layers = draft.get("/model/num_hidden_layers")
    if pattern == 1:
        draft.set("/model/moe_layer_freq", 1, flags.origin, where)
    elif isinstance(pattern, int) and isinstance(layers, int):
        every = [int(index % max(pattern, 1) == 0) for index in range(min(layers, 10_000))]
        draft.set("/model/moe_layer_pattern", every, flags.origin, where)
    elif isinstance(pattern, list):
        if layers is not None and len(pattern) != layers:
            uneven = ExpressionFault(f"{len(pattern)} entries for {layers} layers")
            _bad_expression(draft, where, text, uneven, "/model/moe_layer_pattern")
        draft.set("/model/moe_layer_pattern", pattern, flags.origin, where)


def _bad_expression(draft: Draft, where: str, text: str, fault: ExpressionFault, pointer: str) -> None:
    draft.note("value_type", "error", f"{where}: {fault}", fields=[pointer], found=text, rule="a number or a list")


def _latent_attention(flags: Flags, draft: Draft) -> None:
    if not flags.on("multi_latent_attention"):
        return
    for flag, key, default in _LATENT:
        flags.put(flag, f"/model/{key}")
        draft.fill(f"/model/{key}", default, "default", f"Megatron-LM: --{flag.replace('_', '-')} {default}")


def _linear_attention(flags: Flags, draft: Draft) -> None:
    """`--linear-attention-freq`: a list with 1 for linear attention, or N for full attention in every N-th layer."""
    if flags.on("attention_output_gate"):
        draft.set("/model/attn_output_gate", True, flags.origin, flags.where("attention_output_gate"))
    variant = flags.text("experimental_attention_variant")
    blocks = draft.get("/model/layers_block_type") or ()
    if variant not in _DELTA_NETS and DELTA not in blocks:
        if variant is not None:
            where = flags.where("experimental_attention_variant")
            draft.set("/model/layer_types", _all(variant, draft), flags.origin, where)
        return
    for flag, key, default in _LINEAR:
        flags.put(flag, f"/model/{key}")
        draft.fill(f"/model/{key}", default, "default", f"Megatron-LM: --{flag.replace('_', '-')} {default}")
    text = flags.text("linear_attention_freq")
    if text is None or blocks:
        return
    where = flags.where("linear_attention_freq")
    try:
        pattern = layer_pattern(text)
    except ExpressionFault as fault:
        _bad_expression(draft, where, text, fault, "/model/layer_types")
        return
    if isinstance(pattern, int):
        draft.set("/model/full_attention_interval", pattern, flags.origin, where)
    else:
        kinds = [DELTA if each else "full_attention" for each in pattern]
        draft.set("/model/layer_types", kinds, flags.origin, where)


def _all(kind: str, draft: Draft) -> list[str] | None:
    """Every layer of one kind that has no other name here, so that it is refused by it."""
    layers = draft.get("/model/num_hidden_layers")
    return [kind] * min(layers, 10_000) if isinstance(layers, int) else None


def _hybrid(flags: Flags, draft: Draft) -> None:
    """A pattern of letters, one for each layer: `|` ends a stage, a slash begins the prediction layers."""
    pattern = flags.text("hybrid_layer_pattern")
    if pattern is None:
        return
    where = flags.where("hybrid_layer_pattern")
    letters = pattern.split("/")[0].replace("|", "")
    draft.set("/model/num_hidden_layers", len(letters), "derived", where)
    draft.set("/model/layers_block_type", [_HYBRID_LETTERS.get(each, each) for each in letters], flags.origin, where)
    for flag, key, default in (
        ("mamba_state_dim", "mamba_d_state", 128),
        ("mamba_head_dim", "mamba_d_head", 64),
        ("mamba_num_groups", "mamba_n_groups", 8),
        ("mamba_num_heads", "mamba_n_heads", None),
    ):
        flags.put(flag, f"/model/{key}")
        draft.fill(f"/model/{key}", default, "default", f"Megatron-LM: --{flag.replace('_', '-')} {default}")
    draft.note(
        "hybrid_model",
        "warning",
        f"{where}: the layers are of several kinds (M state space, * attention, - MLP, E experts)",
        fields=["/model/layers_block_type"],
        found=pattern,
    )


def _defaults(draft: Draft) -> None:
    """What Megatron implies where no flag speaks."""
    rules: tuple[tuple[str, object, str], ...] = (
        ("model_type", "custom", "Megatron-LM builds its own decoder"),
        ("normalization", "layernorm", "--normalization LayerNorm"),
        ("norms_per_layer", 2, "one before attention, one before the MLP"),
        ("mlp", "gelu", "GELU without a gate"),
        ("position_embedding", "learned", "--position-embedding-type learned_absolute"),
        ("qk_norm", "none", "no --qk-layernorm"),
        ("qkv_bias", True, "no --disable-bias-linear"),
        ("output_bias", True, "no --disable-bias-linear"),
        ("mlp_bias", True, "no --disable-bias-linear"),
        ("tie_word_embeddings", True, "no --untie-embeddings-and-output-weights"),
    )
    for key, value, rule in rules:
        draft.fill(f"/model/{key}", value, "default", f"Megatron-LM: {rule}")


def _key_value_heads(flags: Flags, draft: Draft) -> None:
    """Query groups count only with grouped attention; Megatron-DeepSpeed's own flag counts by itself."""
    pointer = "/model/num_key_value_heads"
    if flags.on("group_query_attention"):
        flags.put("num_query_groups", pointer)
        draft.fill(pointer, 1, "default", "Megatron-LM: --num-query-groups 1")
    elif flags.integer("num_query_groups") not in {None, draft.get("/model/num_attention_heads")}:
        draft.note(
            "ignored_option",
            "warning",
            "--num-query-groups has no effect without --group-query-attention",
            fields=[pointer],
            found=flags.text("num_query_groups") or "",
            fixes=["add --group-query-attention"],
        )
    flags.put("num_key_value_heads", pointer)
    heads = draft.get("/model/num_attention_heads")
    draft.fill(pointer, heads, "default", "Megatron-LM: as many as query heads without --group-query-attention")


def _widths(draft: Draft) -> None:
    hidden, heads = draft.get("/model/hidden_size"), draft.get("/model/num_attention_heads")
    if isinstance(hidden, int) and isinstance(heads, int) and heads > 0:
        draft.fill("/model/head_dim", hidden // heads or None, "derived", "hidden_size / num_attention_heads")
    if isinstance(hidden, int) and draft.get("/model/intermediate_size") is None:
        gated = draft.get("/model/mlp") == "swiglu"
        # Megatron computes int(4h * 2 / 3 / 64) * 64 in floating point; exact below 2**50.
        width = 8 * hidden // 3 // 64 * 64 if gated else 4 * hidden
        rule = "int(4h * 2 / 3 / 64) * 64 with --swiglu" if gated else "4h"
        draft.fill("/model/intermediate_size", width or None, "default", f"Megatron-LM: {rule}")
        if gated and draft.get("/model/intermediate_size") == width:
            draft.note(
                "ffn_default_differs_from_name",
                "warning",
                f"--ffn-hidden-size is not given: the gated MLP is {width} wide (4h * 2/3, to a multiple of 64)",
                fields=["/model/intermediate_size"],
                found=str(width),
                fixes=["--ffn-hidden-size N"],
            )
    if draft.get("/model/num_experts") is not None:
        width = draft.get("/model/intermediate_size")
        draft.fill("/model/moe_intermediate_size", width, "default", "Megatron-LM: the dense width")


def _required(flags: Flags, draft: Draft, hidden: Mapping[str, Hole]) -> None:
    for key, flag in {**REQUIRED, "vocab_size": "vocab_size"}.items():
        if flags.explained(flag) or flag in hidden:
            continue
        pointer = f"/model/{key}"
        if key == "vocab_size":
            draft.lack(key, _ask_vocabulary(flags), pointer)
        else:
            draft.lack(key, f"--{flag.replace('_', '-')} is not given; it is the model's {key}", pointer)


def _ask_vocabulary(flags: Flags) -> str:
    tokenizer = flags.text("tokenizer_type") or ""
    hint = f" ({tokenizer} has {_TOKENIZERS[tokenizer]} entries)" if tokenizer in _TOKENIZERS else ""
    return f"the vocabulary comes from the tokenizer, which is not read{hint}; pass model.vocab_size"
