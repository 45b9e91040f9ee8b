"""nanotron's `model_config`: Hugging Face's keys, with a mark for the class instead of a model type."""

from service.calculator import limits
from service.formats.config.settings import Settings
from service.formats.draft import Draft

_SECTION = "model.model_config"
_CLASSES = {
    "is_llama_config": "llama",
    "is_qwen2_config": "qwen2",
    "is_llamoe_config": "mixtral",
    "is_starcoder2_config": "starcoder2",
}
_COUNTS = {
    "hidden_size": "hidden_size",
    "num_hidden_layers": "num_hidden_layers",
    "num_attention_heads": "num_attention_heads",
    "num_key_value_heads": "num_key_value_heads",
    "num_kv_heads": "num_key_value_heads",
    "intermediate_size": "intermediate_size",
    "vocab_size": "vocab_size",
    "max_position_embeddings": "max_position_embeddings",
    "sliding_window_size": "sliding_window",
    "sliding_window": "sliding_window",
    "num_experts_per_tok": "num_experts_per_tok",
    "moe_num_experts": "num_experts",
}
_EXPERT, _SHARED = 1408, 5632


def read_model(settings: Settings, draft: Draft) -> None:
    """Writes the model; a class that a job cannot describe is named."""
    for mark, model_type in _CLASSES.items():
        if settings.on(f"{_SECTION}.{mark}"):
            draft.set("/model/model_type", model_type, "derived", f"{_SECTION}.{mark}")
    if settings.on(f"{_SECTION}.is_mamba_config"):
        message = "nanotron's Mamba layers are not described"
        draft.note("unknown_architecture", "warning", message, fields=["/model/model_type"], found="is_mamba_config")
    for key, name in _COUNTS.items():
        settings.put(f"/model/{name}", f"{_SECTION}.{key}")
    heads = draft.get("/model/num_attention_heads")
    draft.fill("/model/num_key_value_heads", heads, "default", "nanotron: as many as query heads")
    settings.put_switch("/model/tie_word_embeddings", f"{_SECTION}.tie_word_embeddings")
    draft.fill("/model/tie_word_embeddings", False, "default", "nanotron: tie_word_embeddings false")
    bias = settings.on(f"{_SECTION}.attention_bias", pointer="/model/qkv_bias")
    origin = settings.origin if bias is not None else "default"
    draft.set("/model/qkv_bias", bool(bias), origin, settings.where(f"{_SECTION}.attention_bias"))
    act = settings.text(f"{_SECTION}.hidden_act", f"{_SECTION}.activation_function", pointer="/model/hidden_act")
    if act is not None:
        draft.set("/model/hidden_act", act[:50], settings.origin, settings.where(f"{_SECTION}.hidden_act"))
    factor = settings.number(f"{_SECTION}.moe_capacity_factor", pointer="/moe/capacity_factor")
    if factor:
        draft.set("/moe/capacity_factor", factor, settings.origin, settings.where(f"{_SECTION}.moe_capacity_factor"))
    _experts(settings, draft)


def _experts(settings: Settings, draft: Draft) -> None:
    """Experts of the Qwen class: their width does not follow the dense one."""
    section = f"{_SECTION}.moe_config"
    if not settings.under(section):
        return
    draft.set("/model/model_type", "qwen2_moe", "derived", section)
    settings.put("/model/num_experts", f"{section}.num_experts")
    draft.fill("/model/num_experts", 8, "default", "nanotron: num_experts 8")
    settings.put("/model/num_experts_per_tok", f"{section}.top_k")
    draft.fill("/model/num_experts_per_tok", 2, "default", "nanotron: top_k 2")
    settings.put("/model/moe_intermediate_size", f"{section}.moe_intermediate_size")
    draft.fill("/model/moe_intermediate_size", _EXPERT, "default", f"nanotron: moe_intermediate_size {_EXPERT}")
    if settings.on(f"{section}.enable_shared_expert"):
        settings.put("/model/shared_expert_intermediate_size", f"{section}.shared_expert_intermediate_size")
        rule = f"nanotron: shared_expert_intermediate_size {_SHARED}"
        draft.fill("/model/shared_expert_intermediate_size", _SHARED, "default", rule)
    dispatcher = {"alltoall": "alltoall", "allgather": "allgather"}
    settings.put_choice("/kernels/moe_dispatcher", dispatcher, f"{section}.token_dispatcher_type")
    draft.fill("/kernels/grouped_gemm", True, "default", "nanotron: grouped experts")
    _layers(settings, section, draft)


def _layers(settings: Settings, section: str, draft: Draft) -> None:
    listed, layers = settings.raw(f"{section}.layers"), draft.get("/model/num_hidden_layers")
    chosen = [each for each in listed if isinstance(each, int)] if isinstance(listed, list) else [-1]
    if -1 not in chosen and isinstance(layers, int) and 0 < layers <= limits.LAYERS:
        pattern = [int(index in chosen) for index in range(layers)]
        draft.set("/model/moe_layer_pattern", pattern, settings.origin, settings.where(f"{section}.layers"))
