"""What people see: tables in GiB (2^30 bytes), largest first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.api.schemas.estimate import EstimateAnswer, LedgerLine, Stage
from service.api.schemas.search import Candidate, LayoutAnswer, SearchResult
from service.calculator.units import GIB
from service.planner.ranking import TIE

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
    """Return one row for each candidate of a search; what no candidate makes use of has no column."""
    layouts = [each.layout for each in answer.candidates]
    axes = [each for each in _AXES if each.always or any(each.used(layout) for layout in layouts)]
    shown = table(f"Layouts that fit, fastest first; within {TIE - 1:.0%} the larger margin first", gap=1)
    for name in ("", *(each.name for each in axes)):
        shown.add_column(name, justify="right", no_wrap=name != "stages")
    shown.add_column("checkpointing")
    for name in ("peak GiB", "step s", "tok/s/GPU"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("verdict", no_wrap=True)
    for rank, candidate in enumerate(answer.candidates, start=1):
        cells = [each.text(candidate.layout) for each in axes]
        shown.add_row(str(rank), *cells, *_result_cells(candidate))
    return shown


def change_table(answer: SearchResult) -> Table:
    """Return one row for each of the smallest changes with which the job fits."""
    shown = table("The smallest changes with which it fits")
    shown.add_column("", justify="right", no_wrap=True)
    shown.add_column("change", overflow="fold")
    for name in ("peak GiB", "saves GiB", "step"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("verdict", no_wrap=True)
    for rank, each in enumerate(answer.alternatives, start=1):
        peak, saved = ("" if size is None else gib(size) for size in (each.peak_bytes, each.saved_bytes))
        ratio = "" if each.step_ratio is None else f"{each.step_ratio - 1:+.1%}"
        shown.add_row(str(rank), each.change, peak, saved, ratio, each.verdict)
    return shown


@dataclass(frozen=True, slots=True)
class _Axis:
    """A column of candidates: its name, its text, and whether a layout makes use of it."""

    name: str
    text: Callable[[LayoutAnswer], str]
    used: Callable[[LayoutAnswer], bool] = lambda _: True
    always: bool = False


_FUSED = frozenset({"megatron_fused", "te", "chunked", "chunked_head", "liger", "cut", "compiled"})
"""Losses that no framework takes by itself."""


def _is_hybrid(layout: LayoutAnswer) -> bool:
    """Whether states are sharded over part of the ranks and copied over the others."""
    return layout.sharding_degree not in {None, layout.data * layout.context}


def _stages(layout: LayoutAnswer) -> str:
    """How layers are divided, in few words."""
    stated = layout.stages or {}
    if "layout" in stated:
        return "written out"
    counted = [name.removeprefix("account_for_") for name, value in stated.items() if value is True]
    ends = [f"{name} {value}" for name, value in stated.items() if name in {"first", "last"}]
    return ", ".join([*(f"+{each}" for each in counted), *ends]) or ("listed" if stated else "")


def _offload(layout: LayoutAnswer) -> str:
    place = layout.optimizer_offload
    return place if isinstance(place, str) else f"{place['fraction']:.0%}"


_AXES = (
    _Axis("tp", lambda layout: f"{layout.tensor}{'+sp' if layout.sequence else ''}", always=True),
    _Axis("pp", lambda layout: str(layout.pipeline), always=True),
    _Axis("chunks", lambda layout: str(layout.virtual_pipeline), lambda layout: layout.virtual_pipeline > 1),
    _Axis("schedule", lambda layout: layout.schedule, lambda layout: layout.schedule not in {"1f1b", "interleaved"}),
    _Axis("stages", _stages, lambda layout: layout.stages is not None),
    _Axis("cp", lambda layout: str(layout.context), lambda layout: layout.context > 1),
    _Axis("ep", lambda layout: str(layout.expert), lambda layout: layout.expert > 1),
    _Axis(
        "etp", lambda layout: str(layout.expert_tensor), lambda layout: layout.expert_tensor not in {1, layout.tensor}
    ),
    _Axis("dp", lambda layout: str(layout.data), always=True),
    _Axis("micro", lambda layout: str(layout.micro), always=True),
    _Axis("zero", lambda layout: str(layout.sharding_stage), always=True),
    _Axis("over", lambda layout: str(layout.sharding_degree or ""), _is_hybrid),
    _Axis("loss", lambda layout: layout.cross_entropy or "", lambda layout: layout.cross_entropy in _FUSED),
    _Axis("offload", _offload, lambda layout: layout.optimizer_offload != "none"),
)


def table(title: str, left: Sequence[str] = (), gap: int = 2) -> Table:
    """Return a table without lines, with some columns of text, `gap` columns apart."""
    shown = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, padding=(0, gap, 0, 0))
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


def _result_cells(candidate: Candidate) -> tuple[str, ...]:
    return (
        _checkpointing(candidate.layout),
        gib(candidate.peak.device_bytes),
        f"{candidate.time.step_seconds:.2f}",
        f"{candidate.time.tokens_per_second_per_gpu:,.0f}",
        candidate.verdict,
    )


def _checkpointing(layout: LayoutAnswer) -> str:
    if layout.checkpointing == "selective":
        return f"selective {', '.join(layout.modules)}".rstrip()
    if layout.method is None:
        return layout.checkpointing
    return f"{layout.checkpointing} {layout.method} {layout.num_layers}"
