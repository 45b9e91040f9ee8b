"""Threads in which answers are computed: few, since only one thread computes at a time in Python.

Many of them would take turns of milliseconds at the interpreter, and the event loop would wait for each: with one lane
of short computations a request waits for those before it, and for nothing else. What may take long has a lane of its
own. Waiting for the database costs no computing; it is done in the threads of all other requests.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

from service.job.schema import Job
from service.usecases.imports import Given

SWITCH_SECONDS: Final = 0.001
"""For how long a thread may compute while another wants to; of Python's own 5 ms a verdict beside a search waits 15."""

Lane = CapacityLimiter
"""How many threads of a kind compute at a time."""

Result = TypeVar("Result")

_FEW: Final = 4
"""Answers of a few milliseconds each that make no long computation."""

_BRIEF: Final = 16 * 1024
"""Characters of a config that are read in some ten milliseconds."""

_LONG: Final = 4


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lane of what takes a few milliseconds, and that of what may take more."""

    short: Lane = field(default_factory=lambda: CapacityLimiter(1))
    long: Lane = field(default_factory=lambda: CapacityLimiter(_LONG))

    def of(self, *given: Given, answers: int = 1) -> Lane:
        """Return the lane for so many answers about these jobs and sources."""
        return self.short if answers <= _FEW and all(map(_is_brief, given)) else self.long


async def computed(work: Callable[[], Result], lane: Lane) -> Result:
    """Return what the work returns, which is done in a thread of the lane."""
    return await to_thread.run_sync(work, limiter=lane)


def _is_brief(given: Given) -> bool:
    return isinstance(given, Job) or len(given.text or "") + sum(map(len, given.files.values())) <= _BRIEF
