"""Timed runs as people keep them: one JSON object a line, with the speed that was measured."""

from typing import Annotated, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, model_validator

from service.calculator.limits import WORLD_SIZE
from service.job.schema import Job
from service.usecases.measured_runs import BadLine, read_rows

Positive = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]


class Timing(BaseModel):
    """What a run measured; any one of the three, or none where it ran out of memory."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    step_seconds: Positive | None = None
    """Seconds of one optimizer step."""
    tokens_per_second_per_gpu: Positive | None = None
    """Tokens that one GPU of the job trains on in a second."""
    relative_speed: Positive | None = None
    """Speed in a unit of the source's own: it orders runs of its group and says nothing else."""


class TimedRun(BaseModel):
    """One line: a job and how fast it ran. Further keys are the owner's notes and are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    id: Annotated[str, Field(min_length=1, max_length=300)]
    """Name of the run, as answers repeat it."""
    group: Annotated[str, Field(min_length=1, max_length=300)]
    """Runs that are ranked against each other: layouts of one model on the same GPUs."""
    family: Annotated[str, Field(min_length=1, max_length=100)] = "unnamed"
    """Runs of one cluster and software."""
    job: Job
    """The canonical job."""
    device: Annotated[str, Field(min_length=1, max_length=100)]
    """GPU: an id or alias of the catalogue."""
    gpus_per_node: Annotated[int, Field(strict=True, ge=1, le=WORLD_SIZE)] | None = None
    """GPUs of one node; null means the device's usual number."""
    measured: Timing = Timing()
    """What was measured."""
    oom: bool | None = False
    """Whether the run ended out of memory; null where the source does not say."""
    source: Annotated[str, Field(max_length=2000)] = ""
    """Where the figure was published."""

    @property
    def is_timed(self) -> bool:
        """Whether the run has a speed."""
        return any(getattr(self.measured, name) is not None for name in Timing.model_fields)

    @model_validator(mode="after")
    def _timed_or_out_of_memory(self) -> "TimedRun":
        if self.is_timed == bool(self.oom):
            raise ValueError("a run has a speed, or it ran out of memory")
        return self


def read_timed_runs(stream: BinaryIO) -> list[TimedRun | BadLine]:
    """Every line of a file of timed runs; empty lines are skipped.

    Raises UnreadableRuns when the file is too long or no line of it is a timed run.
    """
    return read_rows(stream, TimedRun)
