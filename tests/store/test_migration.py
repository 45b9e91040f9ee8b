"""The schema is created, upgraded and refused as promised, and an upgrade keeps what is stored."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Inspector, func, inspect, select, table, text

from service.settings import Settings
from service.store import migration, plans
from service.store.errors import SchemaBehind, SchemaUnknown, ServerTooOld, StoreError
from service.store.migration import State
from service.store.session import Store
from service.store.tables import Base
from tests.store.examples import a_plan

# Rows as each revision takes them, in the tables that it made: what every later upgrade must keep.
MOMENT = datetime(2026, 11, 29, 19, tzinfo=UTC)
ROWS = {file.stem: file for file in sorted((Path(__file__).parents[1] / "data" / "rows").glob("*.sql"))}

# What a later release might do to a table that others point at; on SQLite the table is copied and replaced.
LATER = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"


def upgrade():
    with op.batch_alter_table("plans", recreate="{recreate}") as batch:
        batch.add_column(sa.Column("note", sa.Text(), nullable=True))
    {then}


def downgrade():
    with op.batch_alter_table("plans", recreate="{recreate}") as batch:
        batch.drop_column("note")
"""


@pytest.fixture
def empty(empty_database_url: str) -> Settings:
    return Settings(database_url=empty_database_url)


def a_later_release(monkeypatch: pytest.MonkeyPatch, folder: Path, settings: Settings, then: str = "pass") -> None:
    recreate = "always" if settings.database_url.startswith("sqlite") else "auto"
    script = LATER.format(head=migration.head_revision(), recreate=recreate, then=then)
    (folder / "9999_later.py").write_text(script)
    ours = migration.alembic_config()

    def config() -> Config:
        later = Config()
        later.set_main_option("path_separator", "newline")
        later.set_main_option("script_location", ours.get_main_option("script_location") or "")
        later.set_main_option("version_locations", f"{ours.get_main_option('script_location')}/versions\n{folder}")
        return later

    monkeypatch.setattr(migration, "alembic_config", config)


def run(settings: Settings, what: str, *arguments: str) -> None:
    with migration.migration_connection(settings) as connection:
        config = migration.alembic_config()
        config.attributes["connection"] = connection
        getattr(command, what)(config, *arguments)


def rows(settings: Settings, statement: str) -> list[object]:
    with Store(settings) as store, store.read() as session:
        return list(session.execute(text(statement)).scalars())


def store_a_plan(settings: Settings) -> plans.StoredPlan:
    with Store(settings) as store, store.write() as session:
        return plans.create(session, a_plan(labels={"team": "search"}))[0]


def test_a_missing_database_is_created(empty: Settings) -> None:
    assert migration.state(empty) is State.MISSING
    assert migration.current_revision(empty) is None
    migration.ensure_usable(empty)
    assert migration.state(empty) is State.CURRENT
    assert migration.current_revision(empty) == migration.head_revision()
    store_a_plan(empty)


def test_looking_at_a_missing_sqlite_file_does_not_make_it(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'memplan.db'}")
    assert migration.state(settings) is State.MISSING
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_up_to_date_is_left_alone(settings: Settings) -> None:
    made = store_a_plan(settings)
    migration.ensure_usable(settings)
    migration.upgrade(settings)
    assert rows(settings, "SELECT digest FROM plans") == [made.digest]


def test_on_postgresql_processes_that_start_together_create_the_schema_once(empty_postgres_url: str) -> None:
    empty = Settings(database_url=empty_postgres_url)
    together = threading.Barrier(3)

    def start(_: int) -> None:
        together.wait()
        migration.ensure_usable(empty)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(start, range(3)))
    assert migration.state(empty) is State.CURRENT


def test_an_older_database_is_refused_until_it_is_upgraded(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = store_a_plan(settings)
    a_later_release(monkeypatch, tmp_path, settings)
    assert migration.state(settings) is State.BEHIND
    with pytest.raises(SchemaBehind, match="memplan db upgrade"):
        migration.ensure_usable(settings)
    migration.upgrade(settings)
    migration.ensure_usable(settings)
    assert rows(settings, "SELECT digest FROM plans") == [made.digest]


def test_a_newer_database_is_refused_and_left_as_it_is(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as later:
        a_later_release(later, tmp_path, settings)
        migration.upgrade(settings)
    assert migration.state(settings) is State.UNKNOWN
    for use in (migration.ensure_usable, migration.upgrade):
        with pytest.raises(SchemaUnknown, match="newer release"):
            use(settings)
    assert rows(settings, "SELECT version_num FROM alembic_version") == ["9999"]


def test_tables_of_another_program_are_not_taken_over(empty: Settings) -> None:
    with migration.migration_connection(empty) as connection:
        connection.execute(text("CREATE TABLE plans (name TEXT)"))
    assert migration.state(empty) is State.UNKNOWN
    with pytest.raises(SchemaUnknown, match="another program"):
        migration.upgrade(empty)


def test_an_older_postgresql_server_is_refused_by_its_version(
    empty_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "OLDEST_POSTGRES", (99,))
    for use in (migration.ensure_usable, migration.upgrade):
        with pytest.raises(ServerTooOld, match=r"PostgreSQL 1\d.*needs 99 or newer"):
            use(Settings(database_url=empty_postgres_url))


def test_an_upgrade_that_rewrites_a_table_keeps_the_rows_that_point_at_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store_a_plan(settings)
    a_later_release(monkeypatch, tmp_path, settings)
    run(settings, "upgrade", "head")
    assert rows(settings, "SELECT value FROM plan_labels") == ["search"]
    assert_declared_names(settings)
    run(settings, "downgrade", "-1")
    assert rows(settings, "SELECT value FROM plan_labels") == ["search"]
    assert_declared_names(settings)


def test_an_upgrade_that_fails_changes_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store_a_plan(settings)
    before = migration.head_revision()
    a_later_release(monkeypatch, tmp_path, settings, then="raise ArithmeticError('half way')")
    with pytest.raises(ArithmeticError, match="half way"):
        migration.upgrade(settings)
    assert migration.current_revision(settings) == before
    assert "note" not in columns(settings, "plans")
    assert rows(settings, "SELECT value FROM plan_labels") == ["search"]


def test_an_upgrade_that_loses_a_parent_is_undone(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(database_url=sqlite_url)
    store_a_plan(settings)
    a_later_release(monkeypatch, tmp_path, settings, then="op.execute('DELETE FROM plans')")
    with pytest.raises(StoreError, match="without their parent"):
        migration.upgrade(settings)
    assert len(rows(settings, "SELECT digest FROM plans")) == 1


def test_every_step_can_be_undone_and_done_again(settings: Settings) -> None:
    store_a_plan(settings)
    run(settings, "downgrade", "base")
    assert columns(settings, "plans") == set()
    for _ in ScriptDirectory.from_config(migration.alembic_config()).walk_revisions():
        run(settings, "upgrade", "+1")
        run(settings, "downgrade", "-1")
        run(settings, "upgrade", "+1")
    assert migration.state(settings) is State.CURRENT
    store_a_plan(settings)


@pytest.mark.parametrize("revision", ROWS)
def test_every_earlier_database_keeps_its_rows(empty: Settings, revision: str) -> None:
    statements = []
    for made in (each for each in ROWS if each <= revision):
        migration.upgrade(empty, made)
        with migration.migration_connection(empty) as connection:
            for each in ROWS[made].read_text().splitlines():
                connection.exec_driver_sql(each)
                statements.append(each)
    if revision != migration.head_revision():
        assert migration.state(empty) is State.BEHIND
    migration.upgrade(empty)
    found = Counter[str]()
    with migration.migration_connection(empty) as connection:
        for name in Base.metadata.tables:
            found[name] = connection.execute(select(func.count()).select_from(table(name))).scalar_one()
    assert +found == Counter(statement.split()[2] for statement in statements)
    with Store(empty) as store, store.read() as session:
        *_, kept = plans.list_page(session, plans.PlanFilter(labels=[("team", "search")]), 10).items
    assert (kept.digest, kept.labels, kept.created_at) == ("sha256:1", {"team": "search"}, MOMENT)


def test_there_are_rows_for_every_revision() -> None:
    every = ScriptDirectory.from_config(migration.alembic_config()).walk_revisions()
    assert {script.revision for script in every} == set(ROWS)


def test_the_migrations_make_the_tables_that_the_program_declares(settings: Settings) -> None:
    run(settings, "check")


def test_every_rule_and_index_has_the_name_that_the_program_declares(settings: Settings) -> None:
    assert_declared_names(settings)


def assert_declared_names(settings: Settings) -> None:
    with migration.migration_connection(settings) as connection:
        for table in Base.metadata.sorted_tables:
            declared = {str(constraint.name) for constraint in table.constraints if constraint.name}
            declared |= {str(index.name) for index in table.indexes}
            assert names(inspect(connection), table.name) == declared


def test_a_written_migration_does_not_depend_on_the_program(empty: Settings, tmp_path: Path) -> None:
    with migration.migration_connection(empty) as connection:
        config = migration.alembic_config()
        config.set_main_option("version_locations", str(tmp_path))
        config.attributes["connection"] = connection
        command.revision(config, message="everything", autogenerate=True)
    (script,) = tmp_path.glob("*.py")
    written = script.read_text()
    assert "service" not in written
    assert "sa.Column('created_at', sa.DateTime(timezone=True), nullable=False)" in written
    assert "op.f('ck_plans_verdict')" in written
    compile(written, script.name, "exec")


def names(found: Inspector, table: str) -> set[str]:
    """All named things of a table, as the database has them."""
    lists = (
        found.get_check_constraints(table),
        found.get_unique_constraints(table),
        found.get_foreign_keys(table),
        [index for index in found.get_indexes(table) if not index.get("duplicates_constraint")],
        [found.get_pk_constraint(table)],
    )
    return {str(item["name"]) for items in lists for item in items}


def columns(settings: Settings, table: str) -> set[str]:
    with migration.migration_connection(settings) as connection:
        found = inspect(connection)
        return {column["name"] for column in found.get_columns(table)} if found.has_table(table) else set()
