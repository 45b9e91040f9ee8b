"""Models that a config only names: the catalogue's dimensions for a hub name, a flavor or a builder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from service.catalog.models import ModelPreset, UnknownModel, find_model, load_models
from service.formats.draft import Draft
from service.job.diagnostics import Origin
from service.job.families import family_defaults, mlp_kind

# Tuned, quantised or converted copies keep the dimensions of the model they were made from.
_TUNED = re.compile(
    r"-(hf|instruct|chat|it|base|pt|bf16|fp8|fp16|awq|gptq|int4|int8|gguf|bnb|4bit|8bit|unsloth|dynamic|dequantized|"
    r"thinking|sft|dpo|reasoning|text|tokenized|preview|original|vision|4k|8k|128k|distill|r1|\d{4}|1106|0125)(?=-|$)"
)
_FAMILY_PREFIX = re.compile(r"^(meta-|unsloth-|nous-|models--)+")
_VERSION = re.compile(r"-v0?\.\d+$")


@dataclass(frozen=True, slots=True)
class Named:
    """A preset that a name leads to; `exact` when the name is that of the published model itself."""

    preset: ModelPreset
    exact: bool


def named_model(name: str) -> Named | None:
    """The preset of a hub name such as `Qwen/Qwen3-4B-Instruct-2507`; None when the catalogue has no such model."""
    text = name.strip().strip("/").lower()
    if not text or len(text) > 200:  # noqa: PLR2004  (longer than any hub name)
        return None
    if text in _by_hub_name():
        return Named(_by_hub_name()[text], exact=True)
    last = text.rsplit("/", 1)[-1]
    for candidate in dict.fromkeys((last, *_candidates(last))):
        if candidate in _by_last_name():
            return Named(_by_last_name()[candidate], exact=False)
        found = _preset(candidate)
        if found is not None:
            return Named(found, exact=False)
    return None


def _candidates(last: str) -> list[str]:
    plain = _FAMILY_PREFIX.sub("", last.replace("_", "-"))
    tuned = plain
    while (shorter := _TUNED.sub("", tuned)) != tuned:
        tuned = shorter
    visual = tuned.replace("-vl-", "-")
    short = [re.sub(r"^llama-?(\d)", r"llama-\1", each) for each in (plain, tuned, visual)]
    versions = [_VERSION.sub("", each) for each in short if each.endswith(("-v0.1", "-v0.2"))]
    return [*short, *versions, *(f"gpt-2-{each.removeprefix('gpt2-')}" for each in short if each.startswith("gpt2-"))]


def _preset(name: str) -> ModelPreset | None:
    try:
        return find_model(name)
    except UnknownModel:
        return None


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
        message = f"{where}: {name[:80]} is taken to have the dimensions of {found.preset.name}"
        draft.note("model_assumed", "info", message, fields=["/model"], found=name[:80])
    origin: Origin = "derived" if found.exact else "assumed"
    write_preset(draft, found.preset, origin, f"{where}: {found.preset.source}")
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
