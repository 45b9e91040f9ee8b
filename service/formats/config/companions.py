"""The files beside a config, sorted by their keys: trainer arguments, DeepSpeed, accelerate, a model's config.json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from service.formats.draft import Draft
from service.formats.syntax.documents import Document, DocumentFault, read_json, read_yaml

DEEPSPEED_KEYS = frozenset({
    "zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size", "zero_allow_untested_optimizer",
    "steps_per_print", "wall_clock_breakdown",
})  # fmt: skip
ACCELERATE_KEYS = frozenset({
    "distributed_type", "compute_environment", "fsdp_config", "deepspeed_config", "parallelism_config", "num_processes",
    "num_machines", "downcast_bf16", "rdzv_backend", "main_training_function",
})  # fmt: skip
TRAINER_KEYS = frozenset({
    "per_device_train_batch_size", "gradient_accumulation_steps", "learning_rate", "num_train_epochs", "output_dir",
    "model_name_or_path", "lr_scheduler_type", "gradient_checkpointing", "max_steps", "bf16",
})  # fmt: skip
MODEL_KEYS = frozenset({"model_type", "architectures", "num_hidden_layers", "hidden_size", "n_embd", "text_config"})
_FEWEST = 2
_LARGEST_YAML = 1024 * 1024


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A parsed file and its name."""

    name: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Companions:
    """Parsed files by kind; `others` are of no kind that is known here."""

    deepspeed: Sequence[NamedDocument] = ()
    accelerate: Sequence[NamedDocument] = ()
    trainer: Sequence[NamedDocument] = ()
    model: Sequence[NamedDocument] = ()
    others: Sequence[NamedDocument] = field(default=())

    def named(self, path: str) -> NamedDocument | None:
        """The file that a path names, by its whole name or by its last part."""
        last = PurePosixPath(path.replace("\\", "/")).name
        found = [*self.deepspeed, *self.accelerate, *self.trainer, *self.model, *self.others]
        exact = [each for each in found if each.name == path.removeprefix("./")]
        return next(iter([*exact, *(each for each in found if PurePosixPath(each.name).name == last)]), None)


def read_companions(files: Mapping[str, str], draft: Draft) -> Companions:
    """Parses and sorts the files; one that cannot be read is noted."""
    sorted_: dict[str, list[NamedDocument]] = {
        kind: [] for kind in ("deepspeed", "accelerate", "trainer", "model", "others")
    }
    left = _LARGEST_YAML
    for name, text in files.items():
        if not name.lower().endswith((".json", ".yaml", ".yml")):
            continue
        if not text.lstrip().startswith("{"):
            left -= len(text)
        if left < 0:
            draft.note("too_large", "warning", f"{name} is not read: the YAML files are too large together", found=name)
            continue
        try:
            value = read_document(text).value
        except DocumentFault as fault:
            draft.note(fault.code, "error", f"{name}: {fault}", found=name)
            continue
        if isinstance(value, Mapping):
            sorted_[kind_of(value)].append(NamedDocument(name, value))
    return Companions(**sorted_)


def read_document(text: str) -> Document:
    """JSON where the text is that, else YAML, whose flow style looks like it. Raises DocumentFault."""
    if not text.lstrip().startswith("{"):
        return read_yaml(text)
    try:
        return read_json(text)
    except DocumentFault as fault:
        try:
            return read_yaml(text)
        except DocumentFault:
            raise fault from None


def kind_of(value: Mapping[str, Any]) -> str:
    """Which of the known kinds of files holds such keys."""
    keys = set(map(str, value))
    if keys & {"zero_optimization", "train_micro_batch_size_per_gpu"}:
        return "deepspeed"
    if len(keys & ACCELERATE_KEYS) >= _FEWEST and not keys & {"per_device_train_batch_size", "model_name_or_path"}:
        return "accelerate"
    if len(keys & TRAINER_KEYS) >= _FEWEST or "per_device_train_batch_size" in keys:
        return "trainer"
    if len(keys & MODEL_KEYS) >= _FEWEST:
        return "model"
    return "deepspeed" if keys & DEEPSPEED_KEYS else "others"
