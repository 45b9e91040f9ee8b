"""Seconds of the optimizer's step: what it moves through the GPU's memory, and what it leaves to the host.

The two figures of offload papers are recalled, not read again.
"""

from service.calculator.layout import Layout
from service.calculator.recipe import Recipe
from service.calculator.step_time.floats import Float, as_float
from service.calculator.step_time.rates import Rates
from service.calculator.units import BYTES

HOST_LINK = 25e9
"""Bytes per second between a GPU and its host: what a PCIe 4 x16 slot of 31e9 gives."""

HOST_UPDATE = 0.25e-9
"""Seconds in which a host's processors update one parameter (ZeRO-Offload, arXiv 2101.06840, table 4: 0.22 s for 1e9
parameters, 2.6 s for 10e9)."""

NVME_BYTES = 1.6e9
"""Bytes per second between a GPU and its node's disks when all GPUs use them (ZeRO-Infinity, arXiv 2104.07857,
figure 2)."""


def optimizer_seconds(parameters: Float, layout: Layout, recipe: Recipe, rates: Rates, gpus_per_node: int) -> Float:
    """The gradient buffer is cleared; each shard reads gradients and updates its states, on the GPU or on the host."""
    states = sum(BYTES[each] for each in recipe.moments) + (BYTES[recipe.master] if recipe.master else 0)
    weights = BYTES[recipe.parameters] * (1 if recipe.master else 2)
    touched = BYTES[recipe.gradients] + 2 * states + weights
    shard = parameters / as_float(layout.shards)
    away = recipe.optimizer.offload_percent / 100.0
    here = (shard * (1.0 - away) * touched + parameters * BYTES[recipe.gradients]) / rates.memory
    if not away:
        return here
    moved = shard * away * (BYTES[recipe.gradients] + BYTES[recipe.parameters]) / HOST_LINK
    disks = shard * away * 2 * states / NVME_BYTES if recipe.optimizer.nvme else 0.0
    return here + moved + shard * away * gpus_per_node * HOST_UPDATE + disks
