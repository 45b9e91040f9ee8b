from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.policy_request_mode import PolicyRequestMode, check_policy_request_mode
from ..models.policy_request_tight import PolicyRequestTight, check_policy_request_tight
from ..models.policy_request_unknown import (
    PolicyRequestUnknown,
    check_policy_request_unknown,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="PolicyRequest")


@_attrs_define
class PolicyRequest:
    """The rules of a queue, and what is done when one is broken.

    Attributes:
        mode (PolicyRequestMode): `enforce` refuses, `warn` only warns, `shadow` admits and keeps a record of what would
            be refused, `off` applies
            no rule and keeps no record.
        margin_fraction (float | Unset): Share of a device's usable memory that a job must leave free. Default: 0.0.
        margin_bytes (int | Unset): Memory that a job must leave free besides (bytes). Default: 0.
        tight (PolicyRequestTight | Unset): What a verdict `tight` comes to. Default: 'warn'.
        unknown (PolicyRequestUnknown | Unset): What a verdict `unknown` comes to; `refuse` holds up jobs whose config
            says too little, and those for which the
            deadline was too near. Default: 'warn'.
        allowed_devices (list[str] | None | Unset): Ids, aliases or scheduler labels of the devices that jobs may use;
            null: all.
        max_world_size (int | None | Unset): Most GPUs of a job; null: any number.
    """

    mode: PolicyRequestMode
    margin_fraction: float | Unset = 0.0
    margin_bytes: int | Unset = 0
    tight: PolicyRequestTight | Unset = "warn"
    unknown: PolicyRequestUnknown | Unset = "warn"
    allowed_devices: list[str] | None | Unset = UNSET
    max_world_size: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        mode: str = self.mode

        margin_fraction = self.margin_fraction

        margin_bytes = self.margin_bytes

        tight: str | Unset = UNSET
        if not isinstance(self.tight, Unset):
            tight = self.tight

        unknown: str | Unset = UNSET
        if not isinstance(self.unknown, Unset):
            unknown = self.unknown

        allowed_devices: list[str] | None | Unset
        if isinstance(self.allowed_devices, Unset):
            allowed_devices = UNSET
        elif isinstance(self.allowed_devices, list):
            allowed_devices = self.allowed_devices

        else:
            allowed_devices = self.allowed_devices

        max_world_size: int | None | Unset
        if isinstance(self.max_world_size, Unset):
            max_world_size = UNSET
        else:
            max_world_size = self.max_world_size

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "mode": mode,
            }
        )
        if margin_fraction is not UNSET:
            field_dict["margin_fraction"] = margin_fraction
        if margin_bytes is not UNSET:
            field_dict["margin_bytes"] = margin_bytes
        if tight is not UNSET:
            field_dict["tight"] = tight
        if unknown is not UNSET:
            field_dict["unknown"] = unknown
        if allowed_devices is not UNSET:
            field_dict["allowed_devices"] = allowed_devices
        if max_world_size is not UNSET:
            field_dict["max_world_size"] = max_world_size

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        mode = check_policy_request_mode(d.pop("mode"))

        margin_fraction = d.pop("margin_fraction", UNSET)

        margin_bytes = d.pop("margin_bytes", UNSET)

        _tight = d.pop("tight", UNSET)
        tight: PolicyRequestTight | Unset
        if isinstance(_tight, Unset):
            tight = UNSET
        else:
            tight = check_policy_request_tight(_tight)

        _unknown = d.pop("unknown", UNSET)
        unknown: PolicyRequestUnknown | Unset
        if isinstance(_unknown, Unset):
            unknown = UNSET
        else:
            unknown = check_policy_request_unknown(_unknown)

        def _parse_allowed_devices(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                allowed_devices_type_0 = cast(list[str], data)

                return allowed_devices_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        allowed_devices = _parse_allowed_devices(d.pop("allowed_devices", UNSET))

        def _parse_max_world_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_world_size = _parse_max_world_size(d.pop("max_world_size", UNSET))

        policy_request = cls(
            mode=mode,
            margin_fraction=margin_fraction,
            margin_bytes=margin_bytes,
            tight=tight,
            unknown=unknown,
            allowed_devices=allowed_devices,
            max_world_size=max_world_size,
        )

        return policy_request
