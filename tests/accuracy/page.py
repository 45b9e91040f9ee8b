"""`docs/accuracy.md`: measured against predicted, made from the runs under tests/data."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from service.calculator.estimate import METHOD_VERSION
from service.calculator.units import GIB
from service.calibration.accuracy import Confusion
from service.calibration.conformal import COVERAGE, Nested
from service.calibration.interval import load_calibration
from service.calibration.residuals import EVERY_RUN, load_residuals
from service.usecases.accuracy import Group, grouped, skip_reasons, summary, worst_first
from service.usecases.validation import Comparison
from tests.accuracy.causes import CAUSES
from tests.accuracy.demands import SWEEPS, Demand, demands, rank_correlations, repeats, states_its_attention, with_bytes
from tests.accuracy.residuals import left_out_widths
from tests.accuracy.runs import CALIBRATING, LABELS, MEASURED, MEGATRON_CI, NANOTRON, RESERVED, compared

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"

WORST_SHOWN = 15

IMPLEMENTATION = 2
"""Depth of the groups that the page lists: framework, implementation and kind of bytes."""

FILES = {
    MEGATRON_CI: "NVIDIA/Megatron-LM, golden values of its CI (exact bytes of the last rank)",
    MEASURED: "logs, benchmark pages, papers, pull requests and issues",
    RESERVED: "the reserved peaks of some of the same runs",
    NANOTRON: "nanotron, Ultra-Scale Playbook sweep",
}

Row = Sequence[str]


def write() -> None:
    """Write the page; its date stays when nothing else changes."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    text = page(today)
    if not PAGE.exists() or without_date(PAGE.read_text("utf-8")) != without_date(text):
        PAGE.write_text(text, "utf-8")


def without_date(text: str) -> str:
    """The page less the line that has its date."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("Made on "))


def page(date: str) -> str:
    """The whole page."""
    sections = (
        _head(date),
        _demands(demands()),
        _by_file(),
        _by_source(),
        _labels(),
        _sweep(),
        _intervals(),
        _worst(),
        _causes(),
        _skipped(),
    )
    return "\n".join(line for section in sections for line in section)


HEAD = """\
# Accuracy: measured against predicted

Made on {date} by `make accuracy` with method version {version}. Do not edit: a test compares this page with what the
command yields.

Every measured run under `tests/data` that can be priced, each compared with its own kind of bytes (allocated:
`torch.cuda.max_memory_allocated`; reserved: the caching allocator; device: what `nvidia-smi` shows) on the stage that
was measured, or on the worst one. The error is predicted / measured - 1, so positive is too much; the bias is the
median of the signed errors. Published runs repeat, so each table also counts the different predictions.
`memplan validate FILE.jsonl` does the same with your own runs.
"""


def _head(date: str) -> Iterator[str]:
    yield HEAD.format(date=date, version=METHOD_VERSION)


def _demands(found: Sequence[Demand]) -> Iterator[str]:
    yield from ("## What is asked, and what is reached", "")
    rows = [
        (each.rows, each.figure, f"{'≥' if each.at_least else '≤'} {each.bound:.1%}", f"{each.found:.2%}", _met(each))
        for each in found
    ]
    yield from _table(("rows", "figure", "asked", "reached", ""), rows)


def _met(demand: Demand) -> str:
    return "" if demand.met else "**missed**"


def _by_file() -> Iterator[str]:
    yield from ("## By file", "")
    groups = [(summary(source, compared(name)), f"`{name}`") for name, source in FILES.items()]
    stated = summary("attention stated", with_bytes(MEGATRON_CI, states_its_attention))
    automatic = summary("attention automatic", with_bytes(MEGATRON_CI, lambda each: not states_its_attention(each)))
    groups[1:1] = [(stated, ""), (automatic, "")]
    rows = [(name, group.name, *_errors(group)) for group, name in groups]
    yield from _table(("file", "source", *ERRORS), rows)


def _by_source() -> Iterator[str]:
    yield from (
        "## By source and kind",
        "",
        "Rows of `jobs_measured.jsonl` and `jobs_reserved.jsonl` that have bytes.",
        "",
    )
    measured = [each for name in (MEASURED, RESERVED) for each in compared(name) if each.measured_bytes or each.skipped]
    rows = []
    for kind in ("allocated", "reserved", "device"):
        of_kind = [each for each in measured if each.kind == kind]
        rows += [(group.name, kind, *_errors(group)) for group in grouped(of_kind, "family")]
    yield from _table(("source", "kind", *ERRORS), rows)


ERRORS = ("rows", "skipped", "distinct", "median", "90 % within", "worst", "bias", "in interval", "width")


def _errors(group: Group) -> Row:
    counts = (str(group.rows), str(group.skipped))
    found = group.bytes
    if found is None:
        return (*counts, *[""] * (len(ERRORS) - len(counts)))
    shares = (f"{each:.2%}" for each in (found.median, found.p90, found.worst))
    covered = (f"{found.bias:+.2%}", f"{found.coverage:.0%}", f"{found.width:.1%}")
    return (*counts, str(found.predictions), *shares, *covered)


LABELLED = """\
## Fits and out-of-memory labels

Right is an estimate on the label's side of the usable memory: `fits` or `tight` for a run that fitted, `does_not_fit`
for one that died. A `tight` is a warning, so only `fits` counts as calling a dead run safe.
"""


def _labels() -> Iterator[str]:
    yield LABELLED
    labelled = [each for name in (LABELS, MEASURED) for each in compared(name) if each.kind in {"fits", "oom"}]
    groups = [*grouped(labelled, "family"), summary("all", labelled)]
    headings = ("source", "ran", "`fits`", "`tight`", "`does_not_fit`", "right", "oom called `fits`", "skipped")
    rows = []
    for group in groups:
        if group.labels is not None:
            rows += _verdicts(group, group.labels)
    yield from _table(headings, rows)


def _verdicts(group: Group, labels: Confusion) -> Iterator[Row]:
    for label, counts in labels.counts.items():
        first = label == "fits"
        yield (
            group.name if first else "",
            label,
            *(str(counts.get(verdict, 0)) for verdict in ("fits", "tight", "does_not_fit")),
            f"{labels.right:.1%} of {labels.rows}" if first else "",
            "" if first else f"{labels.wrong_fits:.1%}",
            str(group.skipped) if first else "",
        )


SWEPT = """\
## A sweep over layouts

nanotron's runs are priced as Megatron-Core with what their source leaves unsaid assumed; what counts here is the order
of the layouts of one model on one number of GPUs. {pairs} jobs are recorded twice, and their figures differ by up to
{apart:.0%}: measured once more with such differences, the runs would correlate with themselves as the last column says
(median of {sweeps} draws).
"""


def _sweep() -> Iterator[str]:
    rows = with_bytes(NANOTRON)
    apart = repeats(rows)
    yield SWEPT.format(pairs=len(apart), apart=max(apart) - 1, sweeps=SWEEPS)
    yield from _table(
        ("model", "rows", "rank correlation", "measured again"),
        [
            (each.group, str(each.rows), f"{each.correlation:.3f}", f"{each.repeated:.3f}")
            for each in rank_correlations(rows)
        ],
    )


CUT = """\
## Intervals

An interval claims {claimed:.0%}. It is cut from measured over predicted bytes of the runs that are most alike
(framework, kind of bytes, implementation, whether the attention kernel is stated, whether the version is the one that
was read), a thin group borrowing from the one around it. Leaving out one family of runs at a time, the intervals of the
others hold {reached:.1%} of the different predictions, with a median width of {width:.1%} of the peak. With their own
family the shipped intervals hold {held:.1%} of the runs, with a median width of {own_width:.1%}.
"""


def _intervals() -> Iterator[str]:
    calibration, widths = load_calibration(), left_out_widths()
    yield CUT.format(
        claimed=COVERAGE,
        reached=calibration.reached[EVERY_RUN],
        width=median(widths),
        held=_held(),
        own_width=_width(),
    )
    nested = Nested(load_residuals())
    rows = [
        (name, str(nested.runs(name)), f"{nested.predictions(name):.0f}", f"{calibration.reached[name]:.0%}")
        for name in sorted({each.likeness.levels[IMPLEMENTATION] for each in load_residuals()})
    ]
    yield from _table(("group", "runs", "distinct", "reached, one family left out"), rows)


def _calibrating() -> list[Comparison]:
    return [each for name in CALIBRATING for each in with_bytes(name)]


def _held() -> float:
    found = summary("", _calibrating()).bytes
    return found.coverage if found is not None else 0.0


def _width() -> float:
    found = summary("", _calibrating()).bytes
    return found.width if found is not None else 0.0


def _worst() -> Iterator[str]:
    yield from (f"## The {WORST_SHOWN} worst predictions", "")
    repeats: dict[tuple[str | None, int | None], list[Comparison]] = {}
    for each in worst_first(_calibrating()):
        repeats.setdefault((each.kind, each.predicted_bytes), []).append(each)
    rows = [_worst_row(same) for same in list(repeats.values())[:WORST_SHOWN]]
    yield from _table(("run", "repeats", "kind", "measured GiB", "predicted GiB", "error"), rows)


def _worst_row(same: Sequence[Comparison]) -> Row:
    worst, more = same[0], len(same) - 1
    sizes = (_gib(worst.measured_bytes), _gib(worst.predicted_bytes))
    return (worst.id, str(more) if more else "", str(worst.kind), *sizes, f"{worst.error:+.1%}")


def _causes() -> Iterator[str]:
    yield from ("## The largest causes left", "")
    for each in CAUSES:
        found = each.errors
        shown = f"{len(found)} rows, median {median(found):.1%}, worst {found[-1]:.1%}" if found else "no rows"
        yield from (f"**{each.name}** ({shown}). {each.why} What would settle it: {each.settled_by}", "")


def _skipped() -> Iterator[str]:
    yield from ("## Skipped", "")
    every = [each for name in (*FILES, LABELS) for each in compared(name)]
    reasons = skip_reasons(every)
    if not reasons:
        yield from ("No row had to be skipped.", "")
        return
    yield from _table(("rows", "because"), [(str(count), reason) for reason, count in reasons])


def _gib(size: int | None) -> str:
    return f"{(size or 0) / GIB:.2f}"


def _table(headings: Row, rows: Iterable[Row]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


if __name__ == "__main__":
    write()
