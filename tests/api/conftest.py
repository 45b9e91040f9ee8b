"""The service over HTTP: the real application, on SQLite and on PostgreSQL in turn, or on SQLite alone."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from service import logs
from service.api.app import create_app
from service.settings import Settings


@pytest.fixture(scope="session", autouse=True)
def _logs() -> None:
    """The service logs as it does in production, failures only."""
    logs.configure("ERROR", "json")


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    """A client of the service; the test runs once on each kind of database."""
    with TestClient(create_app(settings)) as opened:
        yield opened


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of one service for all tests of a module, for what has nothing to do with the database."""
    path = tmp_path_factory.mktemp("api") / "memplan.db"
    with TestClient(create_app(Settings(database_url=f"sqlite:///{path}"))) as opened:
        yield opened
