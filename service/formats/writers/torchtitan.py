"""A job as torchtitan's TOML, or as the command-line options that override it (releases until February 2026).

Keys: pytorch/torchtitan, torchtitan/config/job_config.py.
"""

from service.catalog.models import UnknownModel, find_model
from service.formats.writers.sheet import Sheet
from service.job.schema import Job

_COUNTS = {
    "training.local_batch_size": "/batch/micro",
    "training.global_batch_size": "/batch/global",
    "training.seq_len": "/batch/sequence_length",
    "parallelism.tensor_parallel_degree": "/parallelism/tensor",
    "parallelism.pipeline_parallel_degree": "/parallelism/pipeline",
    "parallelism.context_parallel_degree": "/parallelism/context",
    "parallelism.expert_parallel_degree": "/parallelism/expert",
}
_FLAVORS = {
    "llama-3-8b": ("llama3", "8B"),
    "llama-3-70b": ("llama3", "70B"),
    "llama-3.1-8b": ("llama3", "8B"),
    "llama-3.1-70b": ("llama3", "70B"),
    "llama-3.1-405b": ("llama3", "405B"),
    "qwen3-0.6b": ("qwen3", "0.6B"),
    "qwen3-1.7b": ("qwen3", "1.7B"),
    "qwen3-4b": ("qwen3", "4B"),
    "qwen3-8b": ("qwen3", "8B"),
    "qwen3-14b": ("qwen3", "14B"),
    "qwen3-32b": ("qwen3", "32B"),
    "qwen3-30b-a3b": ("qwen3", "30B-A3B"),
    "qwen3-235b-a22b": ("qwen3", "235B-A22B"),
    "deepseek-v3": ("deepseek_v3", "671B"),
}
_SCHEDULES = {
    "1f1b": "1F1B",
    "gpipe": "GPipe",
    "interleaved": "Interleaved1F1B",
    "looped_bfs": "LoopedBFS",
    "interleaved_zb": "InterleavedZeroBubble",
    "zbv": "ZBVZeroBubble",
}
_OPTIMIZERS = {"adam": "AdamW"}


def torchtitan_sheet(job: Job) -> Sheet:
    """The job as dotted keys of torchtitan's config."""
    sheet = Sheet(job)
    _model(sheet)
    for key, pointer in _COUNTS.items():
        sheet.copy(key, pointer)
    if sheet.get("/framework/name") == "fsdp2":
        sheet.implied("/framework/name")
    degree, stage = sheet.get("/sharding/degree"), sheet.get("/sharding/stage")
    if stage == 3:  # noqa: PLR2004  (torchtitan always shards weights)
        shard = degree if degree is not None else -1
        pointers = ("/sharding/stage", *(("/sharding/degree",) if degree is not None else ()))
        sheet.say("parallelism.data_parallel_shard_degree", shard, *pointers)
        if degree is not None and sheet.get("/world_size") is not None:
            sheet.say("parallelism.data_parallel_replicate_degree", _replicas(sheet, degree))
    sheet.copy("parallelism.fsdp_reshard_after_forward", "/sharding/reshard_after_forward")
    schedule = sheet.get("/schedule")
    if schedule in _SCHEDULES and (sheet.get("/parallelism/pipeline") or 1) > 1:
        sheet.say("parallelism.pipeline_parallel_schedule", _SCHEDULES[schedule], "/schedule")
    _checkpointing(sheet)
    if sheet.get("/kernels/compile") is not None:
        sheet.copy("compile.enable", "/kernels/compile")
    if sheet.get("/optimizer/name") in _OPTIMIZERS:
        sheet.say("optimizer.name", _OPTIMIZERS[sheet.get("/optimizer/name")], "/optimizer/name")
    return sheet


def _model(sheet: Sheet) -> None:
    """A flavor names the dimensions; other models cannot be said."""
    preset = sheet.get("/model/preset")
    try:
        name = find_model(preset).name if preset else ""
    except UnknownModel:
        return
    if name in _FLAVORS:
        family, flavor = _FLAVORS[name]
        sheet.say("model.name", family, "/model/preset")
        sheet.say("model.flavor", flavor, "/model/preset")


def _replicas(sheet: Sheet, degree: int) -> int:
    parts = [sheet.get(f"/parallelism/{each}") or 1 for each in ("tensor", "pipeline", "context")]
    world: int = sheet.get("/world_size")
    return max(world // (degree * parts[0] * parts[1] * parts[2]), 1)


def _checkpointing(sheet: Sheet) -> None:
    granularity, every, op = (sheet.get(f"/checkpointing/{each}") for each in ("granularity", "every", "op"))
    if granularity in {"none", "full"}:
        sheet.say("activation_checkpoint.mode", granularity, "/checkpointing/granularity")
    elif granularity == "selective" and (every is not None or op == "default"):
        sheet.say("activation_checkpoint.mode", "selective", "/checkpointing/granularity")
        option, pointer = (str(every), "/checkpointing/every") if every is not None else ("op", "/checkpointing/op")
        sheet.say("activation_checkpoint.selective_ac_option", option, pointer)
