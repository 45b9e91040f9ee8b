"""What people see: tables in GiB (2^30 bytes), largest first."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.api.schemas.estimate import EstimateAnswer, LedgerLine, Stage
from service.api.schemas.search import Candidate, LayoutAnswer, SearchResult
from service.calculator.units import GIB

_NARROWEST = 100
"""Columns that the widest table needs; where there are fewer, a wrapped line is easier to read than a cut number."""

_BAR = 60
"""Characters of a bar that is full."""

_LETTERS = {
    "weights": ("w", "blue"),
    "gradients": ("g", "magenta"),
    "optimizer": ("o", "cyan"),
    "activations": ("a", "green"),
    "logits": ("l", "yellow"),
}

_HEADS = {"weights": "weights", "gradients": "grads", "optimizer": "optim", "activations": "activ", "logits": "logits"}


def console() -> Console:
    """Return standard output, wide enough for the tables."""
    found = Console(highlight=False)
    return found if found.width >= _NARROWEST else Console(highlight=False, width=_NARROWEST)


def gib(size_bytes: int) -> str:
    """Return bytes as GiB with two digits."""
    return f"{size_bytes / GIB:.2f}"


def stage_table(found: EstimateAnswer) -> Table:
    """Return one row for each pipeline stage, by category at the stage's worst moment."""
    shown = table(f"GiB of one GPU at its stage's worst moment, {found.capacity.device}")
    for name in ("stage", "layers", "in flight", *_HEADS.values(), "other", "total"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("worst moment", no_wrap=True)
    for stage in found.stages:
        sizes = stage.categories.model_dump()
        shown.add_row(
            str(stage.stage),
            str(len(stage.layers)),
            f"{stage.in_flight_microbatches:g}",
            *(gib(sizes[name]) for name in _HEADS),
            gib(sum(size for name, size in sizes.items() if name not in _HEADS)),
            gib(stage.device_bytes),
            stage.moment,
        )
    return shown


def bars(found: EstimateAnswer) -> Iterator[Text]:
    """Yield a bar for each stage, as long as its share of the memory that a process can use, by category."""
    usable = found.capacity.usable_bytes
    if not usable:
        return
    key = ", ".join(f"{letter} {_HEADS.get(name, name)}" for name, (letter, _) in _LETTERS.items())
    yield Text(f"\nShare of {gib(usable)} GiB usable: {key}, x other", style="bold")
    for stage in found.stages:
        yield _bar(stage, max(usable, *(each.device_bytes for each in found.stages)), usable)


def _bar(stage: Stage, longest: int, usable: int) -> Text:
    shown = Text(f"{stage.stage:>5}  ")
    sizes = stage.categories.model_dump()
    ends, drawn = 0, 0
    for name in [*_LETTERS, *(each for each in sizes if each not in _LETTERS)]:
        letter, style = _LETTERS.get(name, ("x", "white"))
        ends += sizes[name]
        cells = ends * _BAR // longest - drawn
        shown.append(letter * cells, style)
        drawn += cells
    room = usable * _BAR // longest
    shown.append("." * (room - drawn), "dim")
    shown.append(f"  {stage.device_bytes / usable:.1%}")
    return shown


def ledger_table(found: EstimateAnswer, lines: int) -> Table:
    """Return the largest lines of the ledger of the stage that needs most."""
    stage = max(found.stages, key=lambda each: each.device_bytes)
    shown = table(f"The largest lines of stage {stage.stage}")
    shown.add_column("line", no_wrap=True)
    shown.add_column("shape", no_wrap=True)
    shown.add_column("type")
    shown.add_column("count", justify="right")
    shown.add_column("GiB", justify="right")
    shown.add_column("divided by", no_wrap=True)
    for line in sorted(stage.ledger, key=lambda line: -line.bytes)[:lines]:
        shown.add_row(*_cells(line))
    return shown


def notes(found: EstimateAnswer) -> Iterator[str]:
    """Yield the sentences below the tables: interval, time, and what should be known about the job."""
    around = found.interval
    yield (
        f"between {gib(found.peak.low_bytes)} and {gib(found.peak.high_bytes)} GiB in {around.coverage:.0%} of cases, "
        f"by {around.runs} measured runs ({around.group}; {around.reached:.0%} with their source left out)"
    )
    if found.time is not None:
        yield (
            f"step {found.time.step_seconds:.2f} s, "
            f"{found.time.tokens_per_second_per_gpu:,.0f} tokens/s per GPU, "
            f"bubble {found.time.bubble_fraction:.1%}"
        )
    for each in found.diagnostics:
        yield f"{each.severity}: {each.message}"


def candidate_table(answer: SearchResult) -> Table:
    """Return one row for each candidate of a search."""
    shown = table("Layouts that fit, fastest first")
    for name in ("", "tp", "pp", "chunks", "cp", "dp", "micro", "zero"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("checkpointing", no_wrap=True)
    for name in ("peak GiB", "step s", "tokens/s/GPU"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("verdict", no_wrap=True)
    for rank, candidate in enumerate(answer.candidates, start=1):
        shown.add_row(str(rank), *_layout_cells(candidate))
    return shown


def table(title: str, left: Sequence[str] = ()) -> Table:
    """Return a table without lines, with some columns of text."""
    shown = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for place, name in enumerate(left):
        shown.add_column(name, overflow="fold", no_wrap=place > 0)
    return shown


def _cells(line: LedgerLine) -> tuple[str, ...]:
    modelled = " (modelled)" if line.modelled else ""
    return (
        f"{line.name}{modelled}",
        " x ".join(str(each) for each in line.shape),
        line.dtype,
        str(line.count),
        gib(line.bytes),
        ", ".join(line.sharded_by) or "nothing",
    )


def _layout_cells(candidate: Candidate) -> tuple[str, ...]:
    layout = candidate.layout
    return (
        f"{layout.tensor}{'+sp' if layout.sequence else ''}",
        str(layout.pipeline),
        str(layout.virtual_pipeline),
        str(layout.context),
        str(layout.data),
        str(layout.micro),
        str(layout.sharding_stage),
        _checkpointing(layout),
        gib(candidate.peak.device_bytes),
        f"{candidate.time.step_seconds:.2f}",
        f"{candidate.time.tokens_per_second_per_gpu:,.0f}",
        candidate.verdict,
    )


def _checkpointing(layout: LayoutAnswer) -> str:
    if layout.method is None:
        return layout.checkpointing
    return f"{layout.checkpointing} {layout.method} {layout.num_layers}"
