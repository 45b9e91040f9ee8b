"""`memplan verdict FILE`: whether a job fits, as an exit code for scripts and one line for people."""

import argparse
import sys
import time
from typing import Final

from service.api.schemas.alternative import AlternativeAnswer
from service.api.schemas.verdict import VerdictList, VerdictResult
from service.cli.errors import FAILED, CommandError
from service.cli.files import asked_by, document_of
from service.cli.server import print_json, remote
from service.cli.tables import console, gib
from service.usecases.answer_cache import AnswerCache
from service.usecases.imports import Given
from service.usecases.refusals import RuledVerdict
from service.usecases.targets import Target
from service.usecases.verdicts import Board, Item, judge_all

UNKNOWN: Final = 3
EXIT_CODES: Final = {"fits": 0, "does_not_fit": 1, "unknown": UNKNOWN, "tight": 4}


def run(options: argparse.Namespace) -> int:
    """Print the verdict and what would fit, or the answer of the HTTP interface; return the verdict's exit code.

    Whatever keeps a verdict from being found is exit code 3, so that a script never takes a failure for "does not fit".
    """
    try:
        found = _found(options)
    except CommandError as error:
        raise CommandError(str(error), UNKNOWN if error.exit_code == FAILED else error.exit_code) from None
    except Exception as error:  # noqa: BLE001 - Python would end with exit code 1, which here means "does not fit"
        sys.stderr.write(f"memplan: no verdict: {type(error).__name__}: {error}\n")
        return UNKNOWN
    if options.json:
        print_json(found)
    else:
        _show(found)
    return EXIT_CODES[found.verdict]


def _found(options: argparse.Namespace) -> VerdictResult:
    given, service = asked_by(options).settled(), remote(options)
    target = Target(options.device, options.gpus)
    if service is None:
        return _judged(given, target, options.deadline)
    targets = [{"device": target.device, "world_size": target.world_size}]
    body = {"items": [{**document_of(given), "targets": targets}]}
    return service.ask("/v1/verdicts", body, VerdictList, timeout=f"{options.deadline:g}").results[0]


def _judged(given: Given, target: Target, deadline: float) -> VerdictResult:
    board, until = Board([Item(given, [target])]), time.monotonic() + deadline
    judge_all(board, AnswerCache(1), lambda: time.monotonic() > until)
    return VerdictList.of([RuledVerdict(place, answer) for place, answer in board.found()]).results[0]


def _show(found: VerdictResult) -> None:
    out = console()
    out.print(f"{found.verdict}: {found.reason}", style="bold", markup=False)
    for fact in found.missing:
        out.print(f"{fact.fact} is missing: {fact.message}", markup=False)
    for each in found.diagnostics:
        out.print(f"{each.message}; {each.rule}", markup=False)
    if found.alternatives:
        out.print("\nWhat would do")
    for alternative in found.alternatives:
        out.print(f"  {_said(alternative)}", markup=False)


def _said(found: AlternativeAnswer) -> str:
    peak = "" if found.peak_bytes is None else f" at {gib(found.peak_bytes)} GiB"
    slower = "" if found.step_ratio is None else f", step time x {found.step_ratio:.2f}"
    return f"{found.change}: {found.verdict}{peak}{slower}"
