"""The importer: a TOML file, a command line, or both; which generation it is; and what only the launch knows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files as resources
from typing import Any

from service.formats import clues
from service.formats.config.command import Command, note_repeated, read_command, source_text, write_world_size
from service.formats.config.published import write_given_preset
from service.formats.config.questions import ask_micro, ask_model, ask_sequence, ask_world_size
from service.formats.config.settings import Settings, known_keys
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.syntax.documents import DocumentFault, read_toml
from service.formats.syntax.quoting import split_words
from service.formats.torchtitan.batch import read_batch, read_tokens
from service.formats.torchtitan.flavors import registered, split_flavor, write_flavor
from service.formats.torchtitan.layout import Degrees, read_degrees
from service.formats.torchtitan.pipeline import read_pipeline
from service.formats.torchtitan.recipe import read_recipe
from service.formats.trainer.defaults import note_offload

_SECTIONS = re.compile(
    r"^[ \t]*\[(job|model|training|parallelism|activation_checkpoint|lr_scheduler|optimizer|metrics|profiling|"
    r"checkpoint|compile|quantize[\w.]*|float8|experimental|validation|comm)\]",
    re.MULTILINE,
)
_KEYS = re.compile(
    r"(?:--(?:training|parallelism|activation_checkpoint|compile|job|model)\.[\w-]+"
    r"|\b(?:data_parallel_shard_degree|data_parallel_replicate_degree|tensor_parallel_degree|local_batch_size|flavor|"
    r"pipeline_parallel_degree|context_parallel_degree|selective_ac_option|hf_assets_path|num_tokens_per_train_step|"
    r"num_tokens_per_microbatch_per_dp_rank|max_context_length)\b)"
)
_PIECES = ("_parallel_", "--", "local_batch_size", "flavor", "selective_ac_option", "hf_assets_path", "num_tokens_per_",
           "max_context_length")  # fmt: skip
_NAMES = ("torchtitan", "run_train.sh")
_CONFIDENCE = (0.0, 0.35, 0.6, 0.85, 0.95)
_LONGEST_COMMAND = 64 * 1024
_ASSIGNED = re.compile(r"(NGPU|MODULE|CONFIG|CONFIG_FILE)=(.*)", re.DOTALL)
_GPUS = 8
_MISSING_MODEL = "the flavor's dimensions are not in the built-in table"


@dataclass(frozen=True, slots=True)
class _Launch:
    """What a command line of torchtitan says: its options, and the variables that its start script reads."""

    command: Command = field(default_factory=Command)
    variables: Mapping[str, str] = field(default_factory=dict)
    by_script: bool = False


_OVER_FILES = {
    "parallelism.tensor_parallel_degree": "/parallelism/tensor",
    "parallelism.pipeline_parallel_degree": "/parallelism/pipeline",
    "parallelism.context_parallel_degree": "/parallelism/context",
    "parallelism.expert_parallel_degree": "/parallelism/expert",
    "training.seq_len": "/batch/sequence_length",
    "training.local_batch_size": "/batch/micro",
}


def recognise(source: ConfigSource) -> float:
    """How sure it is that the source is torchtitan's: by sections and keys that nobody else has."""
    text, words = clues.head(source), clues.words(source)
    named = clues.holds_any(text, _NAMES) or clues.holds_any(words, _NAMES)
    keys = {each for part in (text, words) if clues.holds_any(part, _PIECES) for each in _KEYS.findall(part)}
    if not keys and not named:
        return 0.0
    sections = set(_SECTIONS.findall(text))
    found = (len(sections) > 1) + min(len(keys), 2) + named + (len(sections) > 3)  # noqa: PLR2004  (several sections)
    return clues.graded(found, _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the source describes, as far as it is known."""
    draft = Draft("torchtitan", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    text = source_text(source)
    launch = _launch(text, source)
    document = _document("" if _is_command(text) else text, source, launch, draft)
    if document is None:
        _world(launch, draft)
        _stated(Settings.of(launch.command.document(), draft, env=source.env, origin="flag"), draft)
        return draft.finish()
    settings = Settings.of(document, draft, env=source.env)
    options = Settings.of(launch.command.document(), draft, env=source.env, origin="flag")
    _use_config_function(settings, options, launch, draft)
    settings.values.update(options.values)
    note_repeated(launch.command, draft)
    _read(settings, launch, draft)
    return draft.finish()


def _is_command(text: str) -> bool:
    """Whether a text is a command rather than a file: one line, joined, that starts the trainer or passes its flags."""
    joined = text.replace("\\\n", " ").strip()
    return "--" in joined and "\n[" not in f"\n{text}" and len(joined) <= _LONGEST_COMMAND


def _launch(text: str, source: ConfigSource) -> _Launch:
    """The command, from the argument list or from a text that is one; nothing in it is expanded or run."""
    words = list(source.argv)
    if not words and _is_command(text):
        try:
            words = split_words(text)
        except ValueError:
            words = []
    variables = {matched.group(1): matched.group(2) for each in words if (matched := _ASSIGNED.fullmatch(each))}
    given: dict[str, str] = {
        name: source.env[name] for name in ("NGPU", "MODULE", "CONFIG", "CONFIG_FILE") if name in source.env
    }
    rest = [each for each in words if not _ASSIGNED.fullmatch(each)]
    started = [index for index, each in enumerate(rest) if each.endswith(".sh")]
    by_script = bool(started)
    return _Launch(read_command(rest[started[0] + 1 :] if started else rest), {**given, **variables}, by_script)


def _document(text: str, source: ConfigSource, launch: _Launch, draft: Draft) -> dict[str, Any] | None:
    """The TOML file, from the text or from the files by the name that the command has."""
    name = _config_file(launch)
    if not text and name is not None:
        last = name.rsplit("/", 1)[-1]
        text = source.files.get(name) or next(
            (each for key, each in source.files.items() if key.rsplit("/", 1)[-1] == last), ""
        )
        if not text:
            message = f"the command names {name}, which is not supplied; add it to source.files"
            draft.note("missing_file", "warning", message, found=name, fixes=[f"add {last} to source.files"])
            draft.lack(last, message)
            draft.set("/framework/name", "fsdp2", "derived", "torchtitan shards with FSDP2")
            return None
    if not text:
        return {}
    try:
        return dict(read_toml(text).value)
    except DocumentFault as fault:
        draft.note(fault.code, "error", str(fault), found=text[:60], rule="a TOML file or a command line of torchtitan")
        return None


def _stated(options: Settings, draft: Draft) -> None:
    """What the options say over a file that is not supplied; what it leaves to defaults, the file may state."""
    if options.find("model.name") is not None and options.find("model.flavor") is not None:
        _model(options, draft)
    for key, pointer in _OVER_FILES.items():
        options.put(pointer, key)
    granularities = {"none": "none", "selective": "selective", "full": "full"}
    options.put_choice("/checkpointing/granularity", granularities, "activation_checkpoint.mode")


def _config_file(launch: _Launch) -> str | None:
    for key in ("job.config_file", "config_file"):
        argument = launch.command.options.get(key)
        if argument is not None and argument.values:
            return argument.text
    return launch.variables.get("CONFIG_FILE")


def _use_config_function(settings: Settings, options: Settings, launch: _Launch, draft: Draft) -> None:
    """Puts the settings of a config function under those of the command line."""
    name = options.text("config") or launch.variables.get("CONFIG")
    module = options.text("module") or launch.variables.get("MODULE")
    for key in ("module", "config"):
        options.values.pop(key, None)
    if name is None:
        return
    where = f"--config {name}"
    found = registered(name)
    if found is None:
        message = (
            f"{where}: the config function of {module or 'the module'} is not in the built-in table; send its settings"
        )
        draft.note("recipe_unknown", "warning", message, fields=["/model"], found=name, fixes=["pass source.model"])
        draft.lack("recipe", f"{message}, or the model and the options", "/model/hidden_size")
        return
    below = Settings.of(found, draft, label=where)
    settings.values.update({key: each for key, each in below.values.items() if key not in settings.values})


def _read(settings: Settings, launch: _Launch, draft: Draft) -> None:
    newer = _is_newer(settings, launch)
    version = "torchtitan-2026-08" if newer else "torchtitan-2026-02"
    draft.fill("/framework/version", version, "assumed", "by the keys: the latest state that has them")
    _world(launch, draft)
    _model(settings, draft)
    degrees = read_degrees(settings, draft, newer=newer)
    read_pipeline(settings, draft)
    (read_tokens if newer else read_batch)(settings, draft, degrees)
    read_recipe(settings, draft, newer=newer)
    _heads(draft, degrees)
    note_offload(draft)
    ask_world_size(draft, "torchtitan's config has no number of GPUs")
    ask_sequence(draft, "training.seq_len is not given")
    ask_micro(draft, "training.local_batch_size is not given")
    known, names = _known()
    settings.report(known, names)


def _is_newer(settings: Settings, launch: _Launch) -> bool:
    """Keys of 2026 and config functions are the second generation."""
    keys = (
        "training.num_tokens_per_microbatch_per_dp_rank",
        "training.num_tokens_per_train_step",
        "training.max_context_length",
        "parallelism.num_pp_microbatches",
        "parallelism.spmd_backend",
    )
    older = ("training.seq_len", "training.local_batch_size", "training.batch_size", "model.hf_assets_path")
    if any(settings.find(key) is not None for key in keys):
        return True
    return "CONFIG" in launch.variables and not any(settings.find(key) is not None for key in older)


def _world(launch: _Launch, draft: Draft) -> None:
    write_world_size(launch.command, draft)
    gpus = launch.variables.get("NGPU")
    if gpus is not None and gpus.isdigit() and 0 < len(gpus) < 7:  # noqa: PLR2004  (digits of the largest world)
        draft.fill("/world_size", int(gpus), "environment", "NGPU")
    elif launch.by_script:
        draft.fill("/world_size", _GPUS, "assumed", "run_train.sh: NGPU 8 on one node unless told otherwise")


def _model(settings: Settings, draft: Draft) -> None:
    name = settings.text("model.name", pointer="/model/hidden_size")
    flavor = settings.text("model.flavor", pointer="/model/hidden_size")
    if name is None or flavor is None:
        ask_model(draft, "the model's name and flavor are not given")
        return
    plain, kernel = split_flavor(name.lower(), flavor)
    where = f"{settings.where('model.name')} {name}, {settings.where('model.flavor')} {flavor}"
    draft.set("/kernels/attention", kernel, "derived", settings.where("model.flavor"))
    if not write_flavor(draft, name, plain, where) and draft.get("/model/hidden_size") is None:
        message = f"the flavor {name[:40]} {flavor[:40]} is not in the built-in table; send its dimensions"
        draft.note("recipe_unknown", "warning", message, fields=["/model"], found=flavor, fixes=["pass source.model"])
        ask_model(draft, _MISSING_MODEL)
    settings.read.update({"model.hf_assets_path", "model.tokenizer_path"})


def _heads(draft: Draft, degrees: Degrees) -> None:
    """T2: torchtitan never repeats key/value heads over tensor ranks."""
    for key, code in (("num_attention_heads", "heads_tp"), ("num_key_value_heads", "kv_heads_tp")):
        heads = draft.get(f"/model/{key}")
        if not isinstance(heads, int) or heads < 1 or heads % degrees.tensor == 0 or draft.get("/model/kv_lora_rank"):
            continue
        fits = [each for each in range(1, min(heads, 4096) + 1) if heads % each == 0]
        what = "key/value heads" if code == "kv_heads_tp" else "query heads"
        message = f"{heads} {what}, tensor degree {degrees.tensor}: torchtitan needs a multiple of it"
        fixes = [f"parallelism.tensor_parallel_degree: {each}" for each in fits[:6]]
        fields = [f"/model/{key}", "/parallelism/tensor"]
        found = f"{heads}, {degrees.tensor}"
        draft.note(code, "error", message, fields=fields, found=found, rule=f"{what} % tensor == 0", fixes=fixes)


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(resources(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
