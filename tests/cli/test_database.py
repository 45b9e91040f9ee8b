"""`memplan serve` and `memplan db upgrade`: what they do with a database before anything is served."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from service.cli import main
from service.settings import Settings
from service.store import migration
from service.store.migration import State


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What would have been served, instead of serving it."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: calls.append({"app": app, **options}))
    return calls


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    found = f"sqlite:///{tmp_path / 'memplan.db'}"
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", found)
    return found


def test_serve_creates_a_missing_database_and_listens_on_this_machine(url: str, served: list[dict[str, Any]]) -> None:
    assert main(["serve"]) == 0
    assert migration.state(Settings(database_url=url)) is State.CURRENT
    (call,) = served
    assert (call["host"], call["port"]) == ("127.0.0.1", 8000)


def test_serve_takes_host_and_port(url: str, served: list[dict[str, Any]]) -> None:
    assert url
    assert main(["serve", "--host", "::1", "--port", "8080"]) == 0
    assert (served[0]["host"], served[0]["port"]) == ("::1", 8080)


def test_serve_refuses_an_older_database_and_names_the_command(
    url: str, served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert url
    monkeypatch.setattr(migration, "state", lambda _: State.BEHIND)
    assert main(["serve"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("memplan: ")
    assert "memplan db upgrade" in error
    assert served == []


def test_serve_refuses_a_database_of_a_newer_release(
    url: str, served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["db", "upgrade"]) == 0
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    for command in (["serve"], ["db", "upgrade"], ["token", "list"]):
        assert main(command) == 1
        assert "newer release" in capsys.readouterr().err
    assert served == []


def test_upgrade_creates_the_database_and_says_its_revision(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "upgrade"]) == 0
    assert migration.head_revision() in capsys.readouterr().out
    assert migration.state(Settings(database_url=url)) is State.CURRENT
    assert main(["db", "upgrade"]) == 0


@pytest.mark.parametrize("command", [("serve",), ("db", "upgrade")])
def test_settings_that_are_none_are_refused_by_name(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", "mysql://user:secret@host/db")
    assert main(command) == 2
    error = capsys.readouterr().err
    assert error.startswith("memplan: MEMPLAN_DATABASE_URL: ")
    assert "secret" not in error


def test_a_folder_that_is_not_there_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", f"sqlite:///{tmp_path}/nowhere/memplan.db")
    assert main(["serve"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
