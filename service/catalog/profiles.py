"""Framework profiles: defaults and habits, as data with their sources."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from service.calculator.habits import Habits

FEWEST_DIGITS = 2
"""Digits of a version or a commit; FSDP1 has one and is a name."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What one framework, at one state, assumes and keeps.

    Types of `parameters`, `gradients`, `reduce` and `adapters` may be those of `compute`, `parameters` or `gradients`.
    `keeps` names the engine that keeps states, a framework's or a fork's, whose `habits` it has; `layer_habits` are
    further ones. `layers_ahead` is that of `Recipe`, `foreach_copies` those of `Optimizer`. Where `softmax_in_compute`,
    scores have their softmax in the type of activations. `spread` counts embedding and head as so many layers when
    layers are shared over stages. What is kept `until` a date, versions of earlier days keep. `eight_bits` names the
    library of 8-bit products.
    """

    name: str
    version: str
    source: str
    transformer_impl: str
    compute: str
    hidden_dropout: float
    attention_dropout: float
    attention: str
    attention_mask: bool
    cross_entropy: str
    sharding_stage: int
    vocabulary_multiple: int
    buffer_alignment: int
    grad_accumulation_fusion: bool
    deallocate_pipeline_outputs: bool
    parameters: str
    master: str
    gradients: str
    reduce: str
    adapters: str
    implementation: str
    autocasts: bool
    keeps: str
    container: str = ""
    activation: str = ""
    logits_kept: bool = False
    layer_habits: Sequence[str] = ()
    softmax_in_compute: bool = False
    layers_ahead: int = 0
    spread: Sequence[int] = ()
    foreach_copies: int = 1
    no_sync: bool = False
    adapters_apart: bool = True
    eight_bits: str = "torchao"
    quantised_inputs_kept_until: Sequence[int] = ()
    longest_first_until: Sequence[int] = ()
    gradient_copies_kept_until: Sequence[int] = ()
    gradients_flattened_until: Sequence[int] = ()

    @property
    def identity(self) -> str:
        """Name and state, as answers report it."""
        return f"{self.name} {self.version}"

    @property
    def habits(self) -> Habits:
        """What its engine and its layers do in ways of their own."""
        return _habits(self.keeps, tuple(self.layer_habits))

    def covers(self, version: str) -> bool:
        """Whether a stated version is the one whose source was read, in the container whose libraries were read.

        A name alone is no version: what is stated must have a number, and begin a word of the profile's version.
        """
        stated = version.strip().removesuffix(self.container).strip()
        numbered = sum(each.isdigit() for each in stated) >= FEWEST_DIGITS
        return numbered and f" {stated}" in f" {self.version}"


@cache
def _document() -> Mapping[str, Any]:
    return tomllib.loads(files("service.catalog").joinpath("profiles.toml").read_text("utf-8"))


@cache
def _habits(engine: str, further: tuple[str, ...]) -> Habits:
    """Raises TypeError for a habit that no formula knows."""
    names = [*_document()["engines"].get(engine, {}).get("habits", ()), *further]
    return Habits(**dict.fromkeys(names, True))


MEGATRON_LAYERS = frozenset({"transformer_engine", "local"})


@lru_cache(maxsize=256)
def profile_of(framework: str, transformer_impl: str | None = None, version: str | None = None) -> Profile:
    """The profile of a framework, with the habits of a fork that the version's text names.

    Where it runs Megatron's layers (Megatron-DeepSpeed), it has their kernels. Raises KeyError for an unknown
    framework.
    """
    profile, megatron = load_profiles()[framework], load_profiles()["megatron-core"]
    for fork in _document()["forks"]:
        named = all(text.lower() in (version or "").lower() for text in fork["text"])
        if fork["framework"] == framework and named:
            habits = {key: value for key, value in fork.items() if key not in {"framework", "text"}}
            profile = replace(profile, **habits)
    if framework == "megatron-core" or transformer_impl not in MEGATRON_LAYERS:
        return profile
    return replace(
        profile,
        transformer_impl=transformer_impl,
        eight_bits=megatron.eight_bits,
        attention=megatron.attention,
        attention_mask=megatron.attention_mask,
        cross_entropy=megatron.cross_entropy,
        hidden_dropout=megatron.hidden_dropout,
        attention_dropout=megatron.attention_dropout,
        vocabulary_multiple=megatron.vocabulary_multiple,
    )


@cache
def load_profiles() -> Mapping[str, Profile]:
    """Profiles by framework name."""
    return {
        name: Profile(**({"name": name, "keeps": name} | fields)) for name, fields in _document()["profiles"].items()
    }
