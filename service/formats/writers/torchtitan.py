"""A job as torchtitan's TOML, or as the command-line options that override it (releases until February 2026).

Keys: pytorch/torchtitan, torchtitan/config/job_config.py.
"""

from collections.abc import Mapping
from math import prod

from service.formats.torchtitan.flavors import dimensions_by_flavor
from service.formats.writers.sheet import Sheet
from service.formats.writers.torchtitan_recipe import write_titan_recipe
from service.job.schema import Job

_COUNTS = {
    "parallelism.tensor_parallel_degree": "/parallelism/tensor",
    "parallelism.pipeline_parallel_degree": "/parallelism/pipeline",
    "parallelism.context_parallel_degree": "/parallelism/context",
    "parallelism.expert_parallel_degree": "/parallelism/expert",
    "parallelism.fsdp_reshard_after_forward": "/sharding/reshard_after_forward",
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
    "dualpipev": "DualPipeV",
}
_SINGLE = frozenset({"1f1b", "gpipe"})
_ROTATIONS = {"all_gather": "allgather", "p2p": "alltoall"}


def torchtitan_sheet(job: Job) -> Sheet:
    """The job as dotted keys of torchtitan's config."""
    sheet = Sheet(job)
    _model(sheet)
    if sheet.get("/framework/name") == "fsdp2":
        sheet.implied("/framework/name")
    _batch(sheet)
    write_degrees(sheet, newer=False)
    write_shards(sheet)
    write_pipeline(sheet)
    write_titan_recipe(sheet, newer=False)
    return sheet


def _batch(sheet: Sheet) -> None:
    """With a pipeline a rank's batch is cut into micro-batches; one such batch makes the step."""
    micro, whole = sheet.get("/batch/micro"), sheet.get("/batch/global")
    sheet.copy("training.seq_len", "/batch/sequence_length")
    sheet.copy("training.global_batch_size", "/batch/global")
    ranks = data_ranks(sheet)
    if (sheet.get("/parallelism/pipeline") or 1) == 1:
        sheet.copy("training.local_batch_size", "/batch/micro")
    elif micro and whole and ranks and whole % (micro * ranks) == 0:
        sheet.say("training.local_batch_size", whole // ranks)
        sheet.say("parallelism.pipeline_parallel_microbatch_size", micro, "/batch/micro")
    accumulation = sheet.get("/batch/accumulation")
    if micro and whole and ranks and accumulation == whole / (micro * ranks):
        sheet.implied("/batch/accumulation")


def data_ranks(sheet: Sheet) -> int | None:
    """Ranks that get different data, where the number of GPUs is known."""
    world = sheet.get("/world_size")
    grid = prod(sheet.get(f"/parallelism/{each}") or 1 for each in ("tensor", "pipeline", "context"))
    ranks = world // grid if world and world % grid == 0 else None
    if ranks is not None and sheet.get("/parallelism/data") == ranks:
        sheet.implied("/parallelism/data")
    return ranks


def write_degrees(sheet: Sheet, *, newer: bool) -> None:
    """Says the degrees and what comes with them; since 2026 experts are never split over the tensor group."""
    for key, pointer in _COUNTS.items():
        sheet.copy(key, pointer)
    tensor, sequence = sheet.get("/parallelism/tensor"), sheet.get("/parallelism/sequence")
    if tensor is not None and sequence == (tensor > 1):
        sheet.implied("/parallelism/sequence")
    elif sequence is not None and tensor is not None and tensor > 1:
        sheet.say("parallelism.enable_sequence_parallel", sequence, "/parallelism/sequence")
    if sheet.get("/parallelism/async_tensor"):
        sheet.copy("parallelism.enable_async_tensor_parallel", "/parallelism/async_tensor")
    elif sheet.get("/parallelism/async_tensor") is False:
        sheet.implied("/parallelism/async_tensor")
    if sheet.get("/kernels/vocab_parallel_loss") is False and (tensor or 1) > 1:
        sheet.say("parallelism.disable_loss_parallel", True, "/kernels/vocab_parallel_loss")
    elif sheet.get("/kernels/vocab_parallel_loss") and (tensor or 1) > 1:
        sheet.implied("/kernels/vocab_parallel_loss")
    method = sheet.get("/parallelism/context_method")
    if method in _ROTATIONS and (sheet.get("/parallelism/context") or 1) > 1:
        rotation = _ROTATIONS[method]
        sheet.say("parallelism.context_parallel_rotate_method", rotation, "/parallelism/context_method")
    _experts(sheet, newer=newer)


def _experts(sheet: Sheet, *, newer: bool) -> None:
    if newer and sheet.get("/parallelism/expert_tensor") == 1:
        sheet.implied("/parallelism/expert_tensor")
    elif not newer and sheet.get("/model/num_experts") is not None:
        sheet.copy("parallelism.expert_tensor_parallel_degree", "/parallelism/expert_tensor")


def write_shards(sheet: Sheet) -> None:
    """Weights are always sharded; a smaller degree, context ranks included, leaves several copies."""
    degree, context = sheet.get("/sharding/degree"), sheet.get("/parallelism/context") or 1
    # A degree of 1 is plain data parallelism there, which is not what the job says.
    if sheet.get("/sharding/stage") != 3 or degree == 1:  # noqa: PLR2004  (weights are sharded, too)
        return
    ranks = data_ranks(sheet)
    if degree is None or ranks is None or degree % context or ranks % (degree // context):
        sheet.say("parallelism.data_parallel_shard_degree", -1, "/sharding/stage")
        return
    shard = degree // context
    sheet.say("parallelism.data_parallel_shard_degree", shard, "/sharding/stage", "/sharding/degree")
    sheet.say("parallelism.data_parallel_replicate_degree", ranks // shard)


def write_pipeline(sheet: Sheet) -> None:
    """The schedule, and how many layers make one of its stages."""
    schedule, chunks = sheet.get("/schedule"), sheet.get("/parallelism/virtual_pipeline")
    ranks, layers = sheet.get("/parallelism/pipeline") or 1, sheet.get("/model/num_hidden_layers")
    if ranks == 1:
        sheet.implied(*(["/parallelism/virtual_pipeline"] if chunks == 1 else []))
        return
    if schedule in _SCHEDULES:
        sheet.say("parallelism.pipeline_parallel_schedule", _SCHEDULES[schedule], "/schedule")
    usual = 1 if schedule in _SINGLE or schedule is None else 2
    if chunks == usual:
        sheet.implied("/parallelism/virtual_pipeline")
    elif chunks is not None and isinstance(layers, int):
        # Both ends count as a layer; a size may not exist that makes just so many stages.
        size = -(-(layers + 2) // (ranks * chunks))
        if -(-(layers + 2) // size) == ranks * chunks:
            sheet.say("parallelism.pipeline_parallel_layers_per_stage", size, "/parallelism/virtual_pipeline")


def _model(sheet: Sheet) -> None:
    """A flavor names the dimensions; a model of other dimensions cannot be said."""
    family, flavor = flavor_of(sheet)
    if flavor:
        sheet.say("model.name", family)
        sheet.say("model.flavor", flavor)
        named_model(sheet)


def named_model(sheet: Sheet) -> None:
    """The dimensions are said by a name, and everything else about the model with them."""
    sheet.implied(*(f"/model/{key}" for key in _DIMENSIONS if sheet.get(f"/model/{key}") is not None))
    sheet.covered(*(each for each in sheet.values if each.startswith("/model/")))


def flavor_of(sheet: Sheet) -> tuple[str, str]:
    """Name and flavor of the model in torchtitan's table; empty when it has no such model."""
    own = {key: sheet.get(f"/model/{key}") for key in _DIMENSIONS if sheet.get(f"/model/{key}") is not None}
    for (family, flavor), dimensions in dimensions_by_flavor().items():
        listed = {key: dimensions[key] for key in _DIMENSIONS if key in dimensions}
        if (
            own
            and listed
            and all(own.get(key) == value for key, value in listed.items())
            and own.keys() <= _filled(listed)
        ):
            return family, flavor
    return "", ""


def _filled(listed: Mapping[str, object]) -> set[str]:
    """Keys that a flavor decides: those it lists, and what follows from them."""
    return {*listed, "head_dim", "num_key_value_heads"}
