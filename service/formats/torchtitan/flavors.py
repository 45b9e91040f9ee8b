"""What torchtitan's names stand for: dimensions of a model by name and flavor, settings of a config function."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from tomllib import loads
from typing import Any

from service.catalog.models import find_model
from service.formats.config.published import write_architecture, write_preset
from service.formats.draft import Draft

KERNELS: Mapping[str, str] = {
    "flex": "flex",
    "varlen": "flash",
    "irope": "flex",
    "flex_attn": "flex",
    "varlen_attn": "flash",
}
"""Suffixes of a flavor that name its attention kernel."""


@cache
def _table(name: str) -> Mapping[str, Any]:
    return loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def registered(config: str) -> Mapping[str, Any] | None:
    """The settings of a config function, or None when it is not one of torchtitan's own."""
    found: Mapping[str, Any] | None = _table("registry.toml").get(config)
    return found


def registered_names() -> Sequence[str]:
    """Names of the config functions that are known."""
    return list(_table("registry.toml"))


def dimensions_by_flavor() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Dimensions of every known model, in a config's own keys, by name and flavor."""
    return {
        (model, flavor): {**(find_model(entry["preset"]).config if "preset" in entry else {}), **entry}
        for model, flavors in _table("flavors.toml").items()
        for flavor, entry in flavors.items()
    }


def split_flavor(model: str, flavor: str) -> tuple[str, str | None]:
    """A flavor without the suffix that names its attention kernel, and that kernel."""
    known = _table("flavors.toml").get(model, {})
    for suffix, kernel in KERNELS.items():
        plain = flavor.removesuffix(f"_{suffix}")
        if plain != flavor and plain in known:
            return plain, kernel
    return flavor, None


def write_flavor(draft: Draft, model: str, flavor: str, where: str) -> bool:
    """Writes the dimensions of a flavor; False when it is not in the table."""
    found = _table("flavors.toml").get(model.lower().replace("-", "_"), {})
    entry = found.get(flavor) or next((each for key, each in found.items() if key.lower() == flavor.lower()), None)
    if entry is None:
        return False
    rule = f"{where}: torchtitan's table of models"
    own = {key: value for key, value in entry.items() if key != "preset"}
    for key, value in own.items():
        draft.fill(f"/model/{key}", value, "derived", rule)
    if "preset" in entry:
        write_preset(draft, find_model(entry["preset"]), "derived", rule)
    else:
        write_architecture(draft, own, "derived", rule)
    return True
