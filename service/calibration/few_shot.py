"""Step times of a cluster from a few of its measured steps.

Three factors are fitted: one on every time, one on the bandwidth of links inside a node, one on the rate of matrix
products. These are what public clusters differ in most (time_model.md, sections 0 and 5). The fit takes the most likely
factors: few measurements hardly move what they say little about, and a single outlier moves nothing far.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from service.calculator.device import Accelerator
from service.calculator.layout import Layout
from service.calculator.model import Model
from service.calculator.recipe import Recipe
from service.calculator.step_time import StepTime, rates_of, step_time

Times = NDArray[np.float64]

FEWEST = 2
"""Measured steps below which nothing is fitted: one step fixes the wrong factor as often as the right one."""

LINKS: Times = np.exp(np.linspace(-0.9, 0.6, 16))
PRODUCTS: Times = np.exp(np.linspace(-0.6, 0.3, 13))
_SCALES: Times = np.exp(np.linspace(-0.6, 0.9, 61))

_LINK_SPREAD = 0.25
"""Links reach 0.35 to 0.6 of their nominal bandwidth in training (time_model.md, section 5): the spread of its
logarithm. The next two are of shares of the peak on one device (0.37 to 0.63 on B200), and of unfitted predictions."""
_PRODUCT_SPREAD = 0.15
_SCALE_SPREAD = 0.25

_NOISE = 0.04
"""Repeated runs differ by up to 3.7 % (time_model.md, section 0); beyond it an error counts linearly."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Factors on the step time, on the bandwidth of links and on the rate of products; 1 where nothing is fitted."""

    scale: float = 1.0
    link: float = 1.0
    product: float = 1.0


NOTHING_FITTED = Tuning()


class TooFewSteps(ValueError):
    """One measured step cannot say which factor is off."""


def fit(predicted: Sequence[Times], measured_seconds: Sequence[float]) -> Tuning:
    """The most likely factors; `predicted` are seconds of each step at every pair of `LINKS` and `PRODUCTS`.

    Raises TooFewSteps below `FEWEST` measured steps.
    """
    if len(measured_seconds) < FEWEST:
        raise TooFewSteps(f"{len(measured_seconds)} measured step: at least {FEWEST} of different layouts are needed")
    links, products, scales = np.log(LINKS), np.log(PRODUCTS), np.log(_SCALES)
    cost = (
        (links[:, None, None] / _LINK_SPREAD) ** 2
        + (products[None, :, None] / _PRODUCT_SPREAD) ** 2
        + (scales / _SCALE_SPREAD) ** 2
    ) / 2
    for times, seconds in zip(predicted, measured_seconds, strict=True):
        cost = cost + _robust((np.log(seconds / times)[:, :, None] - scales) / _NOISE)
    link, product, scale = np.unravel_index(int(cost.argmin()), cost.shape)
    return Tuning(float(_SCALES[scale]), float(LINKS[link]), float(PRODUCTS[product]))


def tuned_step_time(
    model: Model,
    layout: Layout,
    recipe: Recipe,
    accelerator: Accelerator,
    tuning: Tuning,
    recomputed: Sequence[int] | None = None,
) -> StepTime:
    """Time of one step on a cluster of which the tuning is known, on ints or int64 arrays.

    `recomputed` is that of `step_time`. Raises ValueError when no peak is known for the device.
    """
    if tuning == NOTHING_FITTED:
        return step_time(model, layout, recipe, accelerator, recomputed=recomputed)
    rates = rates_of(accelerator, recipe.on(accelerator)).tuned(tuning.link, tuning.product)
    found = step_time(model, layout, recipe, accelerator, rates, recomputed)
    return replace(
        found,
        step_seconds=found.step_seconds * tuning.scale,
        tokens_per_second_per_gpu=found.tokens_per_second_per_gpu / tuning.scale,
        pipeline_seconds=found.pipeline_seconds * tuning.scale,
        data_parallel_seconds=found.data_parallel_seconds * tuning.scale,
        optimizer_seconds=found.optimizer_seconds * tuning.scale,
    )


def _robust(error: Times) -> Times:
    """Huber's loss: half the square up to 1, then linear."""
    size = np.abs(error)
    return np.where(size < 1, size * size / 2, size - 0.5)
