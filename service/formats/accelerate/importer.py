"""The importer: the file itself, then the trainer's arguments, the launcher and the model where they are supplied.

Rules and defaults: huggingface/accelerate @ 16cb6eb8, commands/config/config_args.py, commands/launch.py.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files as resources
from typing import Any

from service.formats import clues
from service.formats.accelerate.commands import (
    is_command,
    launch_options,
    names_unsupplied_file,
    read_trainer_engine,
    recognise_command,
)
from service.formats.accelerate.inline import read_inline
from service.formats.accelerate.parallelism import SIZES, read_parallelism
from service.formats.config.command import Command, note_repeated, read_command, source_text, write_world_size
from service.formats.config.companions import Companions, kind_of, read_companions
from service.formats.config.published import write_given_preset
from service.formats.config.questions import ask_micro, ask_model, ask_sequence, ask_world_size
from service.formats.config.settings import Settings, known_keys
from service.formats.config.yaml_text import read_mapping
from service.formats.deepspeed.partner import Partner, read_partner
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.trainer.arguments import read_arguments, read_model_files, trainer_settings
from service.formats.trainer.defaults import fill_global_batch, fill_trainer_defaults, note_frozen, note_offload
from service.formats.trainer.fsdp import NAMES, fsdp_version, read_fsdp, write_fsdp_precision
from service.formats.trainer.heads import note_tensor_heads
from service.formats.trainer.narrow import write_eight_bits

_MARKS = frozenset({
    "distributed_type", "compute_environment", "num_processes", "num_machines", "fsdp_config", "deepspeed_config",
    "parallelism_config", "downcast_bf16", "machine_rank", "main_training_function", "mixed_precision",
    "rdzv_backend", "use_cpu",
})  # fmt: skip
_CONFIDENCE = (0.0, 0.25, 0.75, 0.9, 0.95)
_NO = frozenset({"no", "false", "none", "null", "fp32"})
_TYPES: Mapping[str, str] = {"bf16": "bf16", "fp16": "fp16", "no": "fp32", "fp8": "bf16"}
_CPU = frozenset({"multi_cpu", "xla", "tpu"})
_MEGATRON: Mapping[str, str] = {
    "tp_degree": "/parallelism/tensor",
    "pp_degree": "/parallelism/pipeline",
    "num_micro_batches": "/batch/accumulation",
    "expert_model_parallel_size": "/parallelism/expert",
    "context_parallel_size": "/parallelism/context",
}


def recognise(source: ConfigSource) -> float:
    """How sure it is that the source is accelerate's: keys that its questionnaire writes, or a trainer's command."""
    if recognise_command(source):
        return recognise_command(source)
    found = clues.keys(source) & _MARKS
    if not found & {"distributed_type", "compute_environment", "parallelism_config", "downcast_bf16", "num_machines"}:
        return 0.0
    return clues.graded(len(found), _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the file describes, completed by what is supplied beside it."""
    draft = Draft("accelerate", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    companions = read_companions(source.files, draft)
    document = _document(source, companions, draft)
    if document is None:
        return draft.finish()
    command = read_command(source.argv)
    settings = Settings.of(document, draft, env=source.env)
    launch_options(settings, command)
    note_repeated(command, draft)
    _read(settings, companions, command, draft)
    return draft.finish()


def _document(source: ConfigSource, companions: Companions, draft: Draft) -> Mapping[str, Any] | None:
    text = source_text(source)
    if not text:
        if companions.accelerate:
            return companions.accelerate[0].value
        if is_command(source):
            return {}
        draft.note("missing_file", "error", "no accelerate file is supplied", rule="source.text or source.files")
        return None
    document = read_mapping(text, draft)
    if document is not None and kind_of(document) == "trainer" and companions.accelerate:
        # The command names the trainer's file first; accelerate's is beside it.
        return companions.accelerate[0].value
    return document


def _read(settings: Settings, companions: Companions, command: Command, draft: Draft) -> None:
    trainer = trainer_settings(companions.trainer, command, draft, settings.env)
    kind = (settings.text("distributed_type", pointer="/framework/name") or "").lower()
    _world(settings, kind, draft)
    write_world_size(command, draft)
    read_model_files(companions, trainer, draft)
    _compute(settings, trainer, draft)
    partner = read_partner(trainer)
    engine = _engine(settings, kind)
    read_parallelism(settings, draft, engine)
    if engine == "deepspeed":
        read_inline(settings, companions, partner, trainer)
    else:
        if names_unsupplied_file(command, companions):
            draft.set("/framework/name", "hf-trainer", "assumed", "accelerate's file, which says it, is not supplied")
        elif kind or not read_trainer_engine(trainer, companions, partner, draft):
            _sharded(settings, engine, draft)
        _batch(settings, partner, draft)
    if trainer is not None:
        read_arguments(trainer, draft)
    _compile(settings, draft)
    _elsewhere(settings, kind, draft)
    if engine == "megatron-core":
        draft.fill("/framework/transformer_impl", "transformer_engine", "default", "Megatron-Core's layers")
        draft.fill("/kernels/attention", "auto", "default", "Megatron-Core: attention_backend auto")
    fill_trainer_defaults(draft)
    fill_global_batch(draft)
    note_offload(draft)
    note_frozen(draft)
    note_tensor_heads(draft)
    ask_world_size(draft, "no file and no launcher has the number of processes", ("num_processes: N",))
    ask_sequence(draft, "an accelerate file has no training length")
    ask_model(draft, "an accelerate file does not describe the model")
    _unknown(settings, draft)


def _world(settings: Settings, kind: str, draft: Draft) -> None:
    count = settings.integer("num_processes", pointer="/world_size")
    if count is not None and count > 0:
        draft.set("/world_size", count, settings.origin, settings.where("num_processes"))
    elif kind == "no" and count is None:
        draft.fill("/world_size", 1, "default", "accelerate: one process with distributed_type NO")


def _compute(settings: Settings, trainer: Settings | None, draft: Draft) -> None:
    """The word `no` is a type here; YAML reads it as false."""
    raw = settings.raw("mixed_precision")
    word = "no" if str(raw).strip().lower() in _NO and raw is not None else settings.text("mixed_precision")
    if word is None and trainer is not None:
        for kind in ("bf16", "fp16"):
            if trainer.on(kind):
                draft.set("/precision/compute", kind, "key", trainer.where(kind))
        return
    if word is None:
        return
    if word.lower() not in _TYPES:
        settings.refuse(
            f'the text "{word[:60]}" is none of {", ".join(_TYPES)}', "mixed_precision", pointer="/precision/compute"
        )
        return
    draft.set("/precision/compute", _TYPES[word.lower()], settings.origin, settings.where("mixed_precision"))
    if word.lower() == "fp8":
        settings.read.update(each.key for each in settings.under("fp8_config"))
        write_eight_bits(
            settings,
            draft,
            backend="fp8_config.backend",
            gather="fp8_config.enable_fsdp_float8_all_gather",
            blocks="fp8_config.use_mxfp8_block_scaling",
        )


def _engine(settings: Settings, kind: str) -> str:
    if kind == "fsdp" or (not kind and settings.under("fsdp_config")):
        return f"fsdp{fsdp_version(settings, 'fsdp_config')}"
    if kind == "deepspeed" or (not kind and settings.under("deepspeed_config")):
        return "deepspeed"
    return "megatron-core" if kind == "megatron_lm" else "hf-trainer"


def _sharded(settings: Settings, engine: str, draft: Draft) -> None:
    compute = draft.get("/precision/compute")
    if engine.startswith("fsdp"):
        version = read_fsdp(settings, "fsdp_config", draft)
        if compute is not None:
            write_fsdp_precision(draft, compute, draft.where("/precision/compute"), version)
    elif engine == "megatron-core":
        _megatron(settings, draft)
    else:
        draft.set("/framework/name", engine, "derived", "distributed_type: replicas of the whole model")
        draft.fill("/sharding/stage", 0, "default", "accelerate: nothing is sharded")
        if compute in {"bf16", "fp16"}:
            draft.fill("/precision/parameters", "fp32", "default", "accelerate: autocast over fp32 weights")
            draft.fill("/precision/autocast", True, "default", "accelerate: mixed precision is autocast")
    draft.fill("/precision/compute", "fp32", "default", "accelerate: mixed_precision no")


def _megatron(settings: Settings, draft: Draft) -> None:
    section = "megatron_lm_config.megatron_lm"
    draft.set("/framework/name", "megatron-core", settings.origin, settings.where("distributed_type"))
    for name, pointer in _MEGATRON.items():
        settings.put(pointer, f"{section}_{name}")
    settings.put_switch("/parallelism/sequence", f"{section}_sequence_parallelism")
    if settings.on(f"{section}_use_distributed_optimizer"):
        draft.set("/sharding/stage", 1, settings.origin, settings.where(f"{section}_use_distributed_optimizer"))
    draft.fill("/sharding/stage", 0, "default", "accelerate: no distributed optimizer")
    if settings.on(f"{section}_recompute_activations"):
        where = settings.where(f"{section}_recompute_activations")
        draft.set("/checkpointing/granularity", "selective", settings.origin, where)


def _batch(settings: Settings, partner: Partner, draft: Draft) -> None:
    if partner.present:
        draft.set("/batch/micro", partner.micro, partner.origin("micro"), partner.where["micro"])
        where = partner.where["accumulation"]
        draft.set("/batch/accumulation", partner.accumulation, partner.origin("accumulation"), where)
    if draft.get("/batch/accumulation") is None:
        keys = ("gradient_accumulation_steps", "deepspeed_config.gradient_accumulation_steps")
        settings.put("/batch/accumulation", *keys)
    ask_micro(draft, "the micro-batch size is the trainer's")


def _compile(settings: Settings, draft: Draft) -> None:
    backend = settings.text("dynamo_config.dynamo_backend", "dynamo_config.dynamo_backend_name", "dynamo_backend")
    if backend is not None and backend.lower() not in {"no", "false"}:
        draft.set(
            "/kernels/compile", True, settings.origin, settings.where("dynamo_config.dynamo_backend", "dynamo_backend")
        )


def _elsewhere(settings: Settings, kind: str, draft: Draft) -> None:
    if settings.on("use_cpu") or kind in _CPU:
        where = settings.where("use_cpu") if settings.on("use_cpu") else settings.where("distributed_type")
        message = f"{where}: the job runs without GPUs"
        draft.note("not_training", "error", message, rule="a job on GPUs", found=kind)


def _unknown(settings: Settings, draft: Draft) -> None:
    """Unknown keys at the top are refused upstream; those inside a section are passed over there."""
    known, names = _known()
    unknown = settings.unread(known)
    draft.unknown(unknown, names, "error" if any("." not in each for each in unknown) else "warning")


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    lines = resources(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines()
    fsdp = [f"fsdp_config.{prefix}{name}" for name in NAMES for prefix in ("", "fsdp_")]
    sizes = [f"parallelism_config.{prefix}{size}_size" for size in SIZES for prefix in ("", "parallelism_config_")]
    return known_keys([*lines, *fsdp, *sizes])
