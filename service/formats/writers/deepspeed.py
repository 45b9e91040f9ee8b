"""A job as DeepSpeed's JSON: batch, ZeRO, precision, offload, and its own degrees. The model stands elsewhere.

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
_SWITCHES = {
    "torch_autocast.enabled": "/precision/autocast",
    "activation_checkpointing.partition_activations": "/checkpointing/distribute_saved",
}
_OPTIMIZERS = {"adam": "AdamW", "lion": "Lion", "sgd": "SGD", "muon": "Muon"}
_ABSENT = tuple(f"/parallelism/{each}" for each in ("tensor", "pipeline", "context", "expert", "virtual_pipeline"))


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
    _precision(sheet)
    for key, pointer in _SWITCHES.items():
        if sheet.get(pointer):
            sheet.copy(key, pointer)
    if sheet.get("/checkpointing/offload") == "inputs":
        sheet.say("activation_checkpointing.cpu_checkpointing", True, "/checkpointing/offload")
    _degrees(sheet)
    if sheet.get("/optimizer/name") in _OPTIMIZERS:
        sheet.say("optimizer.type", _OPTIMIZERS[sheet.get("/optimizer/name")], "/optimizer/name")
    if sheet.get("/framework/name") == "deepspeed":
        sheet.implied("/framework/name")
    return sheet


def _precision(sheet: Sheet) -> None:
    compute = sheet.get("/precision/compute")
    if compute is not None:
        sheet.say("bf16.enabled", compute == "bf16", "/precision/compute")
        sheet.say("fp16.enabled", compute == "fp16", "/precision/compute")
    if compute is not None and sheet.get("/precision/parameters") == compute:
        sheet.implied("/precision/parameters")
    sheet.copy("data_types.grad_accum_dtype", "/precision/gradients")
    sheet.copy("communication_data_type", "/precision/reduce")


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


def _degrees(sheet: Sheet) -> None:
    """Degrees of DeepSpeed's own: AutoTP and Ulysses for transformers' models, pipelines, MiCS."""
    own = sheet.get("/framework/name") == "deepspeed" and sheet.get("/framework/transformer_impl") in {None, "hf"}
    ulysses = own and sheet.get("/parallelism/context_method") == "a2a"
    for key, pointer, possible in (
        ("pipeline.stages", "/parallelism/pipeline", own),
        ("tensor_parallel.autotp_size", "/parallelism/tensor", own),
        ("sequence_parallel_size", "/parallelism/context", ulysses),
    ):
        if (sheet.get(pointer) or 1) > 1 and possible:
            sheet.copy(key, pointer)
    if ulysses:
        sheet.implied("/parallelism/context_method")
    sheet.implied(*(each for each in _ABSENT if sheet.get(each) == 1))
    degree = sheet.get("/sharding/degree")
    if degree is not None and sheet.get("/sharding/stage") == 3:  # noqa: PLR2004  (MiCS is a form of stage 3)
        sheet.say("zero_optimization.mics_shard_size", degree, "/sharding/degree")


_SWAP = {
    "offload_optimizer": {"states": "buffer_count"},
    "offload_param": {"weights": "buffer_count", "weights_size": "buffer_size", "weights_in_cpu": "max_in_cpu"},
}


def _offload(sheet: Sheet, pointer: str, key: str) -> None:
    value = sheet.get(pointer)
    if isinstance(value, dict):
        sheet.say(f"zero_optimization.{key}.device", "cpu", pointer)
        sheet.say(f"zero_optimization.{key}.ratio", value["fraction"], pointer)
    elif value is not None:
        sheet.say(f"zero_optimization.{key}.device", value, pointer)
    for name, option in _SWAP[key].items():
        sheet.copy(f"zero_optimization.{key}.{option}", f"/optimizer/swap/{name}")
