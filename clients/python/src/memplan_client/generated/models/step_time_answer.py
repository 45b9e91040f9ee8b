from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StepTimeAnswer")


@_attrs_define
class StepTimeAnswer:
    """What timed steps say of a cluster.

    Attributes:
        gpus_per_node (int): GPUs of one node.
        steps (int): Timed steps that are used.
        layouts (int): Different layouts among them; one alone is not used.
        scale (float): Factor on every step time.
        link (float): Factor on the bandwidth of links inside a node.
        product (float): Factor on the rate of matrix products.
    """

    gpus_per_node: int
    steps: int
    layouts: int
    scale: float
    link: float
    product: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        gpus_per_node = self.gpus_per_node

        steps = self.steps

        layouts = self.layouts

        scale = self.scale

        link = self.link

        product = self.product

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "gpus_per_node": gpus_per_node,
                "steps": steps,
                "layouts": layouts,
                "scale": scale,
                "link": link,
                "product": product,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        gpus_per_node = d.pop("gpus_per_node")

        steps = d.pop("steps")

        layouts = d.pop("layouts")

        scale = d.pop("scale")

        link = d.pop("link")

        product = d.pop("product")

        step_time_answer = cls(
            gpus_per_node=gpus_per_node,
            steps=steps,
            layouts=layouts,
            scale=scale,
            link=link,
            product=product,
        )

        step_time_answer.additional_properties = d
        return step_time_answer

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
