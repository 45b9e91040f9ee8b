"""Activation checkpointing and offload: defaults by implementation, refusals, and the calculator's form."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from service.calculator.activations.autograd.policy import EVERY_PRODUCT, PRODUCT
from service.calculator.layout import Checkpointing
from service.calculator.offload import EVERYTHING, INPUTS_OF, LAYER_INPUTS
from service.calculator.routing import PERMILLE
from service.catalog.profiles import Profile
from service.catalog.titan import titan_habits
from service.job.kernels import MEGATRON
from service.job.schema import Job
from service.job.values import Values

SAVED_OPERATIONS = ("mm", "attention", "reduce_scatter", "all_to_all", "max", "topk")
"""torchtitan's list of operations whose results are kept (distributed/activation_checkpoint.py @ b5bcd76c)."""

OFFLOADED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"none": (), LAYER_INPUTS: (LAYER_INPUTS,), EVERYTHING: (EVERYTHING,)}
)


def fill_checkpointing(values: Values, profile: Profile) -> None:
    """What a granularity without details means: Megatron recomputes attention, torchtitan what is not on its list."""
    values.fill("/checkpointing/granularity", "none", "default", profile.identity)
    if values.get("/checkpointing/granularity") != "selective":
        return
    if values.get("/framework/transformer_impl") in MEGATRON:
        values.fill("/checkpointing/modules", ["core_attn"], "default", profile.identity)
    elif not (_stated(values, "every") or _stated(values, "memory_budget") or _stated(values, "modules")):
        values.fill("/checkpointing/op", "default", "default", "torchtitan's operation-level checkpointing")


def unpriced_checkpointing(values: Values) -> Iterator[tuple[str, str]]:
    """What is not itemised: where it stands, and what it is."""
    by_modules = bool(values.get("/checkpointing/modules"))
    if values.get("/framework/transformer_impl") in MEGATRON:
        for each in ("op", "every", "memory_budget"):
            if _stated(values, each):
                yield f"/checkpointing/{each}", "operation-level checkpointing of Megatron's layers"
    elif by_modules:
        yield "/checkpointing/modules", "recomputation of Megatron's modules in layers of another implementation"
    offload = values.get("/checkpointing/offload")
    unknown = [each for each in offload if each not in INPUTS_OF] if isinstance(offload, list) else []
    for each in unknown:
        yield "/checkpointing/offload", f"offload of the module {each}"


def checkpointing_of(values: Values) -> Checkpointing:
    """The calculator's checkpointing; every default is filled in by now."""
    stated = values.section("/checkpointing")
    selective = stated["granularity"] == "selective"
    budget, offload = stated.get("memory_budget"), stated.get("offload") or "none"
    return Checkpointing(
        granularity=stated["granularity"],
        method=stated.get("method"),
        num_layers=stated.get("num_layers") or 1,
        modules=tuple(stated.get("modules") or ()),
        distribute_saved=bool(stated.get("distribute_saved")),
        op=_operations(values, stated.get("op")) if selective else (),
        every=stated.get("every") or 0 if selective else 0,
        budget_permille=round(budget * PERMILLE) if selective and budget is not None else None,
        offload=OFFLOADED[offload] if isinstance(offload, str) else tuple(offload),
        offload_layers=stated.get("offload_layers"),
    )


def stated_operations(job: Job, operations: tuple[str, ...]) -> Any:
    """How a job states the operations whose results are kept: torchtitan's own list has a name."""
    values = Values()
    values.give("", job.model_dump(by_alias=True, exclude_none=True))
    return "default" if operations == _operations(values, "default") else list(operations)


def _operations(values: Values, stated: Any) -> tuple[str, ...]:
    """The saved operations: the default list, and at any rate those that the version's list covers."""
    names = SAVED_OPERATIONS if stated == "default" else tuple(stated or ())
    if values.get("/framework/transformer_impl") != "titan":
        return names
    habits = titan_habits(values.get("/framework/version"))
    if "attention_computed_again" in habits and values.get("/kernels/attention") == "sdpa":
        names = tuple(each for each in names if each != "attention")
    if "every_product_kept" in habits and stated == "default":
        names = (EVERY_PRODUCT, *(each for each in names if each != PRODUCT))
    return names


def _stated(values: Values, key: str) -> bool:
    return values.get(f"/checkpointing/{key}") is not None
