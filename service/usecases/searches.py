"""The search for layouts: a question about a job on a cluster, and its answer. Stores nothing."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.calculator.device import Accelerator
from service.calculator.estimate import METHOD_VERSION
from service.calculator.layout import Layout
from service.calibration.interval import Band, band
from service.calibration.residuals import group_of
from service.job.diagnostics import Diagnostic, Findings, MissingFact
from service.job.digest import digest
from service.job.resolve import InvalidJob, ResolvedModel, job_with_layout, resolve_model
from service.job.schema import Job
from service.planner.grid import space_size
from service.planner.reach import largest_micro_batch, longest_sequence, smallest_world_size
from service.planner.search import Candidate, FrontierPoint, Progress, SearchCancelled, SearchResult, search
from service.planner.space import SearchSpace
from service.usecases.devices import accelerator_of, device_of, knows_links
from service.usecases.errors import IncompleteDevice, SearchTooLarge
from service.usecases.estimates import canonical
from service.usecases.imports import Given, accept, merged
from service.usecases.spaces import Cluster, Limits, opened, space_of

Objective = Literal["step_time"]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """Which layouts of a job fit a cluster."""

    given: Given
    cluster: Cluster
    limits: Limits = Limits()
    objective: Objective = "step_time"
    top: int = 10
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that was understood: `document` is its canonical form, `digest` that of the document."""

    question: Question
    cluster: Cluster
    resolved: ResolvedModel
    accelerator: Accelerator
    space: SearchSpace
    band: Band
    document: Mapping[str, object]
    digest: str
