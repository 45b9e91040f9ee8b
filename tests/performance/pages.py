"""`make pages`: a page of a list over a million plans on PostgreSQL, at any depth and with every filter.

It makes a database of its own on the server at TEST_DATABASE_URL (default: 127.0.0.1:5432), or on one that it starts,
fills it in some minutes, and drops it.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from urllib.parse import urlencode
from uuid import uuid4

from psycopg import Connection
from sqlalchemy import URL
from sqlalchemy.dialects.postgresql import psycopg

from service.settings import Settings
from service.store import plans
from service.store.migration import upgrade
from service.store.paging import Key, cut, encode_cursor
from service.store.plans import PlanFilter
from tests.api.serving import served
from tests.performance import load
from tests.postgres_server import connect, postgres_server

PLANS = 1_000_000
PAGES = 300
LIMIT = 50

# One plan a second. Ids are of version 7, as the service makes them: the time in front, the rest at random. Labels are
# common and spread out, rare and spread out, and rare and all on the oldest plans.
FILL = f"""
CREATE TEMPORARY TABLE numbered AS
SELECT n, at, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0')
               || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid AS id
FROM (SELECT n, timestamptz '2026-01-01' + n * interval '1 second' AS at
      FROM generate_series(1, {PLANS}) AS n) AS moments;

INSERT INTO plans (id, digest, created_at, model, device, world_size, verdict, best_step_seconds, peak_device_bytes,
                   request, answer, schema_version, method_version)
SELECT id, 'sha256:' || md5(n::text), at,
       (ARRAY['llama-3-8b', 'llama-3-70b', 'qwen3-8b', 'custom'])[1 + n % 4],
       CASE WHEN n % 5000 = 0 THEN 'l40s'
            ELSE (ARRAY['h100-sxm-80gb', 'a100-sxm-80gb', 'h200-sxm-141gb'])[1 + n % 3] END,
       64, CASE WHEN n % 10 = 0 THEN 'does_not_fit' WHEN n % 7 = 0 THEN 'tight' ELSE 'fits' END,
       9.5, 40000000000, '{{"job": {{}}}}', '{{"candidates": []}}', 1, '1'
FROM numbered;

INSERT INTO plan_labels (plan_id, key, value, created_at)
SELECT id, 'team', 'team-' || n % 10, at FROM numbered
UNION ALL SELECT id, 'run', 'rare', at FROM numbered WHERE n % 10000 = 0
UNION ALL SELECT id, 'run', 'old', at FROM numbered WHERE n <= 20000 AND n % 10000 <> 0;
"""  # noqa: S608 - a number of our own

FILTERS: dict[str, PlanFilter] = {
    "no filter": PlanFilter(),
    "model, one in 4": PlanFilter(model="llama-3-8b"),
    "device, one in 5,000": PlanFilter(device="l40s"),
    "verdict, one in 10": PlanFilter(verdict="does_not_fit"),
    "label, one in 10": PlanFilter(labels=[("team", "team-3")]),
    "label, one in 10,000": PlanFilter(labels=[("run", "rare")]),
    "label, the oldest 2 %": PlanFilter(labels=[("run", "old")]),
    "label and model, one in 20": PlanFilter(labels=[("team", "team-3")], model="llama-3-70b"),
}


def main() -> None:
    """Print what a page costs for each filter, and how PostgreSQL finds it."""
    with postgres_server() as server, _million(server) as url, connect(url) as connection:
        keys = _keys(connection)
        print(f"{PLANS:,} plans on PostgreSQL, pages of {LIMIT} over HTTP, {PAGES} after random plans, 1 connection")
        print("filter                          first ms      p50 ms      p99 ms     most ms")
        with TemporaryDirectory() as folder, served(_text(url), Path(folder)) as address:
            port = int(address.rpartition(":")[2])
            for name, where in FILTERS.items():
                first, *others = asyncio.run(_pages(port, where, keys))
                cuts = quantiles(others, n=100)
                figures = (first, cuts[49], cuts[98], max(others))
                print(f"  {name:26}" + "".join(f"{each * 1e3:12.2f}" for each in figures))
        for name, where in FILTERS.items():
            print(f"\n{name}, in the middle:")
            for line in _plan_of(connection, where, keys[0]):
                print(f"  {line}")


async def _pages(port: int, where: PlanFilter, keys: list[Key]) -> list[float]:
    """Seconds of the first page, and of pages after random plans."""
    filters = [(name, value) for name in ("model", "device", "verdict") if (value := getattr(where, name)) is not None]
    filters += [("label", f"{key}={value}") for key, value in where.labels]
    found = []
    async with load.Connection.to(port) as connection:
        # What is measured is not the first statement of a connection.
        for cursor in [None, None, *(encode_cursor(each) for each in keys)]:
            query = [*filters, ("limit", str(LIMIT)), *([] if cursor is None else [("cursor", cursor)])]
            request = load.Request("page", "GET", f"/v1/plans?{urlencode(query)}").encoded()
            began = time.perf_counter()
            answer = await connection.send(request)
            found.append(time.perf_counter() - began)
            if answer.status != 200:
                raise RuntimeError(answer.body.decode())
    return found[1:]


@contextmanager
def _million(server: URL) -> Iterator[URL]:
    url = server.set(database=f"memplan_million_{uuid4().hex[:8]}")
    with connect(server) as connection:
        connection.execute(f'CREATE DATABASE "{url.database}" TEMPLATE template0')
        try:
            upgrade(Settings(database_url=_text(url)))
            began = time.perf_counter()
            with connect(url) as filling:
                filling.execute(FILL.encode())
                filling.execute("VACUUM ANALYZE")
            print(f"filled in {time.perf_counter() - began:.0f} s")
            yield url
        finally:
            connection.execute(f'DROP DATABASE "{url.database}" WITH (FORCE)')


def _keys(connection: Connection) -> list[Key]:
    """Places of plans at random depths; the first is in the middle."""
    numbers = random.Random(1)  # noqa: S311 - the same places in each run
    wanted = [PLANS // 2, *(numbers.randint(1, PLANS) for _ in range(PAGES - 1))]
    digests = "SELECT n, created_at, id FROM unnest(%s::int[]) AS n JOIN plans ON digest = 'sha256:' || md5(n::text)"
    found = {n: Key(created_at, plan_id) for n, created_at, plan_id in connection.execute(digests, [wanted])}
    return [found[each] for each in wanted]


def _plan_of(connection: Connection, where: PlanFilter, after: Key) -> list[str]:
    """How PostgreSQL finds the page: the statement of the store itself, explained."""
    compiled = cut(*plans.listed(where), LIMIT, encode_cursor(after)).compile(dialect=psycopg.dialect())
    explained = connection.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {compiled}".encode(), compiled.params)
    return [line for (line,) in explained]


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


if __name__ == "__main__":
    main()
