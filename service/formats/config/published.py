"""Models that a config only names: the catalogue's dimensions for a hub name, a flavor or a builder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from tomllib import loads
from typing import Any

from service.catalog.models import ModelPreset, UnknownModel, find_model, load_models
from service.formats.draft import Draft
from service.job.diagnostics import Origin
from service.job.families import family_defaults, mlp_kind

# Tuned, quantised or converted copies keep the dimensions of the model they were made from.
_TUNED = re.compile(
    r"-(hf|instruct|chat|it|base|pt|bf16|fp8|fp16|awq|gptq|int4|int8|gguf|bnb|4bit|8bit|unsloth|dynamic|dequantized|"
    r"thinking|sft|dpo|reasoning|text|tokenized|preview|original|vision|4k|8k|128k|distill|r1|nf4|linearized|deduped|v1\.5|\d{4}|1106|0125)(?=-|$)"
)
_FAMILY_PREFIX = re.compile(r"^(meta-|unsloth-|nous-|models--)+")


@dataclass(frozen=True, slots=True)
class Named:
    """What a name leads to: a preset, dimensions, or a preset with dimensions of its own; `name` is theirs.

    `exact` when the name is that of the published model itself.
    """

    name: str
    source: str
    exact: bool
    preset: ModelPreset | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


def named_model(name: str) -> Named | None:
    """What a hub name such as `Qwen/Qwen3-4B-Instruct-2507` leads to; None when it is not known."""
    text = name.strip().strip("/").lower()
    if not text or len(text) > 200:  # noqa: PLR2004  (longer than any hub name)
        return None
    published = _by_hub_name().get(text)
    if published is not None:
        return Named(published.name, published.source, exact=True, preset=published)
    last = text.rsplit("/", 1)[-1]
    for candidate in dict.fromkeys((last, *_candidates(last))):
        entry = _further().get(candidate)
        found = find_model(entry["preset"]) if entry and "preset" in entry else None
        if entry is None:
            found = _by_last_name().get(candidate) or _preset(candidate)
        if entry is not None or found is not None:
            own = {key: value for key, value in (entry or {}).items() if key != "preset"}
            source = found.source if found is not None else f"{candidate}, a public model"
            return Named(found.name if found and not own else candidate, source, exact=False, preset=found, config=own)
    return None


def _candidates(last: str) -> list[str]:
    plain = _FAMILY_PREFIX.sub("", last.replace("_", "-"))
    tuned = plain
    while (shorter := _TUNED.sub("", tuned)) != tuned:
        tuned = shorter
    visual = tuned.replace("-vl-", "-")
    short = [re.sub(r"^llama-?(\d)", r"llama-\1", each) for each in (plain, tuned, visual)]
    first = ("-v0.1", "-v0.2", "-v1.0", "-v1.1", "-v2")
    versions = [each.removesuffix(end) for each in short for end in first if each.endswith(end)]
    versions += [_TUNED.sub("", each) for each in versions]
    return [*short, *versions, *(f"gpt-2-{each.removeprefix('gpt2-')}" for each in short if each.startswith("gpt2-"))]


def _preset(name: str) -> ModelPreset | None:
    try:
        return find_model(name)
    except UnknownModel:
        return None


@cache
def _further() -> Mapping[str, Mapping[str, Any]]:
    return loads(files(__package__).joinpath("models.toml").read_text(encoding="utf-8"))


@cache
def _by_hub_name() -> Mapping[str, ModelPreset]:
    return {each.source.removesuffix(" config.json").lower(): each for each in load_models().values()}


@cache
def _by_last_name() -> Mapping[str, ModelPreset]:
    return {name.rsplit("/", 1)[-1]: each for name, each in _by_hub_name().items()}


def write_named_model(draft: Draft, name: str, where: str) -> bool:
    """Writes the dimensions of the model that a key names; False, and a diagnostic, when it is not known."""
    found = named_model(name)
    if found is None:
        message = f"{where}: the model {name[:80]} is not in the built-in table; send its config.json or its dimensions"
        draft.note(
            "recipe_unknown",
            "warning",
            message,
            fields=["/model"],
            found=name[:80],
            rule="a model of the catalogue",
            fixes=["add config.json to source.files", "pass source.model"],
        )
        return False
    if not found.exact:
        message = f"{where}: {name[:80]} is taken to have the dimensions of {found.name}"
        draft.note("model_assumed", "info", message, fields=["/model"], found=name[:80])
    origin: Origin = "derived" if found.exact else "assumed"
    rule = f"{where}: {found.source}"
    for key, value in found.config.items():
        draft.fill(f"/model/{key}", value, origin, rule)
    if found.preset is not None:
        write_preset(draft, found.preset, origin, rule)
    else:
        write_architecture(draft, found.config, origin, rule)
    return True


def write_preset(draft: Draft, preset: ModelPreset, origin: Origin, where: str) -> None:
    """Writes a preset's dimensions and what its family implies; what the request gives stays."""
    draft.fill("/model/preset", preset.name, origin, where)
    write_architecture(draft, preset.config, origin, where)


def write_architecture(draft: Draft, config: Mapping[str, Any], origin: Origin, where: str) -> None:
    """Writes dimensions in Hugging Face's keys and what their `model_type` implies, without replacing anything."""
    for key, value in config.items():
        draft.fill(f"/model/{key}", list(value) if isinstance(value, tuple) else value, origin, where)
    family = family_defaults(str(draft.get("/model/model_type")))
    if family is None:
        return
    because = f"transformers {family.class_name}"
    act = draft.get("/model/hidden_act")
    draft.fill("/model/mlp", mlp_kind(family.gated, act) if isinstance(act, str) else None, "derived", because)
    for key in (
        "normalization", "norms_per_layer", "mlp", "position_embedding", "qk_norm", "qkv_bias", "output_bias",
        "mlp_bias",
        "tie_word_embeddings", "parallel_residual",
    ):  # fmt: skip
        draft.fill(f"/model/{key}", getattr(family, key), "default", because)
    heads, hidden = draft.get("/model/num_attention_heads"), draft.get("/model/hidden_size")
    if isinstance(heads, int) and heads > 0:
        draft.fill("/model/num_key_value_heads", family.num_key_value_heads or heads, "default", because)
        if isinstance(hidden, int) and not family.latent_attention:
            draft.fill("/model/head_dim", family.head_dim or hidden // heads or None, "derived", because)
    if family.moe:
        dense = draft.get("/model/intermediate_size")
        draft.fill("/model/moe_intermediate_size", dense, "derived", f"{because}: experts are as wide as the MLP")


def write_given_preset(draft: Draft) -> None:
    """Writes the dimensions of a preset that the request names itself."""
    name = draft.get("/model/preset")
    preset = _preset(name) if isinstance(name, str) else None
    if preset is not None:
        write_architecture(draft, preset.config, "default", f"preset {preset.name}")
