"""Primus: Megatron's arguments over a model's file, which is only named and comes with Primus.

Source: AMD-AGI/Primus @ fd1eeabb, examples/megatron/configs; its trainer files set bf16.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from service.formats.config.published import write_named_model
from service.formats.draft import Draft
from service.formats.syntax.documents import DocumentFault, read_yaml

PRIMUS_FLAGS = frozenset({
    "stderr_sink_level", "file_sink_level", "sink_level", "log_avg_skip_iterations", "log_avg_reset_interval",
    "disable_last_saving", "auto_continue_train", "disable_wandb", "disable_tensorboard", "disable_mlflow",
    "disable_compile_dependencies", "disable_profiler_activity_cpu", "enable_primus_turbo", "use_turbo_attention",
    "use_turbo_grouped_mlp", "use_turbo_parallel_linear", "use_turbo_deepep", "turbo_sync_free_moe_stage",
    "pp_warmup", "dump_pp_data", "recompute_layer_ids", "use_rocm_mem_info", "moe_router_force_load_balancing",
})  # fmt: skip
"""What Primus adds to Megatron's arguments."""

_MOST_BASES = 5
_ALIASES = {"llama4_17b16e": "llama-4-scout", "llama4_17b128e": "llama-4-maverick"}


def trainer_module(document: Any) -> Mapping[str, Any] | None:
    """The section of the trainer: it names a framework, a model and what overrides both; None elsewhere."""
    modules = document.get("modules") if isinstance(document, Mapping) else None
    for each in modules.values() if isinstance(modules, Mapping) else ():
        if isinstance(each, Mapping) and "framework" in each and isinstance(each.get("model"), str):
            return each
    return None


def supplied_model(name: str, files: Mapping[str, str]) -> Mapping[str, Any] | None:
    """What a model's file and the files that it extends say, where they are supplied."""
    found: dict[str, Any] = {}
    waiting, seen = [name], set[str]()
    while waiting and len(seen) < _MOST_BASES:
        last = PurePosixPath(waiting.pop()).name
        text = next((each for key, each in files.items() if PurePosixPath(key).name == last), None)
        try:
            value = read_yaml(text).value if text is not None and last not in seen else None
        except DocumentFault:
            value = None
        seen.add(last)
        if isinstance(value, Mapping):
            # What extends a file stands over it.
            found = {**value, **found}
            bases = value.get("extends", value.get("bases"))
            waiting += [str(each) for each in (bases if isinstance(bases, list) else [bases] if bases else [])]
    return found or None


def read_named_model(name: str, draft: Draft) -> None:
    """Writes the public model that a file is called after; asks for the file when it is called after none."""
    stem = name.removesuffix(".yaml")
    if write_named_model(draft, _ALIASES.get(stem.lower(), stem), "model"):
        for key in ("hidden", "attention"):
            draft.set(f"/dropout/{key}", 0.0, "assumed", "Primus: its files of public models set no dropout")
        return
    message = f"model: {name[:80]} is not supplied; add it to source.files"
    draft.note("missing_file", "warning", message, found=name, fixes=[f"add {name[:80]} to source.files"])
    draft.lack(PurePosixPath(name).name, message, "/model/hidden_size")
    for fact in ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"):
        draft.waive(fact)
