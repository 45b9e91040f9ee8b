"""Backups: a copy is whole and of one moment, is made while the database is written, and serves when it is restored."""

import os
import shutil
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import make_url

from service.cli import main
from service.settings import Settings
from service.store import backup, migration, plans
from service.store.backup import NotCopied
from service.store.errors import StoreUnavailable
from service.store.session import Store
from service.store.single_process import sole_process
from tests.postgres_server import connect
from tests.store.examples import a_plan


def stored(settings: Settings) -> list[tuple[str, dict[str, str]]]:
    with Store(settings) as store, store.read() as session:
        found = plans.list_page(session, plans.PlanFilter(), 1000)
    return [(each.digest, dict(each.labels)) for each in found.items]


def fill(store: Store, first: int, last: int) -> None:
    for number in range(first, last):
        with store.write() as session:
            plans.create(session, a_plan(digest=f"sha256:{number}", labels={"number": str(number)}))


def test_a_copy_is_of_one_moment_though_plans_are_stored_meanwhile(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(database_url=sqlite_url)
    copy = tmp_path / "copy.db"
    stop = threading.Event()

    def write(store: Store) -> None:
        number = 100
        while not stop.is_set():
            fill(store, number, number + 1)
            number += 1

    with sole_process(settings), Store(settings) as store:
        fill(store, 0, 50)
        writer = threading.Thread(target=write, args=(store,))
        writer.start()
        try:
            backup.backup(settings, copy)
        finally:
            stop.set()
            writer.join()
    restored = Settings(database_url=f"sqlite:///{copy}")
    migration.ensure_usable(restored)
    found = stored(restored)
    numbers = sorted(int(labels["number"]) for _, labels in found)
    assert numbers[:50] == list(range(50))
    # Nothing is missing in between: what was stored first is there first.
    assert numbers[50:] == list(range(100, 100 + len(numbers) - 50))
    assert len(numbers) <= len(stored(settings))
    assert [each.name for each in tmp_path.iterdir() if "part" in each.name] == []


def test_a_file_that_is_there_is_not_overwritten(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    with pytest.raises(NotCopied, match="exists already"):
        backup.backup(Settings(database_url=sqlite_url), target)
    assert target.read_text() == "precious"


def test_what_cannot_be_copied_says_why_and_leaves_nothing(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no database"):
        backup.backup(Settings(database_url=f"sqlite:///{tmp_path}/none.db"), tmp_path / "copy.db")
    with pytest.raises(StoreUnavailable, match="could not be copied"):
        backup.backup(Settings(database_url=sqlite_url), tmp_path / "nowhere" / "copy.db")
    with pytest.raises(NotCopied, match="pg_dump"):
        backup.backup(Settings(database_url="postgresql://somewhere/memplan"), tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
    assert not (tmp_path / "none.db").exists()


def test_the_command_copies_and_says_how_much(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", sqlite_url)
    assert main(["db", "backup", str(tmp_path / "copy.db")]) == 0
    assert "bytes" in capsys.readouterr().out
    assert main(["db", "backup", str(tmp_path / "copy.db")]) == 1
    assert "exists already" in capsys.readouterr().err


def test_the_command_forgets_at_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=database_url)
    with Store(settings) as store, store.write() as session:
        plans.create(session, a_plan(expires_at=datetime(2026, 1, 1, tzinfo=UTC)))
    monkeypatch.setenv("MEMPLAN_DATABASE_URL", database_url)
    assert main(["db", "purge"]) == 0
    assert capsys.readouterr().out == "forgotten: 1 plans\n"
    assert main(["db", "purge"]) == 0
    assert capsys.readouterr().out == "forgotten: nothing\n"


@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="pg_dump is not installed")
def test_a_postgresql_dump_is_restored_as_the_manual_says(postgres_url: str, tmp_path: Path) -> None:
    settings = Settings(database_url=postgres_url)
    with Store(settings) as store:
        fill(store, 0, 20)
    url = make_url(postgres_url).set(drivername="postgresql")
    dump = tmp_path / "memplan.dump"
    run("pg_dump", "--format=custom", f"--file={dump}", url.render_as_string(hide_password=False))
    restored = url.set(database=f"memplan_test_{uuid4().hex}")
    server = url.set(database="postgres")
    with connect(server) as connection:
        connection.execute(f'CREATE DATABASE "{restored.database}" TEMPLATE template0')
        try:
            target = restored.render_as_string(hide_password=False)
            run("pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", f"--dbname={target}", str(dump))
            copied = Settings(database_url=target)
            migration.ensure_usable(copied)
            assert stored(copied) == stored(settings)
        finally:
            connection.execute(f'DROP DATABASE "{restored.database}" WITH (FORCE)')


def run(*words: str) -> None:
    done = subprocess.run(words, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
