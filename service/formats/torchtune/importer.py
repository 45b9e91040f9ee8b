"""The importer: components, batch, precision and adapters of one file; the recipe and its processes are the command's.

Rules and defaults: pytorch/torchtune @ bd2a0fc7, recipes/full_finetune_distributed.py, recipes/configs,
torchtune/models.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from math import prod
from tomllib import loads
from typing import Any

from service.catalog.models import find_model
from service.formats import clues
from service.formats.config.command import Command, override_value, read_command, write_world_size
from service.formats.config.interpolation import resolve
from service.formats.config.published import write_architecture, write_given_preset, write_preset
from service.formats.config.questions import ask_micro, ask_model, ask_world_size
from service.formats.config.settings import Setting, Settings, known_keys, normalized_key
from service.formats.config.yaml_text import read_settings
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.syntax.values import ValueFault, integer
from service.formats.trainer.defaults import fill_global_batch, note_frozen, note_offload
from service.formats.trainer.recipe import adapter_modules, write_optimizer
from service.job.diagnostics import Diagnostic

_MARKS = frozenset({
    "enable_activation_checkpointing", "optimizer_in_bwd", "enable_activation_offloading", "batch_size_val",
    "tensor_parallel_dim", "log_peak_memory_stats", "custom_sharded_layers",
})  # fmt: skip
_COMPONENT = re.compile(r"_component_[\"']?[ \t]*:[ \t]*[\"']?torchtune\.")
_CONFIDENCE = (0.0, 0.5, 0.8, 0.93, 0.97)
_TYPES = {"bf16": "bf16", "bfloat16": "bf16", "fp32": "fp32", "float32": "fp32", "fp16": "fp16"}
_EIGHT_BIT = re.compile(r"8bit", re.IGNORECASE)
_SUFFIX = re.compile(r"_(base|instruct|reward|classifier)$")
_FULL = 3


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is torchtune's: its components, and switches that nobody else spells so."""
    # A component counts twice: nobody else has torchtune's.
    components = 2 * bool(_COMPONENT.search(clues.head(source)))
    return clues.graded(len(clues.keys(source) & _MARKS) + components, _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the file describes."""
    draft = Draft("torchtune", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    settings = read_settings(source, draft, "torchtune file")
    if settings is None:
        return draft.finish()
    command = read_command(source.argv)
    for each in command.overrides:
        key = normalized_key(each.key)
        settings.values[key] = Setting(key, each.key, override_value(each.value), each.key)
    resolve(settings)
    _launch(command, draft)
    _model(settings, draft)
    _degrees(settings, command, draft)
    _batch(settings, draft)
    _recipe(settings, draft)
    _conflicts(settings, draft)
    fill_global_batch(draft)
    note_offload(draft)
    note_frozen(draft)
    ask_world_size(draft, "a torchtune file has no number of GPUs", ("tune run --nproc_per_node N",))
    known, names = _known()
    settings.report(known, names)
    return draft.finish()


def _launch(command: Command, draft: Draft) -> None:
    """`tune run` takes torchrun's options."""
    write_world_size(command, draft)
    nodes, each = _count(command, "nnodes"), _count(command, "nproc_per_node")
    if each is not None:
        draft.set("/world_size", (nodes or 1) * each, "derived", "tune run --nnodes x --nproc_per_node")


def _count(command: Command, name: str) -> int | None:
    """The number behind an option; the recipe's name may follow it."""
    argument = command.options.get(name)
    if argument is None or not argument.values:
        return None
    try:
        found = integer(argument.values[0].text)
    except ValueFault:
        return None
    return found if found > 0 else None


def _single(command: Command) -> bool:
    return any("single_device" in each for each in command.loose)


def _model(settings: Settings, draft: Draft) -> None:
    """The builder's name says the dimensions, and whether adapters and 4-bit weights are used."""
    component = settings.text("model._component_", pointer="/model/hidden_size")
    if component is None:
        ask_model(draft, "model._component_ is not given")
        return
    where = f"{settings.where('model._component_')}: {component}"
    builder = component.rsplit(".", 1)[-1]
    plain = _SUFFIX.sub("", builder.removeprefix("q").removeprefix("lora_") if "lora_" in builder[:6] else builder)
    entry = _builders().get(plain)
    if entry is None:
        message = f"{where} is not in the built-in table of builders; send its dimensions"
        draft.note("recipe_unknown", "warning", message, fields=["/model"], found=builder, fixes=["pass source.model"])
        ask_model(draft, f"{builder} is not in the built-in table")
    elif "preset" in entry:
        write_preset(draft, find_model(entry["preset"]), "derived", where)
    else:
        write_architecture(draft, entry, "derived", where)
    if builder.startswith(("lora_", "qlora_")):
        _adapters(settings, draft, quantised=builder.startswith("qlora_"), where=where)


def _adapters(settings: Settings, draft: Draft, *, quantised: bool, where: str) -> None:
    draft.set("/adapters/type", "qlora" if quantised else "lora", "derived", where)
    draft.set("/adapters/quantization", "nf4_double" if quantised else None, "derived", where)
    settings.put("/adapters/rank", "model.lora_rank")
    draft.fill("/adapters/rank", 8, "default", "torchtune: lora_rank 8")
    modules = adapter_modules(settings.raw("model.lora_attn_modules") or ["q_proj", "v_proj"])
    if settings.on("model.apply_lora_to_mlp"):
        modules += ["gate", "up", "down"]
    if settings.on("model.apply_lora_to_output"):
        modules.append("head")
    draft.set("/adapters/modules", modules, settings.origin, settings.where("model.lora_attn_modules"))
    if settings.on("model.quantize_base") and not quantised:
        draft.set("/adapters/type", "qlora", settings.origin, settings.where("model.quantize_base"))
        draft.set("/adapters/quantization", "nf4_double", settings.origin, settings.where("model.quantize_base"))


def _degrees(settings: Settings, command: Command, draft: Draft) -> None:
    """Distributed recipes always shard; one GPU holds everything."""
    names = {"tensor": "tensor_parallel_dim", "context": "context_parallel_dim", "expert": "expert_parallel_degree"}
    for key, name in names.items():
        settings.put(f"/parallelism/{key}", name)
        draft.fill(f"/parallelism/{key}", 1, "default", f"torchtune: {name} 1")
    draft.fill("/parallelism/pipeline", 1, "default", "torchtune has no pipeline")
    if _single(command):
        draft.fill("/world_size", 1, "derived", "a recipe for a single device")
    alone = draft.get("/world_size") == 1
    draft.set(
        "/framework/name", "ddp" if alone else "fsdp2", "derived", "torchtune: distributed recipes shard with FSDP2"
    )
    draft.fill("/framework/transformer_impl", "torch", "derived", "the layers are torchtune's")
    draft.fill(
        "/sharding/stage", 0 if alone else _FULL, "default", "torchtune: weights, gradients and states are sharded"
    )
    replicas, shards = settings.integer("data_parallel_replicate_dim"), settings.integer("data_parallel_shard_dim")
    degrees = [draft.get(f"/parallelism/{key}") for key in ("tensor", "context")]
    if replicas and shards and shards > 0 and all(isinstance(each, int) for each in degrees):
        draft.fill("/world_size", prod([replicas, shards, *degrees]), "derived", "the product of all dims")
        if replicas > 1:
            draft.set("/sharding/degree", shards, settings.origin, settings.where("data_parallel_shard_dim"))
    if settings.on("fsdp_reshard_after_forward") is False:
        draft.set(
            "/sharding/reshard_after_forward", "never", settings.origin, settings.where("fsdp_reshard_after_forward")
        )


def _batch(settings: Settings, draft: Draft) -> None:
    settings.put("/batch/micro", "batch_size")
    settings.put("/batch/accumulation", "gradient_accumulation_steps")
    draft.fill("/batch/accumulation", 1, "default", "torchtune: gradient_accumulation_steps 1")
    keys = ("tokenizer.max_seq_len", "dataset.max_seq_len", "max_seq_len")
    length = settings.put_tokens("/batch/sequence_length", *keys)
    if length is None and not draft.is_open("/batch/sequence_length"):
        message = "tokenizer.max_seq_len is not given: the longest sample decides; pass batch.sequence_length"
        fixes = ("tokenizer.max_seq_len=8192",)
        unbounded = Diagnostic("seq_length_unbounded", "info", message, ("/batch/sequence_length",), "null", "", fixes)
        draft.lack("sequence_length", message, "/batch/sequence_length", unbounded)
    ask_micro(draft, "batch_size is not given")


def _recipe(settings: Settings, draft: Draft) -> None:
    """One type for everything: without mixed precision there is no other copy of the weights."""
    kept = settings.put_choice("/precision/parameters", _TYPES, "dtype")
    draft.fill("/precision/parameters", "bf16", "default", "torchtune: dtype bf16")
    kept = kept or draft.get("/precision/parameters")
    rule = "torchtune: everything has the type of the weights"
    for pointer in ("/precision/compute", "/precision/gradients", "/precision/reduce"):
        draft.fill(pointer, kept, "derived", rule)
    draft.fill("/precision/master", "none", "derived", rule)
    if draft.get("/adapters/type") is not None:
        draft.fill("/adapters/dtype", kept, "derived", rule)
    _optimizer(settings, draft, kept)
    again = settings.on("enable_activation_checkpointing", pointer="/checkpointing/granularity")
    origin = settings.origin if again is not None else "default"
    where = settings.where("enable_activation_checkpointing")
    draft.set("/checkpointing/granularity", "full" if again else "none", origin, where)
    if settings.on("enable_activation_offloading"):
        draft.set("/checkpointing/offload", "all", settings.origin, settings.where("enable_activation_offloading"))
    settings.put_switch("/kernels/compile", "compile")
    loss = settings.text("loss._component_", pointer="/kernels/cross_entropy")
    if loss is not None and ("Linear" in loss or "Chunked" in loss):
        draft.set("/kernels/cross_entropy", "chunked", settings.origin, settings.where("loss._component_"))
        settings.put("/kernels/cross_entropy_chunks", "loss.num_output_chunks")
        draft.fill("/kernels/cross_entropy_chunks", 8, "default", "torchtune: num_output_chunks 8")
    draft.fill("/kernels/attention", "sdpa", "default", "torchtune: scaled dot product attention")
    for key in ("hidden", "attention"):
        draft.fill(f"/dropout/{key}", 0.0, "default", "torchtune: attn_dropout 0.0")


def _optimizer(settings: Settings, draft: Draft, kept: Any) -> None:
    component = settings.text("optimizer._component_", pointer="/optimizer/name") or ""
    where = settings.where("optimizer._component_")
    if _EIGHT_BIT.search(component):
        draft.set("/optimizer/name", "adamw8bit", settings.origin, where)
    elif component:
        write_optimizer(settings, draft, "optimizer._component_")
        if draft.get("/optimizer/name") == "adam" and kept == "bf16":
            draft.set("/optimizer/moments", ["bf16", "bf16"], "derived", "torchtune: states have the weights' type")
    draft.fill("/optimizer/name", "adam", "default", "torchtune's configs use AdamW")
    if "CPUOffload" in component:
        draft.set("/optimizer/name", "adam", settings.origin, where)
        draft.set("/optimizer/offload", "cpu", settings.origin, where)
    if settings.on("optimizer.fused"):
        draft.set("/optimizer/implementation", "fused", settings.origin, settings.where("optimizer.fused"))
    settings.put_switch("/optimizer/in_backward", "optimizer_in_bwd")
    if settings.on("fsdp_cpu_offload", "fsdp.cpu_offload"):
        for pointer in ("/optimizer/offload", "/optimizer/parameter_offload"):
            draft.set(pointer, "cpu", settings.origin, settings.where("fsdp_cpu_offload", "fsdp.cpu_offload"))


def _conflicts(settings: Settings, draft: Draft) -> None:
    """U1: what the recipes refuse at their start."""
    tensor = draft.get("/parallelism/tensor")
    accumulation = draft.get("/batch/accumulation")
    offload, granularity = draft.get("/checkpointing/offload"), draft.get("/checkpointing/granularity")
    checks = (
        (
            offload not in (None, "none") and granularity != "full",
            "activation offloading needs enable_activation_checkpointing",
            ("/checkpointing/offload", "/checkpointing/granularity"),
            "enable_activation_checkpointing: true",
        ),
        (
            bool(draft.get("/optimizer/in_backward")) and isinstance(accumulation, int) and accumulation > 1,
            "optimizer_in_bwd cannot be combined with gradient accumulation",
            ("/optimizer/in_backward", "/batch/accumulation"),
            "gradient_accumulation_steps: 1",
        ),
        (
            isinstance(tensor, int) and tensor > 1 and settings.find("tensor_parallel_plan._component_") is None,
            "tensor_parallel_dim needs a tensor_parallel_plan for the model",
            ("/parallelism/tensor",),
            "tensor_parallel_plan: {_component_: torchtune.models.llama3.base_llama_tp_plan}",
        ),
    )
    for broken, message, fields, fix in checks:
        if broken:
            draft.note("option_conflict", "error", message, fields=fields, rule=message, fixes=[fix])


@cache
def _builders() -> Mapping[str, Any]:
    return loads(files(__package__).joinpath("builders.toml").read_text(encoding="utf-8"))


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(files(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
