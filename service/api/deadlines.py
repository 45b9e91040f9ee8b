"""How long a caller will wait for an answer, and what is done until then."""

import re
import time
from collections.abc import Callable
from typing import Annotated, Final

import anyio
from anyio import to_thread
from fastapi import Depends, Header, Query
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from starlette.requests import Request

from service.api.durations import LONGEST_WAIT, Duration
from service.api.lanes import Lane

DEFAULT_SECONDS: Final = 10.0
"""The time of a caller who names none: that of a Kubernetes API server's webhooks."""

SHARE: Final = 0.9
"""Share of its time after which a caller gets what there is; the rest is for the way back."""

Timeout = Annotated[
    Duration | SkipJsonSchema[None],
    Query(alias="timeout", description="How long the caller waits, as in 2s or 500ms (default 10s).", examples=["2s"]),
]
# Beside the union, the bounds would not be those of a JSON Schema.
Milliseconds = Annotated[int, Field(ge=0, le=2**31)]
DeadlineMs = Annotated[
    Milliseconds | SkipJsonSchema[None],
    Header(
        alias="X-Deadline-Ms",
        description="How long the caller waits (milliseconds); with `timeout` as well, the smaller counts.",
        examples=[2000],
    ),
]


# As a Kubernetes API server writes it.
_USUAL = re.compile(rb"timeout=(\d{1,6})(m?)s")


class Deadline:
    """The moment at which a caller is answered, whatever is ready."""

    def __init__(self, began: float, seconds: float) -> None:
        self._at = began + min(seconds, LONGEST_WAIT) * SHARE

    def is_over(self) -> bool:
        """Whether it is time to answer."""
        return time.perf_counter() >= self._at

    async def run(self, work: Callable[[Callable[[], bool]], None], lane: Lane) -> None:
        """Do work in a thread of a lane, but be back at the deadline; the work learns from its argument when to stop.

        Nothing is begun when it is over.
        """
        with anyio.move_on_after(max(self._at - time.perf_counter(), 0)):
            await to_thread.run_sync(work, self.is_over, abandon_on_cancel=True, limiter=lane)


async def _deadline(request: Request, seconds: Timeout = None, milliseconds: DeadlineMs = None) -> Deadline:
    given = [seconds, None if milliseconds is None else milliseconds / 1000]
    return Deadline(request.state.began, min((each for each in given if each is not None), default=DEFAULT_SECONDS))


def usual_deadline(request: Request) -> Deadline | None:
    """Return the deadline of a request that states none, or a usual one alone; None where its form must be checked."""
    query, header = request.scope["query_string"], request.headers.getlist("x-deadline-ms")
    if not query and not header:
        return Deadline(request.state.began, DEFAULT_SECONDS)
    timeout = None if header else _USUAL.fullmatch(query)
    if timeout is not None:
        return Deadline(request.state.began, int(timeout[1]) * (0.001 if timeout[2] else 1.0))
    return None


DeadlineOf = Annotated[Deadline, Depends(_deadline)]
