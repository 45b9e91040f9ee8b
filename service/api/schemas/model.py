"""Model presets of the catalogue."""

from typing import Self

from pydantic import Field

from service.api.schemas.base import Answer, Count, ModelSectionAnswer
from service.usecases.models import KnownModel


class ModelAnswer(Answer):
    """A model known by name."""

    name: str = Field(examples=["llama-3-8b"])
    """Name of the model, for `model.preset` of a job."""
    aliases: list[str] = Field(examples=[["meta-llama-3-8b"]])
    """Other names that lead to it."""
    parameters: Count | None = Field(examples=[8030261248])
    """Parameters of the published model, without multi-token prediction; where no count is published, those that its
    dimensions make; null where neither is known."""
    config: ModelSectionAnswer
    """Its dimensions, as in the published `config.json`; what the model type implies is not repeated."""
    source: str = Field(examples=["meta-llama/Meta-Llama-3-8B config.json"])
    """Where the dimensions are published."""
    notes: str = Field(examples=["Every second layer has a sliding window."])
    """What else should be known."""

    @classmethod
    def of(cls, known: KnownModel) -> Self:
        """Return the wire form of a preset."""
        preset = known.preset
        return cls(
            name=preset.name,
            aliases=list(preset.aliases),
            parameters=known.parameters,
            config=known.config,
            source=preset.source,
            notes=preset.notes,
        )


class ModelList(Answer):
    """All model presets of the catalogue."""

    items: list[ModelAnswer]
    """The models, in the order of the catalogue."""
