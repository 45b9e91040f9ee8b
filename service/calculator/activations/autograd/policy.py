"""Operation-level checkpointing: whose results are kept, found by replaying the calls in order.

torchtitan keeps the results of named operations and computes the rest again; of matrix products only every second one,
starting with the first, counted over the calls of one layer, without the router's. Source: torchtitan @ b5bcd76c,
distributed/activation_checkpoint.py, SelectiveAC; measured on its Llama layer (memory_model.md, section 6). Its graph
trainer keeps every product (experiments/graph_trainer/memory_policy.py).

Kept absolute values are those of 8-bit products with a scale a row that are computed again: of their inputs and, whole,
of their weights. torchtitan's 8B reserves 10.8 GiB more with them, of which these are 10.75; its author lists the same
buffers for one MLP (torchtitan PRs 808, 820).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from service.calculator.activations.autograd.tape import Operation, Value
from service.calculator.units import where

PRODUCT, EVERY_PRODUCT = "mm", "every_mm"
MAGNITUDES = "abs"
SUM = "reduce_scatter"
UNCOUNTED = frozenset({"router_gate"})
"""Matrix products that are always computed again unless named: `force_recompute_mm_shapes_by_fqns`."""


def kept_results(operations: Sequence[Operation], names: Collection[str], *, traced: bool) -> list[Value]:
    """Storages that the policy keeps; `names` are kinds of operations or modules.

    Where forward and backward are traced together, nothing is kept that the backward does not need: not the results of
    the layer's last operations, from which nothing is computed again. torchtitan's 8B reserves 1.9 GiB less compiled:
    32 outputs of the MLP (PRs 808, 822). Nor a product that only a kept sum over the tensor group reads: between two
    ranks keeping results costs half of what it does on one (10.2 and 20.4 GiB, PR 3429).
    """
    found: dict[Value, None] = {}
    last = max((index for index, each in enumerate(operations) if each.keeps), default=-1)
    products = 0
    for index, operation in enumerate(operations):
        keep = operation.module in names
        if operation.kind == PRODUCT and operation.module not in UNCOUNTED:
            products += 1
            keep |= EVERY_PRODUCT in names or (PRODUCT in names and products % 2 == 1)
        elif operation.kind != PRODUCT:
            keep |= operation.kind in names
        if traced and index >= last:
            continue
        made = operation.results if keep else operation.magnitudes if MAGNITUDES in names else ()
        if traced and SUM in names and keep:
            made = _read_beside_sum(made, operations[index + 1])
        for result in made:
            found.setdefault(result.storage)
    return list(found)


def _read_beside_sum(made: tuple[Value, ...], following: Operation) -> tuple[Value, ...]:
    """Results that the backward needs though the operation that follows, where it is a sum, is kept."""
    if following.kind != SUM:
        return made
    (summed,) = following.results
    return tuple(replace(each, copies=where(summed.copies, 0, each.copies)) for each in made)
