"""The importer: one file, the DeepSpeed file that it names, and the launch.

Rules and defaults: axolotl-ai-cloud/axolotl @ 067b021c, src/axolotl/utils/schemas (config.py, validation.py, fsdp.py).
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from math import prod

from service.formats import clues
from service.formats.config.command import read_command, write_world_size
from service.formats.config.companions import Companions, read_companions
from service.formats.config.published import write_given_preset
from service.formats.config.questions import ask_micro, ask_model, ask_world_size
from service.formats.config.settings import Settings, known_keys
from service.formats.config.yaml_text import read_settings
from service.formats.deepspeed.partner import Partner
from service.formats.draft import Draft
from service.formats.huggingface.importer import Reader
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.trainer.defaults import fill_global_batch, fill_trainer_defaults, note_frozen, note_offload
from service.formats.trainer.engines import read_deepspeed
from service.formats.trainer.fsdp import outside_words, read_fsdp, write_fsdp_precision
from service.formats.trainer.narrow import write_eight_bits
from service.formats.trainer.recipe import (
    ALL_LINEAR,
    adapter_modules,
    note_unknown_targets,
    write_attention,
    write_checkpointing,
    write_model,
    write_optimizer,
)

_MARKS = frozenset({
    "base_model", "micro_batch_size", "sequence_len", "lora_target_linear", "dataset_prepared_path", "val_set_size",
    "num_epochs", "sample_packing", "pad_to_sequence_len", "gradient_accumulation_steps", "load_in_4bit",
    "flash_attention", "special_tokens", "adapter", "wandb_watch", "saves_per_epoch", "fsdp_version", "dp_shard_size",
})  # fmt: skip
_CONFIDENCE = (0.0, 0.2, 0.4, 0.7, 0.9, 0.96)
_SHARDS = ("dp_shard_size",)
_DEGREES = {
    "tensor": ("tensor_parallel_size",),
    "context": ("context_parallel_size", "sequence_parallel_degree"),
    "expert": ("expert_parallel_size",),
}


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is axolotl's: a base model and the names that only it has."""
    found = clues.keys(source) & _MARKS
    return clues.graded(len(found), _CONFIDENCE) if "base_model" in found else 0.0


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the file describes."""
    draft = Draft("axolotl", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    settings = read_settings(source, draft, "axolotl file")
    if settings is None:
        return draft.finish()
    companions = read_companions(source.files, draft)
    write_world_size(read_command(source.argv), draft)
    if companions.model:
        Reader(companions.model[0].value, draft).read()
    else:
        write_model(settings, draft, "base_model", "base_model_config")
    _degrees(settings, draft)
    partner = _partner(settings, draft)
    _engine(settings, companions, partner, draft)
    _recipe(settings, draft)
    _adapters(settings, draft)
    _conflicts(settings, draft)
    _notices(settings, draft)
    if settings.on("fp8", pointer="/precision/fp8"):
        write_eight_bits(settings, draft, gather="fp8_enable_fsdp_float8_all_gather")
    fill_trainer_defaults(draft)
    fill_global_batch(draft)
    note_offload(draft)
    note_frozen(draft)
    ask_world_size(draft, "the file has no number of GPUs", ("accelerate launch --num_processes N",))
    ask_micro(draft, "micro_batch_size is not given")
    ask_model(draft, "the base model's dimensions are not known")
    known, names = _known()
    settings.report(known, names)
    return draft.finish()


def _degrees(settings: Settings, draft: Draft) -> None:
    """Degrees that are all given make the number of processes; sharding covers shard and context ranks."""
    for key, names in _DEGREES.items():
        settings.put(f"/parallelism/{key}", *names)
    tensor, context = (draft.get(f"/parallelism/{key}") or 1 for key in ("tensor", "context"))
    shards = settings.integer(*_SHARDS, pointer="/sharding/degree")
    replicas = settings.integer("dp_replicate_size") or 1
    if shards is None or not all(isinstance(each, int) and each > 0 for each in (shards, replicas, tensor, context)):
        return
    product = prod((shards, replicas, tensor, context))
    listed = f"dp_replicate {replicas} x dp_shard {shards} x tensor {tensor} x context {context}"
    world = draft.get("/world_size")
    if world is None:
        draft.set("/world_size", product, "derived", listed)
    elif world != product:
        message = f"{listed} = {product}, but {world} processes run"
        fields = ["/world_size", "/parallelism/tensor", "/parallelism/context"]
        draft.note(
            "world_size_mismatch", "error", message, fields=fields, found=str(product), fixes=[f"{product} GPUs"]
        )
    if replicas > 1:
        draft.set("/sharding/degree", shards * context, "derived", "dp_shard_size x context_parallel_size")


def _partner(settings: Settings, draft: Draft) -> Partner:
    """Batch numbers and the compute type; A1: the accumulation may follow from a batch size."""
    micro = settings.integer("micro_batch_size", pointer="/batch/micro")
    accumulation = settings.integer("gradient_accumulation_steps", pointer="/batch/accumulation")
    batch = settings.integer("batch_size", pointer="/batch/accumulation")
    where = settings.where("gradient_accumulation_steps")
    if accumulation is None and batch and micro:
        accumulation, where = max(batch // micro, 1), "batch_size / micro_batch_size"
    elif micro is None and batch and accumulation:
        micro = max(batch // accumulation, 1)
    places = {"micro": settings.where("micro_batch_size"), "accumulation": where}
    bf16, fp16 = _half(settings, draft)
    return Partner(micro, accumulation if accumulation is not None else 1, bf16, fp16, places)


def _half(settings: Settings, draft: Draft) -> tuple[bool, bool]:
    pointer = "/precision/compute"
    word = str(settings.raw("bf16")).strip().lower()
    settings.read.update({"bf16", "fp16"})
    if settings.on("bfloat16") or word == "full":
        where = settings.where("bfloat16", "bf16")
        draft.set(pointer, "bf16", settings.origin, where)
        draft.set("/precision/parameters", "bf16", settings.origin, where)
        draft.set("/precision/master", "none", "derived", f"{where}: weights and states in bf16")
        return True, False
    if word == "auto":
        draft.set(pointer, "bf16", "assumed", "bf16: auto, on a GPU that has it")
        return True, False
    for kind in ("bf16", "fp16"):
        if settings.on(kind, pointer=pointer):
            draft.set(pointer, kind, settings.origin, settings.where(kind))
            return kind == "bf16", kind == "fp16"
    if settings.on("float16"):
        draft.set(pointer, "fp16", settings.origin, settings.where("float16"))
        return False, True
    draft.fill(pointer, "fp32", "default", "axolotl: neither bf16 nor fp16")
    return False, False


def _engine(settings: Settings, companions: Companions, partner: Partner, draft: Draft) -> None:
    fsdp = _uses_fsdp(settings)
    if settings.find("deepspeed") is not None or settings.under("deepspeed"):
        if fsdp:
            message = "deepspeed and fsdp exclude each other"
            fields = ["/framework/name"]
            draft.note("option_conflict", "error", message, fields=fields, fixes=["remove deepspeed", "remove fsdp"])
        read_deepspeed(settings, companions, partner, "axolotl")
        return
    draft.set("/batch/micro", partner.micro, settings.origin, partner.where["micro"])
    draft.set("/batch/accumulation", partner.accumulation, settings.origin, partner.where["accumulation"])
    compute = draft.get("/precision/compute")
    frozen = settings.text("adapter") is not None
    if fsdp:
        version = read_fsdp(settings, "fsdp_config", draft, outside=outside_words(settings, "fsdp"))
        if not frozen and draft.get("/precision/parameters") is None:
            write_fsdp_precision(draft, compute, draft.where("/precision/compute"), version)
    else:
        draft.set("/framework/name", "hf-trainer", "derived", "neither deepspeed nor fsdp")
        draft.fill("/sharding/stage", 0, "default", "nothing is sharded")
    if frozen:
        draft.fill("/precision/parameters", compute, "derived", "the frozen base is loaded in the compute type")


def _uses_fsdp(settings: Settings) -> bool:
    listed = settings.find("fsdp")
    return bool(listed is not None and listed.value) or bool(settings.under("fsdp_config"))


def _recipe(settings: Settings, draft: Draft) -> None:
    settings.put_tokens("/batch/sequence_length", "sequence_len")
    draft.fill("/batch/sequence_length", 512, "default", "axolotl: sequence_len 512")
    write_optimizer(settings, draft, "optimizer")
    write_checkpointing(settings, draft, "gradient_checkpointing")
    draft.fill("/checkpointing/granularity", "none", "default", "axolotl: no gradient_checkpointing")
    if str(settings.raw("activation_offloading")).lower() not in {"none", "false"}:
        draft.set("/checkpointing/offload", "inputs", settings.origin, settings.where("activation_offloading"))
    write_attention(settings, draft, "attn_implementation")
    kernels = {"flash_attention": "flash", "sdp_attention": "sdpa", "xformers_attention": "flash",
               "flex_attention": "flex", "eager_attention": "eager", "sage_attention": "flash"}  # fmt: skip
    for key, kernel in kernels.items():
        if settings.on(key):
            draft.set("/kernels/attention", kernel, settings.origin, settings.where(key))
    settings.put_switch("/kernels/compile", "torch_compile")
    _loss(settings, draft)


def _loss(settings: Settings, draft: Draft) -> None:
    plugins = str(settings.raw("plugins") or "")
    liger = settings.on("liger_fused_linear_cross_entropy") or settings.on("liger_cross_entropy")
    if "CutCrossEntropy" in plugins or settings.on("cut_cross_entropy"):
        draft.set("/kernels/cross_entropy", "cut", settings.origin, settings.where("plugins", "cut_cross_entropy"))
    elif liger and ("Liger" in plugins or settings.find("plugins") is None):
        draft.set(
            "/kernels/cross_entropy", "liger", settings.origin, settings.where("liger_fused_linear_cross_entropy")
        )
    elif settings.on("chunked_cross_entropy"):
        draft.set("/kernels/cross_entropy", "chunked", settings.origin, settings.where("chunked_cross_entropy"))


def _adapters(settings: Settings, draft: Draft) -> None:
    kind = settings.text("adapter", pointer="/adapters/type")
    if kind is None:
        return
    where = settings.where("adapter")
    if kind.lower() not in {"lora", "qlora"}:
        message = f"{where}: adapters of type {kind[:40]} cannot be said in a job; LoRA is taken"
        draft.note("unsupported_option", "warning", message, fields=["/adapters/type"], found=kind)
    four, eight = settings.on("load_in_4bit"), settings.on("load_in_8bit")
    draft.set("/adapters/type", "qlora" if kind.lower() == "qlora" or four else "lora", settings.origin, where)
    if eight:
        draft.set("/adapters/quantization", "int8", settings.origin, settings.where("load_in_8bit"))
    elif four or kind.lower() == "qlora":
        draft.set("/adapters/quantization", "nf4_double", "derived", "axolotl: 4 bits, quantised twice")
    settings.put("/adapters/rank", "lora_r")
    draft.fill("/adapters/rank", 8, "default", "peft: rank 8")
    targets = settings.raw("lora_target_modules")
    modules = adapter_modules(targets) if targets else []
    if settings.on("lora_target_linear") or not modules:
        modules = list(dict.fromkeys([*modules, *ALL_LINEAR]))
    if targets:
        note_unknown_targets(draft, targets, settings.where("lora_target_modules"))
    draft.set(
        "/adapters/modules", modules, settings.origin, settings.where("lora_target_modules", "lora_target_linear")
    )
    saved = [
        each for each in adapter_modules(settings.raw("lora_modules_to_save") or []) if each in {"embedding", "head"}
    ]
    draft.set("/adapters/trained_modules", saved or None, settings.origin, settings.where("lora_modules_to_save"))


def _conflicts(settings: Settings, draft: Draft) -> None:
    """A1: what axolotl refuses at its start."""
    has = {
        key: settings.find(key) is not None for key in ("micro_batch_size", "gradient_accumulation_steps", "batch_size")
    }
    eight = "8bit" in str(settings.raw("optimizer")).lower()
    offload = draft.get("/optimizer/parameter_offload") == "cpu" and str(draft.get("/framework/name")).startswith(
        "fsdp"
    )
    cuda_only = str(settings.raw("optimizer")).lower() in {"adamw_8bit", "adamw_bnb_8bit"}
    checks = (
        (sum(has.values()) < 2, "at least two of micro_batch_size, gradient_accumulation_steps, batch_size are needed",  # noqa: PLR2004  (the rule's own number)
         "/batch/micro"),
        (has["gradient_accumulation_steps"] and has["batch_size"],
         "gradient_accumulation_steps and batch_size exclude each other", "/batch/accumulation"),
        (settings.find("warmup_steps") is not None and settings.find("warmup_ratio") is not None,
         "warmup_steps and warmup_ratio exclude each other", "/batch"),
        (eight and offload, "8-bit optimizers cannot be offloaded by FSDP", "/optimizer/name"),
        (cuda_only and draft.get("/framework/name") == "fsdp2",
         "FSDP2 does not take bitsandbytes' 8-bit optimizers; use adamw_torch_8bit", "/optimizer/name"),
        (draft.get("/checkpointing/offload") not in (None,
        "none") and draft.get("/checkpointing/granularity") == "none",
         "activation_offloading needs gradient_checkpointing", "/checkpointing/offload"),
    )  # fmt: skip
    for broken, message, field in checks:
        if broken:
            draft.note("option_conflict", "error", message, fields=[field], rule=message)


def _notices(settings: Settings, draft: Draft) -> None:
    if settings.find("unfrozen_parameters") is not None:
        message = "only chosen parameters are trained: gradients and states are kept for them alone; the plan takes all"
        draft.note("partial_training", "info", message, fields=["/optimizer"], found="unfrozen_parameters")
    method = settings.text("rl")
    if method in {"dpo", "ipo", "orpo", "simpo"}:
        where = settings.where("rl")
        message = f"{where}: {method} puts two answers of each sample into a batch: twice the sequences"
        draft.note("paired_samples", "warning", message, fields=["/batch/micro"], found=method)
    if method is not None and method not in {"orpo", "simpo"} and draft.get("/adapters/type") is None:
        message = "this method keeps a reference model beside the trained one; only the trained one is planned"
        draft.note("multiple_roles", "warning", message, found=method)


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(files(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
