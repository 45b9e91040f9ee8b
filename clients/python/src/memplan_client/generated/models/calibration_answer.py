from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.drift_answer import DriftAnswer
    from ..models.factors_answer import FactorsAnswer
    from ..models.fits_answer import FitsAnswer
    from ..models.step_time_answer import StepTimeAnswer


T = TypeVar("T", bound="CalibrationAnswer")


@_attrs_define
class CalibrationAnswer:
    """What the newest runs (at most 200) of a group say.

    Attributes:
        framework (str): Whose way of keeping states the runs have.
        implementation (str): Whose layers they ran.
        device (str): Id of the device that they ran on.
        profile (str): Framework, and the state of it, that the newest run was predicted with.
        newest_at (datetime.datetime): When the newest run was stored (UTC).
        runs (int): Runs that are looked at.
        outdated (int): Runs that the present method has yet to predict; they are not used until then.
        oom (int): Runs that ran out of memory.
        fits (FitsAnswer): Runs that were called `fits`, and how many of them ran out of memory all the same.
        kind (None | str): The kind of bytes that is compared: `device`, `reserved` or `allocated`, in this order where
            there are enough.
        sized (int): Runs that did not run out of memory and have this kind of bytes.
        bias (float | None): Middle of measured over predicted bytes, less 1: above 0 where runs take more. Null without
            any.
        in_use (bool): Whether estimates, verdicts, plans and comparisons use the runs: from five on.
        needed (int): Further runs with bytes of a kind, or out of memory, from which on they are used.
        applied_bias (float): What is added to the itemised bytes, as a share of them: the bias, drawn towards 0 where
            runs are few.
        interval (FactorsAnswer): An interval around device bytes, as factors of the itemised ones.
        shipped (FactorsAnswer): An interval around device bytes, as factors of the itemised ones.
        coverage (float): Share of such runs that the interval claims to hold (0 to 1).
        reached (float | None): Share of the runs that are inside when each is left out (0 to 1); null while they are
            not used.
        outliers (int): Runs far from all others, which are counted as less far than they are.
        drift (DriftAnswer | None): The bias before the method changed; null while all runs were predicted by one
            version.
        step_times (list[StepTimeAnswer]): What timed steps say, for each size of node; empty where fewer than two
            layouts were timed.
    """

    framework: str
    implementation: str
    device: str
    profile: str
    newest_at: datetime.datetime
    runs: int
    outdated: int
    oom: int
    fits: FitsAnswer
    kind: None | str
    sized: int
    bias: float | None
    in_use: bool
    needed: int
    applied_bias: float
    interval: FactorsAnswer
    shipped: FactorsAnswer
    coverage: float
    reached: float | None
    outliers: int
    drift: DriftAnswer | None
    step_times: list[StepTimeAnswer]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.drift_answer import DriftAnswer  # noqa: PLC0415

        framework = self.framework

        implementation = self.implementation

        device = self.device

        profile = self.profile

        newest_at = self.newest_at.isoformat()

        runs = self.runs

        outdated = self.outdated

        oom = self.oom

        fits = self.fits.to_dict()

        kind: None | str
        kind = self.kind

        sized = self.sized

        bias: float | None
        bias = self.bias

        in_use = self.in_use

        needed = self.needed

        applied_bias = self.applied_bias

        interval = self.interval.to_dict()

        shipped = self.shipped.to_dict()

        coverage = self.coverage

        reached: float | None
        reached = self.reached

        outliers = self.outliers

        drift: dict[str, Any] | None
        if isinstance(self.drift, DriftAnswer):
            drift = self.drift.to_dict()
        else:
            drift = self.drift

        step_times = []
        for step_times_item_data in self.step_times:
            step_times_item = step_times_item_data.to_dict()
            step_times.append(step_times_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "framework": framework,
                "implementation": implementation,
                "device": device,
                "profile": profile,
                "newest_at": newest_at,
                "runs": runs,
                "outdated": outdated,
                "oom": oom,
                "fits": fits,
                "kind": kind,
                "sized": sized,
                "bias": bias,
                "in_use": in_use,
                "needed": needed,
                "applied_bias": applied_bias,
                "interval": interval,
                "shipped": shipped,
                "coverage": coverage,
                "reached": reached,
                "outliers": outliers,
                "drift": drift,
                "step_times": step_times,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.drift_answer import DriftAnswer  # noqa: PLC0415
        from ..models.factors_answer import FactorsAnswer  # noqa: PLC0415
        from ..models.fits_answer import FitsAnswer  # noqa: PLC0415
        from ..models.step_time_answer import StepTimeAnswer  # noqa: PLC0415

        d = dict(src_dict)
        framework = d.pop("framework")

        implementation = d.pop("implementation")

        device = d.pop("device")

        profile = d.pop("profile")

        newest_at = datetime.datetime.fromisoformat(d.pop("newest_at"))

        runs = d.pop("runs")

        outdated = d.pop("outdated")

        oom = d.pop("oom")

        fits = FitsAnswer.from_dict(d.pop("fits"))

        def _parse_kind(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        kind = _parse_kind(d.pop("kind"))

        sized = d.pop("sized")

        def _parse_bias(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        bias = _parse_bias(d.pop("bias"))

        in_use = d.pop("in_use")

        needed = d.pop("needed")

        applied_bias = d.pop("applied_bias")

        interval = FactorsAnswer.from_dict(d.pop("interval"))

        shipped = FactorsAnswer.from_dict(d.pop("shipped"))

        coverage = d.pop("coverage")

        def _parse_reached(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        reached = _parse_reached(d.pop("reached"))

        outliers = d.pop("outliers")

        def _parse_drift(data: object) -> DriftAnswer | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                drift_type_0 = DriftAnswer.from_dict(data)

                return drift_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DriftAnswer | None, data)

        drift = _parse_drift(d.pop("drift"))

        step_times = []
        _step_times = d.pop("step_times")
        for step_times_item_data in _step_times:
            step_times_item = StepTimeAnswer.from_dict(step_times_item_data)

            step_times.append(step_times_item)

        calibration_answer = cls(
            framework=framework,
            implementation=implementation,
            device=device,
            profile=profile,
            newest_at=newest_at,
            runs=runs,
            outdated=outdated,
            oom=oom,
            fits=fits,
            kind=kind,
            sized=sized,
            bias=bias,
            in_use=in_use,
            needed=needed,
            applied_bias=applied_bias,
            interval=interval,
            shipped=shipped,
            coverage=coverage,
            reached=reached,
            outliers=outliers,
            drift=drift,
            step_times=step_times,
        )

        calibration_answer.additional_properties = d
        return calibration_answer

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
