"""What callers ask about: a job, a config file as it is, or a source with all that belongs to it."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memplan_client.generated.models.config_source import ConfigSource
from memplan_client.generated.models.job import Job

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A training config in the form its owner has it: a launch script, a config file, a manifest.

    `files` are further files that the text names, `env` and `argv` what a script runs with; `model` and `world_size`
    complete or override what the text says.
    """

    text: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    argv: Sequence[str] = ()
    model: Mapping[str, Any] | None = None
    world_size: int | None = None
    format: str = "auto"

    @classmethod
    def read(cls, path: str | os.PathLike[str], beside: Iterable[str | os.PathLike[str]] = (), **more: Any) -> "Source":
        """Return the source that is in a file, with further files `beside` it. Raises OSError, UnicodeDecodeError."""
        files = {Path(each).name: _text(each) for each in beside}
        return cls(text=_text(path), files=files, **more)

    def to_dict(self) -> Document:
        """Return the source as the service takes it."""
        given: Document = {"format": self.format, "text": self.text, "files": dict(self.files), "env": dict(self.env)}
        given["argv"] = list(self.argv)
        given["model"] = None if self.model is None else dict(self.model)
        given["world_size"] = self.world_size
        return given


@dataclass(frozen=True, slots=True)
class Target:
    """GPUs that a job is to run on; without `world_size` as many as the job says."""

    device: str
    world_size: int | None = None

    def to_dict(self) -> Document:
        """Return the target as the service takes it."""
        return {"device": self.device, "world_size": self.world_size}


Given = Mapping[str, Any] | Job | ConfigSource | Source | str | os.PathLike[str]
"""A job (as in JSON, or as the class), a source, or the path of a file with either."""

Place = Target | str
"""A target, or the id of a device."""


def question(given: Given) -> Document:
    """Return the job or the source, under the key that the service takes it by. Raises OSError for an unread file."""
    if isinstance(given, Job):
        return {"job": given.to_dict()}
    if isinstance(given, Source | ConfigSource):
        return {"source": given.to_dict()}
    if isinstance(given, Mapping):
        return dict(given) if given.keys() in ({"job"}, {"source"}) else {"job": dict(given)}
    return _read(given)


def target(place: Place) -> Document:
    """Return a target as the service takes it."""
    return (Target(place) if isinstance(place, str) else place).to_dict()


def _read(path: str | os.PathLike[str]) -> Document:
    if "\n" in os.fspath(path):
        raise ValueError("this is a text, not the path of a file: give it as Source(text=…)")
    text = _text(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and {"model", "framework"} <= document.keys():
        return {"job": document}
    return {"source": Source(text=text).to_dict()}


def _text(path: str | os.PathLike[str]) -> str:
    return Path(path).read_text("utf-8-sig")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run measured on one GPU: peaks in bytes as torch and the driver report them, or that memory ran out.

    `stage` is the pipeline rank of that GPU, None: the most of any. `source` is `torch`, `nvidia-smi` or `scheduler`.
    """

    allocated_bytes: int | None = None
    reserved_bytes: int | None = None
    device_bytes: int | None = None
    oom: bool | None = None
    step_seconds: float | None = None
    stage: int | None = None
    source: str = "torch"

    def to_dict(self) -> Document:
        """Return the measurement as the service takes it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a stored plan's candidate: `Run("slurm-4711", plan="pln_…")`; or of a job on a device.

    `id` is the caller's name of the run: a run has one observation.
    """

    id: str
    plan: str | None = None
    candidate: int = 0
    job_or_file: Given | None = None
    device: str | None = None
    gpus_per_node: int | None = None

    def to_dict(self) -> Document:
        """Return what the service takes beside the measurement. Raises OSError for an unread file."""
        about: Document = {} if self.job_or_file is None else question(self.job_or_file)
        if self.plan is not None:
            about |= {"plan": self.plan, "candidate": self.candidate}
        return {"run_id": self.id, **about, "device": self.device, "gpus_per_node": self.gpus_per_node}
