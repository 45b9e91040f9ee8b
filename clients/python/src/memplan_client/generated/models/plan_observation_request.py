from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.measured_request import MeasuredRequest


T = TypeVar("T", bound="PlanObservationRequest")


@_attrs_define
class PlanObservationRequest:
    """What a run of a stored plan's candidate measured.

    Attributes:
        run_id (str): The caller's name of the run: a run has one observation, and the same one may be sent again.
        measured (MeasuredRequest): What a run measured on one GPU of a stage: at least one size, `oom` or
            `step_seconds`.
        plan (str): Id of the plan.
        gpus_per_node (int | None | Unset): GPUs of one node; null means the plan's, or the device's usual number.
        candidate (int | Unset): Which candidate of the plan; 0 is the first. Default: 0.
        device (None | str | Unset): Id, alias or scheduler label of the device that it ran on; null means the plan's.
    """

    run_id: str
    measured: MeasuredRequest
    plan: str
    gpus_per_node: int | None | Unset = UNSET
    candidate: int | Unset = 0
    device: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        run_id = self.run_id

        measured = self.measured.to_dict()

        plan = self.plan

        gpus_per_node: int | None | Unset
        if isinstance(self.gpus_per_node, Unset):
            gpus_per_node = UNSET
        else:
            gpus_per_node = self.gpus_per_node

        candidate = self.candidate

        device: None | str | Unset
        if isinstance(self.device, Unset):
            device = UNSET
        else:
            device = self.device

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "run_id": run_id,
                "measured": measured,
                "plan": plan,
            }
        )
        if gpus_per_node is not UNSET:
            field_dict["gpus_per_node"] = gpus_per_node
        if candidate is not UNSET:
            field_dict["candidate"] = candidate
        if device is not UNSET:
            field_dict["device"] = device

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.measured_request import MeasuredRequest  # noqa: PLC0415

        d = dict(src_dict)
        run_id = d.pop("run_id")

        measured = MeasuredRequest.from_dict(d.pop("measured"))

        plan = d.pop("plan")

        def _parse_gpus_per_node(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        gpus_per_node = _parse_gpus_per_node(d.pop("gpus_per_node", UNSET))

        candidate = d.pop("candidate", UNSET)

        def _parse_device(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        device = _parse_device(d.pop("device", UNSET))

        plan_observation_request = cls(
            run_id=run_id,
            measured=measured,
            plan=plan,
            gpus_per_node=gpus_per_node,
            candidate=candidate,
            device=device,
        )

        return plan_observation_request
