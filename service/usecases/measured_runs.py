"""Measured runs as people keep them: one JSON object a line, read strictly and reported by line.

A file is data of whoever runs the command: nothing in it is trusted, and a line that cannot be read is an answer, not
a failure.
"""

from dataclasses import dataclass
from typing import Annotated, BinaryIO, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from service.calculator.limits import LARGEST_BYTES, LAYERS
from service.job.schema import Job

MOST_BYTES = 64 << 20
"""Longest file (bytes): more than ten times all the runs that the repository holds."""

MOST_LINE_BYTES = 4 << 20
"""Longest line (bytes): room for a layer pattern and the figures of every stage of a deep pipeline."""

ByteKind = Literal["allocated", "reserved", "device"]
Kind = Literal["allocated", "reserved", "device", "fits", "oom", "activations"]
BYTE_KINDS: tuple[str, ...] = get_args(ByteKind)
LABELS = ("fits", "oom")

_SHOWN_ERRORS = 3

Bytes = Annotated[int, Field(strict=True, ge=1, le=LARGEST_BYTES)]
Stage = Annotated[int, Field(strict=True, ge=0, le=LAYERS)]


class UnreadableRuns(ValueError):
    """A file that holds no measured run, or more than is read."""


class Measurement(BaseModel):
    """What a run measured: bytes of one kind on one stage, or only whether it fitted."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    kind: Kind
    """Which bytes: tensors, caching allocator, device, saved activations; or a label."""
    bytes: Bytes | None = None
    """Bytes measured; null for a label."""
    stage: Stage | None = None
    """Pipeline stage measured; null means the worst one."""
    per_stage: Annotated[list[Bytes | None], Field(min_length=1, max_length=LAYERS)] | None = None
    """Bytes of each stage, in order; null where a stage was not measured."""
    scope: Literal["stage", "layer", "loss"] | None = None
    """What `activations` covers: a stage, one layer of one micro-batch, or the loss."""
    moment: Literal["first_iteration"] | None = None
    """When it was measured: over the first iteration, as Megatron-LM logs it once, or null for steps after it."""

    @property
    def most_bytes(self) -> int | None:
        """Bytes of the run: those given, or the most of any stage; None for a label."""
        return self.bytes or max((each or 0 for each in self.per_stage or ()), default=None)

    @model_validator(mode="after")
    def _bytes_where_they_belong(self) -> "Measurement":
        if self.kind in LABELS and (self.bytes is not None or self.per_stage is not None):
            raise ValueError(f"{self.kind} is a label and has no bytes")
        if self.kind not in LABELS and self.bytes is None and not any(self.per_stage or ()):
            raise ValueError(f"{self.kind} needs bytes")
        if self.kind not in BYTE_KINDS and self.moment is not None:
            raise ValueError(f"{self.kind} is not of one moment")
        if self.kind != "activations" and self.scope not in (None, "stage"):
            raise ValueError(f"{self.kind} is measured on a stage, not on a {self.scope}")
        return self


class MeasuredRun(BaseModel):
    """One line: a job and what it measured. Further keys are the owner's notes and are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    id: Annotated[str, Field(min_length=1, max_length=300)]
    """Name of the run, as answers repeat it."""
    job: Job
    """The canonical job."""
    device: Annotated[str, Field(max_length=100)] | None = None
    """GPU: an id or alias of the catalogue; null when the source does not name it."""
    measured: Measurement
    """What was measured."""
    grade: Literal["A", "B", "C"] | None = None
    """How completely the source describes the run."""
    family: Annotated[str, Field(min_length=1, max_length=100)] = "unnamed"
    """Runs of one origin, which share whatever their source left unsaid."""
    source: Annotated[str, Field(max_length=2000)] = ""
    """Where the figure was published."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no measured run; `id` is the run's own where it has one."""

    line: int
    id: str
    reason: str


Row = TypeVar("Row", bound=BaseModel)


def read_runs(stream: BinaryIO) -> list[MeasuredRun | BadLine]:
    """Every line of a file of measured runs, as `read_rows` reads them."""
    return read_rows(stream, MeasuredRun)


def read_rows(stream: BinaryIO, kind: type[Row]) -> list[Row | BadLine]:
    """Every line of a file as a row of one kind; empty lines are skipped.

    Raises UnreadableRuns when the file is longer than `MOST_BYTES` or no line of it is such a row.
    """
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UnreadableRuns(f"the file is longer than {MOST_BYTES >> 20} MiB")
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    found = [_read(number, line, kind) for number, line in enumerate(lines, start=1) if line.strip()]
    if not any(isinstance(each, kind) for each in found):
        first = found[0] if found else None
        raise UnreadableRuns(first.reason if isinstance(first, BadLine) else "the file is empty")
    return found


class _Named(BaseModel):
    """The one key of a broken line that an answer needs."""

    id: Annotated[str, Field(min_length=1, max_length=300)]


def _read(number: int, line: bytes, kind: type[Row]) -> Row | BadLine:
    if len(line) > MOST_LINE_BYTES:
        reason = f"line {number}: longer than {MOST_LINE_BYTES >> 20} MiB"
        return BadLine(number, f"line {number}", reason)
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        return BadLine(number, _name(number, line), f"line {number}: {_explained(error)}")


def _name(number: int, line: bytes) -> str:
    try:
        return _Named.model_validate_json(line).id
    except ValidationError:
        return f"line {number}"


def _explained(error: ValidationError) -> str:
    """The first problems of a line, each with the place of its value."""
    problems = error.errors(include_url=False, include_input=False)
    shown = [_one(".".join(str(part) for part in each["loc"]), each["msg"]) for each in problems[:_SHOWN_ERRORS]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _one(place: str, message: str) -> str:
    return f"{place}: {message}" if place else message
