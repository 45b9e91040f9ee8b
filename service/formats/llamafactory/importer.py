"""The importer: transformers' trainer arguments with LLaMA-Factory's own, and the DeepSpeed file that they name.

Rules and defaults: hiyouga/LLaMA-Factory @ ff6d4d12, src/llamafactory/hparams (parser.py, finetuning_args.py,
model_args.py, data_args.py).
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from math import prod
from typing import Literal

from service.formats import clues
from service.formats.config.command import read_command, write_world_size
from service.formats.config.companions import Companions, read_companions
from service.formats.config.published import write_given_preset
from service.formats.config.questions import ask_model, ask_world_size
from service.formats.config.settings import Settings, known_keys
from service.formats.config.yaml_text import read_settings
from service.formats.deepspeed.partner import Partner, read_partner
from service.formats.draft import Draft
from service.formats.huggingface.importer import Reader
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.trainer.arguments import MODEL_NAMES, trainer_keys
from service.formats.trainer.defaults import fill_global_batch, fill_trainer_defaults, note_frozen, note_offload
from service.formats.trainer.engines import read_deepspeed
from service.formats.trainer.fsdp import outside_words, read_fsdp, write_fsdp_precision
from service.formats.trainer.narrow import write_eight_bits
from service.formats.trainer.recipe import (
    ALL_LINEAR,
    adapter_modules,
    note_unknown_targets,
    write_attention,
    write_model,
    write_optimizer,
)

_MARKS = frozenset({
    "finetuning_type", "cutoff_len", "template", "stage", "lora_target", "dataset_dir", "overwrite_cache",
    "plot_loss", "preprocessing_num_workers", "model_name_or_path", "quantization_bit", "pure_bf16",
    "per_device_train_batch_size", "quantization_method", "flash_attn", "enable_liger_kernel", "ddp_timeout",
})  # fmt: skip
_OWN = frozenset(
    {"finetuning_type", "cutoff_len", "template", "lora_target", "plot_loss", "quantization_bit", "pure_bf16"}
)
_CONFIDENCE = (0.0, 0.2, 0.45, 0.75, 0.92, 0.97)
_DEGREES = {
    "tensor": "tensor_model_parallel_size",
    "pipeline": "pipeline_model_parallel_size",
    "context": "context_parallel_size",
    "expert": "expert_model_parallel_size",
    "virtual_pipeline": "virtual_pipeline_model_parallel_size",
}
_LOW_RANK = ("galore", "apollo")


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is LLaMA-Factory's: trainer arguments with the names that only it has."""
    found = clues.keys(source) & _MARKS
    return clues.graded(len(found), _CONFIDENCE) if len(found & _OWN) > 1 else 0.0


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the file describes."""
    draft = Draft("llamafactory", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    settings = read_settings(source, draft, "LLaMA-Factory file")
    if settings is None:
        return draft.finish()
    companions = read_companions(source.files, draft)
    write_world_size(read_command(source.argv), draft)
    settings.put("/world_size", "ray_num_workers")
    if companions.model:
        Reader(companions.model[0].value, draft).read()
    else:
        write_model(settings, draft, *MODEL_NAMES)
    megatron = _megatron(settings, draft)
    _recipe(settings, draft, megatron=megatron)
    _adapters(settings, draft)
    _engine(settings, companions, read_partner(settings), draft, megatron=megatron)
    _low_rank(settings, draft)
    _conflicts(settings, draft)
    if settings.on("fp8", pointer="/precision/fp8"):
        write_eight_bits(settings, draft, backend="fp8_backend", gather="fp8_enable_fsdp_float8_all_gather")
    _stage(settings, draft)
    fill_trainer_defaults(draft)
    fill_global_batch(draft)
    note_offload(draft)
    note_frozen(draft)
    ask_world_size(draft, "the file has no number of GPUs", ("FORCE_TORCHRUN=1 NPROC_PER_NODE=N",))
    ask_model(draft, "the model's dimensions are not known")
    known, names = _known()
    settings.report(known, names)
    return draft.finish()


def _megatron(settings: Settings, draft: Draft) -> bool:
    """Degrees of Megatron turn its own trainer on; its total size divides the number of GPUs."""
    if not any(settings.find(name) is not None for name in _DEGREES.values()):
        return False
    for key, name in _DEGREES.items():
        settings.put(f"/parallelism/{key}", name)
    settings.put_switch("/parallelism/sequence", "sequence_parallel")
    for key in ("overlap_grad_reduce", "overlap_param_gather"):
        settings.put_switch(f"/sharding/{key}", key)
    draft.set("/framework/name", "megatron-core", "derived", "degrees of Megatron are given")
    shards = settings.on("use_distributed_optimizer", pointer="/sharding/stage")
    draft.set("/sharding/stage", int(bool(shards)), settings.origin, settings.where("use_distributed_optimizer"))
    if settings.find("recompute_granularity") is not None:
        kinds = {"full": "full", "selective": "selective"}
        settings.put_choice("/checkpointing/granularity", kinds, "recompute_granularity")
        settings.put_choice("/checkpointing/method", {"uniform": "uniform", "block": "block"}, "recompute_method")
        settings.put("/checkpointing/num_layers", "recompute_num_layers")
    draft.fill("/framework/transformer_impl", "transformer_engine", "default", "Megatron-Core's layers")
    draft.fill("/kernels/attention", "auto", "default", "Megatron-Core: attention_backend auto")
    for key in ("hidden", "attention"):
        draft.fill(f"/dropout/{key}", 0.0, "assumed", "converted models have no dropout")
    _total_size(draft)
    return True


def _total_size(draft: Draft) -> None:
    degrees = [draft.get(f"/parallelism/{key}") or 1 for key in ("tensor", "pipeline", "context", "expert")]
    world = draft.get("/world_size")
    if not isinstance(world, int) or not all(isinstance(each, int) and each > 0 for each in degrees):
        return
    total = prod(degrees)
    if world % total:
        message = f"tensor x pipeline x context x expert = {total} does not divide {world} GPUs"
        fields = ["/world_size", "/parallelism/tensor", "/parallelism/pipeline", "/parallelism/context"]
        draft.note("world_size_not_divisible", "error", message, fields=fields, found=f"{world}, {total}")


def _recipe(settings: Settings, draft: Draft, *, megatron: bool) -> None:
    settings.put_tokens("/batch/sequence_length", "cutoff_len")
    draft.fill("/batch/sequence_length", 2048, "default", "LLaMA-Factory: cutoff_len 2048")
    write_optimizer(settings, draft, "optim")
    if settings.on("use_muon"):
        draft.set("/optimizer/name", "muon", settings.origin, settings.where("use_muon"))
    if not megatron:
        off = settings.on("disable_gradient_checkpointing")
        where = (
            settings.where("disable_gradient_checkpointing") if off else "LLaMA-Factory: checkpointing unless disabled"
        )
        draft.set("/checkpointing/granularity", "none" if off else "full", settings.origin if off else "default", where)
        if settings.on("use_unsloth_gc"):
            draft.set("/checkpointing/offload", "inputs", settings.origin, settings.where("use_unsloth_gc"))
    write_attention(settings, draft, "flash_attn")
    settings.put_switch("/kernels/compile", "torch_compile")
    if settings.on("enable_liger_kernel"):
        draft.set("/kernels/cross_entropy", "liger", settings.origin, settings.where("enable_liger_kernel"))


def _adapters(settings: Settings, draft: Draft) -> None:
    kind = (settings.text("finetuning_type", pointer="/adapters/type") or "lora").lower()
    where = (
        settings.where("finetuning_type") if settings.find("finetuning_type") else "LLaMA-Factory: finetuning_type lora"
    )
    bits = settings.integer("quantization_bit", pointer="/adapters/quantization")
    if kind == "freeze":
        message = f"{where}: only the last layers are trained; the plan takes all"
        draft.note("partial_training", "info", message, fields=["/optimizer"], found=kind)
    if kind not in {"lora", "oft"}:
        return
    origin = settings.origin if settings.find("finetuning_type") else "default"
    # QLoRA is 4 bits; a base in 8 bits is LoRA over LLM.int8().
    draft.set("/adapters/type", "qlora" if bits and bits != 8 else "lora", origin, where)  # noqa: PLR2004  (bits)
    if bits:
        double = settings.on("double_quantization") is not False
        four = "nf4_double" if double else "nf4"
        kept = {4: four, 8: "int8"}.get(bits)
        draft.set("/adapters/quantization", kept, settings.origin, settings.where("quantization_bit"))
        if kept is None:
            message = f"{settings.where('quantization_bit')}: weights of {bits} bits cannot be said in a job"
            draft.note("unsupported_option", "warning", message, fields=["/adapters/quantization"], found=str(bits))
    settings.put("/adapters/rank", "lora_rank")
    draft.fill("/adapters/rank", 8, "default", "LLaMA-Factory: lora_rank 8")
    targets = settings.raw("lora_target")
    modules = adapter_modules(targets) if targets else []
    if targets:
        note_unknown_targets(draft, targets, settings.where("lora_target"))
    draft.set(
        "/adapters/modules", modules or list(ALL_LINEAR), settings.origin if modules else "default", "lora_target"
    )
    saved = [each for each in adapter_modules(settings.raw("additional_target") or []) if each in {"embedding", "head"}]
    draft.set("/adapters/trained_modules", saved or None, settings.origin, settings.where("additional_target"))


def _engine(settings: Settings, companions: Companions, partner: Partner, draft: Draft, *, megatron: bool) -> None:
    pure = settings.on("pure_bf16", pointer="/precision/compute")
    compute = "bf16" if pure or partner.bf16 else "fp16" if partner.fp16 else "fp32"
    key = "pure_bf16" if pure else compute
    written = settings.find("pure_bf16", "bf16", "fp16") is not None
    draft.set("/precision/compute", compute, settings.origin if written else "default", settings.where(key))
    if pure:
        draft.set("/precision/parameters", "bf16", settings.origin, settings.where("pure_bf16"))
        draft.set("/precision/master", "none", "derived", "pure_bf16: no copy of the weights in fp32")
    if not megatron and read_deepspeed(settings, companions, partner, "llamafactory"):
        return
    draft.set("/batch/micro", partner.micro, partner.origin("micro"), partner.where.get("micro", ""))
    where = partner.where.get("accumulation", "")
    draft.set("/batch/accumulation", partner.accumulation, partner.origin("accumulation"), where)
    if megatron:
        return
    if settings.find("fsdp") is not None or settings.under("fsdp_config"):
        version = read_fsdp(settings, "fsdp_config", draft, outside=outside_words(settings, "fsdp"))
        if not pure and draft.get("/adapters/type") is None:
            write_fsdp_precision(draft, compute, draft.where("/precision/compute"), version)
    else:
        draft.set("/framework/name", "hf-trainer", "derived", "neither deepspeed nor fsdp")
        draft.fill("/sharding/stage", 0, "default", "nothing is sharded")
    if draft.get("/adapters/type") is not None:
        draft.fill("/precision/parameters", compute, "derived", "the frozen base is loaded in the compute type")
    elif not pure:
        draft.fill("/precision/parameters", "fp32", "default", "LLaMA-Factory: trained weights are upcast to fp32")
        draft.fill("/precision/autocast", compute != "fp32", "derived", "autocast over fp32 weights")


def _low_rank(settings: Settings, draft: Draft) -> None:
    """GaLore and APOLLO keep low-rank states; layer by layer they run on one GPU only."""
    for name in _LOW_RANK:
        if not settings.on(f"use_{name}"):
            continue
        where = settings.where(f"use_{name}")
        draft.set("/optimizer/name", "adam", "assumed", f"{where}: low-rank states have no words in a job")
        message = f"{where}: its low-rank states cannot be said in a job; those of AdamW are taken, which are larger"
        draft.note("unsupported_option", "warning", message, fields=["/optimizer/name"], found=f"use_{name}")
        if not settings.on(f"{name}_layerwise"):
            continue
        where = settings.where(f"{name}_layerwise")
        draft.set("/optimizer/in_backward", True, settings.origin, where)
        world = draft.get("/world_size")
        severity: Literal["error", "info"] = "error" if isinstance(world, int) and world > 1 else "info"
        message = "the layer-wise variant runs on one GPU; distributed training is refused"
        fields = ["/world_size", "/optimizer/name"]
        draft.note("layerwise_single_gpu", severity, message, fields=fields, found=where, fixes=["world_size: 1"])
        draft.fill("/world_size", 1, "derived", f"{where} runs on one GPU")


def _stage(settings: Settings, draft: Draft) -> None:
    """Preferences come in pairs, and some ways to train on them keep further models beside the one that is trained."""
    stage = (settings.text("stage") or "sft").lower()
    where = settings.where("stage")
    if stage in {"dpo", "rm"}:
        message = f"{where}: {stage} puts two answers of each sample into a batch: twice the sequences"
        fixes = ["batch.micro: twice per_device_train_batch_size"]
        draft.note("paired_samples", "warning", message, fields=["/batch/micro"], found=stage, fixes=fixes)
    reference = stage in {"dpo", "kto"} and draft.get("/adapters/type") is None
    free = settings.text("pref_loss") in {"orpo", "simpo"}
    if stage == "ppo" or (reference and not free) or settings.text("ref_model", "reward_model") is not None:
        message = f"{where}: {stage} keeps a reference or reward model beside the trained one, which alone is planned"
        draft.note("multiple_roles", "warning", message, found=stage)


def _conflicts(settings: Settings, draft: Draft) -> None:
    """A2: what LLaMA-Factory refuses at its start."""
    deep = settings.find("deepspeed") is not None or bool(settings.under("deepspeed"))
    low = [name for name in _LOW_RANK if settings.on(f"use_{name}")]
    kind = (settings.text("finetuning_type") or "lora").lower()
    bits = settings.find("quantization_bit") is not None
    checks = (
        (bool(settings.on("pure_bf16")) and deep and draft.get("/sharding/stage") == 3,  # noqa: PLR2004  (ZeRO stage 3)
         "pure_bf16 cannot be combined with ZeRO stage 3", "/precision/parameters", "bf16: true instead of pure_bf16"),
        (bool(low) and deep, f"{' and '.join(low)} cannot be combined with DeepSpeed", "/optimizer/name",
        "remove deepspeed"),
        (bool(low) and kind == "lora", f"{' and '.join(low)} cannot be combined with LoRA", "/optimizer/name",
         "finetuning_type: full"),
        (bits and kind not in {"lora", "oft"}, "quantised weights are trained with LoRA or OFT only",
         "/adapters/quantization", "finetuning_type: lora"),
    )  # fmt: skip
    for broken, message, field, fix in checks:
        if broken:
            draft.note("option_conflict", "error", message, fields=[field], rule=message, fixes=[fix])


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    trainer, names = trainer_keys()
    own, own_names = known_keys(files(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
    return lambda key: own(key) or trainer(key), [*own_names, *names]
