"""The schema of a database: its revision, whether this program may use it, and how it is brought up to date."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from service.settings import Settings
from service.store.engine import is_sqlite, migration_engine
from service.store.errors import SchemaBehind, SchemaUnknown, ServerTooOld, StoreError, translated
from service.store.tables import Base

# "memplan" read as a number: what processes that upgrade the same PostgreSQL database agree to lock.
_ADVISORY_LOCK = int.from_bytes(b"memplan")
# An upgrade that cannot get a table's lock gives up, so that it does not make every request queue behind it.
_LOCK_TIMEOUT_SECONDS = 5
OLDEST_POSTGRES: tuple[int, ...] = (15,)
_TURN_TIMEOUT_SECONDS = 60


class State(StrEnum):
    """How a database's schema stands to this program."""

    MISSING = "missing"
    CURRENT = "current"
    BEHIND = "behind"
    UNKNOWN = "unknown"


def alembic_config() -> Config:
    """Return Alembic's configuration: the scripts of the installed package, or of the checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_migrations"
    config = Config()
    config.set_main_option("path_separator", "os")
    scripts = installed if installed.is_dir() else package.parent / "migrations"
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    return config


def head_revision() -> str:
    """Return the revision that this program was written for."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    if head is None:
        raise RuntimeError("this installation of memplan has no migrations")
    return head


def current_revision(settings: Settings) -> str | None:
    """Return the revision of the database, or None when it has no schema. Raises StoreUnavailable and StoreBusy."""
    if _is_missing_file(settings):
        return None
    with migration_connection(settings) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def state(settings: Settings) -> State:
    """Return how the database stands to this program, without changing it. Raises StoreUnavailable and StoreBusy."""
    if _is_missing_file(settings):
        return State.MISSING
    with migration_connection(settings) as connection:
        current = MigrationContext.configure(connection).get_current_revision()
        has_tables = any(name in Base.metadata.tables for name in inspect(connection).get_table_names())
    if current is None:
        return State.UNKNOWN if has_tables else State.MISSING
    if current == head_revision():
        return State.CURRENT
    known = {script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()}
    return State.BEHIND if current in known else State.UNKNOWN


def upgrade(settings: Settings, revision: str = "head") -> None:
    """Create the schema or bring it up to date, all or nothing.

    On PostgreSQL processes may do this at the same time; a new SQLite file must be created by one (`sole_process`).
    Raises SchemaUnknown when the database is not one of ours or is newer, StoreUnavailable and StoreBusy.
    """
    if state(settings) is State.UNKNOWN:
        raise _unknown()
    with migration_connection(settings) as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def ensure_usable(settings: Settings) -> None:
    """Create a missing database, and refuse one that this program was not written for.

    Raises SchemaBehind, SchemaUnknown, StoreUnavailable and StoreBusy.
    """
    match state(settings):
        case State.MISSING:
            upgrade(settings)
        case State.BEHIND:
            raise SchemaBehind("the database was made by an older release; run: memplan db upgrade")
        case State.UNKNOWN:
            raise _unknown()
        case State.CURRENT:
            pass


@contextmanager
def migration_connection(settings: Settings) -> Iterator[Connection]:
    """Open the one transaction in which the schema is looked at or changed, alone among all processes."""
    engine = migration_engine(settings)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                _refuse_old_server(connection)
                connection.execute(text(f"SET LOCAL lock_timeout = '{_TURN_TIMEOUT_SECONDS}s'"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
                connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT_SECONDS}s'"))
            yield connection
            _refuse_orphans(connection)
    except DBAPIError as error:
        known = translated(error)
        if known is None:
            raise
        raise known from error
    finally:
        engine.dispose()


def _refuse_old_server(connection: Connection) -> None:
    found = connection.dialect.server_version_info or ()
    if found < OLDEST_POSTGRES:
        asked, given = (".".join(map(str, each)) for each in (OLDEST_POSTGRES, found))
        raise ServerTooOld(f"the server is PostgreSQL {given}; memplan needs {asked} or newer")


def _refuse_orphans(connection: Connection) -> None:
    # Foreign keys are off while SQLite's schema changes, so what they guard is checked before the commit.
    if connection.dialect.name == "sqlite" and connection.execute(text("PRAGMA foreign_key_check")).first():
        raise StoreError("the upgrade would have left rows without their parent; the database is as it was")


def _is_missing_file(settings: Settings) -> bool:
    # Connecting would create the file.
    if not is_sqlite(settings.database_url):
        return False
    path = make_url(settings.database_url).database
    return path is not None and not Path(path).exists()


def _unknown() -> SchemaUnknown:
    return SchemaUnknown(
        "the database is not one that this release of memplan knows: it was made by a newer release or by another "
        "program; install that release, or name another database in MEMPLAN_DATABASE_URL"
    )
