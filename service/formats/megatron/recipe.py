"""Precision, optimizer, recomputation, kernel and dropout flags to the job.

Rules: NVIDIA/Megatron-LM @ d98e8a64, megatron/training/arguments.py (validate_args) and
megatron/core/optimizer/optimizer_config.py.
"""

from service.formats.draft import Draft
from service.formats.megatron.flags import Flags

_TYPES = {"fp32", "bf16", "fp16", "fp8"}
_OPTIMIZERS = {
    "adam": "adam",
    "sgd": "sgd",
    "lion": "lion",
    "muon": "muon",
    "dist_muon": "muon",
    "adaptive_muon": "muon",
    "adafactor": "adafactor",
}
_FP8_RECIPES = {"delayed": "delayed", "tensorwise": "current", "blockwise": "blockwise", "mxfp8": "mxfp8"}
_BACKENDS = {"flash": "flash", "fused": "fused", "unfused": "unfused", "local": "unfused", "auto": "auto"}
_DISPATCHERS = {"alltoall": "alltoall", "allgather": "allgather", "alltoall_seq": "alltoall"}
_FLEXIBLE = {"deepep": "deepep", "hybridep": "hybridep"}


def read_recipe(flags: Flags, draft: Draft, *, base: str | None = None) -> None:
    """Writes precision, optimizer, recomputation, kernels and dropout. `base` is the launcher's own precision."""
    _precision(flags, draft, base)
    _fp8(flags, draft)
    _optimizer(flags, draft)
    _recomputation(flags, draft)
    _kernels(flags, draft)
    _expert_kernels(flags, draft)
    for key in ("hidden", "attention"):
        pointer, flag = f"/dropout/{key}", f"{key}_dropout"
        value = flags.number(flag, pointer)
        if value is not None:
            draft.set(pointer, value, flags.origin, flags.where(flag))
        draft.fill(pointer, 0.1, "default", f"Megatron-LM: --{key}-dropout 0.1")


def _precision(flags: Flags, draft: Draft, base: str | None) -> None:
    chosen = [each for each in ("bf16", "fp16") if flags.on(each)]
    if len(chosen) > 1:
        draft.note(
            "flag_conflict",
            "error",
            "--bf16 and --fp16 exclude each other",
            fields=["/precision/compute"],
            found="bf16, fp16",
            rule="one compute type",
            fixes=["remove --fp16", "remove --bf16"],
        )
    compute = chosen[0] if chosen else base or "fp32"
    if chosen:
        draft.set("/precision/compute", compute, flags.origin, flags.where(compute))
    elif base:
        draft.set("/precision/compute", base, "default", "the launcher trains in it unless told otherwise")
    elif "fp8_format" in flags or "fp4_format" in flags:
        compute = "bf16"
        draft.set("/precision/compute", compute, "assumed", "8-bit training is set without --bf16 or --fp16")
        draft.note(
            "precision_flag_missing",
            "warning",
            "8-bit training is set without --bf16 or --fp16; bf16 is assumed for everything else",
            fields=["/precision/compute"],
            fixes=["--bf16"],
        )
    else:
        draft.set("/precision/compute", compute, "default", "Megatron-LM: fp32 without --bf16 or --fp16")
    where = "Megatron-LM: weights have the compute type"
    draft.fill("/precision/parameters", compute, "default", where)
    _gradients(flags, draft, compute)


def _gradients(flags: Flags, draft: Draft, compute: str) -> None:
    """The accumulation buffer: fp32 with bf16 unless told otherwise, the compute type with fp16 unless told fp32."""
    pointer = "/precision/gradients"
    if flags.on("use_megatron_fsdp") and flags.text("data_parallel_sharding_strategy") not in {"no_shard", "optim"}:
        _unit_gradients(flags, draft, compute)
        return
    named = flags.text("main_grads_dtype") if flags.on("use_precision_aware_optimizer") else None
    if flags.on("grad_reduce_in_bf16") and compute == "bf16":
        draft.set(pointer, "bf16", flags.origin, flags.where("grad_reduce_in_bf16"))
    elif flags.on("accumulate_allreduce_grads_in_fp32"):
        draft.set(pointer, "fp32", flags.origin, flags.where("accumulate_allreduce_grads_in_fp32"))
    elif named in {"bf16", "fp16", "fp32"}:
        draft.set(pointer, named, flags.origin, flags.where("main_grads_dtype"))
    half = compute == "fp16"
    rule = "fp16 without --accumulate-allreduce-grads-in-fp32" if half else "fp32 accumulation with bf16"
    draft.fill(pointer, "fp16" if half else "fp32", "default", f"Megatron-LM: {rule}")
    draft.fill("/precision/reduce", draft.get(pointer), "derived", "gradients are reduced in the buffer's type")


def _unit_gradients(flags: Flags, draft: Draft, compute: str) -> None:
    """Megatron-FSDP's gradients have the weights' type unless told otherwise, and travel in their own."""
    for flag, pointer, otherwise in (
        ("megatron_fsdp_main_grads_dtype", "/precision/gradients", compute),
        ("megatron_fsdp_grad_comm_dtype", "/precision/reduce", None),
    ):
        named = flags.text(flag, pointer)
        if named in _TYPES:
            draft.set(pointer, named, flags.origin, flags.where(flag))
        draft.fill(pointer, otherwise or draft.get("/precision/gradients"), "default", f"Megatron-FSDP: {flag} auto")


def _fp8(flags: Flags, draft: Draft) -> None:
    if "fp4_format" in flags:
        draft.set("/precision/fp8/recipe", "nvfp4", flags.origin, flags.where("fp4_format"))
    elif "fp8_format" in flags or flags.on("fp8_hybrid") or flags.on("fp8_e4m3"):
        recipe = flags.text("fp8_recipe", "/precision/fp8/recipe") or "delayed"
        given = "fp8_recipe" in flags
        draft.set(
            "/precision/fp8/recipe",
            _FP8_RECIPES.get(recipe),
            flags.origin if given else "default",
            flags.where("fp8_recipe") if given else "Megatron-LM: --fp8-recipe delayed",
        )
    else:
        return
    gathered = "fp8_param_gather" if flags.on("fp8_param_gather") else "fp4_param_gather"
    on = flags.on(gathered)
    where = flags.where(gathered) if on else "Megatron-LM: no --fp8-param-gather"
    draft.set("/precision/fp8/parameters", on, flags.origin if on else "default", where)
    if flags.on("first_last_layers_bf16"):
        for end, flag in (("first", "num_layers_at_start_in_bf16"), ("last", "num_layers_at_end_in_bf16")):
            flags.put(flag, f"/precision/fp8/bf16_layers/{end}")
            draft.fill(f"/precision/fp8/bf16_layers/{end}", 1, "default", f"Megatron-LM: --{flag.replace('_', '-')} 1")


def _optimizer(flags: Flags, draft: Draft) -> None:
    named = flags.text("optimizer", "/optimizer/name")
    if named is not None and named not in _OPTIMIZERS:
        known = ", ".join(_OPTIMIZERS)
        message = f"{flags.where('optimizer')}: the optimizer {named} is not known"
        draft.note("value_type", "error", message, fields=["/optimizer/name"], found=named, rule=f"one of {known}")
    elif named is not None:
        draft.set("/optimizer/name", _OPTIMIZERS[named], flags.origin, flags.where("optimizer"))
    draft.fill("/optimizer/name", "adam", "default", "Megatron-LM: --optimizer adam")
    if draft.get("/optimizer/name") == "sgd":
        momentum = flags.number("sgd_momentum")
        draft.set(
            "/optimizer/momentum", momentum != 0, "default" if momentum is None else flags.origin, "--sgd-momentum"
        )
    if flags.on("use_precision_aware_optimizer"):
        _precision_aware(flags, draft)
    _offload(flags, draft)


def _precision_aware(flags: Flags, draft: Draft) -> None:
    """Types of the moments and of the master copy; with bf16 the copy keeps only the 16 bits that bf16 lacks."""
    where = flags.where("use_precision_aware_optimizer")
    named = [flags.text(flag) or "fp32" for flag in ("exp_avg_dtype", "exp_avg_sq_dtype")]
    if draft.get("/optimizer/name") == "adam" and set(named) <= _TYPES:
        draft.set("/optimizer/moments", named, flags.origin, where)
    master = flags.text("main_params_dtype") or "fp32"
    plain = draft.get("/precision/compute") == "bf16" and "fp8_format" not in flags and "fp4_format" not in flags
    if master == "fp32" and plain:
        draft.set("/precision/master", "bf16_remainder", "default", f"{where}: store_param_remainders is on")
    elif master != "fp32":
        draft.note(
            "unsupported_option",
            "error",
            f"{flags.where('main_params_dtype')}: a master copy in {master} cannot be said in a job",
            fields=["/precision/master"],
            found=master,
        )


def _offload(flags: Flags, draft: Draft) -> None:
    if not flags.on("optimizer_cpu_offload"):
        draft.fill("/optimizer/offload", "none", "default", "Megatron-LM: no --optimizer-cpu-offload")
        return
    fraction = flags.number("optimizer_offload_fraction", "/optimizer/offload")
    whole = fraction is None or fraction >= 1
    value = "cpu" if whole else {"fraction": fraction}
    where = flags.where("optimizer_cpu_offload" if fraction is None else "optimizer_offload_fraction")
    draft.set("/optimizer/offload", value, flags.origin, where)


def _recomputation(flags: Flags, draft: Draft) -> None:
    """New flags first, then the older ones that imply a granularity."""
    pointer = "/checkpointing/granularity"
    named = flags.text("recompute_granularity", pointer)
    older = [each for each in ("recompute_activations", "checkpoint_activations") if flags.on(each)]
    if named is not None:
        draft.set(pointer, named, flags.origin, flags.where("recompute_granularity"))
    elif older:
        kind = "selective" if older[0] == "recompute_activations" else "full"
        draft.set(pointer, kind, flags.origin, flags.where(older[0]))
    elif "recompute_method" in flags and flags.spelled("activations_checkpoint_method"):
        draft.set(pointer, "full", "derived", f"{flags.where('recompute_method')}: the older flag means whole layers")
    if "moe_layer_recompute" in flags:
        draft.fill(pointer, "selective", flags.origin, flags.where("moe_layer_recompute"))
    draft.fill(pointer, "none", "default", "Megatron-LM: no --recompute-granularity")
    method = flags.text("recompute_method", "/checkpointing/method")
    if method is not None:
        draft.set("/checkpointing/method", method, flags.origin, flags.where("recompute_method"))
    flags.put("recompute_num_layers", "/checkpointing/num_layers")
    if draft.get(pointer) == "full" and named is None:
        draft.fill("/checkpointing/method", "uniform", "default", "older Megatron-LM: uniform")
        draft.fill("/checkpointing/num_layers", 1, "default", "older Megatron-LM: every layer")
    _recomputed_modules(flags, draft)
    if flags.on("distribute_saved_activations"):
        draft.set("/checkpointing/distribute_saved", True, flags.origin, flags.where("distribute_saved_activations"))


def _recomputed_modules(flags: Flags, draft: Draft) -> None:
    if draft.get("/checkpointing/granularity") == "selective":
        modules = (flags.text("recompute_modules", "/checkpointing/modules") or "").replace(",", " ").split()
        if flags.on("moe_layer_recompute") and "moe" not in modules:
            modules.append("moe")
        where = flags.where("recompute_modules") if "recompute_modules" in flags else ""
        draft.set("/checkpointing/modules", modules or None, flags.origin, where)
        draft.fill("/checkpointing/modules", ["core_attn"], "default", "Megatron-LM: --recompute-modules core_attn")
    if flags.integer("cpu_offloading_num_layers"):
        flags.put("cpu_offloading_num_layers", "/checkpointing/offload_layers")
        draft.set("/checkpointing/offload", "all", flags.origin, flags.where("cpu_offloading_num_layers"))
    elif flags.on("fine_grained_activation_offloading"):
        modules = (flags.text("offload_modules", "/checkpointing/offload") or "").replace(",", " ").split()
        draft.set(
            "/checkpointing/offload", modules or None, flags.origin, flags.where("fine_grained_activation_offloading")
        )


def _kernels(flags: Flags, draft: Draft) -> None:
    implementation = flags.text("transformer_impl", "/framework/transformer_impl")
    if implementation in {"transformer_engine", "local"}:
        draft.set("/framework/transformer_impl", implementation, flags.origin, flags.where("transformer_impl"))
    draft.fill("/framework/transformer_impl", "transformer_engine", "default", "Megatron-LM: --transformer-impl")
    backend = flags.text("attention_backend", "/kernels/attention")
    if backend is not None and backend in _BACKENDS:
        draft.set("/kernels/attention", _BACKENDS[backend], flags.origin, flags.where("attention_backend"))
    elif flags.on("use_flash_attn") or flags.on("use_flash_attn_v2"):
        flag = "use_flash_attn" if flags.on("use_flash_attn") else "use_flash_attn_v2"
        draft.set("/kernels/attention", "flash", flags.origin, flags.where(flag))
    elif implementation == "local":
        draft.set("/kernels/attention", "unfused", "default", "Megatron-LM: the local layer's own attention")
    draft.fill("/kernels/attention", "auto", "default", "Megatron-LM: --attention-backend auto")
    _loss(flags, draft)
    for flag, pointer, value in (
        ("no_gradient_accumulation_fusion", "/kernels/grad_accumulation_fusion", False),
        ("deterministic_mode", "/kernels/deterministic", True),
        ("attention_softmax_in_fp32", "/kernels/softmax_fp32", True),
        ("enable_cuda_graph", "/kernels/cuda_graphs", True),
        ("external_cuda_graph", "/kernels/cuda_graphs", True),
        ("no_create_attention_mask_in_dataloader", "/batch/padding_mask", False),
    ):
        if flags.on(flag):
            draft.set(pointer, value, flags.origin, flags.where(flag))
    _fusions(flags, draft)
    draft.fill("/kernels/grad_accumulation_fusion", True, "default", "Megatron-LM: gradient accumulation is fused")


def _fusions(flags: Flags, draft: Draft) -> None:
    graphs = flags.text("cuda_graph_impl")
    if graphs is not None and graphs != "none":
        draft.set("/kernels/cuda_graphs", True, flags.origin, flags.where("cuda_graph_impl"))
    kind = draft.get("/model/mlp")
    fusion = "no_bias_swiglu_fusion" if kind == "swiglu" else "no_bias_gelu_fusion"
    if flags.on(fusion):
        draft.set("/kernels/activation", "eager", flags.origin, flags.where(fusion))
    elif kind == "relu2" or (kind == "gelu" and draft.get("/model/mlp_bias") is False):
        draft.set("/kernels/activation", "eager", "derived", "Megatron-LM: only GELU with a bias and SwiGLU are fused")
    if flags.on("no_rope_fusion"):
        draft.set("/kernels/rope", "eager", flags.origin, flags.where("no_rope_fusion"))
    if flags.on("defer_embedding_wgrad_compute"):
        limit = flags.integer("wgrad_deferral_limit") or 0
        where = flags.where("defer_embedding_wgrad_compute")
        draft.set("/kernels/defer_embedding_wgrad", limit, flags.origin, where)


def _loss(flags: Flags, draft: Draft) -> None:
    pointer = "/kernels/cross_entropy"
    if flags.on("cross_entropy_loss_fusion"):
        engine = flags.text("cross_entropy_fusion_impl") == "te"
        flag = "cross_entropy_fusion_impl" if engine else "cross_entropy_loss_fusion"
        draft.set(pointer, "te" if engine else "megatron_fused", flags.origin, flags.where(flag))
    draft.fill(pointer, "megatron", "default", "Megatron-LM: no --cross-entropy-loss-fusion")


def _expert_kernels(flags: Flags, draft: Draft) -> None:
    if draft.get("/model/num_experts") is None:
        return
    dispatcher = flags.text("moe_token_dispatcher_type", "/kernels/moe_dispatcher")
    flexible = flags.text("moe_flex_dispatcher_backend") or "deepep"
    chosen = _FLEXIBLE.get(flexible) if dispatcher == "flex" else _DISPATCHERS.get(dispatcher or "")
    if dispatcher is not None:
        draft.set("/kernels/moe_dispatcher", chosen, flags.origin, flags.where("moe_token_dispatcher_type"))
    draft.fill("/kernels/moe_dispatcher", "allgather", "default", "Megatron-LM: --moe-token-dispatcher-type allgather")
    grouped = flags.on("moe_grouped_gemm")
    where = flags.where("moe_grouped_gemm") if grouped else "Megatron-LM: no --moe-grouped-gemm"
    draft.set("/kernels/grouped_gemm", grouped, flags.origin if grouped else "default", where)
    factor = flags.number("moe_expert_capacity_factor", "/moe/capacity_factor")
    if factor is not None and factor > 0:
        draft.set("/moe/capacity_factor", factor, flags.origin, flags.where("moe_expert_capacity_factor"))
    if flags.on("moe_pad_expert_input_to_capacity"):
        where = flags.where("moe_pad_expert_input_to_capacity")
        draft.set("/moe/pad_to_capacity", True, flags.origin, where)
    if draft.get("/moe/capacity_factor") is not None:
        rule = "Megatron-LM: no --moe-pad-expert-input-to-capacity"
        draft.fill("/moe/pad_to_capacity", False, "default", rule)
