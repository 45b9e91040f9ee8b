"""`memplan plan FILE`: which layouts of a job fit a cluster, fastest first; a service that is asked stores them."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from service.api.schemas.plan_request import SearchRequest
from service.api.schemas.search import Candidate, SearchResult
from service.cli.errors import USAGE, CommandError
from service.cli.files import Asked, asked_by, refusal
from service.cli.server import print_json, remote
from service.cli.tables import candidate_table, change_table, console
from service.planner.search import Progress as Told
from service.usecases.errors import RejectedQuestion
from service.usecases.searches import Question, prepare
from service.usecases.searches import run as run_search
from service.usecases.spaces import ANY, Cluster, Limits

MOST_LAYOUTS = 100_000_000
"""A person can interrupt a search, so more are allowed than in the service."""


def run(options: argparse.Namespace) -> int:
    """Print the ranked layouts, or the answer of the HTTP interface; a long search shows its progress on a terminal."""
    asked, service = asked_by(options), remote(options)
    cluster = Cluster(options.device, options.gpus, options.gpus_per_node)
    limits = limits_by(options)
    with _progress() as told:
        if service is None:
            found = _searched(asked, cluster, limits, options.top, told)
        else:
            body = {**asked.document(), **_document(cluster, limits), "top": options.top}
            found = service.plan(body, SearchResult, told)
    if options.json:
        print_json(found)
    else:
        _show(found)
    return 0


def _searched(asked: Asked, cluster: Cluster, limits: Limits, top: int, told: Told) -> SearchResult:
    question = Question(given=asked.given, cluster=cluster, limits=limits, top=top, changes=asked.changes)
    try:
        return SearchResult.of_search(run_search(prepare(question, MOST_LAYOUTS), told))
    except RejectedQuestion as error:
        raise refusal(error) from None


def _document(cluster: Cluster, limits: Limits) -> dict[str, Any]:
    gpus = {"device": cluster.device, "world_size": cluster.world_size, "gpus_per_node": cluster.gpus_per_node}
    return {"cluster": gpus, "search": {**limits.axes, "tensor_across_nodes": limits.tensor_across_nodes}}


def limits_by(options: argparse.Namespace) -> Limits:
    """Return the limits that the options state: every axis of the layout open, unless kept. Raises CommandError."""
    axes: dict[str, Any] = {}
    for each in options.search:
        axis, separator, values = each.partition("=")
        if not separator:
            raise CommandError(f"{each!r} should be AXIS=VALUE,VALUE or AXIS=any", USAGE)
        axes[axis] = "any" if values == "any" else [_value(value) for value in values.split(",")]
    try:
        named = SearchRequest.model_validate({**axes, "tensor_across_nodes": options.tensor_across_nodes}).limits()
    except ValidationError as error:
        problems = [f"{each['loc'][0]}: {each['msg']}" for each in error.errors(include_url=False)]
        raise CommandError("; ".join(dict.fromkeys(problems)), USAGE) from None
    return named if options.keep else replace(named, axes={**ANY.axes, **named.axes})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextmanager
def _progress() -> Iterator[Told]:
    screen = Console(stderr=True)
    columns = (TextColumn("{task.completed:,.0f} of {task.total:,.0f} layouts"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("layouts", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(answer: SearchResult) -> None:
    out = console()
    if answer.given is not None:
        out.print(f"as it is: {answer.given.verdict}: {answer.given.reason}", style="bold", markup=False)
    if answer.alternatives:
        out.print(change_table(answer))
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
        _show_recomputation(out, answer.candidates[0])
    for each in answer.diagnostics:
        out.print(f"{each.severity}: {each.message}", markup=False)


def _show_recomputation(out: Console, first: Candidate) -> None:
    """What the first layout recomputes, and what a setting for each stage would save."""
    least = first.least_recomputation
    if least is None or least.layers is None or not any(least.layers):
        return
    layers = ", ".join(map(str, least.layers))
    out.print(
        f"its recomputation costs {least.cost_seconds:.2f} s of a step; stage by stage {layers} layers of a chunk "
        f"would do, for a step of {least.step_seconds:.2f} s",
        markup=False,
    )
