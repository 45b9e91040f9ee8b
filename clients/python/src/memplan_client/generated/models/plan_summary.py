from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.plan_summary_labels import PlanSummaryLabels


T = TypeVar("T", bound="PlanSummary")


@_attrs_define
class PlanSummary:
    """A stored plan as lists show it.

    Attributes:
        id (str): Id of the plan; ids sort by the time they were made.
        digest (str): SHA-256 of the canonical question and the method: the same question finds this plan.
        created_at (datetime.datetime): When it was stored (UTC).
        model (str): Preset of the job's model, else its model type.
        device (str): Device of the cluster.
        world_size (int): Number of GPUs.
        verdict (str): Verdict of the first candidate; `does_not_fit` when there is none.
        best_step_seconds (float | None): Step time of the first candidate (seconds); null without one.
        peak_device_bytes (int | None): Peak of the first candidate (bytes); null without one.
        labels (PlanSummaryLabels): Labels that it was stored with.
        expires_at (datetime.datetime | None): When it may be removed (UTC); null: as the service's settings say.
        pinned (bool): Whether it is kept for good.
        method_version (str): Version of the memory model that made it.
    """

    id: str
    digest: str
    created_at: datetime.datetime
    model: str
    device: str
    world_size: int
    verdict: str
    best_step_seconds: float | None
    peak_device_bytes: int | None
    labels: PlanSummaryLabels
    expires_at: datetime.datetime | None
    pinned: bool
    method_version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        digest = self.digest

        created_at = self.created_at.isoformat()

        model = self.model

        device = self.device

        world_size = self.world_size

        verdict = self.verdict

        best_step_seconds: float | None
        best_step_seconds = self.best_step_seconds

        peak_device_bytes: int | None
        peak_device_bytes = self.peak_device_bytes

        labels = self.labels.to_dict()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        pinned = self.pinned

        method_version = self.method_version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "digest": digest,
                "created_at": created_at,
                "model": model,
                "device": device,
                "world_size": world_size,
                "verdict": verdict,
                "best_step_seconds": best_step_seconds,
                "peak_device_bytes": peak_device_bytes,
                "labels": labels,
                "expires_at": expires_at,
                "pinned": pinned,
                "method_version": method_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.plan_summary_labels import PlanSummaryLabels  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        digest = d.pop("digest")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        model = d.pop("model")

        device = d.pop("device")

        world_size = d.pop("world_size")

        verdict = d.pop("verdict")

        def _parse_best_step_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        best_step_seconds = _parse_best_step_seconds(d.pop("best_step_seconds"))

        def _parse_peak_device_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        peak_device_bytes = _parse_peak_device_bytes(d.pop("peak_device_bytes"))

        labels = PlanSummaryLabels.from_dict(d.pop("labels"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        pinned = d.pop("pinned")

        method_version = d.pop("method_version")

        plan_summary = cls(
            id=id,
            digest=digest,
            created_at=created_at,
            model=model,
            device=device,
            world_size=world_size,
            verdict=verdict,
            best_step_seconds=best_step_seconds,
            peak_device_bytes=peak_device_bytes,
            labels=labels,
            expires_at=expires_at,
            pinned=pinned,
            method_version=method_version,
        )

        plan_summary.additional_properties = d
        return plan_summary

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
