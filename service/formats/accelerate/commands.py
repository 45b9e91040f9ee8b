"""A command that starts a trainer of transformers without a file: what `accelerate launch` and the trainer are told."""

from service.formats import clues
from service.formats.config.command import Command, read_command
from service.formats.config.companions import Companions
from service.formats.config.settings import Setting, Settings
from service.formats.deepspeed.partner import Partner
from service.formats.draft import Draft
from service.formats.source import ConfigSource
from service.formats.syntax.argv import normalized
from service.formats.trainer.arguments import trainer_keys
from service.formats.trainer.engines import read_deepspeed
from service.formats.trainer.fsdp import outside_words, read_fsdp, write_fsdp_precision

_OWN = frozenset({
    "per_device_train_batch_size", "model_name_or_path", "gradient_checkpointing", "num_train_epochs",
    "max_seq_length", "per_device_eval_batch_size", "torch_dtype", "attn_implementation",
})  # fmt: skip
_CONFIDENCE = (0.0, 0.0, 0.3, 0.5, 0.6)
_KINDS = {
    "use_deepspeed": "DEEPSPEED",
    "use_fsdp": "FSDP",
    "use_megatron_lm": "MEGATRON_LM",
    "multi_gpu": "MULTI_GPU",
}


def recognise_command(source: ConfigSource) -> float:
    """How sure it is that an argument list starts a trainer of transformers: by the trainer's own options."""
    if source.text is not None and source.text.strip():
        return 0.0
    flags = {normalized(each) for each in clues.flags(source)}
    # OpenRLHF has options of the same kind, some with other meanings.
    if not flags & _OWN or any(each.startswith("openrlhf") for each in source.argv):
        return 0.0
    known, _ = trainer_keys()
    return clues.graded(sum(known(each) for each in flags), _CONFIDENCE)


def is_command(source: ConfigSource) -> bool:
    """Whether the argument list alone can be read."""
    command = read_command(source.argv)
    accelerated = any(each.program == "accelerate" for each in command.launch.launchers)
    return recognise_command(source) > 0 or (accelerated and bool(command.launch.arguments))


def names_unsupplied_file(command: Command, companions: Companions) -> bool:
    """Whether `accelerate launch` is given a file that is not among those supplied."""
    named = [each.options["config_file"].text for each in command.launch.launchers if "config_file" in each.options]
    return bool(named) and not companions.accelerate


def launch_options(settings: Settings, command: Command) -> None:
    """Options of `accelerate launch` override the file."""
    for launcher in command.launch.launchers:
        if launcher.program != "accelerate":
            continue
        for key, argument in launcher.options.items():
            if key in _KINDS and not argument.values:
                settings.values["distributed_type"] = Setting(
                    "distributed_type", argument.spelled, _KINDS[key], argument.spelled
                )
                continue
            place = _placed(key)
            text = argument.text.strip()
            # The launcher makes numbers of its options; only in a file a quoted number stays a text.
            value = True if not argument.values else int(text[:18]) if text.isdecimal() else text
            if value is not True or place in settings.values:
                settings.values[place] = Setting(place, argument.spelled, value, argument.spelled)


def _placed(option: str) -> str:
    """Where an option of the launcher stands in the file."""
    if option.startswith("fsdp_"):
        return f"fsdp_config.{option}"
    if option.startswith("parallelism_config_"):
        return f"parallelism_config.{option}"
    inline = {"zero_stage", "offload_optimizer_device", "offload_param_device", "deepspeed_config_file",
              "gradient_accumulation_steps", "gradient_clipping"}  # fmt: skip
    return f"deepspeed_config.{option}" if option in inline else option


def read_trainer_engine(trainer: Settings | None, companions: Companions, partner: Partner, draft: Draft) -> bool:
    """Writes what shards the states where the trainer itself is told, by `--deepspeed` or `--fsdp`; else False."""
    if trainer is None:
        return False
    if read_deepspeed(trainer, companions, partner, "transformers"):
        return True
    words = outside_words(trainer, "fsdp")
    if not words and not trainer.under("fsdp_config"):
        return False
    version = read_fsdp(trainer, "fsdp_config", draft, outside=words)
    compute = draft.get("/precision/compute")
    if compute is not None:
        write_fsdp_precision(draft, compute, draft.where("/precision/compute"), version)
    return True
