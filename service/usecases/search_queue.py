"""Searches in a few threads of their own: a bounded queue, joined by those who ask the same, followed as operations."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from uuid import UUID

from service import metrics
from service.logs import logger
from service.planner.search import SearchCancelled
from service.store import operations
from service.store.errors import StoreBusy, StoreError, StoreUnavailable
from service.store.operations import Report, StoredOperation
from service.store.session import Store, WriteSession
from service.usecases import operations as operations_of
from service.usecases.errors import RejectedQuestion
from service.usecases.idempotency import Claims, Ended
from service.usecases.plans import Plan, find_plan, make_plan
from service.usecases.searches import Search

KIND: Final = "plan"

_log = logger(__name__)


class TooManySearches(RejectedQuestion):
    """As many searches wait as may wait."""


class TooManySearchesOfCaller(RejectedQuestion):
    """As many searches of one caller run or wait as may."""


class ServiceStopping(RejectedQuestion):
    """The service is being stopped, and its searches with it."""


@dataclass(frozen=True, slots=True)
class Made:
    """The plan that answers a question, and whether this search made it."""

    plan: Plan
    is_new: bool


@dataclass(eq=False, slots=True)
class Task:
    """One search, from its place in the queue to its end; `claims` are the keys of those who asked for it."""

    asked: Search
    caller: str
    future: "Future[Made]" = field(init=False)
    stop: threading.Event = field(default_factory=threading.Event)
    is_running: bool = False
    done: int = 0
    total: int | None = None
    operation_id: str | None = None
    claims: list[UUID] = field(default_factory=list)


class SearchQueue:
    """The searches of this process: `threads` run at a time, `waiting` more may wait; close it to end them all.

    `per_caller` of one caller may run or wait; None is without limit.
    """

    def __init__(self, store: Store, claims: Claims, threads: int, waiting: int, per_caller: int | None = None) -> None:
        self._store = store
        self._claims = claims
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._most = threads + waiting
        self._most_of_caller = per_caller
        self._tasks: dict[str, Task] = {}
        self._followed: dict[str, Task] = {}
        self._turn = threading.Lock()
        self._is_closed = False

    def begin(self, asked: Search, claim: UUID | None = None, caller: str = "") -> "Task | Made":
        """Return the plan that answers the question already, or the search that will; `claim` is the caller's key.

        A search that another has begun counts as the other's. Raises TooManySearches, TooManySearchesOfCaller and
        ServiceStopping.
        """
        stored = find_plan(self._store, asked.digest)
        if stored is not None:
            return Made(stored, is_new=False)
        claims = [] if claim is None else [claim]
        with self._turn:
            if self._is_closed:
                raise ServiceStopping("the service is being stopped")
            same = self._tasks.get(asked.digest)
            if same is not None and not same.stop.is_set():
                same.claims.extend(claims)
                return same
            if len(self._tasks) >= self._most:
                raise TooManySearches(f"{len(self._tasks)} searches run or wait, as many as may")
            own = sum(each.caller == caller for each in self._tasks.values())
            if self._most_of_caller is not None and own >= self._most_of_caller:
                raise TooManySearchesOfCaller(f"{own} searches of this caller run or wait, as many as may")
            task = self._tasks[asked.digest] = Task(asked, caller, claims=claims)
            # With the context of the request, so that the search's log has its id.
            task.future = self._threads.submit(copy_context().run, self._work, task)
        # Outside the turn: the end of a search takes its turn, and may come before this line.
        task.future.add_done_callback(lambda _: self._ended(task))
        return task

    def settle(self, task: Task, claim: UUID | None = None) -> Made | StoredOperation:
        """Return what a search has made, or the operation by which it can be followed from now on.

        Raises what the search ended in, and ServiceStopping.
        """
        operation_id = self._follow(task, claim)
        if task.future.done() and not _is_cancelled(task):
            return task.future.result()
        if operation_id is None or (self._is_closed and task.future.done()):
            raise ServiceStopping("the service was stopped before the search had ended")
        return operations_of.get_operation(self._store, operation_id)

    def cancel(self, operation_id: str) -> StoredOperation:
        """End the search of an operation: at once while it waits, else between two blocks; also another process's.

        Raises NotFound, and OperationFinished when it has ended in another way.
        """
        found = operations_of.request_cancel(self._store, operation_id)
        with self._turn:
            task = self._followed.get(operation_id)
        if task is None:
            return found
        _stop(task)
        return operations_of.get_operation(self._store, operation_id)

    def numbers(self) -> tuple[int, int]:
        """How many searches run, and how many wait."""
        with self._turn:
            running = sum(task.is_running for task in self._tasks.values())
            return running, len(self._tasks) - running

    def report(self) -> None:
        """Store how far the followed searches are, and end those whose end was asked for elsewhere."""
        with self._turn:
            followed = list(self._followed.values())
        for task in followed:
            self._try_to_write(task)

    def close(self) -> None:
        """End every search, and store that it was ended."""
        with self._turn:
            self._is_closed = True
            tasks = list(self._tasks.values())
        for task in tasks:
            task.stop.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _work(self, task: Task) -> Made:
        task.is_running = True

        def progress(done: int, total: int) -> None:
            task.done, task.total = done, total

        def keep_ends(session: WriteSession, plan_id: str, is_new: bool) -> None:
            for claim in task.claims:
                self._claims.settle(claim, Ended("created" if is_new else "found", plan_id), session)

        made = Made(*make_plan(self._store, task.asked, progress, task.stop.is_set, keep_ends))
        answer = made.plan.answer
        metrics.count_search(answer.searched, answer.elapsed_seconds)
        _log.info(
            "plan made" if made.is_new else "plan found",
            plan=made.plan.summary.id,
            operation=task.operation_id,
            layouts=answer.searched,
            seconds=answer.elapsed_seconds,
        )
        return made

    def _follow(self, task: Task, claim: UUID | None) -> str | None:
        """Store an operation for a search that has not ended; return its id, or None when it ended without one."""
        with self._turn:
            if task.operation_id is None and not task.future.done():
                with self._store.write() as session:
                    operation_id = operations.create(session, KIND, task.asked.digest, self._report(task))
                    if claim is not None:
                        self._claims.settle(claim, Ended("begun", operation_id), session)
                task.operation_id = operation_id
                self._followed[operation_id] = task
            return task.operation_id

    def _ended(self, task: Task) -> None:
        with self._turn:
            if self._tasks.get(task.asked.digest) is task:
                del self._tasks[task.asked.digest]
        if task.operation_id is not None:
            error = None if _is_cancelled(task) else task.future.exception()
            if error is not None:
                _log.error("search failed", operation=task.operation_id, exc_info=error)
            self._try_to_write(task)

    def _try_to_write(self, task: Task) -> None:
        # What cannot be stored now is stored by the next report.
        try:
            self._write(task, task.operation_id or "")
        except StoreError as error:
            _log.warning("operation could not be reported", operation=task.operation_id, error=str(error))

    def _write(self, task: Task, operation_id: str) -> None:
        with self._store.write() as session:
            found = operations.report(session, operation_id, self._report(task))
        if not found.is_active:
            self._followed.pop(operation_id, None)
        if found.cancel_requested or not found.is_active:
            _stop(task)

    def _report(self, task: Task) -> Report:
        report = partial(Report, done=task.done, total=task.total)
        if not task.future.done():
            return report(state="running" if task.is_running else "waiting")
        if _is_cancelled(task):
            if not self._is_closed:
                return report(state="cancelled")
            detail = "The service was stopped; send the question again."
            return report(state="cancelled", error_code="service_stopping", error_detail=detail)
        error = task.future.exception()
        if error is not None:
            code, detail = _explained(error)
            return report(state="failed", error_code=code, error_detail=detail)
        return report(state="succeeded", result=task.future.result().plan.summary.id)


def _is_cancelled(task: Task) -> bool:
    return task.future.cancelled() or isinstance(task.future.exception(timeout=0), SearchCancelled)


def _stop(task: Task) -> None:
    task.stop.set()
    task.future.cancel()


def _explained(error: BaseException) -> tuple[str, str]:
    """The code and the sentence that a failed search is reported with."""
    match error:
        case StoreBusy():
            return "store_busy", str(error)
        case StoreUnavailable():
            return "store_unavailable", str(error)
        case _:
            return "internal_error", "An error that this service did not foresee; its log has it under the operation."
