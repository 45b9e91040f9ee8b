"""The estimate: the ledger of every stage, its moments, and its peak.

`estimate` answers for one layout in Python ints; `peak_device_bytes` evaluates the same lines on int64 arrays for a
search over many layouts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from service.calculator.break_even import break_even_imbalance
from service.calculator.device import Accelerator
from service.calculator.layout import Layout
from service.calculator.ledger import LOADING, Line, Moment, Scope, Totals, alive_at, total_bytes
from service.calculator.ledgers import Ledger, Ledgers
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.states import parameter_count
from service.calculator.units import Int, maximum

METHOD_VERSION = "2"
"""Changes whenever the same job can get another answer."""


COUNTED: Mapping[str, tuple[Scope, ...]] = MappingProxyType(
    {
        "allocated": (Scope.ALLOCATED,),
        "reserved": (Scope.ALLOCATED, Scope.RESERVED),
        "device": (Scope.ALLOCATED, Scope.RESERVED, Scope.DEVICE),
    }
)
"""The scopes of the lines that a meter counts, by the kind of bytes that it shows."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Bytes of one GPU of a stage at a moment, as the three kinds of meter see them."""

    stage: int
    moment: Moment
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One pipeline rank: its peak moment in a step, the totals there, and all lines of its ledger (bytes).

    `loading` is the worst moment before the first step; None where the framework's way of loading is not known.
    """

    stage: int
    layers: tuple[int, ...]
    parameters: int
    in_flight_microbatches: float
    moment: Moment
    moments: Mapping[Moment, int]
    lines: tuple[Line, ...]
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    host_bytes: int
    loading: Reading | None

    @property
    def ledger(self) -> list[Line]:
        """The lines alive at the peak; they sum to `device_bytes`."""
        return self.ledger_at(self.moment)

    def ledger_at(self, moment: Moment) -> list[Line]:
        """The lines alive at a moment."""
        return alive_at(self.lines, moment)

    def most_bytes(self, kind: str) -> int:
        """What a meter of one kind shows after a step: most bytes of its kind, which need not be at the peak moment."""
        lines = [line for line in self.lines if line.scope in COUNTED[kind]]
        return int(Totals(lines).peak(each for each in self.moments if each not in {*LOADING, Moment.FIRST_ITERATION}))


@dataclass(frozen=True, slots=True)
class Estimate:
    """Every stage of one job; `host_bytes_per_node` is what offload keeps in the memory of the fullest node.

    `break_even_imbalance` is how many times a balanced share of rows the fullest expert-parallel rank may receive
    before the peak fills the usable memory; None where routing cannot fill it, and where balanced routing overfills it.
    """

    stages: tuple[StageEstimate, ...]
    host_bytes_per_node: int
    break_even_imbalance: float | None = None

    @property
    def worst_stage(self) -> StageEstimate:
        """The stage that needs most device memory in a step."""
        return max(self.stages, key=lambda each: each.device_bytes)

    @property
    def peak(self) -> Reading:
        """The worst moment of the worst stage: of a step, or of loading where that needs more than any step."""
        worst = self.worst_stage
        step = Reading(worst.stage, worst.moment, worst.allocated_bytes, worst.reserved_bytes, worst.device_bytes)
        return max((step, *(each.loading for each in self.stages if each.loading)), key=lambda each: each.device_bytes)


def estimate(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> Estimate:
    """Itemised memory of every stage of one layout (Python ints)."""
    ledgers = Ledgers(model, layout, recipe, accelerator)
    stages = tuple(_stage(ledgers, layout, rank) for rank in range(layout.pipeline))
    return Estimate(
        stages,
        fullest_node([each.host_bytes for each in stages], layout, accelerator.gpus_per_node),
        break_even_imbalance(model, layout, accelerator.usable_bytes, ledgers),
    )


def fullest_node(host_bytes: Sequence[int], layout: Layout, ranks_per_node: int) -> int:
    """Host bytes of the node that keeps most; ranks are in Megatron's order, a stage's ranks next to one another."""
    if not any(host_bytes):
        return 0
    ranks = int(layout.world_size) // layout.pipeline
    nodes = range(0, int(layout.world_size), ranks_per_node)
    return max(
        sum(host_bytes[rank // ranks] for rank in range(first, min(first + ranks_per_node, int(layout.world_size))))
        for first in nodes
    )


def stage_peaks(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> Mapping[int, Int]:
    """Device bytes at the worst moment of every stage that can be the worst, on ints or int64 arrays."""
    return Ledgers(model, layout, recipe, accelerator).peaks()


def peak_device_bytes(model: Model, layout: Layout, recipe: Recipe, accelerator: Accelerator) -> Int:
    """Device bytes at the worst moment of the worst stage; the function of the search."""
    worst: Int = 0
    for peak in stage_peaks(model, layout, recipe, accelerator).values():
        worst = maximum(worst, peak)
    return worst


def _stage(ledgers: Ledgers, layout: Layout, rank: int) -> StageEstimate:
    ledger = ledgers.of(rank)
    moments = {moment: int(total) for moment, total in ledger.totals.at_each(ledger.moments).items()}
    worst = max((each for each in moments if each not in LOADING), key=lambda each: moments[each])
    loading = max((each for each in moments if each in LOADING), key=lambda each: moments[each], default=None)
    passes = [each for each in moments if each not in {*LOADING, Moment.OPTIMIZER_STEP}]
    moments[Moment.FIRST_ITERATION] = int(ledger.totals.peak(passes, lazy=False))
    reading = _reading(ledger, rank, worst)
    return StageEstimate(
        stage=rank,
        layers=layout.placement.layers_of(rank),
        parameters=int(parameter_count(each for each in ledger.parameters if not each.is_adapter)),
        in_flight_microbatches=float(int(ledger.mix.total)) / layout.virtual,
        moment=worst,
        moments=moments,
        lines=tuple(line for line in ledger.lines if line.bytes),
        allocated_bytes=reading.allocated_bytes,
        reserved_bytes=reading.reserved_bytes,
        device_bytes=reading.device_bytes,
        host_bytes=int(total_bytes(ledgers.host(ledger))),
        loading=None if loading is None else _reading(ledger, rank, loading),
    )


def _reading(ledger: Ledger, rank: int, moment: Moment) -> Reading:
    sizes = ledger.totals.by_scope(moment)
    allocated, reserved = int(sizes[Scope.ALLOCATED]), int(sizes[Scope.RESERVED])
    return Reading(rank, moment, allocated, allocated + reserved, allocated + reserved + int(sizes[Scope.DEVICE]))
