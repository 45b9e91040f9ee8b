"""Engines for the two databases, set up so that both give a request the same guarantees."""

import json
import sqlite3
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

# How long data that was sent may go unacknowledged; that of the probes above together.
_VANISHED_MILLISECONDS = 25_000

# By how much the answer of a server that works may come later than its own timeout.
_LATE_SECONDS = 2.0

# The execution option by which a session says how its transaction on SQLite shall begin.
BEGIN = "memplan_begin"


def is_sqlite(url: str) -> bool:
    """Whether the URL names a SQLite file."""
    return make_url(url).get_backend_name() == "sqlite"


def service_engine(settings: Settings) -> Engine:
    """Return the engine that answers requests: one connection for each thread, none beyond.

    A request that must wait does so for a thread, where waiting is cheap and fair, not for a connection.
    """
    pool = {
        "pool_size": settings.thread_limit,
        "max_overflow": 0,
        "pool_timeout": settings.busy_timeout_seconds,
    }
    if is_sqlite(settings.database_url):
        return _sqlite(settings, foreign_keys=True, **pool)
    return _postgres(settings, statement_timeout_seconds=settings.statement_timeout_seconds, pool_pre_ping=True, **pool)


def migration_engine(settings: Settings) -> Engine:
    """Return the engine that changes the schema: no statement timeout, and on SQLite no foreign keys.

    With foreign keys on, SQLite deletes the children of every table that a batch migration rewrites.
    """
    if is_sqlite(settings.database_url):
        return _sqlite(settings, foreign_keys=False, poolclass=NullPool)
    return _postgres(settings, statement_timeout_seconds=0, poolclass=NullPool)


def _sqlite(settings: Settings, *, foreign_keys: bool, **options: Any) -> Engine:
    engine = create_engine(settings.database_url, json_serializer=_to_json, **options)

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        # The driver would begin transactions late and deferred; the hook below begins them.
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout = {int(settings.busy_timeout_seconds * 1000)}",
            "journal_mode = WAL",
            f"synchronous = {settings.sqlite_synchronous}",
            f"foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A deferred transaction that reads and then writes fails at once when another has written in between: its
        # snapshot cannot be upgraded, and no timeout applies.
        connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get(BEGIN, 'IMMEDIATE')}")

    return engine


def _postgres(settings: Settings, *, statement_timeout_seconds: float, **options: Any) -> Engine:
    parameters = {
        "statement_timeout": int(statement_timeout_seconds * 1000),
        "lock_timeout": int(settings.busy_timeout_seconds * 1000),
        "timezone": "UTC",
    }
    engine = create_engine(
        settings.database_url,
        isolation_level="READ COMMITTED",
        json_serializer=_to_json,
        connect_args={
            "application_name": "memplan",
            "connect_timeout": max(2, int(settings.busy_timeout_seconds)),
            # A server whose machine or network is gone says nothing; without these a request would wait for hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": _VANISHED_MILLISECONDS,
            "options": " ".join(f"-c {name}={value}" for name, value in parameters.items()),
        },
        **options,
    )
    if statement_timeout_seconds:
        _bound(engine, statement_timeout_seconds + _LATE_SECONDS)
    return engine


def _bound(engine: Engine, seconds: float) -> None:
    """Give up answers that take longer: those of a server that hangs, and whose own timeout does not run."""
    # The driver is there only where PostgreSQL is used.
    connect: Callable[..., DBAPIConnection] = import_module("service.store.patience").patient_connect(seconds)

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, arguments: list[Any], parameters: dict[str, Any]) -> DBAPIConnection:
        return connect(*arguments, **parameters)


# SQLite would store NaN and Infinity, which are not JSON and which PostgreSQL refuses.
_to_json = partial(json.dumps, allow_nan=False, separators=(",", ":"))
