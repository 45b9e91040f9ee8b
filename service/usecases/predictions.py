"""What the present method predicts of a run that was observed, on the stage that was measured."""

from datetime import UTC, datetime

from service.calculator.device import Accelerator
from service.calculator.estimate import METHOD_VERSION, Estimate, estimate
from service.calculator.step_time import step_time
from service.catalog.devices import Device
from service.job.resolve import Resolved
from service.store.observations import Measured, Predicted
from service.usecases.devices import accelerator_of, knows_links
from service.usecases.errors import RejectedQuestion
from service.usecases.time_calibration import predictions


class ImplausibleMeasurement(RejectedQuestion):
    """A measurement that cannot be of this run; `field` is the JSON Pointer of what is wrong."""

    def __init__(self, field: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.field = field
        self.fix = fix


def predicted(resolved: Resolved, device: Device, gpus_per_node: int, measured: Measured) -> tuple[Predicted, Estimate]:
    """Return the prediction of what was measured, and the estimate that it is from. Raises ImplausibleMeasurement."""
    accelerator = accelerator_of(device, gpus_per_node)
    _check(measured, device, resolved.layout.pipeline)
    found = estimate(resolved.model, resolved.layout, resolved.recipe, accelerator)
    stages = found.stages if measured.stage is None else [found.stages[measured.stage]]
    # Meters count from the start, so that loading counts too.
    loading = [each.loading for each in stages if each.loading is not None]
    worst = max([*stages, *loading], key=lambda each: each.device_bytes)
    allocated = [*(each.most_bytes("allocated") for each in stages), *(each.allocated_bytes for each in loading)]
    reserved = [*(each.most_bytes("reserved") for each in stages), *(each.reserved_bytes for each in loading)]
    seconds, grid = None, None
    if measured.step_seconds is not None and knows_links(device):
        seconds, grid = _times(resolved, accelerator)
    prediction = Predicted(
        method_version=METHOD_VERSION,
        made_at=datetime.now(UTC),
        stage=worst.stage,
        allocated_bytes=max(allocated),
        reserved_bytes=max(reserved),
        device_bytes=worst.device_bytes,
        step_seconds=seconds,
        step_grid=grid,
    )
    return prediction, found


def _times(resolved: Resolved, accelerator: Accelerator) -> tuple[float, list[float]]:
    time = step_time(resolved.model, resolved.layout, resolved.recipe, accelerator)
    return float(time.step_seconds), predictions(resolved, accelerator).ravel().tolist()


def _check(measured: Measured, device: Device, pipeline: int) -> None:
    if measured.stage is not None and measured.stage >= pipeline:
        raise ImplausibleMeasurement(
            "/measured/stage",
            f"the job has {pipeline} pipeline stages, counted from 0; there is no stage {measured.stage}",
            f"a stage below {pipeline}, or null for the worst one",
        )
    total = device.total_bytes or device.usable_bytes
    for name in ("allocated_bytes", "reserved_bytes", "device_bytes"):
        size = getattr(measured, name)
        if total is not None and size is not None and size > total:
            raise ImplausibleMeasurement(
                f"/measured/{name}",
                f"{size} bytes are more than {device.id} has ({total})",
                "the peak of one GPU in bytes, and the device that the run was on",
            )
