from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.config_source import ConfigSource
    from ..models.measured_request import MeasuredRequest


T = TypeVar("T", bound="SourceObservationRequest")


@_attrs_define
class SourceObservationRequest:
    """What a run of a config measured.

    Attributes:
        run_id (str): The caller's name of the run: a run has one observation, and the same one may be sent again.
        measured (MeasuredRequest): What a run measured on one GPU of a stage: at least one size, `oom` or
            `step_seconds`.
        source (ConfigSource): A training config in the form its owner has it; nothing in it is executed, sourced or
            fetched.
        device (str): Id, alias or scheduler label of the device that it ran on.
        gpus_per_node (int | None | Unset): GPUs of one node; null means the plan's, or the device's usual number.
    """

    run_id: str
    measured: MeasuredRequest
    source: ConfigSource
    device: str
    gpus_per_node: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        run_id = self.run_id

        measured = self.measured.to_dict()

        source = self.source.to_dict()

        device = self.device

        gpus_per_node: int | None | Unset
        if isinstance(self.gpus_per_node, Unset):
            gpus_per_node = UNSET
        else:
            gpus_per_node = self.gpus_per_node

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "run_id": run_id,
                "measured": measured,
                "source": source,
                "device": device,
            }
        )
        if gpus_per_node is not UNSET:
            field_dict["gpus_per_node"] = gpus_per_node

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.config_source import ConfigSource  # noqa: PLC0415
        from ..models.measured_request import MeasuredRequest  # noqa: PLC0415

        d = dict(src_dict)
        run_id = d.pop("run_id")

        measured = MeasuredRequest.from_dict(d.pop("measured"))

        source = ConfigSource.from_dict(d.pop("source"))

        device = d.pop("device")

        def _parse_gpus_per_node(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        gpus_per_node = _parse_gpus_per_node(d.pop("gpus_per_node", UNSET))

        source_observation_request = cls(
            run_id=run_id,
            measured=measured,
            source=source,
            device=device,
            gpus_per_node=gpus_per_node,
        )

        return source_observation_request
