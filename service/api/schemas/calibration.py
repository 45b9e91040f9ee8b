"""What the observed runs of each group say."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from service.api.paging import StrictQuery
from service.api.schemas.base import Answer, Count, Fraction
from service.api.schemas.plan_query import Name
from service.calibration.interval import Band
from service.calibration.observed import FEWEST
from service.usecases.calibrations import Calibration, Cluster, Drift

_BIAS = Field(gt=-1, examples=[0.041])
Factor = Annotated[float, Field(ge=0)]


class CalibrationQuery(StrictQuery):
    """Which groups are shown."""

    framework: Name | SkipJsonSchema[None] = Field(
        None, description="Only groups of this framework.", examples=["megatron-core"]
    )
    device: Name | SkipJsonSchema[None] = Field(
        None, description="Only groups of this device, by its id.", examples=["h100-sxm-80gb"]
    )

    def shows(self, found: Calibration) -> bool:
        """Whether a group is shown."""
        return self.framework in (None, found.group.framework) and self.device in (None, found.group.device)


class FactorsAnswer(Answer):
    """An interval around device bytes, as factors of the itemised ones."""

    low: Factor = Field(examples=[0.951])
    """Lower end over the itemised bytes; `less_bytes` are taken off."""
    high: Factor = Field(examples=[1.083])
    """Upper end over the itemised bytes; `more_bytes` are added."""
    less_bytes: Count = Field(examples=[209715200])
    """What the driver may take less (bytes), where runs report no device bytes."""
    more_bytes: Count = Field(examples=[524288000])
    """What the driver may take more (bytes), where runs report no device bytes."""

    @classmethod
    def of(cls, band: Band) -> Self:
        """Return the wire form of what makes intervals."""
        return cls(low=band.low, high=band.high, less_bytes=band.less_bytes, more_bytes=band.more_bytes)


class FitsAnswer(Answer):
    """Runs that were called `fits`, and how many of them ran out of memory all the same."""

    runs: Count = Field(examples=[23])
    """Runs called `fits` of which it is known how they ended."""
    oom: Count = Field(examples=[1])
    """How many of them ran out of memory."""
    share: Fraction | None = Field(examples=[0.043])
    """Share of wrong `fits` (0 to 1); null without a run."""


class DriftAnswer(Answer):
    """The bias of the same runs before and after the method changed."""

    method_version: str = Field(examples=["1"])
    """The version before."""
    runs: Count = Field(examples=[23])
    """Runs that both versions have looked at."""
    before: float = _BIAS
    """Bias by the version before."""
    now: float = _BIAS
    """Bias by the present version."""

    @classmethod
    def of(cls, found: Drift) -> Self:
        """Return the wire form of a drift."""
        return cls(
            method_version=found.method_version,
            runs=found.runs,
            before=round(found.before, 4),
            now=round(found.now, 4),
        )


class StepTimeAnswer(Answer):
    """What timed steps say of a cluster."""

    gpus_per_node: int = Field(ge=1, examples=[8])
    """GPUs of one node."""
    steps: Count = Field(examples=[6])
    """Timed steps that are used."""
    layouts: Count = Field(examples=[3])
    """Different layouts among them; one alone is not used."""
    scale: float = Field(gt=0, examples=[1.08])
    """Factor on every step time."""
    link: float = Field(gt=0, examples=[0.9])
    """Factor on the bandwidth of links inside a node."""
    product: float = Field(gt=0, examples=[1.0])
    """Factor on the rate of matrix products."""

    @classmethod
    def of(cls, found: Cluster) -> Self:
        """Return the wire form of a cluster's step times."""
        tuning = found.fitted.tuning
        return cls(
            gpus_per_node=found.gpus_per_node,
            steps=found.fitted.steps,
            layouts=found.fitted.layouts,
            scale=round(tuning.scale, 4),
            link=round(tuning.link, 4),
            product=round(tuning.product, 4),
        )


class CalibrationAnswer(Answer):
    """What the newest runs (at most 200) of a group say."""

    framework: str = Field(examples=["megatron-core"])
    """Whose way of keeping states the runs have."""
    implementation: str = Field(examples=["transformer_engine"])
    """Whose layers they ran."""
    device: str = Field(examples=["h100-sxm-80gb"])
    """Id of the device that they ran on."""
    profile: str = Field(examples=["megatron-core d98e8a64 (2026-08-22)"])
    """Framework, and the state of it, that the newest run was predicted with."""
    newest_at: datetime = Field(examples=["2026-11-29T19:00:00Z"])
    """When the newest run was stored (UTC)."""
    runs: Count = Field(examples=[24])
    """Runs that are looked at."""
    outdated: Count = Field(examples=[0])
    """Runs that the present method has yet to predict; they are not used until then."""
    oom: Count = Field(examples=[1])
    """Runs that ran out of memory."""
    fits: FitsAnswer
    """How often `fits` was wrong."""
    kind: str | None = Field(examples=["reserved"])
    """The kind of bytes that is compared: `device`, `reserved` or `allocated`, in this order where there are enough."""
    sized: Count = Field(examples=[23])
    """Runs that did not run out of memory and have this kind of bytes."""
    bias: float | None = _BIAS
    """Middle of measured over predicted bytes, less 1: above 0 where runs take more. Null without any."""
    in_use: bool = Field(examples=[True])
    """Whether estimates, verdicts, plans and comparisons use the runs: from five on."""
    needed: Count = Field(examples=[0])
    """Further runs with bytes of a kind, or out of memory, from which on they are used."""
    applied_bias: float = _BIAS
    """What is added to the itemised bytes, as a share of them: the bias, drawn towards 0 where runs are few."""
    interval: FactorsAnswer
    """The interval around the device bytes of jobs like the newest run."""
    shipped: FactorsAnswer
    """The same without observed runs."""
    coverage: Fraction = Field(examples=[0.9])
    """Share of such runs that the interval claims to hold (0 to 1)."""
    reached: Fraction | None = Field(examples=[0.957])
    """Share of the runs that are inside when each is left out (0 to 1); null while they are not used."""
    outliers: Count = Field(examples=[0])
    """Runs far from all others, which are counted as less far than they are."""
    drift: DriftAnswer | None
    """The bias before the method changed; null while all runs were predicted by one version."""
    step_times: list[StepTimeAnswer]
    """What timed steps say, for each size of node; empty where fewer than two layouts were timed."""

    @classmethod
    def of(cls, found: Calibration) -> Self:
        """Return the wire form of a group."""
        judged = found.judged
        wrong = FitsAnswer(runs=found.called_fits, oom=found.wrong_fits, share=_share(found))
        return cls(
            framework=found.group.framework,
            implementation=found.group.implementation,
            device=found.group.device,
            profile=found.profile,
            newest_at=found.newest_at,
            runs=found.runs,
            outdated=found.outdated,
            oom=found.ooms,
            fits=wrong,
            kind=found.kind,
            sized=found.sized,
            bias=None if found.bias is None else round(found.bias, 4),
            in_use=judged is not None,
            needed=0 if judged is not None else max(FEWEST - found.sized - found.ooms, 1),
            applied_bias=round(found.band.center - 1, 4),
            interval=FactorsAnswer.of(found.band),
            shipped=FactorsAnswer.of(found.shipped),
            coverage=found.band.coverage,
            reached=None if judged is None else found.band.reached,
            outliers=0 if judged is None else judged.pooled.outliers,
            drift=None if found.drift is None else DriftAnswer.of(found.drift),
            step_times=[StepTimeAnswer.of(each) for each in found.clusters],
        )


class CalibrationList(Answer):
    """Every group that has been observed, by framework, implementation and device."""

    items: list[CalibrationAnswer]
    """The groups."""


def _share(found: Calibration) -> float | None:
    return round(found.wrong_fits / found.called_fits, 4) if found.called_fits else None
