"""Spellings of the first open models: BLOOM, OPT, Falcon and MPT.

Source: transformers 5.24.0, configuration_bloom.py, configuration_opt.py, configuration_falcon.py, configuration_mpt.py
and what their modelling classes make of the keys.
"""

from collections.abc import Mapping
from typing import Any

from service.formats.draft import Draft


def read(config: Mapping[str, Any], model_type: str | None, draft: Draft) -> None:
    """What only such a model's config says; nothing of other types."""
    if model_type == "falcon":
        _falcon(config, draft)
    elif model_type == "mpt":
        _mpt(config, draft)
    elif model_type == "opt":
        _opt(config, draft)
    if model_type in {"bloom", "falcon", "mpt"}:
        hidden, ratio = draft.get("/model/hidden_size"), config.get("expansion_ratio")
        ratio = ratio if isinstance(ratio, int) and not isinstance(ratio, bool) else 4
        if isinstance(hidden, int):
            draft.fill("/model/intermediate_size", ratio * hidden or None, "derived", f"{ratio} x hidden_size")


def _falcon(config: Mapping[str, Any], draft: Draft) -> None:
    """The newer architecture has groups of keys and two norms; the older one has one group, or one for each head."""
    newer, parallel = config.get("new_decoder_architecture") is True, config.get("parallel_attn") is not False
    if newer:
        norms = 1 if config.get("num_ln_in_parallel_attn") == 1 else 2
        draft.set("/model/norms_per_layer", norms, "key", "new_decoder_architecture")
    else:
        draft.set("/model/norms_per_layer", 1 if parallel else 2, "key", "parallel_attn")
        draft.drop("/model/num_key_value_heads")
        groups = draft.get("/model/num_attention_heads") if config.get("multi_query") is False else 1
        draft.set("/model/num_key_value_heads", groups, "key", "multi_query")
    draft.set("/model/parallel_residual", newer or parallel, "key", "parallel_attn")
    if config.get("alibi") is True:
        draft.set("/model/position_embedding", "alibi", "key", "alibi")
    if isinstance(config.get("bias"), bool):
        draft.set("/model/linear_bias", config["bias"], "key", "bias")


def _mpt(config: Mapping[str, Any], draft: Draft) -> None:
    """Biases of projections and norms are one switch; the groups of keys stand in a section of their own."""
    if isinstance(config.get("no_bias"), bool):
        draft.set("/model/norm_bias", not config["no_bias"], "key", "no_bias")
        draft.set("/model/linear_bias", not config["no_bias"], "key", "no_bias")
    section = config.get("attn_config")
    groups = section.get("kv_n_heads") if isinstance(section, dict) else None
    if isinstance(groups, int) and not isinstance(groups, bool):
        draft.set("/model/num_key_value_heads", groups, "key", "attn_config.kv_n_heads")


def _opt(config: Mapping[str, Any], draft: Draft) -> None:
    width = config.get("word_embed_proj_dim")
    if isinstance(width, int) and not isinstance(width, bool):
        draft.set("/model/word_embed_proj_dim", width, "key", "word_embed_proj_dim")
    if isinstance(config.get("do_layer_norm_before"), bool):
        draft.set("/model/do_layer_norm_before", config["do_layer_norm_before"], "key", "do_layer_norm_before")
    if isinstance(config.get("enable_bias"), bool):
        draft.set("/model/linear_bias", config["enable_bias"], "key", "enable_bias")
