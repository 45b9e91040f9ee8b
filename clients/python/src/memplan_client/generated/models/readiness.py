from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Readiness")


@_attrs_define
class Readiness:
    """The service can answer every route.

    Attributes:
        version (str): Release of the service.
        method_version (str): Version of the memory model; a change means that the same job may get another answer.
        devices (int): Number of devices in the catalogue.
        models (int): Number of model presets in the catalogue.
        status (Literal['ready'] | Unset): Always `ready`; otherwise the answer is a problem of status 503. Default:
            'ready'.
    """

    version: str
    method_version: str
    devices: int
    models: int
    status: Literal["ready"] | Unset = "ready"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        version = self.version

        method_version = self.method_version

        devices = self.devices

        models = self.models

        status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "version": version,
                "method_version": method_version,
                "devices": devices,
                "models": models,
            }
        )
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        version = d.pop("version")

        method_version = d.pop("method_version")

        devices = d.pop("devices")

        models = d.pop("models")

        status = cast(Literal["ready"] | Unset, d.pop("status", UNSET))
        if status != "ready" and not isinstance(status, Unset):
            raise ValueError(f"status must match const 'ready', got '{status}'")

        readiness = cls(
            version=version,
            method_version=method_version,
            devices=devices,
            models=models,
            status=status,
        )

        readiness.additional_properties = d
        return readiness

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
