from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.config_source import ConfigSource


T = TypeVar("T", bound="SourceEstimateRequest")


@_attrs_define
class SourceEstimateRequest:
    """The memory of a job that is read from a config, on a device.

    Attributes:
        device (str): Id, alias or scheduler label of the device, from `GET /v1/devices`.
        source (ConfigSource): A training config in the form its owner has it; nothing in it is executed, sourced or
            fetched.
        use_observations (bool | Unset): Whether observed runs are used; false asks for what is said without them.
            Default: True.
    """

    device: str
    source: ConfigSource
    use_observations: bool | Unset = True

    def to_dict(self) -> dict[str, Any]:
        device = self.device

        source = self.source.to_dict()

        use_observations = self.use_observations

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "device": device,
                "source": source,
            }
        )
        if use_observations is not UNSET:
            field_dict["use_observations"] = use_observations

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.config_source import ConfigSource  # noqa: PLC0415

        d = dict(src_dict)
        device = d.pop("device")

        source = ConfigSource.from_dict(d.pop("source"))

        use_observations = d.pop("use_observations", UNSET)

        source_estimate_request = cls(
            device=device,
            source=source,
            use_observations=use_observations,
        )

        return source_estimate_request
