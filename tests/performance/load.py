"""A small load generator: connections that each send one request after the other, over loopback only."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import quantiles


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent again and again; `body` is asked for the body of each."""

    name: str
    method: str
    path: str
    body: Callable[[], bytes] = bytes

    def encoded(self) -> bytes:
        body = self.body()
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


@dataclass(frozen=True, slots=True)
class Load:
    """What was seen: answers per second, and seconds from request to answer."""

    per_second: float
    median: float
    p99: float
    answers: int


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
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    latencies = []
    while time.perf_counter() < until:
        sent = request.encoded()
        began = time.perf_counter()
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{request.name}: {head.decode()}")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        latencies.append(time.perf_counter() - began)
    writer.close()
    await writer.wait_closed()
    return latencies
