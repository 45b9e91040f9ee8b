"""What an estimate says about a device's memory, as findings: what is too much, too near, or too much for a moment.

The codes are those of `docs/formats.md`, section "Findings of an estimate".
"""

from collections.abc import Iterator, Mapping

from service.calculator.estimate import Estimate
from service.calculator.ledger import LOADING, Moment
from service.calculator.units import GIB
from service.calibration.interval import Interval
from service.catalog.devices import Device
from service.job.diagnostics import Diagnostic
from service.planner.verdict import SAFE_PERCENT

LARGEST = 3
"""Categories of lines that are named where a job does not fit."""

HOST_MEMORY = "host_memory"
_LOADED = {
    Moment.INITIALIZATION: ("load_peak", "building the model"),
    Moment.CHECKPOINT_RESUME: ("resume_peak", "loading a checkpoint"),
}


def estimate_findings(found: Estimate, around: Interval, device: Device) -> Iterator[Diagnostic]:
    """Yield what the peak, the moments before the first step and offload mean on a device."""
    peak = found.peak
    if device.usable_bytes is not None:
        categories: dict[str, int] = {}
        for line in found.stages[peak.stage].ledger_at(peak.moment):
            name = line.tensor.category.value
            categories[name] = categories.get(name, 0) + int(line.bytes)
        yield from peak_findings(peak.stage, around.expected_bytes, around.high_bytes, device, categories)
    yield from _loading(found, device)
    if found.host_bytes_per_node:
        message = f"what is offloaded needs {_gib(found.host_bytes_per_node)} GiB of host memory on the fullest node"
        rule = "a job's request of host memory covers what it offloads, beside the process and its data"
        fields = ("/optimizer/offload", "/optimizer/parameter_offload", "/checkpointing/offload")
        yield Diagnostic(HOST_MEMORY, "info", message, fields, str(found.host_bytes_per_node), rule)


def peak_findings(
    stage: int, expected_bytes: int, high_bytes: int, device: Device, categories: Mapping[str, int] | None = None
) -> Iterator[Diagnostic]:
    """Yield that a peak does not fit a device, with its largest lines, or that its margin is not proven."""
    usable = device.usable_bytes
    if usable is None:
        return
    if expected_bytes > usable:
        largest = sorted((categories or {}).items(), key=lambda each: -each[1])[:LARGEST]
        named = f"; largest lines: {', '.join(f'{name} {_gib(size)}' for name, size in largest)}" if largest else ""
        message = (
            f"stage {stage} needs {_gib(expected_bytes)} GiB, usable {_gib(usable)} GiB; short by "
            f"{_gib(expected_bytes - usable)} GiB{named}"
        )
        yield Diagnostic(
            "does_not_fit", "warning", message, (), str(expected_bytes), "the peak is at most the usable memory"
        )
    elif high_bytes > usable:
        margin, uncertainty = usable - expected_bytes, high_bytes - expected_bytes
        below = f"is below the model's uncertainty of {_gib(uncertainty)} GiB"
        message = f"margin {_gib(margin)} GiB {below}: treat as not proven"
        rule = "the upper end of the interval is at most the usable memory"
        yield Diagnostic("fits_tight", "warning", message, (), str(margin), rule)
    elif device.total_bytes is not None and expected_bytes * 100 > device.total_bytes * SAFE_PERCENT:
        message = f"{_gib(expected_bytes)} GiB are above {SAFE_PERCENT} % of the GPU, where measured runs slow down"
        rule = f"the peak is at most {SAFE_PERCENT} % of what the driver shows"
        yield Diagnostic("fits_tight", "warning", message, (), str(expected_bytes), rule)


def _loading(found: Estimate, device: Device) -> Iterator[Diagnostic]:
    """Moments before the first step that need more than any step does."""
    step = max(each.device_bytes for each in found.stages)
    for moment in LOADING:
        code, what = _LOADED[moment]
        most = max(each.moments.get(moment, 0) for each in found.stages)
        if most <= step:
            continue
        usable = device.usable_bytes
        beyond = usable is not None and step <= usable < most
        message = (
            f"{'the steady state fits, ' if beyond else ''}{what} needs {_gib(most - step)} GiB more than any step"
        )
        rule = "what is loaded fits before the first step"
        yield Diagnostic(code, "warning" if beyond else "info", message, (), str(most), rule)


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f}"
