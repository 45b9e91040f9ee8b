"""A service that is killed again and again while it is asked to create, and what is left of that."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.api.questions import DEVICE, job, open_job
from tests.api.serving import server
from tests.performance.load import Answer, Connection, Request

# Every second create is a plan, the others are comparisons: two tables, two ways to the key.
_LAYOUT = {
    **{axis: [1] for axis in ("context", "micro", "virtual_pipeline", "sharding_stage")},
    "tensor": [2, 4],
    "pipeline": [2],
    "sequence": [True],
    "checkpointing": ["none"],
}
_RETRY_SECONDS = 0.5


@dataclass(slots=True)
class Outcome:
    """What clients were told, by key: what each create made, as they saw it, and how often a repeat was replayed."""

    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)
    kills: int = 0
    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    replayed: int = 0
    seen: dict[str, set[str]] = field(default_factory=dict)


def crash(database_url: str, folder: Path, creates: int, kills: int) -> Outcome:
    """Send so many creates at a time, kill the service so often meanwhile, and look each time at what is there.

    At the end every create is repeated with its key until it is acknowledged, and once more after that.
    """
    requests = dict(_creates(creates))
    found = Outcome()
    settings = {"search_queue": str(creates), "search_concurrency": "2", "log_level": "WARNING"}
    for number in range(1, kills + 1):
        with server(database_url, folder, **settings) as running:
            _look(running.port, found)
            enough = len(found.acknowledged) + (creates - len(found.acknowledged)) // (kills + 2 - number)
            left = {key: each for key, each in requests.items() if key not in found.acknowledged}
            asyncio.run(_send(running.port, left, found, enough, running.kill))
            found.kills += 1
    with server(database_url, folder, **settings) as running:
        _look(running.port, found)
        asyncio.run(_send(running.port, requests, found, None, lambda: None))
        asyncio.run(_send(running.port, requests, found, None, lambda: None))
        _look(running.port, found)
        found.seen = {path: set(_listed(running.port, path)) for path in ("/v1/plans", "/v1/comparisons")}
    return found


def _creates(count: int) -> Iterator[tuple[str, Request]]:
    for number in range(count):
        key = f"create-{number}"
        if number % 2:
            side = {"label": str(number), "job": job()}
            path, asked = "/v1/comparisons", {"items": [side], "targets": [{"device": DEVICE}]}
        else:
            cluster = {"device": DEVICE, "world_size": 16}
            asked = {"job": open_job(), "cluster": cluster, "search": _LAYOUT, "labels": {"number": str(number)}}
            path = "/v1/plans?wait=5m"
        body = json.dumps(asked).encode()
        yield key, Request(key, "POST", path, lambda body=body: body, {"Idempotency-Key": key})  # type: ignore[misc]


async def _send(port: int, requests: Mapping[str, Request], found: Outcome, enough: int | None, kill: Any) -> None:
    """Send all of them at once; at so many acknowledged ones the service is killed."""
    killed = asyncio.Event()

    async def one(key: str, request: Request) -> None:
        try:
            async with Connection.to(port) as connection:
                answer = await connection.send(request.encoded())
                while answer.status in {409, 503}:  # a key that a killed process held gives itself back
                    await asyncio.sleep(_RETRY_SECONDS)
                    answer = await connection.send(request.encoded())
        except (OSError, EOFError):
            return  # the service is gone
        _note(key, answer, found)
        if enough is not None and len(found.acknowledged) >= enough and not killed.is_set():
            killed.set()
            kill()

    await asyncio.gather(*(one(key, request) for key, request in requests.items()))


def _note(key: str, answer: Answer, found: Outcome) -> None:
    if answer.status not in {200, 201}:
        found.refused.append(f"{key}: {answer.status} {answer.body.decode()}")
        return
    made, before = json.loads(answer.body), found.acknowledged.get(key)
    found.replayed += answer.headers.get("idempotency-replayed") == "true"
    if before is not None and before != made:
        found.changed.append(f"{key}: {before['id']} became {made['id']}")
    found.acknowledged[key] = made


def _look(port: int, found: Outcome) -> None:
    """Every acknowledged thing must be there, as it was acknowledged."""

    async def look() -> None:
        async with Connection.to(port) as connection:
            for key, made in found.acknowledged.items():
                noun = "plans" if made["id"].startswith("pln_") else "comparisons"
                answer = await connection.send(Request(key, "GET", f"/v1/{noun}/{made['id']}").encoded())
                if answer.status != 200:
                    found.lost.append(f"{key}: {made['id']}: {answer.status}")
                elif json.loads(answer.body) != made:
                    found.changed.append(f"{key}: {made['id']}")

    asyncio.run(look())


def _listed(port: int, path: str) -> Iterator[str]:
    """The ids of a list; each of them is read whole, which fails where half of it was stored."""

    async def pages() -> list[str]:
        ids: list[str] = []
        cursor: str | None = ""
        async with Connection.to(port) as connection:
            while cursor is not None:
                query = "limit=200" + (f"&cursor={cursor}" if cursor else "")
                page = json.loads((await connection.send(Request(path, "GET", f"{path}?{query}").encoded())).body)
                ids += [each["id"] for each in page["items"]]
                cursor = page["next_cursor"]
            for each in ids:
                answer = await connection.send(Request(path, "GET", f"{path}/{each}").encoded())
                assert answer.status == 200, answer.body
        return ids

    yield from asyncio.run(pages())
