"""`memplan import FILE`: what is understood of a config, and where every value came from."""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from service.api.schemas.findings import SourceAnswer
from service.api.schemas.imports import ImportAnswer
from service.cli.errors import USAGE, CommandError
from service.cli.files import document_of, given_by
from service.cli.server import print_json, remote
from service.cli.tables import console
from service.formats.source import ConfigSource
from service.job.schema import Job
from service.usecases.imports import import_config

_LONGEST = 40


def run(options: argparse.Namespace) -> int:
    """Print the job with its sources and everything found, or the answer of the HTTP interface."""
    given = given_by(options, options.world_size)
    if not isinstance(given, ConfigSource):
        raise CommandError(f"{options.file} is a job of memplan's own already", USAGE)
    service = remote(options)
    if service is None:
        found = ImportAnswer.of(import_config(given))
    else:
        found = service.ask("/v1/imports", document_of(given), ImportAnswer)
    if options.json:
        print_json(found)
    else:
        _show(found)
    return 0 if found.outcome == "ok" else 1


def _show(found: ImportAnswer) -> None:
    out = console()
    out.print(f"{found.outcome}: {found.format} ({found.confidence:.0%} sure)", style="bold", markup=False)
    if found.job is not None:
        out.print(_job_table(found.job, found.sources))
    for fact in found.missing:
        out.print(f"missing {fact.fact}: {fact.message}", markup=False)
    for each in found.diagnostics:
        fixes = f"; try {' or '.join(each.fixes)}" if each.fixes else ""
        out.print(f"{each.severity} {each.code}: {each.message}{fixes}", markup=False)


def _job_table(job: Job, sources: Mapping[str, SourceAnswer]) -> Table:
    table = Table(title=None, box=None, pad_edge=False)
    for name in ("value", "", "from", "where"):
        table.add_column(name, overflow="fold")
    for pointer, value in _leaves(job.model_dump(mode="json", by_alias=True, exclude_none=True)):
        source = next((sources[each] for each in _above(pointer) if each in sources), None)
        shown = json.dumps(value)
        table.add_row(
            pointer.strip("/").replace("/", "."),
            shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…",
            source.from_ if source else "",
            source.where if source else "",
        )
    return table


def _leaves(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}/{key}")
        elif value != []:
            yield f"{prefix}/{key}", value


def _above(pointer: str) -> Iterator[str]:
    """The pointer and those above it: a source may stand at an object."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
