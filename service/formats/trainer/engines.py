"""DeepSpeed as a trainer's file names it: inline, a supplied file, or one that the tool brings with it."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from tomllib import loads
from typing import Any

from service.formats.config.companions import Companions
from service.formats.config.settings import Setting, Settings
from service.formats.deepspeed.batch import ACCUMULATION, MICRO, TRAIN, read_batch
from service.formats.deepspeed.engine import note_nothing_to_shard, read_engine
from service.formats.deepspeed.partner import Partner, note_mismatches
from service.formats.draft import Draft

_KEY = "deepspeed"


def read_deepspeed(settings: Settings, companions: Companions, partner: Partner, tool: str) -> bool:
    """Writes what DeepSpeed decides; False when the file does not use it."""
    draft = settings.draft
    inline = settings.under(_KEY)
    name = None if inline else settings.text(_KEY, pointer="/sharding/stage")
    if not inline and name is None:
        return False
    config = _inline(settings) if inline else _named(settings, companions, str(name), tool)
    draft.set("/framework/name", "deepspeed", "derived", settings.where(_KEY))
    if config is None:
        _as_the_trainer_says(partner, draft)
        return True
    for key in (TRAIN, MICRO, ACCUMULATION):
        config.values.setdefault(key, Setting(key, key, "auto", key))
    for key, on in (("bf16.enabled", partner.bf16), ("fp16.enabled", partner.fp16)):
        config.values.setdefault(key, Setting(key, key, on, f"the trainer's {key.partition('.')[0]}"))
    read_engine(config, partner, draft)
    read_batch(config, partner, draft)
    note_mismatches(config, settings, partner, draft)
    note_nothing_to_shard(draft)
    return True


def _as_the_trainer_says(partner: Partner, draft: Draft) -> None:
    """What a file that is not supplied must say too, because DeepSpeed refuses what differs from the trainer."""
    if not partner.present:
        return
    for name, value in (("micro", partner.micro), ("accumulation", partner.accumulation)):
        draft.set(f"/batch/{name}", value, partner.origin(name), partner.where[name])
    for kind, on in (("bf16", partner.bf16), ("fp16", partner.fp16)):
        if on:
            draft.set("/precision/compute", kind, "key", f"the trainer's {kind}")


def _inline(settings: Settings) -> Settings:
    found = Settings(settings.draft, env=settings.env)
    for each in settings.under(_KEY):
        settings.read.add(each.key)
        key = each.key.removeprefix(f"{_KEY}.")
        found.values[key] = Setting(key, each.spelled, each.value, each.where)
    return found


def _named(settings: Settings, companions: Companions, name: str, tool: str) -> Settings | None:
    draft = settings.draft
    supplied = companions.named(name)
    if supplied is not None:
        return Settings.of(supplied.value, draft, label=supplied.name, env=settings.env)
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shipped = _shipped().get(tool, {}).get(last)
    where = settings.where(_KEY)
    if shipped is not None:
        message = (
            f"{where} names {name}, which is taken as it comes with the tool; add it to source.files if it differs"
        )
        draft.note("shipped_file", "info", message, fields=["/sharding/stage"], found=name)
        return Settings.of(shipped, draft, label=last, origin="assumed")
    message = f"{where} names {name}, which is not supplied; add it to source.files"
    draft.note("missing_file", "warning", message, found=name, fixes=[f"add {last} to source.files"])
    draft.lack(last, message)
    return None


@cache
def _shipped() -> Mapping[str, Any]:
    return loads(files(__package__).joinpath("shipped.toml").read_text(encoding="utf-8"))
