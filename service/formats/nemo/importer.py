"""The importer: the file and its overrides, translated to Megatron's flags, and read as those are."""

import re
from collections.abc import Mapping
from typing import Any

from service.formats import clues
from service.formats.config.command import Command, Override, nested, override_value, read_command, source_text
from service.formats.config.interpolation import resolve
from service.formats.config.published import named_model, write_given_preset, write_named_model
from service.formats.config.questions import ask_world_size
from service.formats.config.settings import Setting, Settings, normalized_key
from service.formats.config.yaml_text import read_mapping
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.megatron.flags import Flags
from service.formats.megatron.layout import read_layout
from service.formats.megatron.model import read_model
from service.formats.megatron.recipe import read_recipe
from service.formats.megatron.vocabulary import known_flags
from service.formats.nemo.keys import is_known_key, known_names
from service.formats.nemo.translation import OTHER_MODELS, arguments
from service.formats.source import ConfigSource
from service.formats.syntax.words import Holes

_MARKS = frozenset({
    "trainer", "model", "train", "ddp", "optim", "run", "dist", "kd_config", "exp_manager", "encoder_seq_length",
    "megatron_amp_O2", "tensor_model_parallel_size", "pipeline_model_parallel_size",
    "virtual_pipeline_model_parallel_size", "num_nodes", "devices", "micro_batch_size", "global_batch_size",
    "mcore_gpt", "scheduler", "dataset", "mixed_precision", "peft",
})  # fmt: skip
_OVERRIDES = re.compile(r"(?:^|\s)[+~]{0,2}(?:trainer|model|train|training|ddp|exp_manager|checkpoint)\.[\w.]+=")
_ROOTS = ("trainer.", "model.", "train.", "training.", "ddp.", "exp_manager.", "checkpoint.")
_OWN = frozenset({"trainer", "train", "encoder_seq_length", "megatron_amp_O2", "mcore_gpt", "exp_manager"})
_CONFIDENCE = (0.0, 0.3, 0.5, 0.8, 0.93, 0.97)
_LACKING: Mapping[str, tuple[str, str]] = {
    "num_hidden_layers": ("/model/num_hidden_layers", "model.num_layers"),
    "hidden_size": ("/model/hidden_size", "model.hidden_size"),
    "num_attention_heads": ("/model/num_attention_heads", "model.num_attention_heads"),
    "sequence_length": ("/batch/sequence_length", "model.encoder_seq_length"),
    "micro": ("/batch/micro", "model.micro_batch_size"),
}


def recognise(source: ConfigSource) -> float:
    """How sure it is that the source is NeMo's: a trainer beside a model, or overrides of both."""
    found = clues.keys(source) & _MARKS
    own = clues.graded(len(found), _CONFIDENCE) if "model" in found and found & _OWN else 0.0
    text = f"{clues.words(source)}\n{'' if found else clues.head(source)}"
    overrides = len(set(_OVERRIDES.findall(text))) if clues.holds_any(text, _ROOTS) else 0
    return max(own, _CONFIDENCE[min(overrides, 4)] if overrides > 1 else 0.0)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the source describes, as far as it is known."""
    draft = Draft("nemo", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    text = source_text(source)
    words = [*text.split(), *source.argv] if text and _OVERRIDES.search(text) and ":" not in text else source.argv
    command = read_command(words)
    document = _document("" if words is not source.argv else text, draft)
    if document is None:
        return draft.finish()
    settings = Settings.of(_without_root(document), draft, env=source.env)
    _override(settings, command, draft)
    resolve(settings)
    if not document and _names_unsupplied_file(command, source):
        # What the file says is not asked for one by one.
        for fact in (*_LACKING, "vocab_size", "recipe"):
            draft.waive(fact)
    bridge = not settings.under("trainer") and bool(settings.under("train") or settings.under("dataset"))
    _read(settings, command, draft, bridge=bridge)
    return draft.finish()


def _names_unsupplied_file(command: Command, source: ConfigSource) -> bool:
    options = [command.options.get(key) for key in ("config_file", "config_name", "config")]
    # The words behind are overrides.
    named = [each.values[0].text for each in options if each is not None and each.values]
    return any(each.endswith((".yaml", ".yml")) and each.rsplit("/", 1)[-1] not in source.files for each in named)


def _document(text: str, draft: Draft) -> Mapping[str, Any] | None:
    return read_mapping(text, draft) if text else {}


def _without_root(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The launcher nests a training config under `training`."""
    inner = document.get("training")
    return inner if isinstance(inner, Mapping) and "model" in inner else document


def _override(settings: Settings, command: Command, draft: Draft) -> None:
    """Hydra's overrides: a key given twice is an error there; a choice of a group needs that group's file."""
    seen: set[str] = set()
    for each in command.overrides:
        key = normalized_key(each.key.removeprefix("training."))
        if key in seen:
            message = f"the override {each.key} is given twice, which is refused"
            draft.note("duplicate_key", "error", message, found=each.key)
        seen.add(key)
        if each.sign == "~":
            settings.values.pop(key, None)
        elif "." not in key and each.value is not None and _is_group(each):
            _ask_group(each, draft)
        else:
            value = override_value(each.value)
            settings.values[key] = Setting(key, each.key, value, each.key)
    named = nested([each for each in command.overrides if each.key in {"recipe", "model.hf_path"}])
    for key, value in named.items():
        settings.values.setdefault(key, Setting(key, key, value, key))


def _is_group(override: Override) -> bool:
    return override.key in {"training", "model", "cluster", "stages", "trainer"}


def _ask_group(override: Override, draft: Draft) -> None:
    name = str(override_value(override.value))
    if override.key in {"cluster", "stages"}:
        return
    message = f"{override.key}={name} chooses a file that is not supplied; add it as source.text"
    draft.note("missing_file", "warning", message, found=name, fixes=[f"add {name}.yaml"])
    draft.lack(name, message, "/model/hidden_size")


def _read(settings: Settings, command: Command, draft: Draft, *, bridge: bool) -> None:
    holes = Holes()
    _use_recipe(settings, command, draft)
    flags = Flags(arguments(settings, holes), holes, draft, settings.origin)
    draft.set("/framework/name", "megatron-core", "derived", "NeMo trains with Megatron-Core")
    if bridge:
        _recipe_defaults(settings, draft)
    _ask(draft, bridge=bridge)
    if not bridge or draft.get("/model/hidden_size") is not None or "hidden_size" in flags:
        read_model(flags, draft, {})
    read_layout(flags, draft, {})
    read_recipe(flags, draft, base="bf16" if bridge else None)
    _amp(settings, draft)
    _fsdp(settings, draft)
    _world(settings, draft)
    _notices(settings, draft)
    ask_world_size(draft, _why_no_world(settings), ("trainer.num_nodes=N", "trainer.devices=8"))
    unknown = settings.unread(is_known_key)
    draft.unknown(unknown, [*known_names(), *(f"model.{each}" for each in known_flags())])


def _use_recipe(settings: Settings, command: Command, draft: Draft) -> None:
    """Bridge: a recipe's name leads to the model that it builds; its other settings are the recipe's own."""
    for key in ("recipe", "hf_path", "model_recipe_name"):
        argument = command.options.get(key)
        if argument is not None and argument.values:
            settings.values[key] = Setting(key, argument.spelled, argument.text, argument.spelled)
    name = settings.text("hf_path", "model.hf_path", "recipe", "model_recipe_name", pointer="/model/hidden_size")
    if name is None:
        return
    model = re.sub(r"_(pretrain|finetune|sft|peft)?_?(config)?$", "", name)
    model = re.sub(r"^llama3(\d)_", r"llama-3.\1-", model)
    if named_model(model) is not None or "/" in name:
        write_named_model(draft, model, settings.where("hf_path", "model.hf_path", "recipe", "model_recipe_name"))


def _recipe_defaults(settings: Settings, draft: Draft) -> None:
    """What Bridge's recipes set unless told otherwise; everything else that is absent is the recipe's, too."""
    rule = "Megatron-Bridge's recipes: distributed optimizer, bf16_mixed, no dropout"
    if settings.on("ddp.use_distributed_optimizer") is not False and not settings.on("dist.use_megatron_fsdp"):
        draft.fill("/sharding/stage", 1, "assumed", rule)
    for key in ("hidden", "attention"):
        draft.fill(f"/dropout/{key}", 0.0, "assumed", rule)
    if draft.get("/model/hidden_size") is None and settings.find("model.hidden_size") is None:
        message = "the file only changes a recipe, which is not named; pass the recipe's model"
        draft.lack("recipe", message, "/model/hidden_size")
        fixes = ["pass source.model", "add --recipe NAME to source.argv"]
        rules = "a recipe or the dimensions"
        draft.note("recipe_unknown", "warning", message, fields=["/model"], rule=rules, fixes=fixes)
    message = "settings that the file does not have are the recipe's; those of Megatron-Core are taken for them"
    draft.note("recipe_defaults", "info", message, rule=rule)


def _ask(draft: Draft, *, bridge: bool) -> None:
    """NeMo's own names for what is missing; the dimensions of a recipe's model are one question, the recipe."""
    for fact, (pointer, key) in _LACKING.items():
        dimension = pointer.startswith("/model")
        if not (bridge and dimension and draft.get("/model/hidden_size") is None):
            draft.lack(fact, f"{key} is not given; pass {pointer.strip('/').replace('/', '.')}", pointer)
    if bridge and draft.get("/model/hidden_size") is None:
        for fact, (pointer, _) in _LACKING.items():
            if pointer.startswith("/model"):
                draft.waive(fact)
        draft.waive("vocab_size")
    message = "the vocabulary comes from the tokenizer, which is not read; pass model.vocab_size"
    draft.lack("vocab_size", message, "/model/vocab_size")


def _amp(settings: Settings, draft: Draft) -> None:
    """Without O2, weights stay in fp32 and the computation is autocast."""
    if settings.on("model.megatron_amp_o2") is False and draft.get("/precision/compute") in {"bf16", "fp16"}:
        where = settings.where("model.megatron_amp_o2")
        draft.set("/precision/parameters", "fp32", settings.origin, where)
        draft.set("/precision/autocast", True, settings.origin, where)


def _fsdp(settings: Settings, draft: Draft) -> None:
    if not settings.on("model.fsdp"):
        return
    stages = {"full": 3, "hybrid": 3, "grad": 2}
    draft.set("/sharding/stage", 3, settings.origin, settings.where("model.fsdp"))
    settings.put_choice("/sharding/stage", stages, "model.fsdp_sharding_strategy")


def _world(settings: Settings, draft: Draft) -> None:
    nodes = settings.integer("trainer.num_nodes", pointer="/world_size")
    devices = settings.raw("trainer.devices")
    each = len(devices) if isinstance(devices, list) else settings.integer("trainer.devices", pointer="/world_size")
    if nodes is not None and each is not None and nodes > 0 and each > 0:
        where = f"{settings.where('trainer.num_nodes')} x {settings.where('trainer.devices')}"
        draft.set("/world_size", nodes * each, "derived", where)


def _why_no_world(settings: Settings) -> str:
    if settings.find("trainer.devices") is not None:
        return "trainer.num_nodes is not given"
    return "neither trainer.num_nodes nor trainer.devices is given"


def _notices(settings: Settings, draft: Draft) -> None:
    if any(key.startswith(OTHER_MODELS[:2]) for key in settings.values):
        message = "a frozen teacher's weights and its logits live on the same GPUs; only the student is planned"
        draft.note("two_models", "warning", message, fields=["/model"])
        settings.read.update(key for key in settings.values if key.startswith(OTHER_MODELS))
    if draft.get("/moe/pad_to_capacity"):
        message = f"tokens for each expert are fixed by capacity factor {draft.get('/moe/capacity_factor')}"
        draft.note("capacity_padding", "info", message, fields=["/moe/capacity_factor"])
    _micro_batches(draft)
    if any(key.startswith("peft.") for key in settings.values):
        _adapters(settings, draft)


ADAPTED = {
    "linear_qkv": ("q", "k", "v"),
    "linear_q": ("q",),
    "linear_k": ("k",),
    "linear_v": ("v",),
    "linear_proj": ("o",),
    "linear_fc1": ("gate", "up"),
    "linear_fc1_gate": ("gate",),
    "linear_fc1_up": ("up",),
    "linear_fc2": ("down",),
    "output_layer": ("head",),
}
"""Modules that carry an adapter, by Megatron-Bridge's names (peft/lora.py and canonical_lora.py @ 067f987d)."""


def _adapters(settings: Settings, draft: Draft) -> None:
    settings.put("/adapters/rank", "peft.dim")
    if draft.get("/adapters/rank") is None:
        return
    draft.set("/adapters/type", "lora", "derived", settings.where("peft.dim"))
    dropout, named = settings.number("peft.dropout", pointer="/adapters/dropout"), settings.raw("peft.target_modules")
    draft.set("/adapters/dropout", dropout, settings.origin, settings.where("peft.dropout"))
    stated = named if isinstance(named, list) and named else []
    modules = list(dict.fromkeys(module for each in stated for module in ADAPTED.get(str(each), ())))
    if modules and all(str(each) in ADAPTED for each in stated):
        draft.set("/adapters/modules", modules, "key", settings.where("peft.target_modules"))
    else:
        every = ["q", "k", "v", "o", "gate", "up", "down"]
        draft.set("/adapters/modules", every, "default", "Megatron-Bridge: LoRA on all linear layers")


def _micro_batches(draft: Draft) -> None:
    """Interleaving runs groups of micro-batches as large as the pipeline; said where it holds, refused elsewhere."""
    chunks, ranks = draft.get("/parallelism/virtual_pipeline"), draft.get("/parallelism/pipeline")
    world, micro, total = draft.get("/world_size"), draft.get("/batch/micro"), draft.get("/batch/global")
    numbers = (chunks, ranks, world, micro, total)
    if not all(isinstance(each, int) and each > 0 for each in numbers) or chunks == 1:
        return
    grid = ranks * (draft.get("/parallelism/tensor") or 1) * (draft.get("/parallelism/context") or 1)
    if world % grid or total % (micro * (world // grid)):
        return
    count = total // (micro * (world // grid))
    if count % ranks == 0:
        message = f"{count} micro-batches are a multiple of pipeline degree {ranks}"
        draft.note("interleaving_microbatch_rule", "info", message, fields=["/batch/global", "/parallelism/pipeline"])
