"""`memplan observe FILE`: tell a service what a run of a config, a job or a stored plan measured."""

import argparse
from collections.abc import Iterator
from typing import Any

from service.api.schemas.observation import ObservationAnswer
from service.cli.errors import USAGE, CommandError
from service.cli.files import asked_by, document_of
from service.cli.server import print_json, remote
from service.cli.tables import console, gib

PLAN = "pln_"
_MEASURED = ("stage", "allocated_bytes", "reserved_bytes", "device_bytes", "oom", "step_seconds")


def run(options: argparse.Namespace) -> int:
    """Send the observation, and print what was measured beside what was predicted."""
    service = remote(options)
    if service is None:
        raise CommandError("observations are stored by a service; --server says which", USAGE)
    found = service.ask("/v1/observations", _document(options), ObservationAnswer)
    if options.json:
        print_json(found)
        return 0
    out = console()
    for line in _lines(found):
        out.print(line, markup=False)
    return 0


def _document(options: argparse.Namespace) -> dict[str, Any]:
    stated = {name: getattr(options, name) for name in _MEASURED}
    measured = {"source": options.source, **{name: value for name, value in stated.items() if value is not None}}
    document: dict[str, Any] = {"run_id": options.run_id, "measured": measured}
    if options.device is not None:
        document["device"] = options.device
    if options.file.startswith(PLAN):
        return document | {"plan": options.file, "candidate": options.candidate}
    if options.device is None:
        raise CommandError("--device says which GPU the run was on", USAGE)
    return document | document_of(asked_by(options).settled())


def _lines(found: ObservationAnswer) -> Iterator[str]:
    yield f"{found.id}: {found.run_id}, {found.framework} ({found.implementation}) on {found.device}"
    measured, predicted, ratios = found.measured, found.predicted, found.ratios
    for kind in ("allocated", "reserved", "device"):
        size, ratio = getattr(measured, f"{kind}_bytes"), getattr(ratios, kind)
        if size is not None:
            expected = gib(getattr(predicted, f"{kind}_bytes"))
            yield f"{kind}: {gib(size)} GiB measured, {expected} GiB predicted ({ratio - 1:+.1%})"
    if measured.step_seconds is not None and predicted.step_seconds is not None:
        yield f"step: {measured.step_seconds:.2f} s measured, {predicted.step_seconds:.2f} s predicted"
    if measured.oom is not None:
        yield f"{'out of memory' if measured.oom else 'not out of memory'}; it was called {predicted.verdict}"
