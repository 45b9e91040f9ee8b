"""A change to a job, or another target, with which it fits; and the numbers that all verdicts have."""

from typing import Any, Self

from pydantic import Field

from service.api.schemas.base import Answer, Bytes, SignedBytes
from service.calculator.units import MIB, ceil_div
from service.usecases.alternatives import Alternative
from service.usecases.targets import Need

REASON = Field(max_length=120, examples=["stage 0 needs 95.1 GiB, usable 79.1 GiB; short by 16.0 GiB"])
_MIB: dict[str, Any] = {"format": "int64"}


class Numbers(Answer):
    """Bytes of the worst stage, and what there is for them."""

    peak_bytes: Bytes | None = Field(examples=[102120030208])
    """What `nvidia-smi` would show at the worst moment of the worst stage (bytes), as observed runs lead one to expect
    it where there are enough; else the itemised sum."""
    peak_mib: int | None = Field(ge=0, json_schema_extra=_MIB, examples=[97390])
    """The same in MiB, rounded up."""
    stage: int | None = Field(ge=0, examples=[0])
    """Pipeline rank that needs most memory."""
    usable_bytes: Bytes | None = Field(examples=[84932978278])
    """Memory that a process can use on the device (bytes); null where no figure is known."""
    margin_bytes: SignedBytes | None = Field(examples=[-17187051930])
    """Usable memory less the peak (bytes); below 0 when the job does not fit."""
    low_bytes: Bytes | None = Field(examples=[98035229000])
    """Lower end of the interval around the peak (bytes)."""
    high_bytes: Bytes | None = Field(examples=[106204831417])
    """Upper end of the interval around the peak (bytes)."""


def numbers(need: Need | None) -> dict[str, Any]:
    """Return the fields of `Numbers`."""
    if need is None:
        return dict.fromkeys(Numbers.model_fields)
    usable, peak = need.usable_bytes, need.expected_bytes
    return {
        "peak_bytes": peak,
        "peak_mib": ceil_div(peak, MIB),
        "stage": need.stage,
        "usable_bytes": usable,
        "margin_bytes": None if usable is None else usable - peak,
        "low_bytes": need.low_bytes,
        "high_bytes": need.high_bytes,
    }


class AlternativeAnswer(Numbers):
    """A change to the job, or another target, with which it fits."""

    verdict: str = Field(examples=["fits"])
    """The verdict there."""
    reason: str = REASON
    """The verdict in one sentence, for people."""
    device: str = Field(examples=["h200-sxm-141gb"])
    """Id of the device."""
    world_size: int | None = Field(examples=[64])
    """Number of GPUs."""
    change: str = Field(examples=["--recompute-granularity full --recompute-method uniform"])
    """What is to be changed: in the dialect of the caller's config where it can be said there, else in the job's own
    keys; or another number or kind of GPUs."""
    changes: dict[str, Any] = Field(examples=[{"/batch/micro": 1}])
    """New values of the job by JSON Pointer, null: left out; empty for another target. The data-parallel degree and the
    micro-batches of a step follow from them."""
    saved_bytes: SignedBytes | None = Field(examples=[17179869184])
    """What the worst GPU holds less by a change to the job (bytes); null for another target."""
    step_ratio: float | None = Field(examples=[1.12])
    """Step time after a change to the job over the one before; null for another target."""

    @classmethod
    def of(cls, found: Alternative) -> Self:
        """Return the wire form of an alternative."""
        target = found.target
        return cls(
            verdict=found.need.verdict,
            reason=found.need.reason,
            device=target.device,
            world_size=target.world_size,
            change=found.text,
            changes=dict(found.changes),
            saved_bytes=found.saved_bytes,
            step_ratio=found.step_ratio,
            **numbers(found.need),
        )
