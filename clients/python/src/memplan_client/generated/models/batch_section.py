from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BatchSection")


@_attrs_define
class BatchSection:
    """Batch sizes and sequence length.

    Attributes:
        micro (int | None | Unset): Sequences in one micro-batch on one data-parallel rank; an estimate needs it, a plan
            searches it.
        global_ (int | None | Unset): Sequences in one optimizer step over all ranks.
        accumulation (int | None | Unset): Micro-batches in one optimizer step on one data-parallel rank.
        sequence_length (int | None | Unset): Tokens in one sequence; required.
        padding_mask (bool | None | Unset): A dense attention mask is passed with packed or padded input.
    """

    micro: int | None | Unset = UNSET
    global_: int | None | Unset = UNSET
    accumulation: int | None | Unset = UNSET
    sequence_length: int | None | Unset = UNSET
    padding_mask: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        micro: int | None | Unset
        if isinstance(self.micro, Unset):
            micro = UNSET
        else:
            micro = self.micro

        global_: int | None | Unset
        if isinstance(self.global_, Unset):
            global_ = UNSET
        else:
            global_ = self.global_

        accumulation: int | None | Unset
        if isinstance(self.accumulation, Unset):
            accumulation = UNSET
        else:
            accumulation = self.accumulation

        sequence_length: int | None | Unset
        if isinstance(self.sequence_length, Unset):
            sequence_length = UNSET
        else:
            sequence_length = self.sequence_length

        padding_mask: bool | None | Unset
        if isinstance(self.padding_mask, Unset):
            padding_mask = UNSET
        else:
            padding_mask = self.padding_mask

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if micro is not UNSET:
            field_dict["micro"] = micro
        if global_ is not UNSET:
            field_dict["global"] = global_
        if accumulation is not UNSET:
            field_dict["accumulation"] = accumulation
        if sequence_length is not UNSET:
            field_dict["sequence_length"] = sequence_length
        if padding_mask is not UNSET:
            field_dict["padding_mask"] = padding_mask

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_micro(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        micro = _parse_micro(d.pop("micro", UNSET))

        def _parse_global_(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        global_ = _parse_global_(d.pop("global", UNSET))

        def _parse_accumulation(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        accumulation = _parse_accumulation(d.pop("accumulation", UNSET))

        def _parse_sequence_length(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        sequence_length = _parse_sequence_length(d.pop("sequence_length", UNSET))

        def _parse_padding_mask(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        padding_mask = _parse_padding_mask(d.pop("padding_mask", UNSET))

        batch_section = cls(
            micro=micro,
            global_=global_,
            accumulation=accumulation,
            sequence_length=sequence_length,
            padding_mask=padding_mask,
        )

        return batch_section
