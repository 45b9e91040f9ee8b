"""`make bench`: what an estimate, a search and an import cost, and what the service adds. On loopback, a minute.

The figures of one run can be compared with each other; those of two machines, or of a busy and an idle one, cannot.
"""

import asyncio
import itertools
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import repeat
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from service.api.schemas.estimate import EstimateAnswer
from service.calculator.estimate import estimate
from service.job.resolve import resolve
from service.job.schema import Job
from service.settings import Settings
from service.store.migration import upgrade
from service.store.session import Store
from service.usecases.devices import accelerator_of, device_of
from service.usecases.estimates import estimate_job
from service.usecases.searches import Question, prepare, run
from service.usecases.spaces import Cluster
from service.usecases.tokens import issue
from tests.api.questions import DEVICE, job, open_job
from tests.api.serving import server
from tests.performance import layouts, load, texts

JOBS: dict[str, dict[str, Any]] = {
    "Llama-3-8B, 2 stages": job(),
    "Llama-3-70B, 8 stages": job(
        model={"preset": "llama-3-70b"}, world_size=256, parallelism={"pipeline": 8, "virtual_pipeline": 2}
    ),
    "GPT-3 175B, 16 stages": job(
        model={"preset": "gpt-3-175b"},
        world_size=512,
        parallelism={"pipeline": 16},
        batch={"global": 1536, "sequence_length": 2048},
    ),
}
SEARCHES: dict[str, tuple[dict[str, Any], int]] = {
    "Llama-3-8B, 64 GPUs": (open_job(), 64),
    "GPT-3 175B, 512 GPUs": (
        open_job(model={"preset": "gpt-3-175b"}, batch={"global": 1536, "sequence_length": 2048}),
        512,
    ),
}
CONNECTIONS = (1, 16)
SECONDS = 3.0


def main() -> None:
    """Print every figure."""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    for section in (estimates, searches, layouts.main, texts.main, service):
        section()
        print()


def estimates() -> None:
    """Microseconds of an itemised estimate: the calculator alone, with defaults and rules, and as JSON."""
    print("itemised estimate, us (median)    calculator   from a job     and JSON")
    accelerator = accelerator_of(device_of(DEVICE, ""))
    for name, document in JOBS.items():
        stated = Job.model_validate(document)
        resolved = resolve(stated)
        parts = (
            lambda r=resolved: estimate(r.model, r.layout, r.recipe, accelerator),
            lambda j=stated: estimate_job(j, DEVICE),
            lambda j=stated: EstimateAnswer.of(estimate_job(j, DEVICE)).model_dump_json(),
        )
        print(f"  {name:30}" + "".join(f"{_microseconds(each):13,.0f}" for each in parts))


def searches() -> None:
    """Layouts per second of a whole search, ranking and frontier included, on one core."""
    print("search, one core                     layouts     seconds    layouts/s")
    for name, (document, gpus) in SEARCHES.items():
        asked = prepare(Question(Job.model_validate(document), Cluster(DEVICE, gpus)), 10**9)
        began = time.process_time()
        answer = run(asked)
        seconds = time.process_time() - began
        print(f"  {name:30} {answer.searched:12,} {seconds:11.2f} {answer.searched / seconds:12,.0f}")


def service() -> None:
    """What estimates and verdicts take over HTTP, beside a route that does nothing.

    The processor time of the service for one request says most on a machine that has other things to do.
    """
    requests = [load.Request("GET /livez (empty)", "GET", "/livez")]
    for name, each in JOBS.items():
        requests += [
            load.Request(
                f"new estimate, {name}", "POST", "/v1/estimates", partial(_estimate, each, itertools.count(1))
            ),
            load.Request(f"new verdict, {name}", "POST", "/v1/verdicts", partial(_verdict, each, itertools.count(1))),
            load.Request(f"repeated verdict, {name}", "POST", "/v1/verdicts", partial(_verdict, each, repeat(1))),
        ]
    print("service                               connections   requests/s      p50 ms      p99 ms     cpu ms  of empty")
    with TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/memplan.db"
        asked = partial(_verdict, next(iter(JOBS.values())), repeat(1))
        token = {"Authorization": f"Bearer {_token(url)}"}
        requests.append(load.Request("repeated verdict, with a token", "POST", "/v1/verdicts", asked, token))
        running = stack.enter_context(server(url, Path(folder)))
        port, pid = running.port, running.process.pid
        for connections in CONNECTIONS:
            empty = 0.0
            for request in requests:
                asyncio.run(load.run(port, request, connections=connections, seconds=0.5))
                before = load.processor_seconds(pid)
                found = asyncio.run(load.run(port, request, connections=connections, seconds=SECONDS))
                used = (load.processor_seconds(pid) - before) / found.answers
                empty = empty or found.per_second
                print(
                    f"  {request.name:39} {connections:7} {found.per_second:12,.0f} {found.median * 1e3:11.2f}"
                    f" {found.p99 * 1e3:11.2f} {used * 1e3:10.2f} {found.per_second / empty:13.1%}"
                )


def _token(url: str) -> str:
    settings = Settings(database_url=url)
    upgrade(settings)
    with Store(settings) as store:
        return issue(store, "bench", ["verdict:read"]).secret


def _estimate(job: dict[str, Any], numbers: Iterator[int]) -> bytes:
    return json.dumps({"job": _numbered(job, next(numbers)), "device": DEVICE}).encode()


def _verdict(job: dict[str, Any], numbers: Iterator[int]) -> bytes:
    asked = {"job": _numbered(job, next(numbers)), "targets": [{"device": DEVICE}]}
    return json.dumps({"items": [asked]}).encode()


def _numbered(job: dict[str, Any], number: int) -> dict[str, Any]:
    """The same job with another global batch, which no answer is remembered for."""
    return {**job, "batch": {**job["batch"], "global": job["batch"]["global"] * number}}


def _microseconds(call: Callable[[], object]) -> float:
    call()
    times, until = [], time.perf_counter() + 1.0
    while time.perf_counter() < until:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return median(times) * 1e6


if __name__ == "__main__":
    main()
