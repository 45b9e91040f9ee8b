"""Parallelism, placement, sharding and batch flags to the job.

Rules: NVIDIA/Megatron-LM @ d98e8a64, megatron/training/arguments.py (validate_args).
"""

from collections.abc import Mapping

from service.formats.draft import Draft
from service.formats.megatron.flags import Flags
from service.formats.syntax.expressions import ExpressionFault, layout_stages
from service.formats.syntax.values import ValueFault, tokens
from service.formats.syntax.words import Hole

_DEGREES = {
    "tensor_model_parallel_size": "tensor",
    "pipeline_model_parallel_size": "pipeline",
    "context_parallel_size": "context",
    "expert_model_parallel_size": "expert",
    "expert_tensor_parallel_size": "expert_tensor",
    "microbatch_group_size_per_virtual_pipeline_stage": "microbatch_group_size",
}
_SWITCHES = {
    "overlap_grad_reduce": "/sharding/overlap_grad_reduce",
    "overlap_param_gather": "/sharding/overlap_param_gather",
    "tp_comm_overlap": "/parallelism/async_tensor",
    "overlap_moe_expert_parallel_comm": "/parallelism/overlap_expert",
    "delay_wgrad_compute": "/parallelism/delay_weight_gradient",
    "account_for_embedding_in_pipeline_split": "/stages/account_for_embedding",
    "account_for_loss_in_pipeline_split": "/stages/account_for_loss",
}
_CONTEXT_METHODS = {
    "p2p": "p2p",
    "a2a": "a2a",
    "allgather": "all_gather",
    "all_gather": "all_gather",
    "a2a+p2p": "a2a+p2p",
}
_STRATEGIES = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}


def read_layout(flags: Flags, draft: Draft, hidden: Mapping[str, Hole]) -> None:
    """Writes degrees, placement, sharding and batch, and names what is missing."""
    for flag, key in _DEGREES.items():
        flags.put(flag, f"/parallelism/{key}")
    for flag, pointer in _SWITCHES.items():
        if flags.on(flag):
            draft.set(pointer, True, flags.origin, flags.where(flag))
    for flag in ("overlap_grad_reduce", "overlap_param_gather"):
        draft.fill(_SWITCHES[flag], False, "default", f"Megatron-LM: no --{flag.replace('_', '-')}")
    for key in ("tensor", "pipeline", "context", "expert"):
        draft.fill(f"/parallelism/{key}", 1, "default", "Megatron-LM: absent degrees are 1")
    if draft.get("/model/num_experts") is not None:
        tensor = draft.get("/parallelism/tensor")
        draft.fill("/parallelism/expert_tensor", tensor, "default", "Megatron-LM: the tensor-parallel degree")
    _sequence_parallel(flags, draft)
    _context_method(flags, draft)
    _placement(flags, draft)
    _sharding(flags, draft)
    _batch(flags, draft, hidden)


def _sequence_parallel(flags: Flags, draft: Draft) -> None:
    asked = flags.on("sequence_parallel")
    if asked and draft.get("/parallelism/tensor") == 1:
        draft.note(
            "ignored_option",
            "warning",
            "sequence-parallel has no effect at tp 1",
            fields=["/parallelism/sequence", "/parallelism/tensor"],
            found=flags.where("sequence_parallel"),
            rule="Megatron-LM switches it off without tensor parallelism",
        )
        draft.set("/parallelism/sequence", False, "derived", "Megatron-LM: off at tensor parallelism 1")
    elif asked:
        draft.set("/parallelism/sequence", True, flags.origin, flags.where("sequence_parallel"))
    draft.fill("/parallelism/sequence", False, "default", "Megatron-LM: no --sequence-parallel")


def _context_method(flags: Flags, draft: Draft) -> None:
    text = flags.text("cp_comm_type", "/parallelism/context_method")
    if text is None:
        return
    methods = dict.fromkeys(text.split())
    method = _CONTEXT_METHODS.get(next(iter(methods)))
    if method is None or len(methods) > 1:
        draft.note(
            "ignored_option",
            "warning",
            f"{flags.where('cp_comm_type')}: only one of {', '.join(_CONTEXT_METHODS)} for all layers is read",
            fields=["/parallelism/context_method"],
            found=text,
        )
    draft.set("/parallelism/context_method", method, flags.origin, flags.where("cp_comm_type"))


def _placement(flags: Flags, draft: Draft) -> None:
    flags.put("decoder_first_pipeline_num_layers", "/stages/first")
    flags.put("decoder_last_pipeline_num_layers", "/stages/last")
    splits = (
        "num_layers_per_virtual_pipeline_stage",
        "num_virtual_stages_per_pipeline_rank",
        "pipeline_model_parallel_layout",
    )
    given = [each for each in splits if each in flags]
    if len(given) > 1:
        listed = ", ".join(flags.where(each) for each in given)
        draft.note(
            "flag_conflict",
            "error",
            f"only one of these may be given: {listed}",
            fields=["/parallelism/virtual_pipeline", "/stages"],
            rule="layers per virtual stage, virtual stages per rank and a layout exclude each other",
        )
    _chunks(flags, draft)
    draft.fill("/parallelism/virtual_pipeline", 1, "default", "Megatron-LM: no virtual stages")


def _chunks(flags: Flags, draft: Draft) -> None:
    """Model chunks on each rank, from whichever of the three flags is given."""
    if "pipeline_model_parallel_layout" in flags:
        _chunks_of_layout(flags, draft)
    elif "num_virtual_stages_per_pipeline_rank" in flags:
        flags.put("num_virtual_stages_per_pipeline_rank", "/parallelism/virtual_pipeline")
    elif "num_layers_per_virtual_pipeline_stage" in flags:
        _chunks_of_layers(flags, draft)


def _chunks_of_layout(flags: Flags, draft: Draft) -> None:
    key = "pipeline_model_parallel_layout"
    text = flags.text(key, "/stages/layout")
    if text is None:
        return
    text = text.strip("'\"")
    draft.set("/stages/layout", text, flags.origin, flags.where(key))
    try:
        stages = len(layout_stages(text))
    except ExpressionFault as fault:
        rule = "E, t, m, L, |, brackets and *N"
        draft.note(
            "value_type", "error", f"{flags.where(key)}: {fault}", fields=["/stages/layout"], found=text, rule=rule
        )
        return
    ranks = draft.get("/parallelism/pipeline")
    if isinstance(ranks, int) and ranks > 0 and stages % ranks == 0:
        how = f"{stages} stages of the layout / {ranks} ranks"
        draft.set("/parallelism/virtual_pipeline", stages // ranks, "derived", how)


def _chunks_of_layers(flags: Flags, draft: Draft) -> None:
    """`--num-layers-per-virtual-pipeline-stage`: layers in a chunk, so chunks are layers / ranks / that."""
    key, pointer = "num_layers_per_virtual_pipeline_stage", "/parallelism/virtual_pipeline"
    size, layers = flags.integer(key, pointer), draft.get("/model/num_hidden_layers")
    ranks = draft.get("/parallelism/pipeline")
    if not size or size < 0 or not isinstance(layers, int) or not isinstance(ranks, int) or ranks < 1:
        return
    layers += bool(draft.get("/stages/account_for_embedding")) + bool(draft.get("/stages/account_for_loss"))
    if draft.get("/stages/first") is not None or draft.get("/stages/last") is not None:
        message = f"{flags.where(key)} cannot be combined with uneven first or last stages"
        fixes = ["--num-virtual-stages-per-pipeline-rank N"]
        draft.note("flag_conflict", "error", message, fields=[pointer, "/stages"], fixes=fixes)
        return
    if layers % ranks:
        return
    stage = layers // ranks
    if stage % size:
        fits = [each for each in range(1, stage + 1) if stage % each == 0]
        draft.note(
            "vpp_remainder",
            "error",
            f"{stage} layers per stage ({layers} over {ranks} stages) cannot be cut into chunks of {size}",
            fields=[pointer, "/model/num_hidden_layers", "/parallelism/pipeline"],
            found=str(size),
            rule="layers per stage must be a multiple of --num-layers-per-virtual-pipeline-stage",
            fixes=[f"--num-layers-per-virtual-pipeline-stage {each}" for each in fits[:4]],
        )
        return
    draft.set(pointer, stage // size, "derived", f"{flags.where(key)}: {stage} layers per stage / {size}")


def _sharding(flags: Flags, draft: Draft) -> None:
    """The distributed optimizer shards states; the two FSDP paths shard as their strategy says."""
    pointer = "/sharding/stage"
    flags.put("num_distributed_optimizer_instances", "/sharding/optimizer_instances")
    if flags.on("use_megatron_fsdp"):
        strategy = flags.text("data_parallel_sharding_strategy")
        where = flags.where("use_megatron_fsdp" if strategy is None else "data_parallel_sharding_strategy")
        stage = _STRATEGIES.get(strategy or "optim_grads_params")
        draft.set(pointer, stage, flags.origin if strategy else "default", where)
        if stage is not None and stage > 1:
            _units(flags, draft)
    elif flags.on("use_torch_fsdp2"):
        draft.set(pointer, 3, flags.origin, flags.where("use_torch_fsdp2"))
        draft.set("/sharding/implementation", "torch_fsdp2", flags.origin, flags.where("use_torch_fsdp2"))
        if "torch_fsdp2_no_reshard_after_forward" in flags:
            where = flags.where("torch_fsdp2_no_reshard_after_forward")
            draft.set("/sharding/reshard_after_forward", "never", flags.origin, where)
    elif flags.on("use_distributed_optimizer"):
        draft.set(pointer, 1, flags.origin, flags.where("use_distributed_optimizer"))
    draft.fill(pointer, 0, "default", "Megatron-LM: no --use-distributed-optimizer")


def _units(flags: Flags, draft: Draft) -> None:
    """Buffers of Megatron-FSDP: two units for good, and how far gathers run ahead and gradients wait."""
    draft.set("/sharding/implementation", "megatron_fsdp", flags.origin, flags.where("use_megatron_fsdp"))
    for flag in ("fsdp_double_buffer", "use_nccl_ub", "megatron_fsdp_max_pool_double_buffer"):
        if flags.on(flag):
            draft.set("/sharding/double_buffer", value=True, origin=flags.origin, where=flags.where(flag))
    size = flags.integer("suggested_communication_unit_size", "/sharding/buckets/reduce")
    if size is not None:
        where = flags.where("suggested_communication_unit_size")
        draft.set("/sharding/buckets/reduce", size, flags.origin, where)
        draft.set("/sharding/buckets/prefetch", size // 2, "derived", where)


def _batch(flags: Flags, draft: Draft, hidden: Mapping[str, Hole]) -> None:
    flags.put("micro_batch_size", "/batch/micro")
    flags.put("global_batch_size", "/batch/global")
    _sequence_length(flags, draft)
    schedule = flags.text("step_batch_size_schedule")
    if schedule is not None:
        _step_schedule(flags, draft, schedule)
    if "rampup_batch_size" in flags:
        draft.note(
            "peak_batch_after_rampup",
            "info",
            "the batch size ramps up; memory follows the micro-batch, and the plan takes the final global batch",
            fields=["/batch/global"],
            found=flags.text("rampup_batch_size") or "",
        )
    for flag, fact in (("micro_batch_size", "micro"), ("seq_length", "sequence_length")):
        if not flags.explained(flag) and flag not in hidden:
            draft.lack(fact, f"--{flag.replace('_', '-')} is not given", f"/batch/{fact}")


def _sequence_length(flags: Flags, draft: Draft) -> None:
    text = flags.text("seq_length", "/batch/sequence_length")
    if text is None:
        return
    where = flags.where("seq_length")
    try:
        length, suffixed = tokens(text)
    except ValueFault as fault:
        pointer = "/batch/sequence_length"
        draft.note("value_type", "error", f"{where}: {fault}", fields=[pointer], found=text, rule="a number of tokens")
        return
    draft.set("/batch/sequence_length", length, flags.origin, where)
    if suffixed:
        draft.note("unit_suffix", "info", f"{where}: {text} is read as {length} tokens", found=text)


def _step_schedule(flags: Flags, draft: Draft, schedule: str) -> None:
    """A step-wise batch schedule; its last step is the largest and decides the batch when none is given."""
    where = flags.where("step_batch_size_schedule")
    if "global_batch_size" in flags:
        draft.note(
            "batch_conflict",
            "error",
            "both global batch and a step schedule given",
            fields=["/batch/global"],
            found=schedule,
            rule="Megatron-LM refuses --global-batch-size together with --step-batch-size-schedule",
            fixes=["remove --step-batch-size-schedule", "remove --global-batch-size"],
        )
        peak = f"{where}: the schedule conflicts with --global-batch-size; memory follows the largest batch"
        draft.note("batch_schedule_conflict", "info", peak, fields=["/batch/global"], found=schedule)
        return
    last = schedule.rsplit(maxsplit=1)[-1].strip("'\"").rpartition(":")[2]
    if last.isdecimal():
        draft.set("/batch/global", int(last[:18]), "derived", f"{where}: its last step")
