"""The importer: verl's overrides; only the actor's training phase is planned, on FSDP or on Megatron-Core.

Rules and defaults: volcengine/verl @ b178a3cd, verl/trainer/config (actor, engine, rollout), verl/utils/config.py.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

from service.formats import clues
from service.formats.config.command import Command, override_value, read_command, source_text, write_world_size
from service.formats.config.companions import read_companions
from service.formats.config.interpolation import resolve
from service.formats.config.published import write_given_preset
from service.formats.config.questions import ask_micro, ask_model, ask_sequence, ask_world_size
from service.formats.config.settings import Setting, Settings, known_keys, normalized_key
from service.formats.draft import Draft
from service.formats.huggingface.importer import Reader
from service.formats.hydra.fsdp import read_fsdp_actor
from service.formats.hydra.megatron import read_megatron_actor
from service.formats.hydra.sft import MODEL, TOP_LEVEL, read_fine_tuning
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.syntax.quoting import split_words
from service.formats.trainer.defaults import note_frozen, note_offload
from service.formats.trainer.recipe import ALL_LINEAR, adapter_modules, write_model

ACTOR = "actor_rollout_ref.actor"
_MODEL = "actor_rollout_ref.model"
_MARKS = re.compile(
    r"(?:\+{0,2})((?:actor_rollout_ref|critic|reward_model|algorithm)(?:\.\w+){1,2})[\w.]*=|(verl\.trainer\.\w+)"
)
_ROOTS = ("actor_rollout_ref.", "critic.", "reward_model.", "algorithm.", "verl.trainer.")
_CONFIDENCE = (0.0, 0.5, 0.8, 0.92, 0.97)
_LONGEST = 1024 * 1024
_GPUS = 8


def recognise(source: ConfigSource) -> float:
    """How sure it is that the source is verl's: overrides of its actors, or its programs."""
    text = f"{clues.head(source)}\n{clues.words(source)}"
    if MODEL in text and "verl" in text:
        return _CONFIDENCE[-1]
    found = {each[0] or each[1] for each in _MARKS.findall(text)} if clues.holds_any(text, _ROOTS) else ()
    return clues.graded(len(found), _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the overrides describe."""
    draft = Draft("hydra", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    words = _words(source, draft)
    if words is None:
        return draft.finish()
    command = read_command(words)
    settings = Settings(draft, env=source.env, origin="flag")
    _override(settings, command, draft)
    if not settings:
        draft.note("not_training", "error", "no overrides were found", rule="key=value words of a hydra program")
        return draft.finish()
    resolve(settings)
    companions = read_companions(source.files, draft)
    if companions.model:
        Reader(companions.model[0].value, draft).read()
    else:
        write_model(settings, draft, f"{_MODEL}.path", "model.path", MODEL)
    if settings.find(MODEL) is not None or "sft_trainer" in command.launch.entry:
        _fine_tuning(settings, command, draft)
    else:
        _actor(settings, command, draft)
    return draft.finish()


def _words(source: ConfigSource, draft: Draft) -> Sequence[str] | None:
    """The words of the command, or of the text; nothing in it is expanded or run."""
    text = source_text(source)
    if not text:
        return source.argv
    if len(text) > _LONGEST:
        draft.note("too_large", "error", f"a list of overrides of more than {_LONGEST // 2**20} MiB is not read")
        return None
    try:
        return [*split_words(text), *source.argv]
    except ValueError as fault:
        draft.note("syntax", "error", f"the words cannot be told apart: {fault}", found=text[:60])
        return None


def _override(settings: Settings, command: Command, draft: Draft) -> None:
    """Overrides in order; a key given twice is refused there, a choice of a group needs that group's file."""
    seen: set[str] = set()
    for each in command.overrides:
        key = normalized_key(each.key)
        if key in seen:
            message = f"the override {each.key} is given twice, which is refused"
            draft.note("duplicate_key", "error", message, found=each.key)
        seen.add(key)
        if each.sign == "~":
            settings.values.pop(key, None)
        elif "." not in key and "@" not in key and not each.sign and key not in TOP_LEVEL:
            name = str(override_value(each.value))
            message = f"{each.key}={name} chooses a file that is not supplied; add what it sets as overrides"
            draft.note("missing_file", "warning", message, found=name)
            draft.lack(name, message, "/model/hidden_size")
        else:
            settings.values[key] = Setting(key, each.key, override_value(each.value), each.key)


def _actor(settings: Settings, command: Command, draft: Draft) -> None:
    _world(settings, command, draft)
    config = command.options.get("config_name")
    named = config.text if config is not None else ""
    strategy = (settings.text(f"{ACTOR}.strategy", pointer="/framework/name") or "").lower()
    megatron = strategy == "megatron" or (
        not strategy and ("megatron" in named or bool(settings.under(f"{ACTOR}.megatron")))
    )
    _batch(settings, draft)
    _adapters(settings, draft)
    if megatron:
        read_megatron_actor(settings, draft)
    else:
        read_fsdp_actor(settings, draft, strategy or "fsdp")
    _rules(settings, draft, megatron=megatron)
    _roles(settings, draft)
    note_offload(draft)
    note_frozen(draft)
    ask_world_size(draft, "trainer.nnodes and trainer.n_gpus_per_node are not given")
    ask_micro(draft, f"{ACTOR}.ppo_micro_batch_size_per_gpu is not given")
    ask_sequence(draft, "data.max_prompt_length and data.max_response_length are not given")
    ask_model(draft, f"{_MODEL}.path does not lead to known dimensions")
    known, names = _known()
    settings.report(known, names)


def _fine_tuning(settings: Settings, command: Command, draft: Draft) -> None:
    write_world_size(command, draft)
    read_fine_tuning(settings, draft)
    note_offload(draft)
    note_frozen(draft)
    ask_world_size(draft, "the launcher does not say how many processes run")
    ask_model(draft, f"{MODEL} does not lead to known dimensions")
    known, names = _known()
    settings.report(known, names)


def _world(settings: Settings, command: Command, draft: Draft) -> None:
    nodes, each = (settings.integer(f"trainer.{key}", pointer="/world_size") for key in ("nnodes", "n_gpus_per_node"))
    if nodes is not None or each is not None:
        rule = "trainer.nnodes x trainer.n_gpus_per_node"
        whole = nodes is not None and each is not None
        size = (nodes or 1) * (each or _GPUS)
        if size > 0:
            draft.set("/world_size", size, "derived" if whole else "default", rule)
    else:
        write_world_size(command, draft)


def _batch(settings: Settings, draft: Draft) -> None:
    """Samples of one update: the mini-batch counts prompts, each answered several times."""
    keys = (f"{ACTOR}.ppo_micro_batch_size_per_gpu", f"{ACTOR}.ppo_micro_batch_size")
    if settings.find(keys[0]) is not None and settings.find(keys[1]) is not None:
        message = "only one of ppo_micro_batch_size and ppo_micro_batch_size_per_gpu may be given"
        fixes = [f"~{keys[1]}"]
        draft.note("option_conflict", "error", message, fields=["/batch/micro"], rule=message, fixes=fixes)
    settings.put("/batch/micro", keys[0])
    answers = settings.integer("actor_rollout_ref.rollout.n") or 1
    prompts = settings.integer(f"{ACTOR}.ppo_mini_batch_size", pointer="/batch/global")
    if prompts is not None and prompts > 0 < answers:
        draft.set("/batch/global", prompts * answers, "derived", f"{ACTOR}.ppo_mini_batch_size x rollout.n")
    lengths = [settings.integer(f"data.{key}") for key in ("max_prompt_length", "max_response_length")]
    if settings.on(f"{ACTOR}.use_dynamic_bsz"):
        _budget(settings, draft)
    elif any(each is not None for each in lengths):
        total = sum(512 if each is None else each for each in lengths)
        draft.set("/batch/sequence_length", total, "derived", "data.max_prompt_length + data.max_response_length")


def _budget(settings: Settings, draft: Draft) -> None:
    """A budget of tokens for each GPU takes the place of the micro-batch size."""
    key = f"{ACTOR}.ppo_max_token_len_per_gpu"
    budget = settings.put_tokens("/batch/sequence_length", key)
    draft.fill("/batch/sequence_length", 16384, "default", "verl: ppo_max_token_len_per_gpu 16384")
    draft.fill("/batch/micro", 1, "derived", "one packed row of the token budget")
    shown = budget or draft.get("/batch/sequence_length")
    message = (
        f"activations follow the budget of {shown} tokens for each GPU; with it the micro-batch size has no effect: "
        "one packed row is batch.micro 1"
    )
    fields = ["/batch/micro", "/batch/sequence_length"]
    draft.note("dynamic_batch", "info", message, fields=fields, found=str(shown), fixes=["batch.micro: 1"])


def _adapters(settings: Settings, draft: Draft) -> None:
    rank = settings.integer(f"{_MODEL}.lora_rank", f"{_MODEL}.lora.rank", pointer="/adapters/rank")
    if not rank:
        return
    where = settings.where(f"{_MODEL}.lora_rank", f"{_MODEL}.lora.rank")
    draft.set("/adapters/type", "lora", settings.origin, where)
    draft.set("/adapters/rank", rank, settings.origin, where)
    targets = settings.raw(f"{_MODEL}.target_modules")
    modules = (adapter_modules(targets) if targets else []) or list(ALL_LINEAR)
    draft.set("/adapters/modules", modules, settings.origin if targets else "default", "verl: all linear layers")


def _rules(settings: Settings, draft: Draft, *, megatron: bool) -> None:
    """A3: degrees divide the GPUs, heads are shared, and samples are spread evenly."""
    degrees = [draft.get(f"/parallelism/{key}") or 1 for key in ("tensor", "pipeline", "context")]
    world = draft.get("/world_size")
    if not isinstance(world, int) or not all(isinstance(each, int) and each > 0 for each in degrees):
        return
    grid = degrees[0] * degrees[1] * degrees[2]
    fields = ["/world_size", "/parallelism/tensor", "/parallelism/pipeline", "/parallelism/context"]
    if world % grid:
        nearest = [each for each in (world // grid * grid, (world // grid + 1) * grid) if each]
        message = f"{world} GPUs are no multiple of tensor x pipeline x context = {grid}"
        fixes = [f"world_size: {each}" for each in nearest]
        draft.note("world_size_not_divisible", "error", message, fields=fields, found=f"{world}, {grid}", fixes=fixes)
        return
    prompts, answers = settings.integer("data.train_batch_size"), settings.integer("actor_rollout_ref.rollout.n") or 1
    least = world // grid if megatron else world
    if prompts is not None and (prompts * answers) % least:
        message = (
            f"{prompts} prompts x {answers} answers = {prompts * answers} samples are no multiple of {least} ranks"
        )
        rule = "train_batch_size x rollout.n is a multiple of the data-parallel ranks"
        draft.note("batch_triad", "error", message, fields=["/batch/global"], found=str(prompts * answers), rule=rule)


def _roles(settings: Settings, draft: Draft) -> None:
    share = settings.number("actor_rollout_ref.rollout.gpu_memory_utilization")
    freed = settings.on("actor_rollout_ref.rollout.free_cache_engine")
    kept = "" if share is None else f"; the rollout engine takes {share:g} of the memory in its own phase"
    if share is not None and freed is False:
        kept = f"; the rollout engine keeps {share:g} of the memory"
    message = f"reference, rollout and reward models share the GPUs with the actor; only the actor is planned{kept}"
    draft.note("multiple_roles", "warning", message, found="actor_rollout_ref")


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(files(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
