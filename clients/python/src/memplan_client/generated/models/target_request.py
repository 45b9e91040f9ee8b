from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="TargetRequest")


@_attrs_define
class TargetRequest:
    """Where a job is to run.

    Attributes:
        device (str): Id, alias or scheduler label of the device, from `GET /v1/devices`; an unknown one makes this
            target's verdict
            `unknown`, with an `error`.
        world_size (int | None | Unset): Number of GPUs; it takes the place of the job's, and the data-parallel degree
            follows. Null: the job's own.
    """

    device: str
    world_size: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        device = self.device

        world_size: int | None | Unset
        if isinstance(self.world_size, Unset):
            world_size = UNSET
        else:
            world_size = self.world_size

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "device": device,
            }
        )
        if world_size is not UNSET:
            field_dict["world_size"] = world_size

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        device = d.pop("device")

        def _parse_world_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        world_size = _parse_world_size(d.pop("world_size", UNSET))

        target_request = cls(
            device=device,
            world_size=world_size,
        )

        return target_request
