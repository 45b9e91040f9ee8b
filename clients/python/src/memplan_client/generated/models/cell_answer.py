from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.diagnostic_answer import DiagnosticAnswer
    from ..models.missing import Missing
    from ..models.observations_answer import ObservationsAnswer
    from ..models.verdict_method import VerdictMethod


T = TypeVar("T", bound="CellAnswer")


@_attrs_define
class CellAnswer:
    """One side on one target: a verdict, and how fast it would be.

    Attributes:
        peak_bytes (int | None): What `nvidia-smi` would show at the worst moment of the worst stage (bytes), as
            observed runs lead one to expect
            it where there are enough; else the itemised sum.
        peak_mib (int | None): The same in MiB, rounded up.
        stage (int | None): Pipeline rank that needs most memory.
        usable_bytes (int | None): Memory that a process can use on the device (bytes); null where no figure is known.
        margin_bytes (int | None): Usable memory less the peak (bytes); below 0 when the job does not fit.
        low_bytes (int | None): Lower end of the interval around the peak (bytes).
        high_bytes (int | None): Upper end of the interval around the peak (bytes).
        device (str): Id of the device; what was asked for when there is no such device.
        world_size (int | None): Number of GPUs; null when nothing states it.
        verdict (str): `fits`, `tight`, `does_not_fit` or `unknown`: this set never grows. `unknown` when the job is
            incomplete or
            invalid, the device or its memory is not known, or the answer was not ready in time.
        reason (str): The verdict in one sentence of at most 120 characters, for people.
        missing (list[Missing]): Facts that the job does not state; with them an answer can be given.
        diagnostics (list[DiagnosticAnswer]): Rules that the job breaks, and whether its peak does not fit or its margin
            is not proven.
        observations (None | ObservationsAnswer): The observed runs that the verdict is made with; null where there are
            too few, and where it was asked for without
            them.
        digest (None | str): SHA-256 of the canonical job, the device and the method, as in an estimate; null when there
            is no such job.
        method (VerdictMethod): What made a verdict.
        side (int): Which side, from 0: the plans first, then the items.
        target (int): Which target, from 0; 0 for a plan on its own cluster.
        step_seconds (float | None): Time of an optimizer step (seconds); null where it cannot be computed.
        gpu_hours (float | None): GPU-hours for a billion tokens; null where they cannot be computed.
    """

    peak_bytes: int | None
    peak_mib: int | None
    stage: int | None
    usable_bytes: int | None
    margin_bytes: int | None
    low_bytes: int | None
    high_bytes: int | None
    device: str
    world_size: int | None
    verdict: str
    reason: str
    missing: list[Missing]
    diagnostics: list[DiagnosticAnswer]
    observations: None | ObservationsAnswer
    digest: None | str
    method: VerdictMethod
    side: int
    target: int
    step_seconds: float | None
    gpu_hours: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.observations_answer import ObservationsAnswer  # noqa: PLC0415

        peak_bytes: int | None
        peak_bytes = self.peak_bytes

        peak_mib: int | None
        peak_mib = self.peak_mib

        stage: int | None
        stage = self.stage

        usable_bytes: int | None
        usable_bytes = self.usable_bytes

        margin_bytes: int | None
        margin_bytes = self.margin_bytes

        low_bytes: int | None
        low_bytes = self.low_bytes

        high_bytes: int | None
        high_bytes = self.high_bytes

        device = self.device

        world_size: int | None
        world_size = self.world_size

        verdict = self.verdict

        reason = self.reason

        missing = []
        for missing_item_data in self.missing:
            missing_item = missing_item_data.to_dict()
            missing.append(missing_item)

        diagnostics = []
        for diagnostics_item_data in self.diagnostics:
            diagnostics_item = diagnostics_item_data.to_dict()
            diagnostics.append(diagnostics_item)

        observations: dict[str, Any] | None
        if isinstance(self.observations, ObservationsAnswer):
            observations = self.observations.to_dict()
        else:
            observations = self.observations

        digest: None | str
        digest = self.digest

        method = self.method.to_dict()

        side = self.side

        target = self.target

        step_seconds: float | None
        step_seconds = self.step_seconds

        gpu_hours: float | None
        gpu_hours = self.gpu_hours

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "peak_bytes": peak_bytes,
                "peak_mib": peak_mib,
                "stage": stage,
                "usable_bytes": usable_bytes,
                "margin_bytes": margin_bytes,
                "low_bytes": low_bytes,
                "high_bytes": high_bytes,
                "device": device,
                "world_size": world_size,
                "verdict": verdict,
                "reason": reason,
                "missing": missing,
                "diagnostics": diagnostics,
                "observations": observations,
                "digest": digest,
                "method": method,
                "side": side,
                "target": target,
                "step_seconds": step_seconds,
                "gpu_hours": gpu_hours,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.diagnostic_answer import DiagnosticAnswer  # noqa: PLC0415
        from ..models.missing import Missing  # noqa: PLC0415
        from ..models.observations_answer import ObservationsAnswer  # noqa: PLC0415
        from ..models.verdict_method import VerdictMethod  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_peak_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        peak_bytes = _parse_peak_bytes(d.pop("peak_bytes"))

        def _parse_peak_mib(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        peak_mib = _parse_peak_mib(d.pop("peak_mib"))

        def _parse_stage(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stage = _parse_stage(d.pop("stage"))

        def _parse_usable_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        usable_bytes = _parse_usable_bytes(d.pop("usable_bytes"))

        def _parse_margin_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        margin_bytes = _parse_margin_bytes(d.pop("margin_bytes"))

        def _parse_low_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        low_bytes = _parse_low_bytes(d.pop("low_bytes"))

        def _parse_high_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        high_bytes = _parse_high_bytes(d.pop("high_bytes"))

        device = d.pop("device")

        def _parse_world_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        world_size = _parse_world_size(d.pop("world_size"))

        verdict = d.pop("verdict")

        reason = d.pop("reason")

        missing = []
        _missing = d.pop("missing")
        for missing_item_data in _missing:
            missing_item = Missing.from_dict(missing_item_data)

            missing.append(missing_item)

        diagnostics = []
        _diagnostics = d.pop("diagnostics")
        for diagnostics_item_data in _diagnostics:
            diagnostics_item = DiagnosticAnswer.from_dict(diagnostics_item_data)

            diagnostics.append(diagnostics_item)

        def _parse_observations(data: object) -> None | ObservationsAnswer:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                observations_type_0 = ObservationsAnswer.from_dict(data)

                return observations_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ObservationsAnswer, data)

        observations = _parse_observations(d.pop("observations"))

        def _parse_digest(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        digest = _parse_digest(d.pop("digest"))

        method = VerdictMethod.from_dict(d.pop("method"))

        side = d.pop("side")

        target = d.pop("target")

        def _parse_step_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        step_seconds = _parse_step_seconds(d.pop("step_seconds"))

        def _parse_gpu_hours(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        gpu_hours = _parse_gpu_hours(d.pop("gpu_hours"))

        cell_answer = cls(
            peak_bytes=peak_bytes,
            peak_mib=peak_mib,
            stage=stage,
            usable_bytes=usable_bytes,
            margin_bytes=margin_bytes,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
            device=device,
            world_size=world_size,
            verdict=verdict,
            reason=reason,
            missing=missing,
            diagnostics=diagnostics,
            observations=observations,
            digest=digest,
            method=method,
            side=side,
            target=target,
            step_seconds=step_seconds,
            gpu_hours=gpu_hours,
        )

        cell_answer.additional_properties = d
        return cell_answer

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
