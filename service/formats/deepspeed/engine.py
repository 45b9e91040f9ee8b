"""A DeepSpeed config to the job: stage, buckets, offload, precision, optimizer, degrees.

Rules and defaults: deepspeedai/DeepSpeed @ edaa7221, deepspeed/runtime/zero/config.py, offload_config.py,
deepspeed/runtime/config.py.
"""

from typing import Any

from service.formats.config.settings import Settings
from service.formats.deepspeed.partner import Partner
from service.formats.draft import Draft
from service.formats.trainer.recipe import write_optimizer
from service.job.diagnostics import Diagnostic

_ZERO = "zero_optimization"
_TYPES = {"fp32": "fp32", "float32": "fp32", "fp16": "fp16", "float16": "fp16", "bf16": "bf16", "bfloat16": "bf16"}
_SWAP = {
    "states": "offload_optimizer.buffer_count",
    "weights": "offload_param.buffer_count",
    "weights_size": "offload_param.buffer_size",
    "weights_in_cpu": "offload_param.max_in_cpu",
}
_SWAPPED = {"offload_optimizer": "/optimizer/offload", "offload_param": "/optimizer/parameter_offload"}
_DEVICES = {"none": "none", "cpu": "cpu", "nvme": "nvme"}
_GATHERED, _SHARDED_GRADIENTS = 3, 2
# Key of the job, keys of the file, default (elements), and the lowest stage that has it.
_BUCKETS = (
    ("reduce", ("reduce_bucket_size",), 500_000_000, 1),
    ("all_gather", ("allgather_bucket_size",), 500_000_000, 1),
    ("prefetch", ("stage3_prefetch_bucket_size", "prefetch_bucket_size"), 50_000_000, 3),
    ("max_live_parameters", ("stage3_max_live_parameters", "max_live_parameters"), 1_000_000_000, 3),
    ("persistence_threshold", ("stage3_param_persistence_threshold", "param_persistence_threshold"), 100_000, 3),
)


def read_engine(config: Settings, partner: Partner, draft: Draft) -> None:
    """Writes everything but the batch, the degrees first: the batch depends on them."""
    draft.set("/framework/name", "deepspeed", "derived", "the file is DeepSpeed's")
    _degrees(config, draft)
    stage = _stage(config, draft)
    _buckets(config, stage, draft)
    _offload(config, stage, draft)
    _precision(config, partner, draft)
    _checkpointing(config, draft)
    write_optimizer(config, draft, "optimizer.type")
    draft.fill("/optimizer/name", "adam", "assumed", "the program brings its own optimizer; AdamW is assumed")
    _pipeline(config, stage, draft)


def _degrees(config: Settings, draft: Draft) -> None:
    draft_keys = (
        (
            "/parallelism/tensor",
            ("tensor_parallel.autotp_size", "tensor_parallel.tp.tp_size", "tensor_parallel.tp_size"),
        ),
        ("/parallelism/context", ("sequence_parallel_size",)),
    )
    for pointer, keys in draft_keys:
        value = config.integer(*keys, pointer=pointer)
        # Zero is how the file says that there is none.
        draft.set(pointer, value or None, config.origin, config.where(*keys))
    if (draft.get("/parallelism/context") or 1) > 1:
        draft.fill(
            "/parallelism/context_method", "a2a", "derived", "DeepSpeed-Ulysses exchanges heads for sequence parts"
        )


def _stage(config: Settings, draft: Draft) -> int:
    """The ZeRO stage; very old files say only true."""
    pointer = "/sharding/stage"
    whole = config.raw(_ZERO)
    if isinstance(whole, bool):
        where = f"{config.where(_ZERO)}: {str(whole).lower()}, as before stages had numbers"
        draft.set(pointer, int(whole), config.origin, where)
    elif whole is not None:
        config.refuse("expected an object with a stage", _ZERO, pointer=pointer)
    else:
        config.put(pointer, f"{_ZERO}.stage")
    draft.fill(pointer, 0, "default", "DeepSpeed: zero_optimization.stage 0")
    stage = draft.get(pointer)
    return stage if isinstance(stage, int) else 0


def _buckets(config: Settings, stage: int, draft: Draft) -> None:
    hidden = draft.get("/model/hidden_size")
    by_width: dict[str, tuple[Any, str]] = {}
    if isinstance(hidden, int):
        by_width = {
            "reduce": (hidden * hidden, "hidden_size squared"),
            "prefetch": (hidden * hidden * 9 // 10, "0.9 x hidden_size squared"),
            "persistence_threshold": (10 * hidden, "10 x hidden_size"),
        }
    for name, keys, default, lowest in _BUCKETS:
        pointer = f"/sharding/buckets/{name}"
        spelled = [f"{_ZERO}.{key}" for key in keys]
        if config.is_auto(*spelled):
            value, rule = by_width.get(name, (None, ""))
            draft.set(pointer, value, "derived", f"{config.where(*spelled)} is auto: {rule}")
            draft.leave_open(pointer)
        else:
            config.put(pointer, *spelled)
        if stage >= lowest:
            draft.fill(pointer, default, "default", f"DeepSpeed: {keys[-1]} {default}")
    overlap = config.put_switch("/sharding/overlap_grad_reduce", f"{_ZERO}.overlap_comm")
    if overlap is None and stage:
        rule = "DeepSpeed: overlap_comm is on for stage 3 alone"
        draft.fill("/sharding/overlap_grad_reduce", stage == _GATHERED, "default", rule)
    groups = config.integer(f"{_ZERO}.mics_shard_size")
    if groups is not None and groups > 0:
        draft.set("/sharding/degree", groups, config.origin, config.where(f"{_ZERO}.mics_shard_size"))
    for key in ("zero_hpz_partition_size", "zero_quantized_weights", "zero_quantized_gradients"):
        if config.raw(f"{_ZERO}.{key}") not in (None, False, 1):
            message = f"{config.where(f'{_ZERO}.{key}')}: its extra copies of weights or gradients are not itemised"
            draft.note("unsupported_option", "warning", message, fields=["/sharding/stage"], found=key)


def _offload(config: Settings, stage: int, draft: Draft) -> None:
    """D4: the host or a disk may hold optimizer states from stage 1 on, weights and a part of the states in stage 3."""
    old = {
        "/optimizer/offload": ("cpu_offload",),
        "/optimizer/parameter_offload": ("cpu_offload_params", "cpu_offload_param"),
    }
    for pointer, section in (
        ("/optimizer/offload", "offload_optimizer"),
        ("/optimizer/parameter_offload", "offload_param"),
    ):
        key = f"{_ZERO}.{section}.device"
        device = config.put_choice(pointer, _DEVICES, key)
        if device is None:
            older = [f"{_ZERO}.{each}" for each in old[pointer]]
            on = config.on(*older, pointer=pointer)
            draft.set(pointer, "cpu" if on else None, config.origin, config.where(*older))
        draft.fill(pointer, "none", "default", f"DeepSpeed: no {section}")
    for pointer, name in _SWAP.items():
        if draft.get(_SWAPPED[name.partition(".")[0]]) == "nvme":
            config.put(f"/optimizer/swap/{pointer}", f"{_ZERO}.{name}")
    ratio_key = f"{_ZERO}.offload_optimizer.ratio"
    ratio = config.number(ratio_key, pointer="/optimizer/offload")
    if ratio is not None and ratio < 1 and draft.get("/optimizer/offload") == "cpu":
        draft.set("/optimizer/offload", {"fraction": ratio}, config.origin, config.where(ratio_key))
        if stage != _GATHERED:
            _refuse_stage(draft, "/optimizer/offload", f"{config.where(ratio_key)}: a part of the states needs stage 3")
    if draft.get("/optimizer/offload") not in (None, "none") and stage == 0:
        _refuse_stage(draft, "/optimizer/offload", "optimizer states on the host need stage 1, 2 or 3")
    if draft.get("/optimizer/parameter_offload") not in (None, "none") and stage != _GATHERED:
        _refuse_stage(draft, "/optimizer/parameter_offload", "weights on the host need stage 3")


def _refuse_stage(draft: Draft, pointer: str, message: str) -> None:
    stage = draft.get("/sharding/stage")
    fixes = [f"/{_ZERO}/stage: 3"]
    fields = [pointer, "/sharding/stage"]
    draft.note("offload_stage", "error", message, fields=fields, found=f"stage {stage}", rule=message, fixes=fixes)


def _precision(config: Settings, partner: Partner, draft: Draft) -> None:
    pointer = "/precision/compute"
    on: dict[str, bool | None] = {}
    keys = {"bf16": ("bf16.enabled", "bfloat16.enabled", "bf16", "bfloat16"), "fp16": ("fp16.enabled", "fp16")}
    for kind, spelled in keys.items():
        fallback = {"bf16": partner.bf16, "fp16": partner.fp16}[kind]
        on[kind] = fallback if config.is_auto(*spelled) else config.on(*spelled, pointer=pointer)
    if on["bf16"] and on["fp16"]:
        draft.note(
            "precision_conflict",
            "error",
            "bf16 and fp16 are both enabled",
            fields=[pointer],
            found="bf16.enabled true, fp16.enabled true",
            rule="one of bf16 and fp16",
            fixes=["/fp16/enabled: false", "/bf16/enabled: false"],
        )
    chosen = "bf16" if on["bf16"] else "fp16" if on["fp16"] else None
    hidden = [kind for kind in keys if config.is_auto(*keys[kind]) and not partner.present]
    if chosen is not None:
        where = config.where(*keys[chosen])
        draft.set(
            pointer, chosen, config.origin, f"{where} is auto: {chosen}" if config.is_auto(*keys[chosen]) else where
        )
    elif hidden:
        told = f"{' and '.join(f'{each}.enabled' for each in hidden)} is auto and no trainer arguments were supplied"
        draft.lack("compute", f"{told}; pass precision.compute, bf16 or fp16", pointer)
        draft.leave_open(pointer)
    draft.fill(pointer, "fp32", "default", "DeepSpeed: neither bf16 nor fp16 is enabled")
    draft.fill("/precision/parameters", draft.get(pointer), "derived", "DeepSpeed keeps weights in the compute type")
    if config.on("torch_autocast.enabled"):
        draft.set("/precision/autocast", True, config.origin, config.where("torch_autocast.enabled"))
    config.put_choice("/precision/gradients", _TYPES, "data_types.grad_accum_dtype")
    config.put_choice("/precision/reduce", _TYPES, "communication_data_type")


def _checkpointing(config: Settings, draft: Draft) -> None:
    """The file says how checkpointed layers are kept, not whether there are any: the model's code does."""
    section = "activation_checkpointing"
    if config.on(f"{section}.partition_activations"):
        where = config.where(f"{section}.partition_activations")
        draft.set("/checkpointing/distribute_saved", True, config.origin, where)
    if config.on(f"{section}.cpu_checkpointing"):
        draft.set("/checkpointing/offload", "inputs", config.origin, config.where(f"{section}.cpu_checkpointing"))
    if config.under(section):
        message = "whether layers are checkpointed is decided by the model's code; this section says how they are kept"
        draft.note("checkpointing_by_code", "info", message, fields=["/checkpointing/granularity"], found=section)


def _pipeline(config: Settings, stage: int, draft: Draft) -> None:
    """D7: the pipeline engine keeps gradients whole."""
    stages = (
        None
        if config.is_auto("pipeline.stages")
        else config.integer("pipeline.stages", pointer="/parallelism/pipeline")
    )
    if stages is None or stages < 1:
        return
    draft.set("/parallelism/pipeline", stages, config.origin, config.where("pipeline.stages"))
    if stages > 1 and stage >= _SHARDED_GRADIENTS:
        message = f"ZeRO stage {stage} cannot be combined with {stages} pipeline stages"
        fields = ["/sharding/stage", "/parallelism/pipeline"]
        rule = "the pipeline engine takes ZeRO stage 0 or 1"
        draft.note(
            "zero_pipeline", "error", message, fields=fields, found=str(stage), rule=rule, fixes=[f"/{_ZERO}/stage: 1"]
        )


def note_auto(config: Settings, partner: Partner, draft: Draft) -> None:
    """Names every field that is still left to trainer arguments that were not supplied."""
    left = [each.spelled for each in config.values.values() if isinstance(each.value, str) and each.value == "auto"]
    if left and not partner.present:
        message = f"{', '.join(left[:20])}: auto, and no trainer arguments were supplied"
        fixes = ("add the trainer's arguments to source.files or source.argv",)
        found = Diagnostic(
            "auto_unresolved", "warning", message, ("/batch/micro", "/precision/compute"), "auto", "", fixes
        )
        draft.take(found)


def note_nothing_to_shard(draft: Draft) -> None:
    """D7: ZeRO over one rank shards nothing; the fields are those of the general rule about it, which is said once."""
    stage, world = draft.get("/sharding/stage"), draft.get("/world_size")
    tensor, pipeline = draft.get("/parallelism/tensor") or 1, draft.get("/parallelism/pipeline") or 1
    if not isinstance(stage, int) or not stage or not isinstance(world, int):
        return
    if world == tensor * pipeline:
        split = f" ({world} / tensor {tensor} x pipeline {pipeline})" if world > 1 else ""
        message = f"ZeRO stage {stage} has no effect: the data-parallel size is 1{split}"
        fields = ["/sharding/stage", "/parallelism/data", "/parallelism/context"]
        draft.note("ignored_option", "warning", message, fields=fields, found=f"stage {stage}, world size {world}")
