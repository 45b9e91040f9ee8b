from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.model_section import ModelSection


T = TypeVar("T", bound="ModelAnswer")


@_attrs_define
class ModelAnswer:
    """A model known by name.

    Attributes:
        name (str): Name of the model, for `model.preset` of a job.
        aliases (list[str]): Other names that lead to it.
        parameters (int | None): Parameters of the published model, without multi-token prediction; where no count is
            published, those that its
            dimensions make; null where neither is known.
        config (ModelSection): Dimensions of the architecture, spelled as in a Hugging Face `config.json`, or a preset's
            name.
        source (str): Where the dimensions are published.
        notes (str): What else should be known.
    """

    name: str
    aliases: list[str]
    parameters: int | None
    config: ModelSection
    source: str
    notes: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        aliases = self.aliases

        parameters: int | None
        parameters = self.parameters

        config = self.config.to_dict()

        source = self.source

        notes = self.notes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "aliases": aliases,
                "parameters": parameters,
                "config": config,
                "source": source,
                "notes": notes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.model_section import ModelSection  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        aliases = cast(list[str], d.pop("aliases"))

        def _parse_parameters(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        parameters = _parse_parameters(d.pop("parameters"))

        config = ModelSection.from_dict(d.pop("config"))

        source = d.pop("source")

        notes = d.pop("notes")

        model_answer = cls(
            name=name,
            aliases=aliases,
            parameters=parameters,
            config=config,
            source=source,
            notes=notes,
        )

        model_answer.additional_properties = d
        return model_answer

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
