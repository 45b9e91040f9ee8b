"""Framework profiles and loss recipes: defaults and habits, as data with their sources."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from service.calculator.recipe import LossRecipe


@dataclass(frozen=True, slots=True)
class Profile:
    """What one framework, at one state, assumes and keeps."""

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
    gradient_copy_kept: bool

    @property
    def identity(self) -> str:
        """Name and state, as answers report it."""
        return f"{self.name} {self.version}"

    def covers(self, version: str) -> bool:
        """Whether a stated version (its first word) is the one whose source was read."""
        words = version.split()
        return bool(words) and self.version.startswith(words[0])


@cache
def _document() -> Mapping[str, Any]:
    return tomllib.loads(files("service.catalog").joinpath("profiles.toml").read_text("utf-8"))


@cache
def load_profiles() -> Mapping[str, Profile]:
    """Profiles by framework name."""
    return {name: Profile(name=name, **fields) for name, fields in _document()["profiles"].items()}


@cache
def load_losses() -> Mapping[str, LossRecipe]:
    """Loss recipes by name."""
    return {
        name: LossRecipe(
            name=name,
            kept=tuple(fields["kept"]),
            forward=tuple(fields["forward"]),
            backward=tuple(fields["backward"]),
            smoothing_forward=tuple(fields.get("label_smoothing_forward", ())),
            smoothing_backward=tuple(fields.get("label_smoothing_backward", ())),
        )
        for name, fields in _document()["losses"].items()
    }
