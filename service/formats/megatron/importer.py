"""The importer itself: arguments in, draft of the job out."""

from collections.abc import Mapping
from math import prod

from service.formats import clues
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.megatron.conflicts import read_conflicts
from service.formats.megatron.deepspeed import read_deepspeed
from service.formats.megatron.flags import Flags, hidden_keys, lack_hole, reason
from service.formats.megatron.layout import read_layout
from service.formats.megatron.model import read_model
from service.formats.megatron.primus import PRIMUS_FLAGS, read_named_model
from service.formats.megatron.reading import Reading, distinctive, read_arguments
from service.formats.megatron.recipe import read_recipe
from service.formats.megatron.recipes import RECIPE_FLAGS, read_recipe_layout, read_recipe_name
from service.formats.megatron.remarks import read_remarks
from service.formats.megatron.vocabulary import is_known
from service.formats.source import ConfigSource
from service.formats.syntax.argv import is_flag, normalized
from service.formats.syntax.words import Hole
from service.job.diagnostics import Diagnostic

_ROLES = frozenset({"rollout_num_gpus", "rollout_batch_size", "advantage_estimator", "actor_num_nodes", "ref_load"})
_CONFIDENCE = (0.0, 0.55, 0.8, 0.9, 0.95)


def recognise(source: ConfigSource) -> float:
    """How sure it is that the source is Megatron's: by the flags and keys that nobody else has."""
    text = clues.head(source) or clues.words(source)
    named = "megatron" in text[:4096].lower() or "pretrain_gpt.py" in text
    return max(clues.graded(distinctive(source), _CONFIDENCE), 0.5 if named else 0.0)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the source describes, as far as it is known."""
    draft = Draft("megatron", confidence)
    draft.complete(source.model, source.world_size)
    reading = read_arguments(source)
    for diagnostic in reading.diagnostics:
        draft.take(diagnostic)
    if not reading.arguments and not reading.loose:
        _missing_files(reading, draft, needed=True)
        if not draft.lacks() and not any(each.severity == "error" for each in reading.diagnostics):
            _nothing(draft)
        return draft.finish()
    flags = Flags(reading.arguments, reading.holes, draft, reading.origin)
    hidden = hidden_keys(reading.words, reading.holes)
    roles = [each for each in _ROLES if each in flags]
    draft.set("/framework/name", "megatron-core", "derived", "the flags are Megatron's")
    read_deepspeed(flags, draft, reading, source.files)
    recipe = read_recipe_name(flags, draft)
    if reading.model:
        read_named_model(reading.model, draft)
    read_model(flags, draft, hidden)
    read_layout(flags, draft, hidden)
    if recipe:
        read_recipe_layout(draft)
    # The reinforcement-learning launchers on Megatron train in bf16 and have no flag for it.
    read_recipe(flags, draft, base="bf16" if roles or recipe else reading.base)
    _processes(reading, flags, draft)
    _global_batch(draft)
    read_conflicts(flags, draft)
    read_remarks(flags, draft, roles)
    _allocator(reading, draft)
    _loose(reading, draft, hidden)
    _missing_files(reading, draft, needed=draft.lacks())
    further = RECIPE_FLAGS if recipe else PRIMUS_FLAGS if reading.base else frozenset()
    flags.report(written=reading.written, further=further)
    return draft.finish()


def _nothing(draft: Draft) -> None:
    draft.note(
        "not_training",
        "error",
        "no training command with Megatron's flags was found",
        rule="a launch script, a list of flags, an argument dump or a YAML file of arguments",
    )


def _processes(reading: Reading, flags: Flags, draft: Draft) -> None:
    """The world size, from the launch, or from the nodes that a reinforcement-learning launcher names."""
    found = reading.processes
    nodes, each = flags.integer("actor_num_nodes"), flags.integer("actor_num_gpus_per_node")
    if nodes and each:
        draft.set("/world_size", nodes * each, "derived", "--actor-num-nodes x --actor-num-gpus-per-node")
    elif found.size is not None:
        draft.set("/world_size", found.size, "assumed" if found.assumed else "derived", found.where)
        if found.assumed and draft.origin("/world_size") == "assumed":
            message = f"the launcher does not say how many processes run; {found.size} is taken from {found.where}"
            draft.note("world_size_assumed", "warning", message, fields=["/world_size"], found=str(found.size))
    draft.set("/world_size", flags.integer("world_size"), reading.origin, "world_size")
    hidden = _hidden_world_size(reading) or _unknown_gpus(reading)
    draft.lack("world_size", _ask_world_size(reading), "/world_size", hidden)


def _ask_world_size(reading: Reading) -> str:
    if reading.processes.holes:
        named = " and ".join(dict.fromkeys(reason(each) for each in reading.processes.holes))
        return f"{named}; pass {_variables(reading)}world_size"
    if reading.processes.nodes:
        return f"{reading.processes.nodes} nodes, but GPUs per node are not stated; pass world_size"
    return "neither the launch nor the environment states the number of processes; pass world_size"


def _variables(reading: Reading) -> str:
    names = [each.name for each in reading.processes.holes if each.kind != "inert" and each.name.isidentifier()]
    return "".join(f"env.{name} or " for name in dict.fromkeys(names))


def _hidden_world_size(reading: Reading) -> Diagnostic | None:
    holes = reading.processes.holes
    if not holes:
        return None
    found = ", ".join(dict.fromkeys(each.name for each in holes))
    fixes = tuple(f"pass {each}" for each in (*_variables(reading).split(" or "), "world_size") if each)
    return Diagnostic("unresolved", "warning", _ask_world_size(reading), ("/world_size",), found, "a number", fixes)


def _unknown_gpus(reading: Reading) -> Diagnostic | None:
    """A launcher that starts one process for each GPU of a node, when nothing says how many a node has."""
    if not any(each.program in {"torchrun", "deepspeed"} for each in reading.launch.launchers):
        return None
    message = "how many GPUs each node has is not stated; pass world_size"
    return Diagnostic("gpus_per_node_unknown", "warning", message, ("/world_size",), fixes=("--nproc_per_node N",))


def _global_batch(draft: Draft) -> None:
    """An absent global batch is one micro-batch on every data-parallel rank."""
    degrees = [draft.get(f"/parallelism/{each}") for each in ("tensor", "pipeline", "context")]
    numbers = [draft.get("/world_size"), draft.get("/batch/micro"), *degrees]
    if not all(isinstance(each, int) and each > 0 for each in numbers):
        return
    world, micro, *grid = numbers
    if world % prod(grid) == 0:
        rule = "Megatron-LM: micro-batch times data-parallel ranks"
        draft.fill("/batch/global", micro * (world // prod(grid)), "default", rule)


def _allocator(reading: Reading, draft: Draft) -> None:
    setting = reading.environment.get("PYTORCH_CUDA_ALLOC_CONF", "")
    if "expandable_segments:true" in setting.lower():
        draft.set("/kernels/expandable_segments", True, "environment", "PYTORCH_CUDA_ALLOC_CONF")


def _loose(reading: Reading, draft: Draft, hidden: Mapping[str, Hole]) -> None:
    """Words that may hold more flags: asked for unless every alternative is known to be without effect."""
    for word in reading.loose:
        hole = reading.holes.only(word.text)
        if hole is None:
            continue
        inside = [each for choice in hole.alternatives for each in choice.split() if is_flag(each)]
        behind = [key for key, each in hidden.items() if each == hole]
        if hole.alternatives and not any(matters(each) for each in (*inside, *behind)):
            continue
        lack_hole(draft, reading.holes, hole, f"{word.where}: a word of the command", "", word.text)


def matters(flag: str) -> bool:
    """Whether a flag could change the job: everything but what Megatron uses for data, logging and checkpoints."""
    key = normalized(flag.split("=", maxsplit=1)[0])
    return not is_known(key) or not key.startswith(_WITHOUT_EFFECT)


_WITHOUT_EFFECT = (
    "load", "save", "log", "wandb", "tensorboard", "data", "train", "valid", "test", "eval", "lr", "min_lr", "profile",
    "exit", "finetune", "no_load", "no_save", "ckpt", "dist_ckpt", "tokenizer", "seed", "split", "num_workers", "async",
    "pretrained_checkpoint", "mock_data", "vocab_file", "merge_file", "weight_decay", "clip_grad", "timing", "override",
)  # fmt: skip


def _missing_files(reading: Reading, draft: Draft, *, needed: bool) -> None:
    """Scripts that were not supplied: needed when something is missing, worth a word otherwise."""
    for name, where in reading.missing_files.items():
        last = name.rsplit("/", maxsplit=1)[-1]
        message = f"{where}: the script sources {name}; upload it or give the model dimensions"
        fixes = [f"add {last} to source.files"]
        draft.note("missing_file", "warning", message, found=name, fixes=fixes)
        if needed:
            draft.lack(last, message)
