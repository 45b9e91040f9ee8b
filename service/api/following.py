"""Following long work without holding a thread: waiting for a search, and the events of an operation."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from fastapi.concurrency import run_in_threadpool
from fastapi.sse import ServerSentEvent

from service.api.schemas.operation import OperationAnswer
from service.store.errors import StoreBusy, StoreUnavailable
from service.store.operations import StoredOperation
from service.store.session import Store
from service.usecases.operations import get_operation
from service.usecases.search_queue import Made, SearchQueue, Task
from service.usecases.searches import Search

LOOK_SECONDS: Final = 0.5
"""How often an event stream looks whether there is something new."""


class StreamEnded(Exception):
    """The caller has seen the last event of the operation, so there is nothing to send."""


@dataclass(frozen=True, slots=True)
class Followed:
    """An operation whose events are sent, and the version of it that the caller has seen (0: none)."""

    store: Store
    operation: StoredOperation
    seen: int

    async def events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield each change of the operation from now on, the end last; the id of an event is the version."""
        operation, seen = self.operation, self.seen
        while True:
            if operation.version > seen:
                name = "progress" if operation.is_active else operation.state
                yield ServerSentEvent(event=name, id=str(operation.version), data=OperationAnswer.of(operation))
                seen = operation.version
            if not operation.is_active:
                return
            await asyncio.sleep(LOOK_SECONDS)
            # A database that is away for a moment does not end the stream.
            with suppress(StoreBusy, StoreUnavailable):
                operation = await run_in_threadpool(get_operation, self.store, operation.id)


async def searched(
    queue: SearchQueue, asked: Search, wait_seconds: float, claim: UUID | None, caller: str
) -> Made | StoredOperation:
    """Return the plan of a question, or the operation that makes it when that takes longer.

    `claim` is the caller's key. Raises TooManySearches, TooManySearchesOfCaller and ServiceStopping.
    """
    begun = await run_in_threadpool(queue.begin, asked, claim, caller)
    if isinstance(begun, Made):
        return begun
    await _ended(begun, wait_seconds)
    return await run_in_threadpool(queue.settle, begun, claim)


async def _ended(task: Task, seconds: float) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    # asyncio's own wrapper of a future would hand the end of this wait on to the search.
    task.future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
    with suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), seconds)
