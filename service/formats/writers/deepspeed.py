"""A job as DeepSpeed's JSON: batch, ZeRO, precision, offload. The model and the degrees stand elsewhere.

Keys: deepspeedai/DeepSpeed @ edaa7221, deepspeed/runtime (config.py, zero/config.py).
"""

from service.formats.writers.sheet import Sheet
from service.job.schema import Job

_BUCKETS = {
    "zero_optimization.reduce_bucket_size": "/sharding/buckets/reduce",
    "zero_optimization.allgather_bucket_size": "/sharding/buckets/all_gather",
    "zero_optimization.stage3_prefetch_bucket_size": "/sharding/buckets/prefetch",
    "zero_optimization.stage3_max_live_parameters": "/sharding/buckets/max_live_parameters",
    "zero_optimization.stage3_param_persistence_threshold": "/sharding/buckets/persistence_threshold",
}
_OPTIMIZERS = {"adam": "AdamW", "lion": "Lion", "sgd": "SGD", "muon": "Muon"}


def deepspeed_sheet(job: Job) -> Sheet:
    """The job as dotted keys of DeepSpeed's config."""
    sheet = Sheet(job)
    _batch(sheet)
    stage = sheet.get("/sharding/stage")
    if stage is not None:
        sheet.say("zero_optimization.stage", stage, "/sharding/stage")
    for key, pointer in _BUCKETS.items():
        sheet.copy(key, pointer)
    if sheet.get("/sharding/overlap_grad_reduce") is not None:
        sheet.copy("zero_optimization.overlap_comm", "/sharding/overlap_grad_reduce")
    for pointer, key in (
        ("/optimizer/offload", "offload_optimizer"),
        ("/optimizer/parameter_offload", "offload_param"),
    ):
        _offload(sheet, pointer, key)
    compute = sheet.get("/precision/compute")
    if compute is not None:
        sheet.say("bf16.enabled", compute == "bf16", "/precision/compute")
        sheet.say("fp16.enabled", compute == "fp16", "/precision/compute")
    gradients = sheet.get("/precision/gradients")
    if gradients is not None:
        sheet.say("data_types.grad_accum_dtype", gradients, "/precision/gradients")
    if sheet.get("/optimizer/name") in _OPTIMIZERS:
        sheet.say("optimizer.type", _OPTIMIZERS[sheet.get("/optimizer/name")], "/optimizer/name")
    if sheet.get("/framework/name") == "deepspeed":
        sheet.implied("/framework/name")
    return sheet


def _batch(sheet: Sheet) -> None:
    sheet.copy("train_batch_size", "/batch/global")
    sheet.copy("train_micro_batch_size_per_gpu", "/batch/micro")
    accumulation = sheet.get("/batch/accumulation")
    micro, whole = sheet.get("/batch/micro"), sheet.get("/batch/global")
    degrees = [sheet.get(f"/parallelism/{each}") or 1 for each in ("tensor", "pipeline", "context")]
    world = sheet.get("/world_size")
    if accumulation is None and micro and whole and world and whole % micro == 0:
        ranks = world // (degrees[0] * degrees[1] * degrees[2])
        accumulation = whole // micro // ranks if ranks and (whole // micro) % ranks == 0 else None
    if accumulation is not None:
        sheet.say("gradient_accumulation_steps", accumulation, "/batch/accumulation")


def _offload(sheet: Sheet, pointer: str, key: str) -> None:
    value = sheet.get(pointer)
    if isinstance(value, dict):
        sheet.say(f"zero_optimization.{key}.device", "cpu", pointer)
        sheet.say(f"zero_optimization.{key}.ratio", value["fraction"], pointer)
    elif value is not None:
        sheet.say(f"zero_optimization.{key}.device", value, pointer)
