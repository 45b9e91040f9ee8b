from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LabelsAnswer")


@_attrs_define
class LabelsAnswer:
    """What schedulers call a device.

    Attributes:
        gres_types (list[str]): Slurm generic-resource types.
        instance_types (list[str]): Cloud instance types that carry the device.
        kubernetes_products (list[str]): Values of the node label `nvidia.com/gpu.product`.
    """

    gres_types: list[str]
    instance_types: list[str]
    kubernetes_products: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        gres_types = self.gres_types

        instance_types = self.instance_types

        kubernetes_products = self.kubernetes_products

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "gres_types": gres_types,
                "instance_types": instance_types,
                "kubernetes_products": kubernetes_products,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        gres_types = cast(list[str], d.pop("gres_types"))

        instance_types = cast(list[str], d.pop("instance_types"))

        kubernetes_products = cast(list[str], d.pop("kubernetes_products"))

        labels_answer = cls(
            gres_types=gres_types,
            instance_types=instance_types,
            kubernetes_products=kubernetes_products,
        )

        labels_answer.additional_properties = d
        return labels_answer

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
