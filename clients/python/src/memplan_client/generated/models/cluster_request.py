from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClusterRequest")


@_attrs_define
class ClusterRequest:
    """The GPUs that the plan is for.

    Attributes:
        device (str): Id, alias or scheduler label of the device, from `GET /v1/devices`.
        world_size (int): Number of GPUs; every one is used.
        gpus_per_node (int | None | Unset): GPUs of one node; null means the device's usual number.
    """

    device: str
    world_size: int
    gpus_per_node: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        device = self.device

        world_size = self.world_size

        gpus_per_node: int | None | Unset
        if isinstance(self.gpus_per_node, Unset):
            gpus_per_node = UNSET
        else:
            gpus_per_node = self.gpus_per_node

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "device": device,
                "world_size": world_size,
            }
        )
        if gpus_per_node is not UNSET:
            field_dict["gpus_per_node"] = gpus_per_node

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        device = d.pop("device")

        world_size = d.pop("world_size")

        def _parse_gpus_per_node(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        gpus_per_node = _parse_gpus_per_node(d.pop("gpus_per_node", UNSET))

        cluster_request = cls(
            device=device,
            world_size=world_size,
            gpus_per_node=gpus_per_node,
        )

        return cluster_request
