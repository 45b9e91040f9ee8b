"""A job as torchtitan's TOML, or as the command-line options that override it (releases until February 2026).

Keys: pytorch/torchtitan, torchtitan/config/job_config.py.
"""

from collections.abc import Mapping

from service.formats.torchtitan.flavors import dimensions_by_flavor
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
_DIMENSIONS = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
    "vocab_size", "num_experts", "num_experts_per_tok", "moe_intermediate_size", "kv_lora_rank",
)  # fmt: skip
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
    """A flavor names the dimensions; a model of other dimensions cannot be said."""
    own = {key: sheet.get(f"/model/{key}") for key in _DIMENSIONS if sheet.get(f"/model/{key}") is not None}
    for (family, flavor), dimensions in dimensions_by_flavor().items():
        listed = {key: dimensions[key] for key in _DIMENSIONS if key in dimensions}
        if (
            own
            and listed
            and all(own.get(key) == value for key, value in listed.items())
            and own.keys() <= _filled(listed)
        ):
            sheet.say("model.name", family)
            sheet.say("model.flavor", flavor, *(f"/model/{key}" for key in own))
            sheet.covered(*(each for each in sheet.values if each.startswith("/model/")))
            return


def _filled(listed: Mapping[str, object]) -> set[str]:
    """Keys that a flavor decides: those it lists, and what follows from them."""
    return {*listed, "head_dim", "num_key_value_heads"}


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
