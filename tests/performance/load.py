"""A small load generator: connections that each send one request after the other, over loopback only."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from statistics import quantiles
from typing import Self


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent again and again; `body` is asked for the body of each."""

    name: str
    method: str
    path: str
    body: Callable[[], bytes] = bytes
    headers: dict[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        body = self.body()
        more = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        )
        return head.encode() + body


@dataclass(frozen=True, slots=True)
class Load:
    """What was seen: answers per second, and seconds from request to answer."""

    per_second: float
    median: float
    p99: float
    answers: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """One connection, on which one request follows the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def to(cls, port: int) -> AsyncIterator[Self]:
        """Open one to a port of this machine. Raises OSError when nobody listens."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        try:
            yield cls(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def send(self, request: bytes) -> Answer:
        """Return the answer. Raises OSError and IncompleteReadError (an EOFError) when the server is gone."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(first.split()[1]), headers, body)


def processor_seconds(pid: int) -> float:
    """What a process has used of processors so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


async def run(port: int, request: Request, *, connections: int, seconds: float) -> Load:
    """Send the request from all connections for so long; every answer must be a 200."""
    until = time.perf_counter() + seconds
    began = time.perf_counter()
    latencies = [
        latency
        for each in await asyncio.gather(*(_connection(port, request, until) for _ in range(connections)))
        for latency in each
    ]
    cuts = quantiles(latencies, n=100)
    return Load(len(latencies) / (time.perf_counter() - began), cuts[49], cuts[98], len(latencies))


async def _connection(port: int, request: Request, until: float) -> list[float]:
    latencies = []
    async with Connection.to(port) as connection:
        while time.perf_counter() < until:
            sent = request.encoded()
            began = time.perf_counter()
            answer = await connection.send(sent)
            latencies.append(time.perf_counter() - began)
            if answer.status != HTTPStatus.OK:
                raise RuntimeError(f"{request.name}: {answer.status} {answer.body.decode()}")
    return latencies
