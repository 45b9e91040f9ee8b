"""Facts of an import under the names that the `expected` of config-file items uses."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.formats.imported import Imported
from tests.formats.corpus import expected as common_expected
from tests.formats.corpus import facts as common_facts

_LEFT_OPEN = frozenset({"auto", "24*world", "local*dp", "default"})


def facts(imported: Imported) -> dict[str, Any]:
    """What was read, flat."""
    job = imported.job
    assert job is not None
    buckets, optimizer = job.sharding.buckets, job.optimizer
    states = "adam" if optimizer.name in {"adam", "adamw8bit"} else optimizer.name
    adapters = job.adapters
    return {
        **common_facts(imported),
        "grad_accum": job.batch.accumulation,
        "local": job.batch.micro,
        "reduce_bucket": buckets.reduce if buckets else None,
        "allgather_bucket": buckets.all_gather if buckets else None,
        "max_live_parameters": buckets.max_live_parameters if buckets else None,
        "offload_optimizer": None if optimizer.offload == "none" else optimizer.offload,
        "offload_param": None if optimizer.parameter_offload == "none" else optimizer.parameter_offload,
        "fsdp": job.framework.name if job.framework.name.startswith("fsdp") else None,
        "dp_replicate": _replicas(job),
        "params": job.precision.parameters,
        "master": None if job.precision.master == "none" else job.precision.master,
        "reduce": job.precision.reduce,
        "grad_accum_dtype": job.precision.gradients,
        "optimizer": states,
        "state_bits": 8 if optimizer.name == "adamw8bit" else 32,
        "op": job.checkpointing.op,
        "activation_offload": job.checkpointing.offload not in (None, "none"),
        "peft.kind": adapters.type if adapters else None,
        "peft.rank": adapters.rank if adapters else None,
        "peft.modules": sorted(adapters.modules) if adapters else None,
    }


def _replicas(job: Any) -> int | None:
    """Copies of the states: data-parallel ranks over those that share one."""
    degree, context = job.sharding.degree, job.parallelism.context or 1
    if degree is None:
        return 1
    data = facts_data(job)
    return None if data is None else data * context // degree


def facts_data(job: Any) -> int | None:
    """Data-parallel ranks, where the world size is known."""
    grid = (job.parallelism.tensor or 1) * (job.parallelism.pipeline or 1) * (job.parallelism.context or 1)
    return job.world_size // grid if job.world_size else None


def expected(item: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the item says should be read, as far as a job can hold it."""
    wanted = item["expected"]
    unsaid = {
        key for key, section in (("compute", "precision"), ("granularity", "recompute")) if not wanted.get(section)
    }
    yield from ((key, value) for key, value in common_expected(item) if not _open(value) and key not in unsaid)
    yield from ((key, value) for key, value in wanted.get("buckets", {}).items() if not _open(value))
    precision = wanted.get("precision", {})
    yield from ((key, precision[key]) for key in ("params", "master", "reduce") if key in precision)
    if "grad_accum" in precision:
        yield "grad_accum_dtype", precision["grad_accum"]
    name = wanted.get("optimizer", {}).get("name", "").lower()
    if name.startswith("adam"):
        yield "optimizer", "adam"
    if wanted.get("recompute", {}).get("option") == "op":
        yield "op", "default"
    peft = wanted.get("peft", {})
    yield from ((f"peft.{key}", peft[key]) for key in ("kind", "rank") if key in peft and not _open(peft[key]))


def _open(value: Any) -> bool:
    return isinstance(value, str) and (value in _LEFT_OPEN or value.startswith("auto") or " if " in value)
