"""What a plan is made for: a model, what its framework keeps, and a GPU."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.calculator.device import Accelerator
from service.calculator.estimate import Estimate, estimate, peak_device_bytes
from service.calculator.layout import Layout
from service.calculator.ledger import Totals
from service.calculator.ledgers import Ledgers
from service.calculator.model import Model
from service.calculator.moments import occurring
from service.calculator.recipe import Recipe
from service.calculator.stage import stage_of
from service.calculator.states import held_parameters, state_lines
from service.calculator.step_time import StepTime
from service.calibration.few_shot import NOTHING_FITTED, Tuning, tuned_step_time
from service.planner.verdict import verdict_codes

Column = NDArray[np.int64]
Truths = NDArray[np.bool_]

Correction = Callable[[Column], Column]
"""What is expected of each estimate, or the upper end of the interval around it (bytes)."""


def the_estimate(device_bytes: Column) -> Column:
    """The estimate itself, for when nothing is known about errors."""
    return device_bytes


@dataclass(frozen=True, slots=True)
class Problem:
    """The functions of the single estimate, with all but the layout filled in; layouts may be many.

    `expected` and `upper_end` say what runs have shown of the bytes, `tuning` what they have shown of step times.
    `positions` is the longest sequence (tokens) that the job's own flags allow; None where they do not say.
    """

    model: Model
    recipe: Recipe
    accelerator: Accelerator
    upper_end: Correction = the_estimate
    expected: Correction = the_estimate
    tuning: Tuning = NOTHING_FITTED
    positions: int | None = None

    def peaks(self, layout: Layout) -> Column:
        """Device bytes of each layout at the worst moment of its worst stage."""
        return np.atleast_1d(np.asarray(peak_device_bytes(self.model, layout, self.recipe, self.accelerator)))

    def stage_peaks(self, layout: Layout, stage: int) -> Column:
        """Device bytes of each layout at the worst moment of one stage."""
        ledger = Ledgers(self.model, layout, self.recipe, self.accelerator).of(stage)
        return np.atleast_1d(np.asarray(ledger.peak))

    def least_bytes(self, layout: Layout) -> Column:
        """A part of each layout's peak that no checkpointing changes: what its first stage keeps of states."""
        recipe, stage = self.recipe.on(self.accelerator), stage_of(self.model, layout, 0)
        held = held_parameters(stage, self.model, layout, recipe)
        lines = state_lines(held, stage, self.model, layout, recipe)
        return np.atleast_1d(np.asarray(Totals(lines).peak(occurring(stage, layout, recipe))))

    def verdicts(self, peaks: Column) -> Column:
        """Code of the verdict on each peak."""
        return np.asarray(verdict_codes(self.expected(peaks), self.upper_end(peaks), self.accelerator), dtype=np.int64)

    def estimate(self, layout: Layout) -> Estimate:
        """The itemised estimate of one layout."""
        return estimate(self.model, layout, self.recipe, self.accelerator)

    def time(self, layout: Layout, recomputed: Sequence[int] | None = None) -> StepTime:
        """Step times of the layouts; `recomputed` layers of a chunk on each stage take the place of checkpointing."""
        return tuned_step_time(self.model, layout, self.recipe, self.accelerator, self.tuning, recomputed)
