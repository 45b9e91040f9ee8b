"""Databases for the tests: each test that asks for one gets its own, on SQLite and on PostgreSQL in turn."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import hypothesis
import pytest
from sqlalchemy import URL

from service.settings import Settings
from service.store.migration import upgrade
from service.store.session import Store
from tests.postgres_server import REQUIRED, NoServer, connect, give_up, postgres_server


def pytest_configure() -> None:
    # The tests say what is set; a variable of the shell that runs them must not.
    for name in [name for name in os.environ if name.startswith("MEMPLAN_") and name != REQUIRED]:
        del os.environ[name]
    # A shared machine may stall anywhere, and the same examples must pass or fail on each run.
    hypothesis.settings.register_profile("memplan", deadline=None, derandomize=True, print_blob=True)
    hypothesis.settings.load_profile("memplan")


@pytest.fixture(scope="session")
def postgres() -> Iterator[URL]:
    """A PostgreSQL server; without one the test is skipped, or fails where one is required."""
    try:
        with postgres_server() as url:
            yield url
    except NoServer as reason:
        give_up(reason)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and no rows, to be copied."""
    path = tmp_path_factory.mktemp("template") / "memplan.db"
    upgrade(Settings(database_url=f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: URL) -> Iterator[str]:
    """The name of a PostgreSQL database with the schema and no rows, to be copied."""
    with _database(postgres, "template0") as url:
        upgrade(_settings(url))
        assert url.database is not None
        yield url.database


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a SQLite file with the schema and no rows."""
    shutil.copy(sqlite_template, tmp_path / "memplan.db")
    return f"sqlite:///{tmp_path / 'memplan.db'}"


@pytest.fixture
def postgres_url(postgres: URL, postgres_template: str) -> Iterator[str]:
    """The URL of a PostgreSQL database with the schema and no rows."""
    with _database(postgres, postgres_template) as url:
        yield _text(url)


@pytest.fixture(scope="module")
def shared_postgres_url(postgres: URL, postgres_template: str) -> Iterator[str]:
    """The URL of a PostgreSQL database with the schema, for all tests of a module."""
    with _database(postgres, postgres_template) as url:
        yield _text(url)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database with the schema and no rows; the test runs once on each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that is not there."""
    return f"sqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture
def empty_postgres_url(postgres: URL) -> Iterator[str]:
    """The URL of a PostgreSQL database without a schema."""
    with _database(postgres, "template0") as url:
        yield _text(url)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database without a schema; the test runs once on each kind."""
    url: str = request.getfixturevalue(f"empty_{request.param}_url")
    return url


@pytest.fixture
def settings(database_url: str) -> Settings:
    """Settings on a database with the schema and no rows; the test runs once on each kind."""
    return Settings(database_url=database_url)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """A store without plans; the test runs once on each kind of database."""
    with Store(settings) as opened:
        yield opened


@contextmanager
def _database(server: URL, template: str) -> Iterator[URL]:
    name = f"memplan_test_{uuid4().hex}"
    with connect(server) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            yield server.set(database=name)
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _settings(url: URL) -> Settings:
    return Settings(database_url=_text(url))


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)
