"""`memplan compare FILE FILE…`: jobs on targets, side by side. Stores nothing, unless a service is asked."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from service.api.schemas.comparison import CellAnswer, ComparisonResult, DifferenceAnswer
from service.cli.errors import USAGE, CommandError
from service.cli.files import document_of, given_by, refusal
from service.cli.server import print_json, remote
from service.cli.tables import console, gib, table
from service.usecases.comparisons import ComparisonQuestion, LabelledItem, compare_items
from service.usecases.errors import RejectedQuestion
from service.usecases.targets import Target

PLAN = "pln_"
LONGEST_LABEL = 100
_LONGEST_VALUE = 30


def run(options: argparse.Namespace) -> int:
    """Print a row for each job on each device, what differs and the winners, or the answer of the HTTP interface."""
    plans = [each for each in options.files if each.startswith(PLAN)]
    files = [each for each in options.files if not each.startswith(PLAN)]
    items = [
        LabelledItem(label, given_by(options, file=each)) for label, each in zip(_labels(files), files, strict=True)
    ]
    targets = [Target(each, options.gpus) for each in options.device]
    service = remote(options)
    if service is not None:
        found = service.ask("/v1/comparisons", _document(plans, items, targets), ComparisonResult)
    elif plans:
        raise CommandError(f"{plans[0]} is stored by a service; --server says which", USAGE)
    else:
        found = _compared(ComparisonQuestion([], items, targets))
    if options.json:
        print_json(found)
    else:
        _show(found)
    return 0


def _labels(files: list[str]) -> list[str]:
    """The names of the files, without their folders where they differ without."""
    names = [Path(each).name for each in files]
    shown = names if len(set(names)) == len(names) else files
    return [each[-LONGEST_LABEL:] for each in shown]


def _compared(question: ComparisonQuestion) -> ComparisonResult:
    try:
        return ComparisonResult.of_answer(compare_items(question))
    except RejectedQuestion as error:
        raise refusal(error) from None


def _document(plans: list[str], items: list[LabelledItem], targets: list[Target]) -> dict[str, Any]:
    return {
        "plans": plans,
        "items": [{"label": each.label, **document_of(each.given)} for each in items],
        "targets": [{"device": each.device, "world_size": each.world_size} for each in targets],
    }


def _show(found: ComparisonResult) -> None:
    out = console()
    cells = table("Jobs on targets; GPU-hours are those of a billion tokens", left=("job", "device", "verdict"))
    for name in ("GPUs", "peak GiB", "margin GiB", "step s", "GPU-hours"):
        cells.add_column(name, justify="right", no_wrap=True)
    for row in found.matrix:
        for cell in row:
            cells.add_row(found.sides[cell.side], cell.device, cell.verdict, *_numbers(cell))
    out.print(cells)
    for cell in (each for row in found.matrix for each in row if each.verdict == "unknown"):
        out.print(f"{found.sides[cell.side]}: {cell.reason}", markup=False)
    if found.differences:
        out.print(_differences(found))
    out.print()
    for line in _winners(found):
        out.print(line, markup=False)


def _numbers(cell: CellAnswer) -> tuple[str, ...]:
    sizes = (cell.peak_bytes, cell.margin_bytes)
    return (
        str(cell.world_size or ""),
        *("" if size is None else gib(size) for size in sizes),
        "" if cell.step_seconds is None else f"{cell.step_seconds:.2f}",
        "" if cell.gpu_hours is None else f"{cell.gpu_hours:,.1f}",
    )


def _differences(found: ComparisonResult) -> Any:
    shown = table("What differs, and what each value alone does to the first job's peak (GiB)", left=("value",))
    for side in found.sides:
        shown.add_column(side, justify="right", overflow="fold")
    for each in found.differences:
        shown.add_row(each.pointer.strip("/").replace("/", "."), *_values(each, len(found.sides)))
    return shown


def _values(difference: DifferenceAnswer, sides: int) -> Iterator[str]:
    known = {each.side: each for each in difference.values}
    for side in range(sides):
        value = known.get(side)
        if value is None:
            yield ""
            continue
        text = "absent" if value.value is None else json.dumps(value.value)[:_LONGEST_VALUE]
        yield text if not value.effect_bytes else f"{text} ({value.effect_bytes / 2**30:+.2f})"


def _winners(found: ComparisonResult) -> Iterator[str]:
    named = {"step_time": "shortest step", "margin": "most memory left", "gpu_hours": "fewest GPU-hours"}
    for objective, title in named.items():
        winner = getattr(found.winners, objective)
        if winner is not None:
            cell = found.matrix[winner.side][winner.target]
            yield f"{title}: {found.sides[winner.side]} on {cell.device}"
    if found.winners.margin is None:
        yield "nothing fits"
