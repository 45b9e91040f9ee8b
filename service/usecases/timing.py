"""Timed runs beside predicted step times: each row, and each family or group of rows."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from service.calculator.device import Accelerator
from service.calculator.step_time import step_time
from service.calibration.timing import Errors, Ranking, Timed, errors, ranking, without_stalled
from service.job.resolve import InvalidJob, Resolved, resolve
from service.usecases.devices import accelerator_of, device_of, knows_links
from service.usecases.errors import NoSuchDevice
from service.usecases.measured_runs import BadLine
from service.usecases.timed_runs import TimedRun

UNREAD = "unreadable"

AXES: Mapping[str, Callable[[TimedRun], str]] = MappingProxyType(
    {
        "family": lambda run: run.family,
        "group": lambda run: run.group,
        "framework": lambda run: run.job.framework.name,
        "device": lambda run: run.device,
        "source": lambda run: run.source or "not named",
    }
)
"""What rows can be grouped by."""


@dataclass(frozen=True, slots=True)
class TimedJob:
    """A run whose step time can be predicted: its job resolved, on its GPUs."""

    run: TimedRun
    resolved: Resolved
    accelerator: Accelerator


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """One row: its prediction beside its measurement, or why it was skipped; a run out of memory has no `timed`."""

    id: str
    run: TimedRun | None = None
    predicted_step_seconds: float | None = None
    timed: Timed | None = None
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """Rows that share a value; `stalled` runs are left out of both figures."""

    name: str
    rows: int
    skipped: int
    stalled: int
    errors: Errors | None
    ranking: Ranking | None


class Untimed(ValueError):
    """A run whose step time cannot be predicted; the message says why."""


def compare_times(rows: Iterable[TimedRun | BadLine]) -> list[TimeComparison]:
    """Every row beside its prediction, in order; what cannot be predicted says why."""
    return [TimeComparison(row.id, skipped=row.reason) if isinstance(row, BadLine) else _compared(row) for row in rows]


def timed_job(run: TimedRun) -> TimedJob:
    """The job of a run, on its GPUs. Raises Untimed."""
    try:
        device = device_of(run.device, "/device")
        resolved = resolve(run.job)
    except (InvalidJob, NoSuchDevice) as error:
        raise Untimed(str(error)) from None
    if not knows_links(device):
        raise Untimed(f"the catalogue has no link bandwidths of {device.id}")
    return TimedJob(run, resolved, accelerator_of(device, run.gpus_per_node))


def timed(run: TimedRun, step_seconds: float, tokens_per_second_per_gpu: float) -> Timed | None:
    """A prediction beside what the run measured; None for a run out of memory."""
    measured = run.measured
    tokens = step_seconds * tokens_per_second_per_gpu
    seconds, speed = measured.step_seconds, measured.tokens_per_second_per_gpu
    if seconds is None and speed is not None:
        seconds = tokens / speed
    if speed is None and seconds is not None:
        speed = tokens / seconds
    shown = speed or measured.relative_speed
    if shown is None:
        return None
    return Timed(run.group, tokens_per_second_per_gpu, shown, step_seconds, seconds)


def grouped_times(found: Sequence[TimeComparison], by: str) -> list[TimeGroup]:
    """The rows by one of `AXES`, the largest group first."""
    members: dict[str, list[TimeComparison]] = defaultdict(list)
    for each in found:
        members[UNREAD if each.run is None else AXES[by](each.run)].append(each)
    groups = [time_summary(name, rows) for name, rows in members.items()]
    return sorted(groups, key=lambda group: (-group.rows, group.name))


def time_summary(name: str, found: Sequence[TimeComparison]) -> TimeGroup:
    """All of the rows as one group."""
    every = [each.timed for each in found if each.timed is not None]
    kept = without_stalled(every)
    return TimeGroup(
        name=name,
        rows=len(found),
        skipped=sum(each.skipped is not None for each in found),
        stalled=len(every) - len(kept),
        errors=errors(kept),
        ranking=ranking(kept),
    )


def skipped_times(found: Sequence[TimeComparison]) -> list[tuple[str, int]]:
    """Why rows were skipped, the most frequent reason first."""
    return Counter(each.skipped for each in found if each.skipped is not None).most_common()


def _compared(run: TimedRun) -> TimeComparison:
    try:
        job = timed_job(run)
        time = step_time(job.resolved.model, job.resolved.layout, job.resolved.recipe, job.accelerator)
    except ValueError as reason:
        return TimeComparison(run.id, run, skipped=str(reason))
    seconds, speed = float(time.step_seconds), float(time.tokens_per_second_per_gpu)
    return TimeComparison(run.id, run, seconds, timed(run, seconds, speed))
