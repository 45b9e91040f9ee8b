"""What the comparisons of measured and of timed runs have in common: reading the rows, and showing tables."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from rich.console import Console
from rich.table import Table

from service.cli.errors import USAGE, CommandError
from service.usecases.measured_runs import UnreadableRuns

PIPED_COLUMNS = 160
"""Width of the tables when they are not shown on a terminal."""

Row = TypeVar("Row")


def read_rows(name: str, read: Callable[[BinaryIO], list[Row]], what: str) -> list[Row]:
    """Return the rows of a file, or of standard input for -. Raises CommandError."""
    try:
        if name == "-":
            return read(sys.stdin.buffer)
        with Path(name).open("rb") as stream:
            return read(stream)
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror}", USAGE) from None
    except UnreadableRuns as error:
        raise CommandError(f"{name} holds no {what} run: {error}", USAGE) from None


def wide_console() -> Console:
    """Return standard output, wide enough for many columns of figures."""
    return Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)


def print_document(document: dict[str, Any]) -> None:
    """Print an answer as JSON on one line."""
    print(json.dumps(document, allow_nan=False))


def show_skipped(console: Console, reasons: Sequence[tuple[str, int]]) -> None:
    """Print how many rows were not compared, and why."""
    if not reasons:
        return
    table = Table("rows", "because", box=None)
    for reason, count in reasons:
        table.add_row(str(count), reason)
    console.print("", "Skipped", table, sep="\n")
