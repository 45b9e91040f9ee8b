from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="StagesSection")


@_attrs_define
class StagesSection:
    """Which layers each stage holds; give one of the four forms.

    Attributes:
        layers (list[int] | None | Unset): Layers per rank, or per chunk in rank-major order when virtual.
        first (int | None | Unset): Layers on the first rank; the others share what is left.
        last (int | None | Unset): Layers on the last rank; the others share what is left.
        account_for_embedding (bool | None | Unset): The embedding counts as a layer when layers are split.
        account_for_loss (bool | None | Unset): The head and loss count as a layer when layers are split.
        layout (None | str | Unset): Megatron's layout string: E embedding, t layer, m prediction layer, L loss, |
            between stages.
    """

    layers: list[int] | None | Unset = UNSET
    first: int | None | Unset = UNSET
    last: int | None | Unset = UNSET
    account_for_embedding: bool | None | Unset = UNSET
    account_for_loss: bool | None | Unset = UNSET
    layout: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        layers: list[int] | None | Unset
        if isinstance(self.layers, Unset):
            layers = UNSET
        elif isinstance(self.layers, list):
            layers = self.layers

        else:
            layers = self.layers

        first: int | None | Unset
        if isinstance(self.first, Unset):
            first = UNSET
        else:
            first = self.first

        last: int | None | Unset
        if isinstance(self.last, Unset):
            last = UNSET
        else:
            last = self.last

        account_for_embedding: bool | None | Unset
        if isinstance(self.account_for_embedding, Unset):
            account_for_embedding = UNSET
        else:
            account_for_embedding = self.account_for_embedding

        account_for_loss: bool | None | Unset
        if isinstance(self.account_for_loss, Unset):
            account_for_loss = UNSET
        else:
            account_for_loss = self.account_for_loss

        layout: None | str | Unset
        if isinstance(self.layout, Unset):
            layout = UNSET
        else:
            layout = self.layout

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if layers is not UNSET:
            field_dict["layers"] = layers
        if first is not UNSET:
            field_dict["first"] = first
        if last is not UNSET:
            field_dict["last"] = last
        if account_for_embedding is not UNSET:
            field_dict["account_for_embedding"] = account_for_embedding
        if account_for_loss is not UNSET:
            field_dict["account_for_loss"] = account_for_loss
        if layout is not UNSET:
            field_dict["layout"] = layout

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_layers(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                layers_type_0 = cast(list[int], data)

                return layers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        layers = _parse_layers(d.pop("layers", UNSET))

        def _parse_first(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        first = _parse_first(d.pop("first", UNSET))

        def _parse_last(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        last = _parse_last(d.pop("last", UNSET))

        def _parse_account_for_embedding(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        account_for_embedding = _parse_account_for_embedding(
            d.pop("account_for_embedding", UNSET)
        )

        def _parse_account_for_loss(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        account_for_loss = _parse_account_for_loss(d.pop("account_for_loss", UNSET))

        def _parse_layout(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        layout = _parse_layout(d.pop("layout", UNSET))

        stages_section = cls(
            layers=layers,
            first=first,
            last=last,
            account_for_embedding=account_for_embedding,
            account_for_loss=account_for_loss,
            layout=layout,
        )

        return stages_section
