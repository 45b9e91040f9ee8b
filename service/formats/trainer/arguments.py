"""Arguments of Hugging Face's trainer and of TRL's, from a file or a command line, to the job.

Rules and defaults: huggingface/transformers 5.24.0 training_args.py, huggingface/trl 1.16.0 sft_config.py.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files as resources
from typing import Any

from service.formats.config.command import Command
from service.formats.config.companions import Companions, NamedDocument
from service.formats.config.settings import Settings, known_keys, normalized_key
from service.formats.draft import Draft
from service.formats.huggingface.importer import Reader
from service.formats.trainer.recipe import (
    ALL_LINEAR,
    adapter_modules,
    note_unknown_targets,
    write_attention,
    write_checkpointing,
    write_model,
    write_optimizer,
)

MODEL_NAMES = ("model_name_or_path", "model_name", "model_id", "base_model")
SEQUENCES = ("max_seq_length", "max_length", "cutoff_len", "block_size", "model_max_length", "max_context_width")
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "bf16": "bf16", "fp16": "fp16", "fp32": "fp32"}


def trainer_settings(
    files: Sequence[NamedDocument], command: Command, draft: Draft, env: Mapping[str, str]
) -> Settings | None:
    """Trainer arguments from files, overridden by the command line's; None when neither has any."""
    known, _ = trainer_keys()
    merged: dict[str, Any] = {}
    for each in files:
        merged.update({normalized_key(key): value for key, value in each.value.items()})
    options = {key: value for key, value in command.document().items() if known(key)}
    if not merged and not options:
        return None
    settings = Settings.of({**merged, **options}, draft, env=env)
    if options:
        settings.values.update(
            (key, each) for key, each in Settings.of(options, draft, label="argv", env=env).values.items()
        )
    return settings


def read_model_files(companions: Companions, trainer: Settings | None, draft: Draft) -> None:
    """Writes the model: from its config.json where that is supplied, else from the name that the trainer has."""
    if companions.model:
        Reader(companions.model[0].value, draft).read()
    elif trainer is not None:
        write_model(trainer, draft, *MODEL_NAMES)


def read_arguments(settings: Settings, draft: Draft) -> None:
    """Writes sequence length, optimizer, kernels, checkpointing and adapters; the batch is the engine's concern."""
    settings.put_tokens("/batch/sequence_length", *SEQUENCES)
    write_optimizer(settings, draft, "optim")
    write_checkpointing(settings, draft, "gradient_checkpointing")
    write_attention(settings, draft, "attn_implementation", "attn_impl")
    if settings.on("use_flash_attention_2", "use_flash_attn", "use_flash_attention"):
        where = settings.where("use_flash_attention_2", "use_flash_attn", "use_flash_attention")
        draft.set("/kernels/attention", "flash", settings.origin, where)
    settings.put_switch("/kernels/compile", "torch_compile")
    if settings.on("use_liger_kernel", "use_liger", "enable_liger_kernel"):
        where = settings.where("use_liger_kernel", "use_liger", "enable_liger_kernel")
        draft.set("/kernels/cross_entropy", "liger", settings.origin, where)
    settings.put_choice("/precision/parameters", _TYPES, "torch_dtype", "dtype")
    read_peft(settings, draft)


def read_peft(settings: Settings, draft: Draft) -> None:
    """TRL's names for adapters: `use_peft`, `lora_r`, `lora_target_modules`, `load_in_4bit`."""
    if not settings.on("use_peft", "use_lora", "lora_enable"):
        return
    where = settings.where("use_peft", "use_lora", "lora_enable")
    four, eight = settings.on("load_in_4bit"), settings.on("load_in_8bit")
    draft.set("/adapters/type", "qlora" if four else "lora", settings.origin, where)
    if four:
        double = settings.on("use_bnb_nested_quant", "bnb_4bit_use_double_quant")
        draft.set("/adapters/quantization", "nf4_double" if double else "nf4", settings.origin, "load_in_4bit")
    elif eight:
        draft.set("/adapters/quantization", "int8", settings.origin, "load_in_8bit")
    settings.put("/adapters/rank", "lora_r", "lora_rank")
    draft.fill("/adapters/rank", 16, "default", "TRL: lora_r 16")
    targets = settings.raw("lora_target_modules")
    if targets is not None:
        draft.set("/adapters/modules", adapter_modules(targets), settings.origin, settings.where("lora_target_modules"))
        note_unknown_targets(draft, targets, settings.where("lora_target_modules"))
    draft.fill("/adapters/modules", list(ALL_LINEAR), "assumed", "all linear layers")


@cache
def trainer_keys() -> tuple[Callable[[str], bool], list[str]]:
    """Every argument of transformers' and TRL's trainers, and of the scripts around them."""
    return known_keys(resources(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
