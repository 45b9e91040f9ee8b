"""DeepSpeed inside an accelerate file: a few keys of accelerate's own, or the name of a DeepSpeed file.

Rules: huggingface/accelerate @ 16cb6eb8, utils/dataclasses.py (DeepSpeedPlugin).
"""

from collections.abc import Mapping

from service.formats.config.companions import Companions
from service.formats.config.settings import Setting, Settings
from service.formats.deepspeed.batch import read_batch
from service.formats.deepspeed.engine import note_nothing_to_shard, read_engine
from service.formats.deepspeed.partner import Partner, note_mismatches
from service.formats.draft import Draft

_SECTION = "deepspeed_config"
_FILE = f"{_SECTION}.deepspeed_config_file"
# accelerate's key, and the key of a DeepSpeed file with the same meaning.
_SAME: Mapping[str, str] = {
    "zero_stage": "zero_optimization.stage",
    "offload_optimizer_device": "zero_optimization.offload_optimizer.device",
    "offload_param_device": "zero_optimization.offload_param.device",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
    "gradient_clipping": "gradient_clipping",
}
_STAGE = 2


def read_inline(settings: Settings, companions: Companions, partner: Partner, trainer: Settings | None) -> None:
    """Writes everything that DeepSpeed decides; the compute type is already written."""
    draft = settings.draft
    name = settings.text(_FILE, pointer="/sharding/stage")
    config = _settings(settings)
    if name is not None:
        _conflicts(settings, draft, name)
        supplied = companions.named(name)
        if supplied is None:
            last = name.replace("\\", "/").rsplit("/", 1)[-1]
            message = f"{settings.where(_FILE)} names {name}, which is not supplied; add it to source.files"
            draft.note("missing_file", "warning", message, found=name, fixes=[f"add {last} to source.files"])
            draft.lack(last, message)
            draft.set("/framework/name", "deepspeed", "derived", settings.where(_FILE))
            draft.lack(
                "micro",
                "the micro-batch size is the trainer's or the DeepSpeed file's; pass batch.micro",
                "/batch/micro",
            )
            return
        config = Settings.of(supplied.value, draft, label=supplied.name, env=settings.env)
    read_engine(config, _typed(partner, draft), draft)
    read_batch(config, partner, draft)
    note_mismatches(config, trainer, partner, draft)
    note_nothing_to_shard(draft)


def _settings(settings: Settings) -> Settings:
    """The inline keys as if they stood in a DeepSpeed file, each under its own spelling for messages."""
    config = Settings(settings.draft, env=settings.env)
    for own, theirs in _SAME.items():
        found = settings.find(f"{_SECTION}.{own}")
        if found is not None:
            config.values[theirs] = Setting(theirs, found.spelled, found.value, found.where)
    config.values.setdefault(
        "zero_optimization.stage",
        Setting("zero_optimization.stage", "zero_stage", _STAGE, "accelerate: zero_stage 2, when it is not given"),
    )
    for key in ("train_micro_batch_size_per_gpu", "train_batch_size"):
        config.values[key] = Setting(key, key, "auto", f"accelerate: {key}")
    config.values.setdefault("gradient_accumulation_steps", _implied("gradient_accumulation_steps"))
    compute = settings.draft.get("/precision/compute")
    if compute in {"bf16", "fp16"}:
        key = f"{compute}.enabled"
        config.values[key] = Setting(key, "mixed_precision", True, settings.draft.where("/precision/compute"))
    return config


def _implied(key: str) -> Setting:
    return Setting(key, key, "auto", f"accelerate: {key}")


def _typed(partner: Partner, draft: Draft) -> Partner:
    """The trainer as DeepSpeed sees it: a compute type that accelerate's file states stands for the trainer's."""
    compute = draft.get("/precision/compute")
    if partner.present or compute is None:
        return partner
    return Partner(bf16=compute == "bf16", fp16=compute == "fp16", where={})


def _conflicts(settings: Settings, draft: Draft, name: str) -> None:
    """A DeepSpeed file says everything; keys beside it are refused upstream."""
    own = [key for key in _SAME if settings.find(f"{_SECTION}.{key}") is not None]
    if own:
        message = f"{', '.join(own)} cannot stand beside the file {name}, which says the same"
        fixes = [f"remove {_SECTION}.{key}" for key in own]
        fields = ["/sharding/stage"]
        draft.note("config_conflict", "error", message, fields=fields, found=", ".join(own), fixes=fixes)
