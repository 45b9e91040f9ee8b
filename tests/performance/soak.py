"""`make soak`: ten minutes of new verdicts at half of what the service can give, with one search running all the time.

On loopback only. `SOAK_SECONDS` makes it shorter or longer.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from tests.api.questions import DEVICE, job, open_job
from tests.api.serving import Server, server
from tests.performance.load import Connection, Request, processor_seconds, run

SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
CONNECTIONS = 16
SATURATION_SECONDS = 10.0
# Memory is compared from here on: until then it grows by what is remembered, which has a bound.
WARM = 0.5


@dataclass(slots=True)
class Seen:
    """What was seen: seconds of each verdict by when it was asked for, failures, searches, and memory (bytes)."""

    latencies: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    searches: int = 0
    memory: list[tuple[float, int]] = field(default_factory=list)


def main() -> int:
    """Print latencies, errors and memory; fail when there was an error."""
    settings = {"log_level": "ERROR"}
    with TemporaryDirectory() as folder, server(f"sqlite:///{folder}/memplan.db", Path(folder), **settings) as running:
        numbers = itertools.count(1)
        verdict = Request("new verdict", "POST", "/v1/verdicts", partial(_verdict, numbers))
        empty = Request("empty route", "GET", "/livez")
        for each in (empty, verdict):
            asyncio.run(run(running.port, each, connections=CONNECTIONS, seconds=2))
        for each in (empty, verdict):
            before = processor_seconds(running.process.pid)
            most = asyncio.run(run(running.port, each, connections=CONNECTIONS, seconds=SATURATION_SECONDS))
            used = (processor_seconds(running.process.pid) - before) / most.answers * 1e3
            print(f"{each.name}: {most.per_second:,.0f}/s from {CONNECTIONS} connections, {used:.2f} ms of processor")
        rate = most.per_second / 2
        found = asyncio.run(_soak(running, verdict, rate))
    _print(found, rate)
    return len(found.errors) > 0


def _print(found: Seen, rate: float) -> None:
    print(f"{SECONDS:,.0f} s at {rate:,.0f}/s with one search running: {found.searches} searches ended")
    print("minute       verdicts      p50 ms      p99 ms     most ms   memory MiB")
    length = max(SECONDS / 10, 1.0)
    for part in range(10):
        within = [seconds for at, seconds in found.latencies if part * length <= at < (part + 1) * length]
        memory = [size for at, size in found.memory if part * length <= at < (part + 1) * length]
        if len(within) > 1 and memory:
            _line(f"{part * length / 60:.1f}", within, max(memory))
    _line("all", [seconds for _, seconds in found.latencies], max(size for _, size in found.memory))
    warm = [size for at, size in found.memory if at >= SECONDS * WARM]
    tenth = max(len(warm) // 10, 1)
    growth = median(warm[-tenth:]) - median(warm[:tenth])
    print(f"memory in the second half: {growth / 2**20:+.1f} MiB; errors: {len(found.errors)}")
    for each in found.errors[:10]:
        print(f"  {each}")


def _line(name: str, seconds: list[float], memory: int) -> None:
    cuts = quantiles(seconds, n=100)
    times = "".join(f"{each * 1e3:12.2f}" for each in (cuts[49], cuts[98], max(seconds)))
    print(f"  {name:6}{len(seconds):13,}{times}{memory / 2**20:13.1f}")


async def _soak(running: Server, verdict: Request, rate: float) -> Seen:
    found, began = Seen(), time.perf_counter()
    # Requests begin at their own times, whether or not earlier ones are answered: a slow answer is then seen as such.
    due = (began + number / rate for number in itertools.count())
    await asyncio.gather(
        *(_ask(running.port, verdict, due, began, found) for _ in range(4 * CONNECTIONS)),
        _search(running.port, began, found),
        _watch(running.process.pid, began, found),
    )
    return found


async def _ask(port: int, verdict: Request, due: Iterator[float], began: float, found: Seen) -> None:
    async with Connection.to(port) as connection:
        while (at := next(due)) < began + SECONDS:
            await asyncio.sleep(max(at - time.perf_counter(), 0))
            answer = await connection.send(verdict.encoded())
            found.latencies.append((at - began, time.perf_counter() - at))
            if answer.status != 200:
                found.errors.append(f"{answer.status} {answer.body.decode()[:200]}")
            elif json.loads(answer.body)["results"][0]["verdict"] == "unknown":
                found.errors.append(answer.body.decode()[:200])


async def _search(port: int, began: float, found: Seen) -> None:
    """One search after the other, each of another question."""
    async with Connection.to(port) as connection:
        for number in itertools.count():
            if time.perf_counter() >= began + SECONDS:
                return
            document = open_job(model={"preset": "gpt-3-175b"}, batch={"global": 1536, "sequence_length": 2048})
            asked = {
                "job": document,
                "cluster": {"device": DEVICE, "world_size": 512},
                "search": {"micro": "any", "checkpointing": ["none", "full"]},
                "labels": {"number": str(number)},
            }
            body = json.dumps(asked).encode()
            answer = await connection.send(Request("search", "POST", "/v1/plans?wait=5m", lambda b=body: b).encoded())  # type: ignore[misc]
            found.searches += 1
            if answer.status != 201:
                found.errors.append(f"search: {answer.status} {answer.body.decode()[:200]}")


async def _watch(pid: int, began: float, found: Seen) -> None:
    """The resident memory of the service, every second."""
    while (at := time.perf_counter() - began) < SECONDS:
        found.memory.append((at, _resident(pid)))
        await asyncio.sleep(1)


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _verdict(numbers: Iterator[int]) -> bytes:
    """A job that was not asked for lately: another global batch; so many are not remembered."""
    stated = job(batch={"global": 512 * (1 + next(numbers) % 100_000)})
    return json.dumps({"items": [{"job": stated, "targets": [{"device": DEVICE}]}]}).encode()


if __name__ == "__main__":
    sys.exit(main())
