"""Operation-level checkpointing: whose results are kept, found by replaying the calls in order.

torchtitan keeps the results of named operations and computes the rest again; of matrix products only every second one,
starting with the first, counted over the calls of one layer, without the router's. Source: torchtitan @ b5bcd76c,
distributed/activation_checkpoint.py, SelectiveAC; measured on its Llama layer (memory_model.md, section 6). Its graph
trainer keeps every product (experiments/graph_trainer/memory_policy.py).
"""

from collections.abc import Collection, Sequence

from service.calculator.activations.autograd.tape import Operation, Value

PRODUCT, EVERY_PRODUCT = "mm", "every_mm"
UNCOUNTED = frozenset({"router_gate"})
"""Matrix products that are always computed again unless named: `force_recompute_mm_shapes_by_fqns`."""


def kept_results(operations: Sequence[Operation], names: Collection[str], *, traced: bool) -> list[Value]:
    """Storages that the policy keeps; `names` are kinds of operations or modules.

    Where forward and backward are traced together, nothing is kept that the backward does not need: not the results of
    the layer's last operations, from which nothing is computed again. torchtitan's 8B reserves 1.9 GiB less compiled:
    32 outputs of the MLP (PRs 808, 822).
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
        if keep and not (traced and index >= last):
            for result in operation.results:
                found.setdefault(result.storage)
    return list(found)
