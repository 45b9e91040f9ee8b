"""A job as accelerate's config file: processes, precision, and FSDP, DeepSpeed or plain data parallelism.

Keys: huggingface/accelerate @ 16cb6eb8, commands/config/config_args.py and utils/dataclasses.py.
"""

from service.formats.writers.sheet import Sheet
from service.job.schema import Job

_KINDS = {
    "fsdp1": "FSDP",
    "fsdp2": "FSDP",
    "deepspeed": "DEEPSPEED",
    "megatron-core": "MEGATRON_LM",
    "hf-trainer": "MULTI_GPU",
}
_MEGATRON = {
    "tp_degree": "/parallelism/tensor",
    "pp_degree": "/parallelism/pipeline",
    "num_micro_batches": "/batch/accumulation",
    "expert_model_parallel_size": "/parallelism/expert",
    "context_parallel_size": "/parallelism/context",
    "sequence_parallelism": "/parallelism/sequence",
}
_LIBRARIES = {"transformer_engine": "TE", "torchao": "AO", "msamp": "MSAMP"}
_FSDP1 = {0: "NO_SHARD", 2: "SHARD_GRAD_OP", 3: "FULL_SHARD"}


def accelerate_sheet(job: Job, gpus_per_node: int) -> Sheet:
    """The job as dotted keys of accelerate's config file."""
    sheet = Sheet(job)
    sheet.say("compute_environment", "LOCAL_MACHINE")
    world, name = sheet.get("/world_size"), sheet.get("/framework/name")
    kind = _KINDS.get(name, "MULTI_GPU")
    sheet.say("distributed_type", kind, *(("/framework/name",) if name in _KINDS else ()))
    if world is not None:
        sheet.say("num_machines", max(world // gpus_per_node, 1))
        sheet.say("num_processes", world, "/world_size")
    compute, library = sheet.get("/precision/compute"), _LIBRARIES.get(sheet.get("/precision/fp8/backend"))
    if library is not None:
        sheet.say("mixed_precision", "fp8", "/precision/compute", "/precision/fp8/recipe")
        sheet.say("fp8_config.backend", library, "/precision/fp8/backend")
        sheet.copy("fp8_config.enable_fsdp_float8_all_gather", "/precision/fp8/all_gather")
        if sheet.get("/precision/fp8/recipe") == "mxfp8":
            sheet.say("fp8_config.use_mxfp8_block_scaling", value=True)
    elif compute is not None:
        sheet.say("mixed_precision", "no" if compute == "fp32" else compute, "/precision/compute")
    if kind == "FSDP":
        _fsdp(sheet, 1 if name == "fsdp1" else 2)
    elif kind == "DEEPSPEED":
        _deepspeed(sheet)
    elif kind == "MEGATRON_LM":
        _megatron(sheet)
    elif sheet.get("/sharding/stage") == 0:
        sheet.implied("/sharding/stage")
    if sheet.get("/kernels/compile"):
        sheet.say("dynamo_config.dynamo_backend", "INDUCTOR", "/kernels/compile")
    return sheet


def _megatron(sheet: Sheet) -> None:
    for name, pointer in _MEGATRON.items():
        sheet.copy(f"megatron_lm_config.megatron_lm_{name}", pointer)
    if sheet.get("/sharding/stage") in {0, 1}:
        sharded = sheet.get("/sharding/stage") == 1
        sheet.say("megatron_lm_config.megatron_lm_use_distributed_optimizer", sharded, "/sharding/stage")
    granularity, modules = sheet.get("/checkpointing/granularity"), sheet.get("/checkpointing/modules")
    if granularity == "none" or (granularity == "selective" and modules in (None, ["core_attn"])):
        on = granularity == "selective"
        sheet.say("megatron_lm_config.megatron_lm_recompute_activations", on, "/checkpointing/granularity")


def _fsdp(sheet: Sheet, version: int) -> None:
    stage, reshard = sheet.get("/sharding/stage"), sheet.get("/sharding/reshard_after_forward")
    sheet.say("fsdp_config.fsdp_version", version)
    if version == 1 and stage in _FSDP1:
        sheet.say("fsdp_config.fsdp_sharding_strategy", _FSDP1[stage], "/sharding/stage")
    elif stage == 3:  # noqa: PLR2004  (what FSDP 2 always is)
        sheet.say("fsdp_config.fsdp_reshard_after_forward", reshard != "never", "/sharding/stage")
        if reshard in {"always", "never"}:
            sheet.implied("/sharding/reshard_after_forward")
    moved = sheet.get("/optimizer/offload") == "cpu"
    pointers = ("/optimizer/offload", "/optimizer/parameter_offload")
    sheet.say("fsdp_config.fsdp_offload_params", moved, *(pointers if moved else ()))
    sheet.covered(*(each for each in pointers if sheet.get(each) == "none"))
    granularity = sheet.get("/checkpointing/granularity")
    if granularity in {"none", "full"}:
        full = granularity == "full"
        sheet.say("fsdp_config.fsdp_activation_checkpointing", full, "/checkpointing/granularity")
    degree, world = sheet.get("/sharding/degree"), sheet.get("/world_size")
    sizes = {"tp": sheet.get("/parallelism/tensor") or 1, "cp": sheet.get("/parallelism/context") or 1}
    if version == 2 and world is not None and (max(sizes.values()) > 1 or degree is not None):  # noqa: PLR2004
        ranks = world // (sizes["tp"] * sizes["cp"])
        shard = min(degree, ranks) if degree is not None else ranks
        sheet.say("parallelism_config.parallelism_config_dp_replicate_size", ranks // shard)
        sheet.say("parallelism_config.parallelism_config_dp_shard_size", shard, "/sharding/degree")
        sheet.say("parallelism_config.parallelism_config_tp_size", sizes["tp"], "/parallelism/tensor")
        sheet.say("parallelism_config.parallelism_config_cp_size", sizes["cp"], "/parallelism/context")


def _deepspeed(sheet: Sheet) -> None:
    sheet.copy("deepspeed_config.zero_stage", "/sharding/stage")
    sheet.copy("deepspeed_config.gradient_accumulation_steps", "/batch/accumulation")
    for key, pointer in (
        ("offload_optimizer_device", "/optimizer/offload"),
        ("offload_param_device", "/optimizer/parameter_offload"),
    ):
        # A fraction is an object, which no set takes.
        if sheet.get(pointer) in ("none", "cpu", "nvme"):
            sheet.copy(f"deepspeed_config.{key}", pointer)
