"""`memplan validate`: measured runs against what is predicted for them."""

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table

from service.calculator.units import GIB
from service.calibration.accuracy import Confusion
from service.cli.runs import print_document, read_rows, show_skipped, wide_console
from service.usecases.accuracy import Group, grouped, skip_reasons, summary, worst_first, wrong_labels
from service.usecases.measured_runs import read_runs
from service.usecases.validation import Comparison, compare


def run(options: argparse.Namespace) -> int:
    """Print every row beside its prediction, and the errors of each group."""
    found = compare(read_rows(options.file, read_runs, "measured"))
    groups = grouped(found, options.by)
    if options.json:
        document = {"rows": [_row(each) for each in found], "groups": [_group(each) for each in groups]}
        print_document(document)
        return 0
    console = wide_console()
    _show_rows(console, found)
    _show_wrong_labels(console, found)
    _show_groups(console, options.by, groups, summary("all", found))
    show_skipped(console, skip_reasons(found))
    return 0


def _row(found: Comparison) -> dict[str, Any]:
    """One row of the answer; `stages` is there when the source gives several."""
    row: dict[str, Any] = {
        "id": found.id,
        "kind": found.kind,
        "predicted_bytes": found.predicted_bytes,
        "low_bytes": found.low_bytes,
        "high_bytes": found.high_bytes,
        "measured_bytes": found.measured_bytes,
        "verdict": found.verdict,
        "skipped": found.skipped,
    }
    if found.stages:
        row["stages"] = [
            {
                "stage": each.stage,
                "predicted_bytes": each.predicted_bytes,
                "measured_bytes": each.measured_bytes,
            }
            for each in found.stages
        ]
    return row


def _group(group: Group) -> dict[str, Any]:
    """Errors are shares of the measured bytes; null where a group has no bytes or no labels."""
    errors, labels = group.bytes, group.labels
    return {
        "group": group.name,
        "rows": group.rows,
        "skipped": group.skipped,
        "compared": 0 if errors is None else errors.rows,
        "distinct_predictions": 0 if errors is None else errors.predictions,
        "median_error": None if errors is None else errors.median,
        "p90_error": None if errors is None else errors.p90,
        "worst_error": None if errors is None else errors.worst,
        "bias": None if errors is None else errors.bias,
        "coverage": None if errors is None else errors.coverage,
        "median_width": None if errors is None else errors.width,
        "labels": None if labels is None else _labels(labels),
    }


def _labels(labels: Confusion) -> dict[str, Any]:
    return {"verdicts": labels.counts, "right": labels.right, "oom_called_fits": labels.wrong_fits}


def _show_rows(console: Console, found: list[Comparison]) -> None:
    table = Table("run", "kind", box=None)
    for heading in ("measured GiB", "predicted GiB", "error", "interval GiB"):
        table.add_column(heading, justify="right")
    for each in worst_first(found):
        compared = each.compared
        if compared is None:
            continue
        table.add_row(
            each.id,
            str(each.kind),
            f"{compared.measured / GIB:.2f}",
            f"{compared.predicted / GIB:.2f}",
            f"{each.error:+.1%}",
            f"{compared.low / GIB:.2f} - {compared.high / GIB:.2f}{'' if compared.covered else ' missed'}",
        )
    if table.row_count:
        console.print("Rows with bytes, the worst first", table, "", sep="\n")


def _show_wrong_labels(console: Console, found: list[Comparison]) -> None:
    table = Table("run", "ran", "verdict", box=None)
    table.add_column("predicted GiB", justify="right")
    for each in wrong_labels(found):
        table.add_row(each.id, str(each.kind), str(each.verdict), f"{(each.predicted_bytes or 0) / GIB:.2f}")
    if table.row_count:
        console.print("Labels on the wrong side", table, "", sep="\n")


def _show_groups(console: Console, by: str, groups: list[Group], whole: Group) -> None:
    errors = Table(by, box=None)
    for heading in ("rows", "skipped", "distinct", "median", "90 %", "worst", "bias", "covered", "width"):
        errors.add_column(heading, justify="right")
    for group in [*groups, whole]:
        found = group.bytes
        if found is None:
            errors.add_row(group.name, str(group.rows), str(group.skipped))
            continue
        shares = (found.median, found.p90, found.worst)
        errors.add_row(
            group.name,
            str(group.rows),
            str(group.skipped),
            str(found.predictions),
            *(f"{each:.2%}" for each in shares),
            f"{found.bias:+.2%}",
            f"{found.coverage:.0%}",
            f"{found.width:.1%}",
        )
    console.print("Errors", errors, sep="\n")
    for group in [*groups, whole] if len(groups) > 1 else groups:
        if group.labels is not None:
            _show_labels(console, group.name, group.labels)


def _show_labels(console: Console, name: str, labels: Confusion) -> None:
    table = Table("ran", box=None)
    verdicts = ("fits", "tight", "does_not_fit")
    for verdict in verdicts:
        table.add_column(verdict, justify="right")
    for label, counts in labels.counts.items():
        table.add_row(label, *(str(counts.get(verdict, 0)) for verdict in verdicts))
    shares = f"{labels.right:.1%} of {labels.rows} labels right, {labels.wrong_fits:.1%} of oom called fits"
    console.print("", f"{name}: {shares}", table, sep="\n")
