"""`memplan estimate FILE`: how much memory a job takes, stage by stage."""

import argparse
import sys

from service.api.schemas.estimate import EstimateAnswer as Wire
from service.cli.files import changes_by, given_by, refusal
from service.cli.tables import console, ledger_table, notes, stage_table
from service.usecases.errors import RejectedQuestion
from service.usecases.estimates import EstimateAnswer, estimate_job


def run(options: argparse.Namespace) -> int:
    """Print the table of stages and the largest lines of the worst one, or the answer of the HTTP interface."""
    given = given_by(options, options.world_size)
    try:
        found = estimate_job(given, options.device, changes_by(options, options.world_size))
    except RejectedQuestion as error:
        raise refusal(error) from None
    if options.json:
        sys.stdout.write(Wire.of(found).model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        _show(found, options.lines)
    return 0


def _show(found: EstimateAnswer, lines: int) -> None:
    out = console()
    out.print(f"{found.verdict}: {found.reason}", style="bold", markup=False)
    out.print(stage_table(found))
    out.print(ledger_table(found.estimate.worst_stage, lines))
    out.print()
    for note in notes(found):
        out.print(note, markup=False)
