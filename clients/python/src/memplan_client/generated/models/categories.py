from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Categories")


@_attrs_define
class Categories:
    """Bytes of one GPU by what they are for; they sum to the stage's `device_bytes`.

    Attributes:
        weights (int): Weights used in forward and backward (bytes).
        gradients (int): Gradients and their accumulation buffer (bytes).
        optimizer (int): Master weights and moments (bytes).
        activations (int): Tensors kept for the backward, and what the backward itself needs (bytes).
        logits (int): Logits and what the loss keeps of them (bytes).
        communication (int): Buffers of collectives and of the pipeline (bytes).
        workspace (int): Scratch memory of kernels (bytes).
        allocator (int): Reserved by the caching allocator beyond what is allocated (bytes).
        context (int): CUDA context, loaded modules and communicators (bytes).
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int
    logits: int
    communication: int
    workspace: int
    allocator: int
    context: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        weights = self.weights

        gradients = self.gradients

        optimizer = self.optimizer

        activations = self.activations

        logits = self.logits

        communication = self.communication

        workspace = self.workspace

        allocator = self.allocator

        context = self.context

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "weights": weights,
                "gradients": gradients,
                "optimizer": optimizer,
                "activations": activations,
                "logits": logits,
                "communication": communication,
                "workspace": workspace,
                "allocator": allocator,
                "context": context,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        weights = d.pop("weights")

        gradients = d.pop("gradients")

        optimizer = d.pop("optimizer")

        activations = d.pop("activations")

        logits = d.pop("logits")

        communication = d.pop("communication")

        workspace = d.pop("workspace")

        allocator = d.pop("allocator")

        context = d.pop("context")

        categories = cls(
            weights=weights,
            gradients=gradients,
            optimizer=optimizer,
            activations=activations,
            logits=logits,
            communication=communication,
            workspace=workspace,
            allocator=allocator,
            context=context,
        )

        categories.additional_properties = d
        return categories

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
