"""Optimizer, kernels, checkpointing, adapters and model of a trainer, under whatever keys a dialect keeps them.

Rules: huggingface/transformers 5.24.0 training_args.py (optim, gradient_checkpointing, attn_implementation).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from service.formats.config.published import write_named_model
from service.formats.config.settings import Settings
from service.formats.draft import Draft

_EIGHT_BIT = ("adamw_bnb_8bit", "adamw_8bit", "paged_adamw_8bit", "adamw_torch_8bit")
_ADAM = (
    "adamw_torch", "adamw_torch_fused", "adamw_torch_xla", "adamw_torch_npu_fused", "adamw_apex_fused", "adamw_hf",
    "adamw", "adam", "fused_adam", "fusedadam", "paged_adamw", "paged_adamw_32bit", "adamw_anyprecision",
    "stable_adamw",
    "grokadamw", "adamw_mini", "adamw_torch_4bit", "onebitadam", "zerooneadam", "torchadam", "torch_adam", "cpu_adam",
    "rmsprop", "adamw_fused",
)  # fmt: skip
OPTIMIZERS: Mapping[str, str] = {
    **dict.fromkeys(_ADAM, "adam"),
    **dict.fromkeys(_EIGHT_BIT, "adamw8bit"),
    **dict.fromkeys(("adafactor",), "adafactor"),
    **dict.fromkeys(("sgd", "schedule_free_sgd"), "sgd"),
    **dict.fromkeys(("muon", "dion", "normuon"), "muon"),
    **dict.fromkeys(("lion", "lion_32bit", "paged_lion_32bit", "lion_pytorch"), "lion"),
}
"""Names of optimizers, and the job's optimizer that keeps the same states."""

ATTENTION: Mapping[str, str] = {
    "flash_attention_2": "flash",
    "flash_attention_3": "flash",
    "fa2": "flash",
    "fa3": "flash",
    "sdpa": "sdpa",
    "eager": "eager",
    "disabled": "eager",
    "flex_attention": "flex",
    "xformers": "flash",
}
_TARGETS: Mapping[str, str] = {
    "q_proj": "q", "k_proj": "k", "v_proj": "v", "o_proj": "o", "output_proj": "o", "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down", "w1": "gate", "w2": "down", "w3": "up", "embed_tokens": "embedding", "lm_head": "head",
    "q_a_proj": "q_a", "q_b_proj": "q_b", "kv_a_proj_with_mqa": "kv_a", "kv_b_proj": "kv_b",
    "linear_q": "q", "linear_proj": "o", "linear_fc2": "down",
}  # fmt: skip
_FUSED: Mapping[str, Sequence[str]] = {
    "qkv_proj": ("q", "k", "v"),
    "query_key_value": ("q", "k", "v"),
    "linear_qkv": ("q", "k", "v"),
    "gate_up_proj": ("gate", "up"),
    "linear_fc1": ("gate", "up"),
    "mlp": ("gate", "up", "down"),
}
ALL_LINEAR = ("q", "k", "v", "o", "gate", "up", "down")


def write_model(settings: Settings, draft: Draft, *keys: str) -> bool:
    """Writes the model that a key names; False when it is named and not known, or not named at all."""
    name = settings.text(*keys, pointer="/model/hidden_size")
    return name is not None and write_named_model(draft, name, settings.where(*keys))


def write_optimizer(settings: Settings, draft: Draft, *keys: str) -> None:
    """Writes the optimizer; one whose states a job cannot describe is taken as AdamW, which is said."""
    name = settings.text(*keys, pointer="/optimizer/name")
    if name is None:
        return
    plain = name.lower().rsplit(".", 1)[-1]
    where = settings.where(*keys)
    if plain in OPTIMIZERS:
        draft.set("/optimizer/name", OPTIMIZERS[plain], settings.origin, where)
    else:
        draft.set("/optimizer/name", "adam", "assumed", f"{where}: {name[:40]} has no words in a job")
        message = f"{where}: the states of {name[:40]} cannot be said in a job; those of AdamW are taken"
        draft.note("unsupported_option", "warning", message, fields=["/optimizer/name"], found=name)
    if plain == "sgd":
        draft.fill("/optimizer/momentum", False, "default", "SGD without momentum")
    if "fused" in plain:
        draft.set("/optimizer/implementation", "fused", settings.origin, where)
    if "layerwise" in plain:
        draft.set("/optimizer/in_backward", True, settings.origin, where)


def write_attention(settings: Settings, draft: Draft, *keys: str) -> None:
    """Writes the attention kernel; a kernel's hub name says which it is."""
    name = settings.text(*keys, pointer="/kernels/attention")
    if name is None or name.lower() == "auto":
        return
    plain = name.lower()
    kernel = "flash" if "flash" in plain else ATTENTION.get(plain)
    if kernel is None:
        message = f"{settings.where(*keys)}: the attention {name[:40]} is not known; it is left to the framework"
        draft.note("ignored_option", "warning", message, fields=["/kernels/attention"], found=name)
    draft.set("/kernels/attention", kernel, settings.origin, settings.where(*keys))


def write_checkpointing(settings: Settings, draft: Draft, *keys: str) -> None:
    """Writes whether whole layers are recomputed; the words `offload` and `unsloth` also move their inputs away."""
    pointer = "/checkpointing/granularity"
    value = settings.raw(*keys)
    where = settings.where(*keys)
    if isinstance(value, str) and value.strip().lower() in {"offload", "unsloth", "offload_disk"}:
        draft.set(pointer, "full", settings.origin, where)
        draft.set("/checkpointing/offload", "inputs", settings.origin, where)
        return
    on = settings.on(*keys, pointer=pointer)
    if on is not None:
        draft.set(pointer, "full" if on else "none", settings.origin, where)


def adapter_modules(targets: Any) -> list[str]:
    """Names of linear layers in the job's words, each once; unknown names are left out."""
    listed = targets if isinstance(targets, list) else str(targets).replace(";", ",").split(",")
    found: list[str] = []
    for each in listed:
        plain = str(each).strip().strip("\"'").rsplit(".", 1)[-1]
        if plain in {"all", "all-linear", "all_linear"}:
            found += ALL_LINEAR
        elif plain in _FUSED:
            found += _FUSED[plain]
        elif plain in _TARGETS:
            found.append(_TARGETS[plain])
    return list(dict.fromkeys(found))


def note_unknown_targets(draft: Draft, targets: Any, where: str) -> None:
    """Notes target modules that are none of a decoder layer's linear layers."""
    listed = targets if isinstance(targets, list) else str(targets).split(",")
    unknown = [str(each)[:60] for each in listed if not adapter_modules([each])]
    if unknown:
        message = f"{where}: adapters on {', '.join(unknown[:5])} are not itemised"
        draft.note("ignored_option", "warning", message, fields=["/adapters/modules"], found=", ".join(unknown[:5]))
