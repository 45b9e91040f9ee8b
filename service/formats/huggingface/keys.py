"""Keys of a Hugging Face config: spellings of the same fact, and keys without effect on memory.

Source: transformers 5.24.0 configuration classes, and the keys of published config.json files.
"""

from collections.abc import Mapping, Sequence

# The job's key, and the spellings that mean it, best first.
COUNTS: Mapping[str, Sequence[str]] = {
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model", "dim", "hidden_width"),
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "num_key_value_heads": ("num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv"),
    "head_dim": ("head_dim",),
    "intermediate_size": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "vocab_size": ("vocab_size",),
    "max_position_embeddings": (
        "max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "n_ctx",
    ),
    "sliding_window": ("sliding_window",),
    "num_experts": ("num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts", "moe_num_experts"),
    "num_experts_per_tok": ("num_experts_per_tok", "experts_per_token", "moe_topk", "moe_k", "top_k", "topk"),
    "moe_intermediate_size": ("moe_intermediate_size", "expert_intermediate_size"),
    "n_shared_experts": ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts"),
    "shared_expert_intermediate_size": ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"),
    "first_k_dense_replace": ("first_k_dense_replace",),
    "moe_layer_freq": ("moe_layer_freq",),
    "decoder_sparse_step": ("decoder_sparse_step",),
    "q_lora_rank": ("q_lora_rank",),
    "kv_lora_rank": ("kv_lora_rank",),
    "qk_nope_head_dim": ("qk_nope_head_dim",),
    "qk_rope_head_dim": ("qk_rope_head_dim",),
    "v_head_dim": ("v_head_dim",),
    "num_nextn_predict_layers": ("num_nextn_predict_layers", "num_mtp_layers"),
    "mamba_d_state": ("mamba_d_state", "ssm_state_size"),
    "mamba_d_conv": ("mamba_d_conv", "conv_kernel"),
    "mamba_expand": ("mamba_expand",),
    "mamba_n_groups": ("mamba_n_groups", "n_groups"),
    "mamba_n_heads": ("mamba_n_heads", "mamba_num_heads"),
    "mamba_d_head": ("mamba_d_head", "mamba_head_dim"),
    "full_attention_interval": ("full_attention_interval",),
    "linear_num_key_heads": ("linear_num_key_heads",),
    "linear_num_value_heads": ("linear_num_value_heads",),
    "linear_key_head_dim": ("linear_key_head_dim",),
    "linear_value_head_dim": ("linear_value_head_dim",),
    "linear_conv_kernel_dim": ("linear_conv_kernel_dim",),
}  # fmt: skip
SWITCHES: Mapping[str, Sequence[str]] = {
    "tie_word_embeddings": ("tie_word_embeddings",),
    "attention_bias": ("attention_bias",),
    "mlp_bias": ("mlp_bias",),
    "qkv_bias": ("qkv_bias", "use_qkv_bias"),
    "output_bias": ("attention_out_bias",),
    "linear_bias": ("use_bias",),
    "parallel_residual": ("use_parallel_residual",),
}
ACTIVATION = ("hidden_act", "activation_function", "hidden_activation", "activation", "mlp_hidden_act")
HIDDEN_DROPOUT = ("hidden_dropout", "resid_pdrop", "residual_dropout", "hidden_dropout_prob", "dropout")
ATTENTION_DROPOUT = ("attention_dropout", "attn_pdrop", "attention_probs_dropout_prob")

# Models with encoders, and the type whose layers their language model has (transformers 5.24.0, modular_*.py).
LANGUAGE_MODELS: Mapping[str, str] = {
    "qwen2_vl": "qwen2", "qwen2_vl_text": "qwen2", "qwen2_5_vl": "qwen2", "qwen2_5_vl_text": "qwen2",
    "qwen3_vl": "qwen3", "qwen3_vl_text": "qwen3", "qwen3_vl_moe": "qwen3_moe", "qwen3_vl_moe_text": "qwen3_moe",
    "gemma3": "gemma3_text",
}  # fmt: skip

# Keys that this module reads one by one.
READ = frozenset({
    "model_type", "architectures", "text_config", "llm_config", "language_config", "layer_types", "layers_block_type",
    "mlp_only_layers", "use_sliding_window", "use_qk_norm", "qk_layernorm", "multi_query", "quantization_config",
    "intermediate_size_mlp", "interleave_moe_layer_step", "moe_layers", "hybrid_override_pattern", "attn_layer_indices",
    "shared_intermediate_size", "position_embedding_type", "new_decoder_architecture", "parallel_attn",
    "num_ln_in_parallel_attn", "alibi", "bias", "enable_bias", "expansion_ratio", "no_bias", "attn_config",
    "do_layer_norm_before", "word_embed_proj_dim",
})  # fmt: skip

# What these mean is initialisation, inference, tokens, rotary frequencies or routing: no bytes.
WITHOUT_EFFECT = frozenset({
    "_name_or_path", "add_cross_attention", "attention_chunk_size", "attention_multiplier", "attn_logit_softcapping",
    "attn_scale", "attn_temperature_tuning", "auto_map", "aux_loss_alpha", "boi_token_index", "bos_token_id",
    "chunk_size_feed_forward", "classifier_dropout", "clip_qkv", "dtype", "embd_pdrop", "embedding_dropout",
    "embedding_multiplier", "eoi_token_index", "eos_token_id", "ep_size", "experts_implementation",
    "final_logit_softcapping", "floor_scale", "hidden_activation", "id2label", "image_token_index", "initializer_range",
    "is_decoder", "is_encoder_decoder", "is_llama_config", "label2id", "layer_norm_eps", "layer_norm_epsilon",
    "logits_scaling", "max_window_layers", "mm_tokens_per_image", "n_group", "no_rope_layer_interval", "no_rope_layers",
    "norm_eps", "norm_epsilon", "norm_topk_prob", "original_max_position_embeddings", "output_attentions",
    "output_hidden_states", "output_router_logits", "pad_token_id", "partial_rotary_factor", "pretraining_tp",
    "problem_type", "query_pre_attn_scalar", "reorder_and_upcast_attn", "residual_multiplier", "return_dict",
    "rms_norm_eps", "rope_interleave", "rope_interleaved", "rope_local_base_freq", "rope_parameters", "rope_scaling",
    "rope_theta", "rotary_emb_base", "rotary_pct", "routed_scaling_factor", "router_aux_loss_coef",
    "router_jitter_noise", "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "scoring_func", "seq_aux",
    "sliding_window_pattern", "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
    "summary_use_proj", "swiglu_alpha", "swiglu_limit", "task_specific_params", "tokenizer_class", "topk_group",
    "topk_method", "torch_dtype", "transformers_version", "use_bidirectional_attention", "use_cache",
    "vision_config", "audio_config", "cache_implementation", "attn_implementation", "_attn_implementation",
    "bos_token", "eos_token", "image_token_id", "unk_token_id", "sep_token_id", "decoder_start_token_id",
    "seq_length", "masked_softmax_fusion", "attention_softmax_in_fp32", "bias_dropout_fusion", "offset_alibi",
    "skip_bias_add", "skip_bias_add_qkv", "slow_but_exact", "apply_residual_connection_post_layernorm",
    "activation_dropout", "_remove_final_layer_norm", "layerdrop", "init_std", "prefix",
    "layer_norm_elementwise_affine", "emb_pdrop", "logit_scale", "learned_pos_emb", "init_device",
    "embedding_fraction", "norm_type", "verbose", "init_config", "mamba_chunk_size", "mamba_conv_bias",
    "mamba_proj_bias", "chunk_size", "use_conv_bias", "time_step_limit", "time_step_min", "time_step_max",
    "time_step_floor", "mamba_hidden_act", "mamba_ssm_cache_dtype", "rescale_prenorm_residual", "use_mamba_kernels",
    "num_logits_to_keep", "expand", "moe_shared_expert_overlap", "z_loss_coefficient", "head_bias",
})  # fmt: skip


def known_keys() -> list[str]:
    """Every key that is read or known to be without effect."""
    spelled = [each for table in (COUNTS, SWITCHES) for names in table.values() for each in names]
    return [*spelled, *ACTIVATION, *HIDDEN_DROPOUT, *ATTENTION_DROPOUT, *READ, *WITHOUT_EFFECT]
