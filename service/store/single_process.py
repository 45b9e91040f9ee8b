"""One process per SQLite file: a second one would not see the first one's turn taking."""

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import make_url

from service.settings import Settings
from service.store.engine import is_sqlite
from service.store.errors import StoreInUse, StoreUnavailable


@contextmanager
def sole_process(settings: Settings) -> Iterator[None]:
    """Hold the SQLite file for this process; on PostgreSQL do nothing.

    The lock is on a file beside the database and ends with the process, however that ends. Raises StoreInUse when
    another process holds it, StoreUnavailable when the folder is not there or not writable.
    """
    database = make_url(settings.database_url).database
    if not is_sqlite(settings.database_url) or database is None:
        yield
        return
    with ExitStack() as stack:
        try:
            lock = stack.enter_context(Path(f"{database}.lock").open("a"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreInUse(
                f"another process serves {database}; SQLite takes one process, PostgreSQL takes many"
            ) from None
        except OSError as error:
            raise StoreUnavailable(f"the database is not available: {error}") from error
        yield
