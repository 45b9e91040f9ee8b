"""The importer: the JSON itself, then the trainer, the launcher and the model where they are supplied."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files as resources
from typing import Any

from service.formats import clues
from service.formats.config.command import Command, note_repeated, read_command, source_text, write_world_size
from service.formats.config.companions import Companions, NamedDocument, read_companions
from service.formats.config.published import write_given_preset
from service.formats.config.questions import ask_model, ask_sequence, ask_world_size
from service.formats.config.settings import Settings, known_keys
from service.formats.deepspeed.batch import read_batch
from service.formats.deepspeed.engine import note_auto, note_nothing_to_shard, read_engine
from service.formats.deepspeed.partner import note_mismatches, read_partner
from service.formats.deepspeed.text import note_template, read_config
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.source import ConfigSource
from service.formats.trainer.arguments import read_arguments, read_model_files, trainer_settings
from service.formats.trainer.defaults import fill_trainer_defaults, note_frozen, note_offload
from service.formats.trainer.heads import note_tensor_heads

_MARKS = frozenset({
    "zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
    "steps_per_print", "wall_clock_breakdown", "zero_allow_untested_optimizer", "fp16", "bf16", "gradient_clipping",
})  # fmt: skip
_OWN = frozenset({"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size"})
_CONFIDENCE = (0.0, 0.3, 0.7, 0.9, 0.95)


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is DeepSpeed's: an object with keys that nobody else has."""
    found = clues.keys(source) & _MARKS
    commented = clues.head(source).lstrip().startswith(("//", "/*", "#"))
    if not found & _OWN or not (commented or clues.is_object(source)):
        return 0.0
    return clues.graded(len(found) + 1, _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the file describes, completed by what is supplied beside it."""
    draft = Draft("deepspeed", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    command = read_command(source.argv)
    companions = read_companions(source.files, draft)
    document = _document(source, companions, draft)
    if document is None:
        return draft.finish()
    config = Settings.of(document, draft, env=source.env)
    config.quiet = True
    note_template(draft, config.unfilled())
    read_files(config, companions, command, draft)
    return draft.finish()


def _document(source: ConfigSource, companions: Companions, draft: Draft) -> dict[str, Any] | None:
    text = source_text(source)
    if text:
        return read_config(text, dict(source.env), draft)
    if companions.deepspeed:
        return dict(companions.deepspeed[0].value)
    draft.note(
        "missing_file", "error", "no DeepSpeed file is supplied", rule="the JSON as source.text or in source.files"
    )
    return None


def read_files(config: Settings, companions: Companions, command: Command, draft: Draft) -> None:
    """Reads a DeepSpeed file with its trainer, launcher and model."""
    trainer = trainer_settings(companions.trainer, command, draft, config.env)
    note_repeated(command, draft)
    write_world_size(command, draft)
    _world_of_accelerate(companions.accelerate, draft)
    _world_without_launcher(command, draft)
    read_model_files(companions, trainer, draft)
    partner = read_partner(trainer)
    read_engine(config, partner, draft)
    read_batch(config, partner, draft)
    note_mismatches(config, trainer, partner, draft)
    note_auto(config, partner, draft)
    if trainer is not None:
        read_arguments(trainer, draft)
    _finish(trainer, draft)
    known, names = _known()
    config.report(known, names)


def _world_of_accelerate(files: Sequence[NamedDocument], draft: Draft) -> None:
    for each in files:
        settings = Settings.of(each.value, draft, label=each.name)
        count = settings.integer("num_processes", pointer="/world_size")
        if count is not None and count > 0:
            draft.set("/world_size", count, "key", settings.where("num_processes"))


def _world_without_launcher(command: Command, draft: Draft) -> None:
    """A script that no launcher starts runs alone."""
    if command.launch.entry and command.launch.launchers and not command.launched:
        draft.fill("/world_size", 1, "assumed", "no launcher found in the command")


def _finish(trainer: Settings | None, draft: Draft) -> None:
    if trainer is not None:
        fill_trainer_defaults(draft)
    for degree in ("tensor", "pipeline", "context", "expert"):
        draft.fill(f"/parallelism/{degree}", 1, "default", "DeepSpeed: absent degrees are 1")
    note_offload(draft)
    note_frozen(draft)
    note_nothing_to_shard(draft)
    note_tensor_heads(draft)
    ask_world_size(draft, "a DeepSpeed file does not say how many GPUs run")
    ask_sequence(draft, "a DeepSpeed file has no training length")
    ask_model(draft, "a DeepSpeed file does not describe the model")


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(resources(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
