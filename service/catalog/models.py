"""Model presets: the architecture of published models, in the job's own keys, with their sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from tomllib import loads
from types import MappingProxyType
from typing import Any

from service.catalog.names import NameIndex, UnknownName

ConfigValue = bool | int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPreset:
    """One published model.

    `config` has keys of the job's model section; `further` keys of the same `config.json` that the job has no field
    for. `parameters` counts the published checkpoint without multi-token prediction depths, None where no exact count
    is published; `buffer_elements` of them are trained by no optimizer.
    """

    name: str
    config: Mapping[str, ConfigValue]
    source: str
    read_from: str
    parameters: int | None = None
    buffer_elements: int = 0
    further: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    aliases: tuple[str, ...] = ()
    notes: str = ""


class UnknownModel(UnknownName):
    """No preset has this name; `matches` are close ones."""

    kind = "model preset"


@cache
def load_models() -> Mapping[str, ModelPreset]:
    """Presets by name, in the order of the file."""
    tables = loads(files("service.catalog").joinpath("models.toml").read_text("utf-8"))
    return MappingProxyType({name: _preset(name, **fields) for name, fields in tables.items()})


def find_model(name: str) -> ModelPreset:
    """The preset of a name or alias, whatever its case and separators. Raises UnknownModel with close matches."""
    return load_models()[_index().resolve(name)]


def _preset(
    name: str,
    config: dict[str, Any],
    layer_cycle: tuple[str, ...] = (),
    further: Mapping[str, int] = MappingProxyType({}),
    aliases: tuple[str, ...] = (),
    **fields: Any,
) -> ModelPreset:
    if layer_cycle:
        config["layer_types"] = tuple(islice(cycle(layer_cycle), config["num_hidden_layers"]))
    return ModelPreset(
        name=name,
        config=MappingProxyType(config),
        further=MappingProxyType(dict(further)),
        aliases=tuple(aliases),
        **fields,
    )


@cache
def _index() -> NameIndex:
    return NameIndex(UnknownModel, {preset.name: preset.aliases for preset in load_models().values()})
