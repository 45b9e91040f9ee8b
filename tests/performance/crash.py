"""`make crash`: kill -9 during a thousand creates at a time, on both databases, and what is left of it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from service.settings import Settings
from service.store.migration import upgrade
from tests.api.crashing import crash
from tests.postgres_server import connect, postgres_server

CREATES = 1000
KILLS = 5


def main() -> int:
    """Print what was acknowledged, and what was lost, changed or refused of it; fail if anything was."""
    print(f"{CREATES:,} creates at a time, killed {KILLS} times")
    print(f"{'':42}   acknowledged   stored   replayed   lost   changed   refused")
    bad = 0
    for name, database in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
        with TemporaryDirectory() as folder, database(Path(folder)) as url:
            began = time.perf_counter()
            found = crash(url, Path(folder), CREATES, KILLS)
            ids = {made["id"] for made in found.acknowledged.values()}
            stored = set().union(*found.seen.values())
            figures = (len(ids), len(stored), found.replayed, len(found.lost), len(found.changed), len(found.refused))
            widths = (15, 9, 11, 7, 10, 10)
            seconds = f"{name}, {time.perf_counter() - began:.0f} s"
            shown = "".join(f"{each:{width},}" for each, width in zip(figures, widths, strict=True))
            print(f"  {seconds:40}{shown}")
            for each in (*found.lost, *found.changed, *found.refused):
                print(f"    {each}")
            bad += stored != ids or len(ids) != CREATES or any((found.lost, found.changed, found.refused))
    return bad


@contextmanager
def _sqlite(folder: Path) -> Iterator[str]:
    yield f"sqlite:///{folder / 'memplan.db'}"


@contextmanager
def _postgres(_folder: Path) -> Iterator[str]:
    with postgres_server() as server, connect(server) as connection:
        url = server.set(database=f"memplan_crash_{uuid4().hex[:8]}")
        connection.execute(f'CREATE DATABASE "{url.database}" TEMPLATE template0')
        try:
            text = url.render_as_string(hide_password=False)
            upgrade(Settings(database_url=text))
            yield text
        finally:
            connection.execute(f'DROP DATABASE "{url.database}" WITH (FORCE)')


if __name__ == "__main__":
    sys.exit(main())
