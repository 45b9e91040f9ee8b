"""`docs/planner.md`: the search and its step times, made from the timed runs under tests/data."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from service.calculator.estimate import METHOD_VERSION
from service.calibration.timing import ranking
from service.usecases.timing import TimeGroup, grouped_times, skipped_times, time_summary
from tests.timing.demands import Demand, demands
from tests.timing.runs import LARGE, by_operations_alone, calibrated, compared, of

PAGE = Path(__file__).parents[2] / "docs" / "planner.md"
TEXT = Path(__file__).parent

STEPS = (2, 3, 5)

Row = Sequence[str]


def write() -> None:
    """Write the page; its date stays when nothing else changes."""
    text = page(f"{datetime.now(UTC):%Y-%m-%d}")
    if not PAGE.exists() or without_date(PAGE.read_text("utf-8")) != without_date(text):
        PAGE.write_text(text, "utf-8")


def without_date(text: str) -> str:
    """The page less the line that has its date."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("Made on "))


def page(date: str) -> str:
    """The whole page: what is written by hand, and the tables in between."""
    text = (TEXT / "planner.md.in").read_text("utf-8")
    tables = {
        "date": f"Made on {date} by `make timing` with method version {METHOD_VERSION}.",
        "demands": _lines(_demands(demands())),
        "families": _lines(_families()),
        "groups": _lines(_groups()),
        "calibration": _lines(_calibration()),
        "skipped": _lines(_skipped()),
    }
    for name, table in tables.items():
        text = text.replace(f"<!-- {name} -->\n", table + "\n")
    return text


def _lines(lines: Iterator[str]) -> str:
    return "\n".join(lines)


def _demands(found: Sequence[Demand]) -> Iterator[str]:
    rows = [
        (each.rows, each.figure, f"{'≥' if each.at_least else '≤'} {each.bound:.3f}", f"{each.found:.3f}", _met(each))
        for each in found
    ]
    yield from _table(("rows", "figure", "asked", "reached", ""), rows)


def _met(demand: Demand) -> str:
    return "" if demand.met else "**missed**"


FIGURES = ("rows", "skipped", "stalled", "mean error", "bias", "rankings", "pairs right", "rank corr.", "best loses")


def _families() -> Iterator[str]:
    rows = []
    for group in grouped_times(compared(), "family"):
        plain = ranking(by_operations_alone(of([group.name])))
        rows.append((group.name, *_figures(group), "" if plain is None else f"{plain.pair_accuracy:.3f}"))
    yield from _table(("family", *FIGURES, "best of 3", "pairs by operations alone"), rows)


def _groups() -> Iterator[str]:
    shown = [each for each in grouped_times(of(LARGE), "group") if each.ranking is not None]
    rows = [(each.name, *_figures(each)) for each in sorted(shown, key=lambda each: each.name)]
    rows.append(("all of these", *_figures(time_summary("all", of(LARGE)))))
    yield from _table(("group", *FIGURES, "best of 3"), rows)


def _figures(group: TimeGroup) -> Row:
    errors, found = group.errors, group.ranking
    counts = (str(group.rows), str(group.skipped), str(group.stalled))
    sizes = ("", "") if errors is None else (f"{errors.mean:.1%}", f"{errors.bias:+.1%}")
    if found is None:
        return (*counts, *sizes, "", "", "", "", "")
    shares = (f"{found.pair_accuracy:.3f}", f"{found.correlation:.2f}", f"{found.best_loss:.1%}")
    return (*counts, *sizes, str(found.groups), *shares, f"{found.best_of_loss:.1%}")


def _calibration() -> Iterator[str]:
    columns = {steps: {each.name: each for each in calibrated(steps)} for steps in STEPS}
    rows = []
    for name, first in columns[STEPS[0]].items():
        found = [columns[steps].get(name) for steps in STEPS]
        means = ["" if each is None else f"{each.mean:.1%} ({each.worst:.0%}), {each.bias:+.1%}" for each in found]
        rows.append((name, str(first.rows), f"{first.before:.1%}", *means))
    yield from _table(("family", "rows", "nothing measured", *(f"{steps} steps" for steps in STEPS)), rows)


def _skipped() -> Iterator[str]:
    yield from _table(("rows", "because"), [(str(count), reason) for reason, count in skipped_times(compared())])


def _table(headings: Row, rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'|'.join('---' for _ in headings)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
