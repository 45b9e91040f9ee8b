"""What can go wrong in the store, in words the layers above understand."""

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError


class StoreError(Exception):
    """Something the store could not do; the message is fit for the caller."""


class NotFound(StoreError):
    """Nothing is stored under this id."""

    def __init__(self, noun: str, wanted: str) -> None:
        super().__init__(f"no {noun} {wanted}")
        self.noun = noun
        self.wanted = wanted


class InvalidCursor(StoreError):
    """The cursor was not made by this service."""


class StoreBusy(StoreError):
    """The database was in use for too long; the same request may succeed a moment later."""


class StoreUnavailable(StoreError):
    """The database cannot be reached or read."""


class StoreSilent(StoreUnavailable):
    """The database's server takes what is sent and does not answer."""


class StoreInUse(StoreError):
    """Another process serves this SQLite file."""


class ReadOnlySession(StoreError):
    """Something tried to write in a session opened for reading: a mistake in this program."""


class ServerTooOld(StoreError):
    """The PostgreSQL server is older than what memplan is tested with."""


class SchemaBehind(StoreError):
    """The database was made by an older release and must be upgraded first."""


class SchemaUnknown(StoreError):
    """The database was made by a newer release, or by another program."""


# https://www.postgresql.org/docs/current/errcodes-appendix.html
_POSTGRES_BUSY = frozenset({"40001", "40P01", "55P03", "57014"})  # serialisation, deadlock, lock and statement timeout
_POSTGRES_UNAVAILABLE = frozenset(
    {
        *("08000", "08001", "08003", "08004", "08006"),  # no connection
        *("28000", "28P01", "3D000"),  # no such user, password or database
        *("53100", "53200", "53300"),  # disk full, out of memory, too many connections
        *("57P01", "57P02", "57P03", "25006"),  # shutting down, starting up, a standby
    }
)
# https://www.sqlite.org/rescode.html; the low byte of an extended code is the primary one
_SQLITE_BUSY = frozenset({5, 6})
_SQLITE_UNAVAILABLE = frozenset({8, 10, 11, 13, 14, 26})  # read-only, I/O, corrupt, full, cannot open, not a database


def translated(error: DBAPIError | PoolTimeoutError) -> StoreError | None:
    """Return the store's word for a driver's error, or None when the error is a mistake in this program."""
    if isinstance(error, PoolTimeoutError):
        return StoreBusy("all database connections are in use")
    cause = str(error.orig).strip().partition("\n")[0]
    if _is_busy(error):
        return StoreBusy(f"the database is busy: {cause}")
    if type(error.orig).__name__ == "ServerSilent":
        return StoreSilent(f"the database is not available: {cause}")
    if _is_unavailable(error):
        return StoreUnavailable(f"the database is not available: {cause}")
    return None


def _is_busy(error: DBAPIError) -> bool:
    return _sqlite_code(error) in _SQLITE_BUSY or _postgres_state(error) in _POSTGRES_BUSY


def _is_unavailable(error: DBAPIError) -> bool:
    # psycopg gives no state when it never reached the server.
    unreached = isinstance(error, OperationalError) and _sqlite_code(error) is None and _postgres_state(error) is None
    return (
        unreached
        or error.connection_invalidated
        or _sqlite_code(error) in _SQLITE_UNAVAILABLE
        or _postgres_state(error) in _POSTGRES_UNAVAILABLE
    )


def _sqlite_code(error: DBAPIError) -> int | None:
    code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _postgres_state(error: DBAPIError) -> str | None:
    state: str | None = getattr(error.orig, "sqlstate", None)
    return state
