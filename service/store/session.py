"""Sessions: one kind that reads and one that writes, each a transaction that ends with its `with` block."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import ORMExecuteState, Session, UOWTransaction

from service import metrics
from service.settings import Settings
from service.store.engine import BEGIN, is_sqlite, service_engine
from service.store.errors import ReadOnlySession, StoreBusy, translated
from service.store.silence import Silence


class ReadSession(Session):
    """A session that looks at the database and refuses to change it."""


class WriteSession(Session):
    """A session whose changes are committed when its block ends without an error."""


class Store:
    """The database as the use cases see it; one per process, shared by all threads."""

    def __init__(self, settings: Settings) -> None:
        self._engine = service_engine(settings)
        self._busy_timeout_seconds = settings.busy_timeout_seconds
        self._readers = self._engine.execution_options(**{BEGIN: "DEFERRED"})
        self._writers = self._engine.execution_options(**{BEGIN: "IMMEDIATE"})
        # SQLite has one writer at a time. Waiting inside SQLite sleeps in growing steps, waiting here does not:
        # measured, the slowest of a hundred writers waited 1.0 s there and 0.1 s here.
        self._turn = threading.Lock() if is_sqlite(settings.database_url) else None
        self._silence = Silence(settings.busy_timeout_seconds)

    @property
    def is_sole(self) -> bool:
        """Whether this process is the only one that uses the database, as on SQLite."""
        return self._turn is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[ReadSession]:
        """Open a session for reading. Raises StoreBusy and StoreUnavailable."""
        with (
            self._silence.broken(),
            _driver_errors_translated(),
            ReadSession(self._readers, expire_on_commit=False) as session,
        ):
            yield session

    @contextmanager
    def write(self) -> Iterator[WriteSession]:
        """Open a session for writing, and commit when the block ends; nothing is stored when it raises.

        What the block returns to a caller is true only after the block: build no answer inside that leaves before
        the commit. Raises StoreBusy and StoreUnavailable.
        """
        began = time.perf_counter()
        with (
            self._silence.broken(),
            _driver_errors_translated(),
            self._one_at_a_time(),
            WriteSession(self._writers, expire_on_commit=False) as session,
            session.begin(),
        ):
            # The transaction begins here and not with the first statement, so that all waiting for it is over.
            session.connection()
            metrics.count_database_wait(time.perf_counter() - began)
            yield session

    def ping(self) -> None:
        """Ask the database for a sign of life. Raises StoreBusy and StoreUnavailable."""
        with self.read() as session:
            session.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        if self._turn is None:
            yield
            return
        if not self._turn.acquire(timeout=self._busy_timeout_seconds):
            raise StoreBusy(f"another request has been writing for {self._busy_timeout_seconds:g} s")
        try:
            yield
        finally:
            self._turn.release()


@contextmanager
def _driver_errors_translated() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, PoolTimeoutError) as error:
        known = translated(error)
        if known is None:
            raise
        raise known from error


@event.listens_for(ReadSession, "before_flush")
def _refuse_flush(_session: Session, _context: UOWTransaction, _instances: Any) -> None:
    raise ReadOnlySession("a session opened with read() cannot store anything")


@event.listens_for(ReadSession, "do_orm_execute")
def _refuse_statement(state: ORMExecuteState) -> None:
    if state.is_insert or state.is_update or state.is_delete:
        raise ReadOnlySession("a session opened with read() cannot change anything")
