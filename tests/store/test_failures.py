"""A database that is not there, not ours or gone for a while is reported as such, and used again when it is back."""

from pathlib import Path

import pytest
from sqlalchemy import URL, make_url
from sqlalchemy.exc import DBAPIError

from service.settings import Settings
from service.store import plans
from service.store.errors import StoreUnavailable
from service.store.migration import ensure_usable
from service.store.plans import PlanFilter
from service.store.session import Store
from tests.postgres_server import connect
from tests.store.examples import a_plan


def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but a text of some length\n" * 50)
    settings = Settings(database_url=f"sqlite:///{file}")
    with pytest.raises(StoreUnavailable, match="not a database"):
        ensure_usable(settings)
    with Store(settings) as store, pytest.raises(StoreUnavailable, match="not a database"):
        store.ping()


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'absent' / 'memplan.db'}")
    with pytest.raises(StoreUnavailable, match="unable to open"):
        ensure_usable(settings)


def test_a_server_that_does_not_answer_is_reported() -> None:
    # Port 1 is reserved and nothing listens there.
    settings = Settings(database_url="postgresql://postgres@127.0.0.1:1/memplan")
    with pytest.raises(StoreUnavailable, match="refused"):
        ensure_usable(settings)
    with Store(settings) as store, pytest.raises(StoreUnavailable, match="refused"):
        store.ping()


def test_a_database_that_the_server_does_not_have_is_reported(postgres: URL) -> None:
    url = postgres.set(database="memplan_absent").render_as_string(hide_password=False)
    with pytest.raises(StoreUnavailable, match="does not exist"):
        ensure_usable(Settings(database_url=url))


def test_a_connection_that_broke_is_replaced(postgres_url: str) -> None:
    with Store(Settings(database_url=postgres_url, thread_limit=1)) as store:
        store.ping()
        end_connections(postgres_url)
        store.ping()


def test_a_connection_that_breaks_in_the_middle_is_reported_and_nothing_is_stored(postgres_url: str) -> None:
    def store_twice(store: Store) -> None:
        with store.write() as session:
            plans.create(session, a_plan())
            end_connections(postgres_url)
            plans.create(session, a_plan())

    with Store(Settings(database_url=postgres_url)) as store:
        with pytest.raises(StoreUnavailable):
            store_twice(store)
        with store.read() as session:
            assert plans.list_page(session, PlanFilter(), 10).items == ()


def test_a_mistake_of_the_program_is_not_reported_as_a_failing_database(store: Store) -> None:
    with pytest.raises(DBAPIError, match="no_such_table"), store.read() as session:
        session.connection().exec_driver_sql("SELECT 1 FROM no_such_table")


def end_connections(url: str) -> None:
    with connect(make_url(url)) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
