"""Operation-level checkpointing: whose results are kept, found by replaying the calls in order.

torchtitan keeps the results of named operations and computes the rest again; of matrix products only every second one,
starting with the first, counted over the calls of one layer, without the router's. Source: torchtitan @ b5bcd76c,
distributed/activation_checkpoint.py, SelectiveAC; measured on its Llama layer (memory_model.md, section 6).
"""

from collections.abc import Collection, Iterable

from service.calculator.activations.autograd.tape import Operation, Value

PRODUCT = "mm"
UNCOUNTED = frozenset({"router_gate"})
"""Matrix products that are always computed again unless named: `force_recompute_mm_shapes_by_fqns`."""


def kept_results(operations: Iterable[Operation], names: Collection[str]) -> list[Value]:
    """Storages that the policy keeps; `names` are kinds of operations or modules."""
    found: dict[Value, None] = {}
    products = 0
    for operation in operations:
        keep = operation.module in names
        if operation.kind == PRODUCT and operation.module not in UNCOUNTED:
            products += 1
            keep |= PRODUCT in names and products % 2 == 1
        elif operation.kind != PRODUCT:
            keep |= operation.kind in names
        if keep:
            for result in operation.results:
                found.setdefault(result.storage)
    return list(found)
