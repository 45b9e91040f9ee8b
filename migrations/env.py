"""Alembic's entry: runs the migrations in the connection it is handed, or in the one that the settings name."""

from typing import Any, Literal

import sqlalchemy as sa
from alembic import context
from alembic.autogenerate.api import AutogenContext

from service.settings import Settings
from service.store.migration import migration_connection
from service.store.tables import Base
from service.store.types import UtcDateTime


def render_item(kind: str, item: Any, _autogen: AutogenContext) -> str | Literal[False]:
    """Write our own column types as plain ones: a migration must not change when the program does."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


def run(connection: sa.Connection) -> None:
    """Run the migrations that Alembic was asked for in this connection's transaction."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        # True on SQLite as well, because our connections begin their transactions themselves.
        transactional_ddl=True,
        compare_server_default=True,
        render_item=render_item,
    )
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    raise SystemExit("migrations run on a database; SQL scripts are not made")
if "connection" in context.config.attributes:
    run(context.config.attributes["connection"])
else:
    with migration_connection(Settings()) as own_connection:
        run(own_connection)
