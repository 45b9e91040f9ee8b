"""torchtitan's precision, optimizer, checkpointing, compilation and quantization.

Rules and defaults: pytorch/torchtitan @ 238fa995, torchtitan/config/job_config.py; @ b5bcd76c,
torchtitan/config/configs.py.
"""

from typing import Any

from service.formats.config.settings import Settings
from service.formats.draft import Draft
from service.formats.trainer.recipe import write_optimizer

_TYPES = {"bfloat16": "bf16", "float32": "fp32", "bf16": "bf16", "fp32": "fp32"}
_IMPLEMENTATIONS = {"fused": "fused", "foreach": "foreach", "for-loop": "loop", "for_loop": "loop"}
_AC = "activation_checkpoint"


def read_recipe(settings: Settings, draft: Draft, *, newer: bool) -> None:
    """Writes everything that is no degree and no batch number."""
    _precision(settings, draft)
    _optimizer(settings, draft)
    _checkpointing(settings, draft, newer=newer)
    _compile(settings, draft, newer=newer)
    _quantization(settings, draft)
    draft.fill("/framework/transformer_impl", "titan", "derived", "the layers are torchtitan's")
    draft.fill("/kernels/attention", "sdpa", "default", "torchtitan: scaled dot product attention")
    if settings.on("debug.deterministic", "training.deterministic"):
        draft.set("/kernels/deterministic", True, settings.origin, settings.where("debug.deterministic"))


def _precision(settings: Settings, draft: Draft) -> None:
    kept = settings.put_choice("/precision/parameters", _TYPES, "training.dtype")
    draft.fill("/precision/parameters", "fp32", "default", "torchtitan: training.dtype float32")
    settings.put_choice("/precision/compute", _TYPES, "training.mixed_precision_param")
    draft.fill("/precision/compute", "bf16", "default", "torchtitan: mixed_precision_param bfloat16")
    settings.put_choice("/precision/reduce", _TYPES, "training.mixed_precision_reduce")
    draft.fill("/precision/reduce", "fp32", "default", "torchtitan: mixed_precision_reduce float32")
    draft.fill("/precision/master", "none", "derived", "the sharded weights are the only copy")
    draft.fill("/precision/gradients", draft.get("/precision/parameters"), "derived", "the type of the sharded weights")
    if kept == "bf16":
        draft.set("/optimizer/moments", ["bf16", "bf16"], "derived", "the type of the sharded weights")
    draft.fill("/precision/autocast", False, "default", "torchtitan: FSDP casts, not autocast")
    for key in ("hidden", "attention"):
        draft.fill(f"/dropout/{key}", 0.0, "default", "torchtitan's models have no dropout")


def _optimizer(settings: Settings, draft: Draft) -> None:
    write_optimizer(settings, draft, "optimizer.name")
    draft.fill("/optimizer/name", "adam", "default", "torchtitan: optimizer AdamW")
    settings.put_choice("/optimizer/implementation", _IMPLEMENTATIONS, "optimizer.implementation")
    if settings.on("optimizer.fused"):
        draft.set("/optimizer/implementation", "fused", settings.origin, settings.where("optimizer.fused"))
    draft.fill("/optimizer/implementation", "fused", "default", "torchtitan: optimizer.implementation fused")
    settings.put_switch("/optimizer/in_backward", "optimizer.early_step_in_backward")
    if settings.on("training.enable_cpu_offload"):
        for pointer in ("/optimizer/offload", "/optimizer/parameter_offload"):
            draft.set(pointer, "cpu", settings.origin, settings.where("training.enable_cpu_offload"))


def _checkpointing(settings: Settings, draft: Draft, *, newer: bool) -> None:
    """Selective by default: every second layer in the TOML generation, single operations since."""
    pointer = "/checkpointing/granularity"
    mode = settings.text(f"{_AC}.mode", pointer=pointer)
    kinds = ("none", "selective", "full", "memory_budget")
    if mode is not None and mode.lower() not in kinds:
        settings.refuse(f'the text "{mode[:60]}" is none of {", ".join(kinds)}', f"{_AC}.mode", pointer=pointer)
        return
    where = settings.where(f"{_AC}.mode") if mode else "torchtitan: activation_checkpoint.mode selective"
    kind = (mode or "selective").lower()
    origin = settings.origin if mode else "default"
    if kind == "memory_budget":
        draft.set(pointer, "none", origin, where)
        budget = settings.number(f"{_AC}.memory_budget", pointer="/checkpointing/memory_budget")
        draft.set("/checkpointing/memory_budget", 0.5 if budget is None else budget, origin, where)
        return
    draft.set(pointer, kind, origin, where)
    option = settings.text(f"{_AC}.selective_ac_option", f"{_AC}.selective_ac_type")
    if kind == "selective":
        _selective(settings, draft, option, newer=newer)


def _selective(settings: Settings, draft: Draft, option: str | None, *, newer: bool) -> None:
    key = f"{_AC}.selective_ac_option"
    default = "op" if newer else "2"
    chosen = option or default
    where = settings.where(key) if option else f"torchtitan: selective_ac_option {default}"
    origin = settings.origin if option else "default"
    if chosen.lower() == "op":
        draft.set("/checkpointing/op", "default", origin, where)
    elif chosen.isdigit() and int(chosen[:6]) > 0:
        draft.set("/checkpointing/every", int(chosen[:6]), origin, where)
    else:
        settings.refuse(f'the text "{chosen[:60]}" is neither op nor a number', key, pointer="/checkpointing/every")


def _compile(settings: Settings, draft: Draft, *, newer: bool) -> None:
    """Compilation has components; before they had names, it was all of the model."""
    enabled = settings.on("compile.enable", "training.compile")
    where = settings.where("compile.enable", "training.compile")
    listed = settings.raw("compile.components")
    components = {
        str(each).strip() for each in (listed if isinstance(listed, list) else str(listed or "model,loss").split(","))
    }
    model = bool(enabled) and "model" in components
    draft.set("/kernels/compile", model, settings.origin if enabled is not None else "default", where)
    if enabled and "loss" in components:
        draft.set("/kernels/cross_entropy", "compiled", settings.origin, where)
    elif newer:
        draft.fill("/kernels/cross_entropy", "chunked", "default", "torchtitan: ChunkedLossWrapper")
        draft.fill("/kernels/cross_entropy_chunks", 8, "default", "torchtitan: ChunkedLossWrapper, 8 chunks")


def _quantization(settings: Settings, draft: Draft) -> None:
    """8-bit training is on when a converter is named, never because a table of its options is present."""
    listed: Any = settings.raw("model.converters", "quantization.float8")
    names = (
        [str(each) for each in listed] if isinstance(listed, list) else str(listed or "").replace("[", "").split(",")
    )
    where = settings.where("model.converters", "quantization.float8")
    older = settings.on("float8.enable_float8_linear")
    eight = older or listed is True or any("float8" in each for each in names)
    if any("mx" in each.lower() for each in names):
        draft.set("/precision/fp8/recipe", "mxfp8", settings.origin, where)
    elif eight:
        draft.set("/precision/fp8/recipe", "current", settings.origin, where)
        gathered = ("quantize.linear.float8.enable_fsdp_float8_all_gather", "float8.enable_fsdp_float8_all_gather")
        settings.put_switch("/precision/fp8/all_gather", *gathered)
