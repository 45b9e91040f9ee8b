"""`memplan validate-time`: timed runs against predicted step times."""

import argparse
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from service.calibration.few_shot import TooFewSteps
from service.calibration.timing import RANKABLE
from service.cli.errors import USAGE, CommandError
from service.cli.runs import print_document, read_rows, show_skipped, wide_console
from service.usecases.time_calibration import CalibratedFamily, calibrated_families
from service.usecases.timed_runs import read_timed_runs
from service.usecases.timing import (
    TimeComparison,
    TimeGroup,
    compare_times,
    grouped_times,
    skipped_times,
    time_summary,
)


def run(options: argparse.Namespace) -> int:
    """Print how far predicted step times are from measured ones, and how well they rank layouts."""
    found = compare_times(read_rows(options.file, read_timed_runs, "timed"))
    groups = grouped_times(found, options.by)
    calibrated = None if options.calibrate is None else _calibrated(found, options.calibrate)
    if options.json:
        document = {"rows": [_row(each) for each in found], "groups": [_group(each) for each in groups]}
        if calibrated is not None:
            document["calibrated"] = [_family(each) for each in calibrated]
        print_document(document)
        return 0
    console = wide_console()
    _show(console, options.by, [*groups, time_summary("all", found)])
    if options.by != "group":
        ranked = [each for each in grouped_times(found, "group") if each.ranking is not None]
        console.print("")
        _show(console, "group", sorted(ranked, key=lambda each: each.name))
    if calibrated is not None:
        _show_calibrated(console, options.calibrate, calibrated)
    show_skipped(console, skipped_times(found))
    return 0


def _calibrated(found: Sequence[TimeComparison], steps: int) -> list[CalibratedFamily]:
    try:
        return calibrated_families(found, steps)
    except TooFewSteps as error:
        raise CommandError(str(error), USAGE) from None


def _row(found: TimeComparison) -> dict[str, Any]:
    timed = found.timed
    return {
        "id": found.id,
        "group": None if found.run is None else found.run.group,
        "predicted_step_seconds": found.predicted_step_seconds,
        "measured_step_seconds": None if timed is None else timed.measured_seconds,
        "skipped": found.skipped,
    }


def _group(group: TimeGroup) -> dict[str, Any]:
    """Errors and losses are shares; null where a group has no measured seconds, or too few runs to rank."""
    errors, ranking = group.errors, group.ranking
    return {
        "group": group.name,
        "rows": group.rows,
        "skipped": group.skipped,
        "stalled": group.stalled,
        "compared": 0 if errors is None else errors.rows,
        "mean_error": None if errors is None else errors.mean,
        "bias": None if errors is None else errors.bias,
        "worst_error": None if errors is None else errors.worst,
        "rankings": 0 if ranking is None else ranking.groups,
        "pairs": 0 if ranking is None else ranking.pairs,
        "rank_correlation": None if ranking is None else ranking.correlation,
        "pair_accuracy": None if ranking is None else ranking.pair_accuracy,
        "best_loss": None if ranking is None else ranking.best_loss,
        "best_of_three_loss": None if ranking is None else ranking.best_of_loss,
    }


def _family(family: CalibratedFamily) -> dict[str, Any]:
    """Errors are shares of the measured seconds, over the rows that were not measured for the calibration."""
    return {
        "family": family.name,
        "rows": family.rows,
        "steps": family.steps,
        "mean_error_before": family.before,
        "mean_error": family.mean,
        "worst_mean_error": family.worst,
        "bias": family.bias,
    }


def _show(console: Console, title: str, groups: Sequence[TimeGroup]) -> None:
    table = Table(title, box=None)
    for heading in ("rows", "skipped", "stalled", "mean error", "bias", "worst"):
        table.add_column(heading, justify="right")
    for heading in ("rankings", "pairs", "right", "rank corr.", "best loses", "best of 3"):
        table.add_column(heading, justify="right")
    for group in groups:
        counts = (str(group.rows), str(group.skipped), str(group.stalled))
        table.add_row(group.name, *counts, *_errors(group), *_ranking(group))
    console.print(table)


def _errors(group: TimeGroup) -> tuple[str, ...]:
    if group.errors is None:
        return ("", "", "")
    return (f"{group.errors.mean:.1%}", f"{group.errors.bias:+.1%}", f"{group.errors.worst:+.0%}")


def _ranking(group: TimeGroup) -> tuple[str, ...]:
    found = group.ranking
    if found is None:
        return (f"< {RANKABLE} runs",)
    return (
        str(found.groups),
        str(found.pairs),
        f"{found.pair_accuracy:.3f}",
        f"{found.correlation:.2f}",
        f"{found.best_loss:.1%}",
        f"{found.best_of_loss:.1%}",
    )


def _show_calibrated(console: Console, steps: int, families: Sequence[CalibratedFamily]) -> None:
    table = Table(f"after {steps} measured steps", box=None)
    for heading in ("rows", "before", "mean error", "worst draw", "bias"):
        table.add_column(heading, justify="right")
    for each in families:
        shares = (each.before, each.mean, each.worst)
        table.add_row(each.name, str(each.rows), *(f"{share:.1%}" for share in shares), f"{each.bias:+.1%}")
    console.print("", table, sep="\n")
