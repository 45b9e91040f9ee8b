"""What is worth saying about a Megatron job besides its values: options without effect, and memory beside the job."""

from collections.abc import Sequence
from math import prod

from service.formats.draft import Draft
from service.formats.megatron.flags import Flags


def read_remarks(flags: Flags, draft: Draft, roles: Sequence[str]) -> None:
    """Notes what changes memory and a job has no words for, and what the grid makes of some options."""
    _roles(flags, roles, draft)
    _beside(flags, draft)
    _grid(flags, draft)


def _roles(flags: Flags, roles: Sequence[str], draft: Draft) -> None:
    if roles:
        draft.note(
            "multiple_roles",
            "warning",
            "this launcher keeps reference and rollout models beside the actor; only the actor is planned",
            found=", ".join(sorted(roles)),
        )
    share = flags.text("sglang_mem_fraction_static") or flags.text("vllm_gpu_memory_utilization")
    if roles and share is not None:
        draft.note(
            "rollout_share",
            "warning",
            f"the inference engine keeps {share} of the GPU's memory, which is not part of what training needs",
            found=share,
        )


def _beside(flags: Flags, draft: Draft) -> None:
    """What changes memory and a job has no words for."""
    if flags.on("use_dynamic_batch_size"):
        draft.note(
            "dynamic_batch",
            "info",
            "activations follow the token budget per GPU, not a micro-batch size; pass batch.micro and sequence_length",
            fields=["/batch/micro", "/batch/sequence_length"],
            found=flags.text("max_tokens_per_gpu") or "",
        )
    if flags.on("use_nccl_ub"):
        message = "what NCCL keeps for registered user buffers is not itemised"
        draft.note("nccl_ub_double_buffer", "info", message, fields=["/sharding/stage"])
    tensor = draft.get("/parallelism/tensor")
    if draft.origin("/parallelism/expert_tensor") == "default" and tensor != 1:
        draft.note(
            "etp_defaults_to_tp",
            "info",
            f"expert tensor parallelism is not given and follows tensor parallelism, {tensor}",
            fields=["/parallelism/expert_tensor"],
            fixes=["--expert-tensor-parallel-size 1"],
        )


def _grid(flags: Flags, draft: Draft) -> None:
    """What follows from the number of processes and the degrees together."""
    pipeline = "/parallelism/pipeline"
    if draft.origin(pipeline) == "default":
        draft.note("pp_defaulted", "info", "the pipeline-parallel degree is not given; it is 1", fields=[pipeline])
    if flags.on("sequence_parallel") and draft.get("/parallelism/tensor") == 1:
        message = "sequence parallelism is switched off by the framework, because the tensor-parallel degree is 1"
        draft.note("sp_ignored_tp1", "info", message, fields=["/parallelism/sequence"])
    world = draft.get("/world_size")
    degrees = [draft.get(f"/parallelism/{each}") for each in ("tensor", "pipeline", "context")]
    if not isinstance(world, int) or not all(isinstance(each, int) and each > 0 for each in degrees):
        return
    least = prod(degrees)
    fields = ["/world_size", "/parallelism/tensor", pipeline, "/parallelism/context"]
    if world < least:
        message = f"tp x pp x cp = {least}, but {world} processes run; the job needs at least {least}"
        rule = "at least one process for each model-parallel rank"
        fixes = [f"{least} GPUs"]
        draft.note("world_size_too_small", "error", message, fields=fields, found=str(world), rule=rule, fixes=fixes)
    elif world == least and draft.get("/sharding/stage") == 1:
        message = "the data-parallel degree is 1, so the distributed optimizer shards nothing"
        draft.note("distopt_no_saving", "info", message, fields=["/sharding/stage"], found="1")
