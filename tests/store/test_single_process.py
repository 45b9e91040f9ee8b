"""A SQLite file belongs to one process at a time; a PostgreSQL database to any number."""

import subprocess
import sys
from pathlib import Path

import pytest

from service.settings import Settings
from service.store.errors import StoreInUse, StoreUnavailable
from service.store.single_process import sole_process

TAKE_IT = """
import sys
from service.settings import Settings
from service.store.single_process import sole_process
with sole_process(Settings(database_url=sys.argv[1])):
    print("mine")
"""


def other_process(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", TAKE_IT, url], capture_output=True, text=True, check=False)


def test_a_second_process_is_refused_while_the_first_one_runs(sqlite_url: str) -> None:
    with sole_process(Settings(database_url=sqlite_url)):
        refused = other_process(sqlite_url)
        assert refused.returncode != 0
        assert "StoreInUse: another process serves" in refused.stderr
    assert other_process(sqlite_url).stdout == "mine\n"


def test_the_same_process_cannot_take_it_twice_either(sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url)
    with sole_process(settings), pytest.raises(StoreInUse), sole_process(settings):
        pass


def test_postgresql_takes_many() -> None:
    settings = Settings(database_url="postgresql://postgres@127.0.0.1/memplan")
    with sole_process(settings), sole_process(settings):
        pass


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'absent' / 'memplan.db'}")
    with pytest.raises(StoreUnavailable, match="No such file"), sole_process(settings):
        pass
