"""`memplan estimate FILE`: how much memory a job takes, stage by stage."""

import argparse

from service.api.schemas.estimate import EstimateAnswer
from service.cli.files import Asked, asked_by, refusal
from service.cli.server import print_json, remote
from service.cli.tables import bars, console, ledger_table, notes, stage_table
from service.usecases.errors import RejectedQuestion
from service.usecases.estimates import estimate_job


def run(options: argparse.Namespace) -> int:
    """Print the table of stages and the largest lines of the worst one, or the answer of the HTTP interface."""
    asked, service = asked_by(options, options.world_size), remote(options)
    if service is None:
        found = _estimated(asked, options.device)
    else:
        found = service.ask("/v1/estimates", {**asked.document(), "device": options.device}, EstimateAnswer)
    if options.json:
        print_json(found)
    else:
        _show(found, options.lines)
    return 0


def _estimated(asked: Asked, device: str) -> EstimateAnswer:
    try:
        return EstimateAnswer.of(estimate_job(asked.given, device, asked.changes))
    except RejectedQuestion as error:
        raise refusal(error) from None


def _show(found: EstimateAnswer, lines: int) -> None:
    out = console()
    out.print(f"{found.verdict}: {found.reason}", style="bold", markup=False)
    out.print(stage_table(found))
    for line in bars(found):
        out.print(line)
    out.print(ledger_table(found, lines))
    out.print()
    for note in notes(found):
        out.print(note, markup=False)
