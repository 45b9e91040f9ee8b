from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="LabelsRequest")


@_attrs_define
class LabelsRequest:
    """What schedulers call a device.

    Attributes:
        gres_types (list[str] | Unset): Slurm generic-resource types, as in `--gres=gpu:TYPE:8`.
        instance_types (list[str] | Unset): Cloud instance types that carry the device.
        kubernetes_products (list[str] | Unset): Values of the node label `nvidia.com/gpu.product`.
    """

    gres_types: list[str] | Unset = UNSET
    instance_types: list[str] | Unset = UNSET
    kubernetes_products: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        gres_types: list[str] | Unset = UNSET
        if not isinstance(self.gres_types, Unset):
            gres_types = self.gres_types

        instance_types: list[str] | Unset = UNSET
        if not isinstance(self.instance_types, Unset):
            instance_types = self.instance_types

        kubernetes_products: list[str] | Unset = UNSET
        if not isinstance(self.kubernetes_products, Unset):
            kubernetes_products = self.kubernetes_products

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if gres_types is not UNSET:
            field_dict["gres_types"] = gres_types
        if instance_types is not UNSET:
            field_dict["instance_types"] = instance_types
        if kubernetes_products is not UNSET:
            field_dict["kubernetes_products"] = kubernetes_products

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        gres_types = cast(list[str], d.pop("gres_types", UNSET))

        instance_types = cast(list[str], d.pop("instance_types", UNSET))

        kubernetes_products = cast(list[str], d.pop("kubernetes_products", UNSET))

        labels_request = cls(
            gres_types=gres_types,
            instance_types=instance_types,
            kubernetes_products=kubernetes_products,
        )

        return labels_request
