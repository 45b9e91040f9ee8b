"""The models known by name, with their parameter counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.calculator.parameters import model_parameters
from service.catalog.models import ModelPreset, load_models
from service.job.architecture import resolve_architecture
from service.job.schema import ModelSection
from service.job.values import Values


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A preset; `parameters` is the published count or, without one, the calculator's; None where neither is known."""

    preset: ModelPreset
    config: ModelSection
    parameters: int | None


def list_models() -> Sequence[KnownModel]:
    """Return all presets of the catalogue, in its order."""
    return tuple(_known(preset) for preset in load_models().values())


def _known(preset: ModelPreset) -> KnownModel:
    parameters = _counted(preset) if preset.parameters is None else preset.parameters
    return KnownModel(preset, ModelSection.model_validate(preset.config), parameters)


def _counted(preset: ModelPreset) -> int | None:
    model = resolve_architecture(ModelSection(preset=preset.name), Values()).model
    return None if model is None else model_parameters(model)
