"""What people see: tables in GiB (2^30 bytes), largest first."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from service.calculator.estimate import StageEstimate
from service.calculator.ledger import Category, Line
from service.calculator.units import GIB
from service.usecases.estimates import EstimateAnswer
from service.usecases.searches import FoundCandidate, FoundLayout, SearchAnswer

_NARROWEST = 100
"""Columns that the widest table needs; where there are fewer, a wrapped line is easier to read than a cut number."""

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
    table = _table(f"GiB of one GPU at its stage's worst moment, {found.device.id}")
    for name in ("stage", "layers", "in flight", *_HEADS.values(), "other", "total"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("worst moment", no_wrap=True)
    for stage in found.estimate.stages:
        sizes = _sizes(stage)
        table.add_row(
            str(stage.stage),
            str(len(stage.layers)),
            f"{stage.in_flight_microbatches:g}",
            *(gib(sizes[name]) for name in _HEADS),
            gib(sum(size for name, size in sizes.items() if name not in _HEADS)),
            gib(stage.device_bytes),
            stage.moment.value,
        )
    return table


def ledger_table(stage: StageEstimate, lines: int) -> Table:
    """Return the largest lines of a stage's ledger."""
    table = _table(f"The largest lines of stage {stage.stage}")
    table.add_column("line", no_wrap=True)
    table.add_column("shape", no_wrap=True)
    table.add_column("type")
    table.add_column("count", justify="right")
    table.add_column("GiB", justify="right")
    table.add_column("divided by", no_wrap=True)
    for line in sorted(stage.ledger, key=lambda line: -int(line.bytes))[:lines]:
        table.add_row(*_cells(line))
    return table


def notes(found: EstimateAnswer) -> Iterator[str]:
    """Yield the sentences below the tables: interval, time, and what should be known about the job."""
    around = found.interval
    yield (
        f"between {gib(around.low_bytes)} and {gib(around.high_bytes)} GiB in {around.coverage:.0%} of cases, "
        f"by {around.runs} measured runs ({around.group}; {around.reached:.0%} with their source left out)"
    )
    if found.time is not None:
        yield (
            f"step {float(found.time.step_seconds):.2f} s, "
            f"{float(found.time.tokens_per_second_per_gpu):,.0f} tokens/s per GPU, "
            f"bubble {float(found.time.bubble_fraction):.1%}"
        )
    for each in found.resolved.findings.diagnostics:
        yield f"{each.severity}: {each.message}"


def candidate_table(answer: SearchAnswer) -> Table:
    """Return one row for each candidate of a search."""
    table = _table("Layouts that fit, fastest first")
    for name in ("", "tp", "pp", "chunks", "cp", "dp", "micro", "zero"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("checkpointing", no_wrap=True)
    for name in ("peak GiB", "step s", "tokens/s/GPU"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for rank, candidate in enumerate(answer.candidates, start=1):
        table.add_row(str(rank), *_layout_cells(candidate))
    return table


def _table(title: str) -> Table:
    return Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))


def _sizes(stage: StageEstimate) -> dict[str, int]:
    sizes = dict.fromkeys((each.value for each in Category), 0)
    for line in stage.ledger:
        sizes[line.tensor.category.value] += int(line.bytes)
    return sizes


def _cells(line: Line) -> tuple[str, ...]:
    tensor = line.tensor
    shape = " x ".join(str(each) for each in tensor.shape)
    modelled = " (modelled)" if line.modelled else ""
    return (
        f"{tensor.name}{modelled}",
        shape,
        tensor.dtype,
        str(line.count),
        gib(int(line.bytes)),
        ", ".join(tensor.sharded_by) or "nothing",
    )


def _layout_cells(candidate: FoundCandidate) -> tuple[str, ...]:
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
        gib(max(candidate.stage_bytes)),
        f"{candidate.step_seconds:.2f}",
        f"{candidate.tokens_per_second_per_gpu:,.0f}",
        candidate.verdict,
    )


def _checkpointing(layout: FoundLayout) -> str:
    if layout.method is None:
        return layout.checkpointing
    return f"{layout.checkpointing} {layout.method} {layout.num_layers}"
