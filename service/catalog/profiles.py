"""Framework profiles and loss recipes: defaults and habits, as data with their sources."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from service.calculator.recipe import LossRecipe


@dataclass(frozen=True, slots=True)
class Profile:
    """What one framework, at one state, assumes and keeps.

    Types of `parameters`, `gradients`, `reduce` and `adapters` may be those of `compute`, `parameters` or `gradients`.
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
    gradient_copy_kept: bool
    parameters: str
    master: str
    gradients: str
    reduce: str
    adapters: str
    implementation: str
    autocasts: bool
    container: str = ""

    @property
    def identity(self) -> str:
        """Name and state, as answers report it."""
        return f"{self.name} {self.version}"

    def covers(self, version: str) -> bool:
        """Whether a stated version is the one whose source was read, in the container whose libraries were read."""
        stated, _, where = version.strip().partition(" ")
        return bool(stated) and self.version.startswith(stated) and where in {"", self.container}


@cache
def _document() -> Mapping[str, Any]:
    return tomllib.loads(files("service.catalog").joinpath("profiles.toml").read_text("utf-8"))


@cache
def load_profiles() -> Mapping[str, Profile]:
    """Profiles by framework name."""
    return {name: Profile(name=name, **fields) for name, fields in _document()["profiles"].items()}


_ENGINE = re.compile(r"Transformer ?Engine v?(\d+)\.(\d+)", re.IGNORECASE)
_NEW_GRADIENT = (2, 18)


def loss_recipe(name: str, version: str | None) -> LossRecipe:
    """The loss recipe of a name as a framework's version has it; the newest where the version does not tell.

    Raises KeyError for an unknown name.
    """
    engine = _ENGINE.search(version or "")
    if name == "te" and engine is not None and (int(engine[1]), int(engine[2])) < _NEW_GRADIENT:
        name = "te_in_place"
    return load_losses()[name]


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
