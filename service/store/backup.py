"""A copy of a SQLite database, taken while it is served."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import make_url

from service.settings import Settings
from service.store.engine import is_sqlite
from service.store.errors import StoreError, StoreUnavailable


class NotCopied(StoreError):
    """The database was not copied; the message says why."""


def backup(settings: Settings, target: Path) -> None:
    """Write the whole database, as of one moment, into a new file. Raises NotCopied and StoreUnavailable.

    The file is there whole or not at all. Requests are served meanwhile: a reader keeps no writer waiting.
    """
    if not is_sqlite(settings.database_url):
        raise NotCopied("this copies SQLite; of a PostgreSQL database pg_dump makes a copy: see docs/operations.md")
    source = Path(make_url(settings.database_url).database or "")
    if not source.exists():
        raise StoreUnavailable(f"there is no database {source}")
    if target.exists():
        raise NotCopied(f"{target} exists already; name a new file")
    part = target.with_name(f"{target.name}.part")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(f"file:{source}?mode=rw", uri=True, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", (str(part),))
        _check(part)
        _to_disk(part)
        # A link fails where a rename would replace what another has made meanwhile.
        os.link(part, target)
        _to_disk(target.parent)
    except FileExistsError:
        raise NotCopied(f"{target} exists already; name a new file") from None
    except (sqlite3.Error, OSError) as error:
        raise StoreUnavailable(f"the database could not be copied: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _check(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as connection:
        (found,) = connection.execute("PRAGMA integrity_check").fetchone()
    if found != "ok":
        raise NotCopied(f"the copy is damaged, and so may be the database: {found}")


def _to_disk(path: Path) -> None:
    # SQLite does not wait for the disk here (https://www.sqlite.org/lang_vacuum.html).
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
