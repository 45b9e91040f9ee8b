"""Measured against predicted: every row of a file of runs, each with its own kind of bytes on its own stage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from service.calculator.activations.layer import layer_tensors
from service.calculator.checkpointing import stored_lines
from service.calculator.device import Accelerator
from service.calculator.estimate import COUNTED, Estimate, StageEstimate, estimate
from service.calculator.ledger import LOADING, Category, Moment, Totals, alive_at, total_bytes
from service.calibration.accuracy import Compared
from service.job.resolve import InvalidJob, Resolved, resolve
from service.planner.verdict import Verdict, judge
from service.usecases.devices import accelerator_of, device_of
from service.usecases.errors import NoSuchDevice
from service.usecases.intervals import interval_around
from service.usecases.measured_runs import BYTE_KINDS, LABELS, BadLine, ByteKind, Kind, MeasuredRun, Measurement

ASSUMED_DEVICE = "a100-sxm-80gb"
"""Where a source names no GPU and bytes are compared; only workspaces and the automatic attention kernel depend on it.

Such rows of Megatron-LM's CI are those of its older container, whose named runs were on A100.
"""

ASSUMED_FP8_DEVICE = "h100-sxm-80gb"
"""The same for 8-bit training, which an A100 has not."""


INTERVAL_KINDS: Mapping[Kind, ByteKind] = MappingProxyType(
    {
        "allocated": "allocated",
        "reserved": "reserved",
        "device": "device",
        "fits": "device",
        "oom": "device",
        "activations": "allocated",
    }
)
"""The kind of bytes whose errors a row's prediction has."""


@dataclass(frozen=True, slots=True)
class Meter:
    """What a framework's own log means: the kind of bytes behind a name, where it is another, and whose they are."""

    kinds: Mapping[Kind, ByteKind]
    stage: int | None = None


METERS: Mapping[str, Meter] = MappingProxyType({"nanotron": Meter({"allocated": "reserved"}, stage=0)})
"""How logs differ from what their rows say.

nanotron's benchmark resets the allocated peak at the end of the passes, before it prints its table: only the reserved
bytes of that table are a peak of the run. The first rank writes it, which is of the first stage (huggingface/nanotron
@ 67c5ebb6 trainer.py training_step, logging.py log_memory, helpers.py create_table_log and log_throughput,
parallel/context.py).
"""


LOSS_GRADIENTS = frozenset(
    {"head.input_gradient", "head.weight_gradient", "loss.input_gradient", "loss.weight_gradient"}
)
"""Ledger lines that the loss makes beside the logits."""


@dataclass(frozen=True, slots=True)
class StageComparison:
    """One stage of a run whose source gives several (bytes)."""

    stage: int
    predicted_bytes: int
    measured_bytes: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row: what was predicted beside what was measured (bytes), or why it was skipped.

    `run` is None for a line that could not be read. Labels have a verdict and no measured bytes; their predicted bytes
    are the device's at the peak.
    """

    id: str
    run: MeasuredRun | None = None
    kind: Kind | None = None
    predicted_bytes: int | None = None
    low_bytes: int | None = None
    high_bytes: int | None = None
    measured_bytes: int | None = None
    verdict: Verdict | None = None
    skipped: str | None = None
    stages: tuple[StageComparison, ...] = ()

    @property
    def compared(self) -> Compared | None:
        """The bytes of the row, or None where there are none to compare."""
        if self.predicted_bytes is None or self.measured_bytes is None:
            return None
        return Compared(self.predicted_bytes, self.measured_bytes, self.low_bytes or 0, self.high_bytes or 0)

    @property
    def error(self) -> float:
        """The signed relative error that is furthest from 0: of the row's own bytes, or of one of its stages."""
        own = [] if self.compared is None else [self.compared.error]
        stages = [each.predicted_bytes / each.measured_bytes - 1 for each in self.stages]
        return max([*own, *stages, 0.0], key=abs)


@dataclass(frozen=True, slots=True)
class Priced:
    """A run's own prediction (bytes), before anything is said about its error; `known` tells that a verdict can be."""

    run: MeasuredRun
    resolved: Resolved
    estimate: Estimate
    accelerator: Accelerator
    known: bool
    predicted_bytes: int


class Unpriced(ValueError):
    """A run that has no prediction; the message says why."""


def compare(rows: Iterable[MeasuredRun | BadLine]) -> list[Comparison]:
    """Every row beside its prediction, in order; what cannot be priced says why."""
    return [Comparison(row.id, skipped=row.reason) if isinstance(row, BadLine) else _compared(row) for row in rows]


def price(run: MeasuredRun) -> Priced:
    """The prediction of what a run measured. Raises Unpriced."""
    measured = run.measured
    try:
        resolved = resolve(run.job)
        accelerator, usable = _accelerator(run)
    except (InvalidJob, NoSuchDevice) as error:
        raise Unpriced(str(error)) from None
    if measured.kind in LABELS and not (usable and run.device):
        raise Unpriced("whether it fits needs a GPU of known memory")
    if _last_stage(measured) >= resolved.layout.pipeline:
        raise Unpriced(f"stage {_last_stage(measured)} of a pipeline of {resolved.layout.pipeline}")
    found = estimate(resolved.model, resolved.layout, resolved.recipe, accelerator)
    known = bool(usable and run.device)
    return Priced(run, resolved, found, accelerator, known, _predicted(measured, found, resolved))


def _compared(run: MeasuredRun) -> Comparison:
    try:
        priced = price(run)
    except Unpriced as reason:
        return Comparison(run.id, run, run.measured.kind, skipped=str(reason))
    measured, peak = run.measured, priced.estimate.peak.device_bytes
    kind = _meter(measured, priced.resolved)
    interval = interval_around(priced.resolved, priced.predicted_bytes, INTERVAL_KINDS[kind])
    verdict = None
    if priced.known:
        verdict = judge(peak, interval_around(priced.resolved, peak).high_bytes, priced.accelerator)
    return Comparison(
        id=run.id,
        run=run,
        kind=kind,
        predicted_bytes=priced.predicted_bytes,
        low_bytes=interval.low_bytes,
        high_bytes=interval.high_bytes,
        measured_bytes=measured.most_bytes,
        verdict=verdict,
        stages=_stages(measured, kind, priced.estimate),
    )


def _accelerator(run: MeasuredRun) -> tuple[Accelerator, bool]:
    """The GPU of a run, and whether its usable memory is known. Raises NoSuchDevice."""
    assumed = ASSUMED_FP8_DEVICE if run.job.precision.fp8 else ASSUMED_DEVICE
    device = device_of(run.device or assumed, "/device")
    return accelerator_of(device), device.usable_bytes is not None


def _meter(measured: Measurement, resolved: Resolved) -> Kind:
    """The kind of bytes that a row's figure is: its own, or what its framework's log means by it."""
    meter = METERS.get(resolved.recipe.framework)
    return measured.kind if meter is None else meter.kinds.get(measured.kind, measured.kind)


def _stage_of(measured: Measurement, resolved: Resolved) -> int | None:
    """The stage that was measured: the row's own, or the one whose rank writes its framework's log."""
    meter = METERS.get(resolved.recipe.framework)
    return measured.stage if measured.stage is not None or meter is None else meter.stage


def _last_stage(measured: Measurement) -> int:
    return max(measured.stage or 0, len(measured.per_stage or ()) - 1)


def _predicted(measured: Measurement, found: Estimate, resolved: Resolved) -> int:
    """Bytes of the row's kind on its stage, or on the worst one."""
    stage = _stage_of(measured, resolved)
    stages: Sequence[StageEstimate] = found.stages if stage is None else [found.stages[stage]]
    if measured.kind in LABELS:
        return found.peak.device_bytes
    kind = _meter(measured, resolved)
    if kind in BYTE_KINDS:
        return max(_of_kind(each, measured, kind) for each in stages)
    if measured.scope == "layer":
        return max(_layer_bytes(resolved, each) for each in stages)
    if measured.scope == "loss":
        return max(_loss_bytes(each) for each in stages)
    return max(_activation_bytes(each) for each in stages)


def _of_kind(stage: StageEstimate, measured: Measurement, kind: Kind) -> int:
    return stage.most_bytes(kind) if measured.moment is None else _first_iteration(stage, kind)


def _first_iteration(stage: StageEstimate, kind: Kind) -> int:
    """The worst pass before the optimizer has made its states, or the first step, which makes them."""
    lines = [line for line in stage.lines if line.scope in COUNTED[kind]]
    passes = [each for each in stage.moments if each not in {*LOADING, Moment.FIRST_ITERATION, Moment.OPTIMIZER_STEP}]
    worst = Totals(lines).peak(passes, lazy=False)
    return int(max(worst, total_bytes(alive_at(lines, Moment.OPTIMIZER_STEP))))


def _stages(measured: Measurement, kind: Kind, found: Estimate) -> tuple[StageComparison, ...]:
    if kind not in BYTE_KINDS:
        return ()
    given = zip(found.stages, measured.per_stage or (), strict=False)
    return tuple(
        StageComparison(stage.stage, _of_kind(stage, measured, kind), size) for stage, size in given if size is not None
    )


def _activation_bytes(stage: StageEstimate) -> int:
    """Activations and logits at the moment when a stage holds most of them."""
    held = [line for line in stage.lines if line.tensor.category in (Category.ACTIVATIONS, Category.LOGITS)]
    return max(int(total_bytes(alive_at(held, moment))) for moment in stage.moments)


def _loss_bytes(stage: StageEstimate) -> int:
    """Logits, and gradients of the head's input and weight, at their worst moment; 0 on a stage without a loss."""
    held = [
        line for line in stage.lines if line.tensor.category is Category.LOGITS or line.tensor.name in LOSS_GRADIENTS
    ]
    return max(int(total_bytes(alive_at(held, moment))) for moment in stage.moments)


def _layer_bytes(resolved: Resolved, stage: StageEstimate) -> int:
    """What the heaviest layer of a stage stores for one micro-batch."""
    model, layout = resolved.model, resolved.layout
    stored = 0
    for kind in model.kinds_of(stage.layers):
        tensors = layer_tensors(model.kinds[kind], model, layout, resolved.recipe)
        lines = stored_lines(tensors, layout, [1], [1])
        stored = max(stored, int(total_bytes(alive_at(lines, Moment.WARMUP_FORWARD))))
    return stored
