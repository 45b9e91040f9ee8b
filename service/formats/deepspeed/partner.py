"""Hugging Face's trainer beside a DeepSpeed file: it fills in `auto`, and its values must match all others.

Rules: huggingface/transformers 5.24.0 integrations/deepspeed.py (trainer_config_process, fill_match).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from service.formats.config.settings import Settings
from service.formats.draft import Draft
from service.formats.syntax.values import ValueFault, number
from service.job.diagnostics import Origin

_MICRO, _ACCUMULATION = 8, 1
# The file's key, and the trainer's argument that it must equal where that is given.
_MATCHED = {
    "optimizer.params.lr": "learning_rate",
    "optimizer.params.weight_decay": "weight_decay",
    "optimizer.params.eps": "adam_epsilon",
    "scheduler.params.warmup_max_lr": "learning_rate",
    "gradient_clipping": "max_grad_norm",
}


@dataclass(frozen=True, slots=True)
class Partner:
    """The trainer's own values, each with where it comes from; None where no trainer arguments are supplied."""

    micro: int | None = None
    accumulation: int | None = None
    bf16: bool | None = None
    fp16: bool | None = None
    where: dict[str, str] = field(default_factory=dict)

    @property
    def present(self) -> bool:
        """Whether trainer arguments are supplied."""
        return self.micro is not None

    def origin(self, name: str) -> Origin:
        """Whether a number is written or the trainer's default."""
        return "default" if self.where.get(name, "").startswith("transformers") else "key"


def read_partner(trainer: Settings | None) -> Partner:
    """The values that a DeepSpeed file may leave to the trainer; absent ones are the trainer's defaults."""
    if trainer is None or not trainer:
        return Partner()
    micro = trainer.integer("per_device_train_batch_size", "per_gpu_train_batch_size", "micro_batch_size")
    accumulation = trainer.integer("gradient_accumulation_steps")
    defaults = {
        "micro": "transformers: per_device_train_batch_size 8",
        "accumulation": "transformers: gradient_accumulation_steps 1",
    }
    where = {
        "micro": trainer.where("per_device_train_batch_size", "per_gpu_train_batch_size", "micro_batch_size"),
        "accumulation": trainer.where("gradient_accumulation_steps"),
    }
    found = {"micro": micro, "accumulation": accumulation}
    return Partner(
        micro=_MICRO if micro is None else micro,
        accumulation=_ACCUMULATION if accumulation is None else accumulation,
        bf16=bool(trainer.on("bf16")),
        fp16=bool(trainer.on("fp16")),
        where={key: where[key] if found[key] is not None else rule for key, rule in defaults.items()},
    )


def note_mismatches(config: Settings, trainer: Settings | None, partner: Partner, draft: Draft) -> None:
    """D5: every value that is not `auto` equals the trainer's; all that do not are one error."""
    if trainer is None or not partner.present:
        return
    pairs = [
        _mismatch(config, "train_micro_batch_size_per_gpu", partner.micro, partner.where.get("micro", "")),
        _mismatch(config, "gradient_accumulation_steps", partner.accumulation, partner.where.get("accumulation", "")),
        _switch(config, ("bf16.enabled", "bfloat16.enabled"), partner.bf16, "bf16"),
        _switch(config, ("fp16.enabled",), partner.fp16, "fp16"),
        *(
            _mismatch(config, key, trainer.number(argument), trainer.where(argument))
            for key, argument in _MATCHED.items()
            if argument in trainer
        ),
    ]
    found = [each for each in pairs if each]
    if found:
        draft.note(
            "trainer_mismatch",
            "error",
            f"the DeepSpeed file and the trainer disagree: {'; '.join(found)}",
            fields=["/batch/micro", "/batch/accumulation"],
            found="; ".join(found),
            rule="a value that is not auto equals the trainer's argument",
            fixes=[f'{_pointer(each.split(" ", 1)[0])}: "auto"' for each in found],
        )


def _mismatch(config: Settings, key: str, expected: float | None, where: str) -> str:
    value = config.raw(key)
    if value is None or config.is_auto(key) or expected is None:
        return ""
    try:
        stated = number(value)
    except ValueFault:
        return ""
    # The trainer compares without converting, so that a number written as a text differs from the number.
    same = stated == expected and not isinstance(value, str)
    return "" if same else f"{key} {value!r} against {where} {expected:g}"


def _switch(config: Settings, keys: Sequence[str], expected: bool | None, argument: str) -> str:
    value = config.raw(*keys)
    if not isinstance(value, bool) or expected is None or value == expected:
        return ""
    return f"{keys[0]} {str(value).lower()} against {argument} {str(expected).lower()}"


def _pointer(key: str) -> str:
    return f"/{key.replace('.', '/')}"
