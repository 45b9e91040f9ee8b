"""`memplan plan FILE`: which layouts of a job fit a cluster, fastest first. Stores nothing."""

import argparse
import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from service.api.schemas.search import SearchResult
from service.cli.files import changes_by, given_by, refusal
from service.cli.tables import candidate_table, console
from service.usecases.errors import RejectedQuestion
from service.usecases.searches import Question, Search, SearchAnswer, prepare
from service.usecases.searches import run as run_search
from service.usecases.spaces import ANY, Cluster, Limits

MOST_LAYOUTS = 100_000_000
"""A person can interrupt a search, so more are allowed than in the service."""


def run(options: argparse.Namespace) -> int:
    """Print the ranked layouts, or the answer of the HTTP interface; a long search shows its progress on a terminal."""
    question = Question(
        given=given_by(options),
        cluster=Cluster(options.device, options.gpus, options.gpus_per_node),
        limits=Limits() if options.keep else ANY,
        top=options.top,
        changes=changes_by(options),
    )
    try:
        answer = _searched(prepare(question, MOST_LAYOUTS))
    except RejectedQuestion as error:
        raise refusal(error) from None
    if options.json:
        sys.stdout.write(SearchResult.of_search(answer).model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        _show(answer)
    return 0


def _searched(asked: Search) -> SearchAnswer:
    screen = Console(stderr=True)
    columns = (TextColumn("{task.completed:,.0f} of {task.total:,.0f} layouts"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("layouts", total=None)
        return run_search(asked, lambda done, total: bar.update(task, completed=done, total=total))


def _show(answer: SearchAnswer) -> None:
    out = console()
    if answer.candidates:
        out.print(candidate_table(answer))
        out.print()
    else:
        out.print("no layout fits", style="bold")
    rejected = ", ".join(f"{count:,} {code}" for code, count in answer.rejected.items()) or "none"
    out.print(f"{answer.searched:,} layouts in {answer.elapsed_seconds:.2f} s; rejected: {rejected}", markup=False)
    out.print(f"smallest number of GPUs that fits: {answer.smallest_world_size or 'none found'}", markup=False)
    if answer.candidates:
        out.print(
            f"with the first layout: micro-batch up to {answer.largest_micro_batch}, "
            f"sequence up to {answer.longest_sequence} tokens",
            markup=False,
        )
    for each in answer.findings.diagnostics:
        out.print(f"{each.severity}: {each.message}", markup=False)
