"""A job in a framework's own form: the whole of it, or only what turns one job into another."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from service.catalog.devices import Devices, UnknownDevice, built_in
from service.formats.writers.accelerate import accelerate_sheet
from service.formats.writers.changes import (
    Change,
    directive_changes,
    dotted_changes,
    dotted_flag,
    flag,
    flag_changes,
    option_changes,
    override_changes,
    patch,
)
from service.formats.writers.deepspeed import deepspeed_sheet
from service.formats.writers.megatron import megatron_sheet
from service.formats.writers.nemo import nemo_sheet
from service.formats.writers.sheet import Option, Sheet, nested
from service.formats.writers.slurm import slurm_sheet
from service.formats.writers.torchtitan import torchtitan_sheet
from service.formats.writers.torchtitan_registry import torchtitan_registry_sheet
from service.job.schema import Job

ExportFormat = Literal[
    "megatron", "nemo", "deepspeed", "accelerate", "torchtitan", "torchtitan-cli", "torchtitan-registry", "slurm"
]

_ALLOCATOR = "\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the job runs, as far as a form asks for it; `device` is one of `devices`."""

    gpus_per_node: int = 8
    device: str | None = None
    devices: Devices = field(default_factory=built_in)

    def gres_type(self) -> str:
        """The device in Slurm's own words; nothing where none are known."""
        try:
            kinds = self.devices.find(self.device).labels.gres_types if self.device else ()
        except UnknownDevice:
            kinds = ()
        return kinds[0] if kinds else ""


@dataclass(frozen=True, slots=True)
class Exported:
    """A job in one form. `said` and `unsaid` are JSON Pointers of the values that it says, and has no words for."""

    format: ExportFormat
    media_type: str
    file_name: str
    text: str
    said: frozenset[str]
    unsaid: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    media_type: str
    file_name: str
    sheet: Callable[[Job, Cluster], Sheet]
    render: Callable[[Sequence[Option]], str]
    differences: Callable[[Sequence[Option], Sequence[Option]], list[Change]]


def export_job(job: Job, format_: ExportFormat, cluster: Cluster | None = None) -> Exported:
    """The job in a framework's form. What the form has no words for is named, never dropped in silence."""
    form, where = _FORMS[format_], cluster or Cluster()
    sheet = form.sheet(job, where)
    text, said, unsaid = form.render(sheet.options), sheet.said(), sheet.unsaid()
    if format_ == "slurm":
        text, said, unsaid = _with_launch(job, where, text, sheet)
    return Exported(format_, form.media_type, form.file_name, text, said, unsaid)


def changes_between(before: Job, after: Job, format_: ExportFormat, cluster: Cluster | None = None) -> list[Change]:
    """What to change in a config of the first job to make it one of the second, in its own dialect."""
    form, where = _FORMS[format_], cluster or Cluster()
    return form.differences(form.sheet(before, where).options, form.sheet(after, where).options)


def _with_launch(
    job: Job, cluster: Cluster, directives: str, sheet: Sheet
) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """A batch script: the directives, and the launch of the job's own framework where it has a command line."""
    inner = _LAUNCHES.get(job.framework.name)
    head = f"#!/bin/bash\n{directives}"
    if inner is None or job.world_size is None:
        return head, sheet.said(), sheet.unsaid()
    format_, program = inner
    options = _FORMS[format_].sheet(job, cluster)
    gpus = cluster.gpus_per_node if job.world_size % cluster.gpus_per_node == 0 else job.world_size
    exported = job.kernels.expandable_segments and format_ == "megatron"
    launch = (
        f"{_ALLOCATOR if exported else ''}\nsrun torchrun --nnodes {job.world_size // gpus} --nproc_per_node {gpus} "
        f'--rdzv_backend c10d --rdzv_endpoint "$(scontrol show hostnames | head -n 1):29500" {program}'
    )
    words = _FORMS[format_].render(options.options).splitlines()
    text = head + " \\\n    ".join([launch, *words]) + "\n"
    said = sheet.said() | options.said() | ({"/kernels/expandable_segments"} if exported else set())
    return text, said, tuple(each for each in options.unsaid() if each not in said)


def _flags(options: Sequence[Option]) -> str:
    return "".join(f"{flag(each)}\n" for each in options)


def _yaml(options: Sequence[Option]) -> str:
    return str(yaml.safe_dump(nested(options), sort_keys=False, default_flow_style=False))


def _json(options: Sequence[Option]) -> str:
    return json.dumps(nested(options), indent=2) + "\n"


def _toml(options: Sequence[Option]) -> str:
    tables: dict[str, list[str]] = {}
    for each in options:
        table, _, key = each.key.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {_toml_value(each.value)}")
    return "\n".join(f"[{table}]\n" + "\n".join(lines) + "\n" for table, lines in tables.items())


def _toml_value(value: Any) -> str:
    # TOML's strings, numbers and booleans are JSON's.
    return json.dumps(value)


def _dotted_flags(options: Sequence[Option]) -> str:
    return "".join(f"{dotted_flag(each)}\n" for each in options)


def _directives(options: Sequence[Option]) -> str:
    return "".join(f"#SBATCH --{each.key}={each.value}\n" for each in options)


_FORMS: Mapping[ExportFormat, _Form] = {
    "megatron": _Form("text/plain", "megatron-flags.txt", lambda job, _: megatron_sheet(job), _flags, flag_changes),
    "nemo": _Form(
        "application/yaml", "nemo.yaml", lambda job, at: nemo_sheet(job, at.gpus_per_node), _yaml, override_changes
    ),
    "deepspeed": _Form("application/json", "ds_config.json", lambda job, _: deepspeed_sheet(job), _json, patch),
    "accelerate": _Form(
        "application/yaml",
        "accelerate.yaml",
        lambda job, at: accelerate_sheet(job, at.gpus_per_node),
        _yaml,
        dotted_changes,
    ),
    "torchtitan": _Form(
        "application/toml", "torchtitan.toml", lambda job, _: torchtitan_sheet(job), _toml, dotted_changes
    ),
    "torchtitan-cli": _Form(
        "text/plain", "torchtitan-options.txt", lambda job, _: torchtitan_sheet(job), _dotted_flags, option_changes
    ),
    "torchtitan-registry": _Form(
        "text/plain",
        "torchtitan-registry.txt",
        lambda job, _: torchtitan_registry_sheet(job),
        _dotted_flags,
        option_changes,
    ),
    "slurm": _Form(
        "text/x-shellscript",
        "job.sbatch",
        lambda job, at: slurm_sheet(job, at.gpus_per_node, at.gres_type()),
        _directives,
        directive_changes,
    ),
}
_LAUNCHES: Mapping[str, tuple[ExportFormat, str]] = {
    "megatron-core": ("megatron", "pretrain_gpt.py"),
    "fsdp2": ("torchtitan-cli", "-m torchtitan.train"),
}
MEDIA_TYPES = tuple(dict.fromkeys(form.media_type for form in _FORMS.values()))
"""Every media type that a form has."""
