"""Hybrid models' own spellings: which layers are attention, and Granite's shared MLP.

Source: transformers 5.24.0, configuration_bamba.py, configuration_granitemoehybrid.py, configuration_nemotron_h.py.
"""

from collections.abc import Mapping
from typing import Any

from service.calculator import limits
from service.formats.draft import Draft
from service.job.layer_kinds import ATTENTION, BLOCKS, MAMBA


def read(config: Mapping[str, Any], model_type: str | None, draft: Draft) -> None:
    """What only a hybrid model's config says; nothing of other types."""
    if model_type == "nemotron_h":
        _pattern(config.get("hybrid_override_pattern"), draft)
    elif model_type == "bamba":
        _attention_layers(config.get("attn_layer_indices"), draft)
        _head_width(draft)
    elif model_type == "granitemoehybrid":
        _shared_mlp(config, draft)
        _head_width(draft)


def _pattern(pattern: Any, draft: Draft) -> None:
    """A letter for each layer; the number of layers is that of the letters."""
    if not isinstance(pattern, str) or not 0 < len(pattern) <= limits.LAYERS:
        return
    blocks = [BLOCKS.get(each, each) for each in pattern]
    draft.set("/model/layers_block_type", blocks, "key", "hybrid_override_pattern")
    draft.set("/model/num_hidden_layers", len(blocks), "derived", "hybrid_override_pattern")


def _attention_layers(indices: Any, draft: Draft) -> None:
    layers = draft.get("/model/num_hidden_layers")
    if isinstance(indices, list) and isinstance(layers, int) and 0 < layers <= limits.LAYERS:
        blocks = [ATTENTION if index in indices else MAMBA for index in range(layers)]
        draft.set("/model/layers_block_type", blocks, "key", "attn_layer_indices")


def _head_width(draft: Draft) -> None:
    """`auto`: the inner width shared by the heads."""
    hidden, heads = draft.get("/model/hidden_size"), draft.get("/model/mamba_n_heads")
    expand = draft.get("/model/mamba_expand") or 2
    if isinstance(hidden, int) and isinstance(heads, int) and heads > 0:
        width = expand * hidden // heads
        draft.fill("/model/mamba_d_head", width or None, "derived", "mamba_expand x hidden_size / heads")


def _shared_mlp(config: Mapping[str, Any], draft: Draft) -> None:
    """Granite 4: `intermediate_size` is an expert's width; a shared MLP stands beside experts, or instead of them."""
    shared, width = config.get("shared_intermediate_size", 1024), config.get("intermediate_size")
    if config.get("position_embedding_type") == "rope":
        draft.set("/model/position_embedding", "rope", "key", "position_embedding_type")
    if config.get("num_local_experts", 8):
        draft.set("/model/moe_intermediate_size", width, "key", "intermediate_size")
        draft.set("/model/shared_expert_intermediate_size", shared, "key", "shared_intermediate_size")
        return
    draft.drop("/model/intermediate_size")
    draft.set("/model/intermediate_size", shared, "key", "shared_intermediate_size")
