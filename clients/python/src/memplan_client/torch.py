"""Tell memplan what a training run measured: peaks of `torch.cuda` at its end, or that it ran out of memory.

torch is imported when a run is observed, not with this module.
"""

import logging
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

from memplan_client.client import Client
from memplan_client.failures import MemplanError
from memplan_client.questions import Measured, Run

WARM_UP_STEPS: Final = 3
"""Steps that are not timed: compilation, and buffers that are made on first use."""
FEWEST_STEPS: Final = 3
"""Timed steps without which no step time is told."""

_log = logging.getLogger(__name__)


class Steps:
    """The times of a run's optimizer steps; `done` is called at the end of each."""

    def __init__(self) -> None:
        self._ends: list[float] = []

    def done(self) -> None:
        """Say that an optimizer step has ended."""
        self._ends.append(time.perf_counter())

    @property
    def seconds(self) -> float | None:
        """Median time of a step after the warm-up (seconds); None for too few steps."""
        ends = self._ends[WARM_UP_STEPS - 1 :]
        times = [later - earlier for earlier, later in pairwise(ends)]
        return statistics.median(times) if len(times) >= FEWEST_STEPS else None


@contextmanager
def observed(client: Client, run: Run, *, stage: int | None = None, reporting_rank: int = 0) -> Iterator[Steps]:
    """Observe a training run in this process, and tell the service what it measured on the current GPU.

    `stage` is the pipeline rank of this process. At the end the process whose RANK is `reporting_rank` tells the
    peaks; a process that runs out of GPU memory tells that, whatever its rank. A run that fails otherwise is not
    told, for its peak may be too low. Nothing of this makes a training fail: what goes wrong is logged.
    """
    torch = import_module("torch")
    torch.cuda.reset_peak_memory_stats()
    steps = Steps()
    try:
        yield steps
    except torch.cuda.OutOfMemoryError:
        _tell(client, run, _measured(torch, steps, stage, oom=True))
        raise
    if int(os.environ.get("RANK", reporting_rank)) == reporting_rank:
        _tell(client, run, _measured(torch, steps, stage, oom=False))


def _measured(torch: Any, steps: Steps, stage: int | None, *, oom: bool) -> Measured:
    cuda = torch.cuda
    reserved = cuda.max_memory_reserved()
    return Measured(
        allocated_bytes=cuda.max_memory_allocated() or None,
        reserved_bytes=reserved or None,
        device_bytes=_on_device(cuda, reserved),
        oom=oom,
        step_seconds=steps.seconds,
        stage=stage,
    )


def _on_device(cuda: Any, most_reserved: int) -> int | None:
    """What the driver shows now, if that is the peak: when the allocator has given nothing back."""
    if cuda.memory_reserved() < most_reserved:
        return None
    free, total = cuda.mem_get_info()
    shown: int = total - free
    return shown if shown >= most_reserved > 0 else None


def _tell(client: Client, run: Run, measured: Measured) -> None:
    try:
        stored = client.observe(run, measured)
    except (MemplanError, OSError, ValueError) as error:
        _log.warning("memplan was not told of run %s: %s", run.id, error)
    else:
        _log.info("memplan was told of run %s: observation %s", run.id, stored.id)
