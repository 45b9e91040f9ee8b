"""Precision, optimizer, recomputation and kernels as Megatron-LM's flags."""

from service.formats.writers.sheet import Sheet

_BACKENDS = frozenset({"flash", "fused", "unfused", "auto"})
_RECIPES = {"delayed": "delayed", "current": "tensorwise", "blockwise": "blockwise", "mxfp8": "mxfp8"}


def write_recipe(sheet: Sheet) -> None:
    """Says everything about a job but its model and its layout."""
    _precision(sheet)
    _optimizer(sheet)
    _checkpointing(sheet)
    _kernels(sheet)


def _precision(sheet: Sheet) -> None:
    compute, gradients = sheet.get("/precision/compute"), sheet.get("/precision/gradients")
    if compute in {"bf16", "fp16"}:
        sheet.say(compute, None, "/precision/compute")
    elif compute == "fp32":
        sheet.implied("/precision/compute")
    if sheet.get("/precision/parameters") == compute:
        sheet.implied("/precision/parameters")
    written = {("bf16", "bf16"): "grad-reduce-in-bf16", ("fp16", "fp32"): "accumulate-allreduce-grads-in-fp32"}
    if (compute, gradients) in written:
        sheet.say(written[compute, gradients], None, "/precision/gradients")
    elif gradients == ("fp16" if compute == "fp16" else "fp32"):
        sheet.implied("/precision/gradients")
    if sheet.get("/precision/reduce") == gradients:
        sheet.implied("/precision/reduce")
    recipe = sheet.get("/precision/fp8/recipe")
    if recipe == "nvfp4":
        sheet.say("fp4-format", "e2m1", "/precision/fp8/recipe")
    elif recipe is not None:
        sheet.say("fp8-format", "hybrid")
        sheet.say("fp8-recipe", _RECIPES[recipe], "/precision/fp8/recipe")
    if recipe is not None:
        _fp8(sheet, "fp4" if recipe == "nvfp4" else "fp8")


def _fp8(sheet: Sheet, kind: str) -> None:
    if sheet.get("/precision/fp8/parameters"):
        sheet.say(f"{kind}-param-gather", None, "/precision/fp8/parameters")
    sheet.implied("/precision/fp8/parameters")
    if sheet.get("/precision/fp8/backend") == "transformer_engine":
        sheet.implied("/precision/fp8/backend")
    ends = ("/precision/fp8/bf16_layers/first", "/precision/fp8/bf16_layers/last")
    if any(sheet.get(each) is not None for each in ends):
        sheet.say("first-last-layers-bf16", None)
        for flag, pointer in zip(("num-layers-at-start-in-bf16", "num-layers-at-end-in-bf16"), ends, strict=True):
            sheet.copy(flag, pointer)


def _optimizer(sheet: Sheet) -> None:
    name = sheet.get("/optimizer/name")
    if name in {"adam", "sgd", "lion", "muon", "adafactor"}:
        sheet.say("optimizer", name, "/optimizer/name")
    if name == "sgd" and sheet.get("/optimizer/momentum") is not None:
        sheet.say("sgd-momentum", 0.9 if sheet.get("/optimizer/momentum") else 0.0, "/optimizer/momentum")
    _states(sheet)
    offload = sheet.get("/optimizer/offload")
    sheet.switch("optimizer-cpu-offload", "/optimizer/offload", "cpu", otherwise="none")
    if isinstance(offload, dict):
        sheet.say("optimizer-cpu-offload", None)
        sheet.say("optimizer-offload-fraction", offload["fraction"], "/optimizer/offload")
    sheet.covered("/optimizer/implementation")


def _states(sheet: Sheet) -> None:
    """Types of the moments and of the master copy: fp32, or those of the precision-aware optimizer."""
    moments, master = sheet.get("/optimizer/moments"), sheet.get("/precision/master")
    plain = moments in (None, ["fp32", "fp32"])
    if plain and master != "bf16_remainder":
        sheet.implied("/optimizer/moments", *(["/precision/master"] if master == "fp32" else []))
    elif sheet.get("/optimizer/name") == "adam" and (moments is None or len(moments) == 2):  # noqa: PLR2004
        sheet.say("use-precision-aware-optimizer", None)
        for flag, dtype in zip(("exp-avg-dtype", "exp-avg-sq-dtype"), moments or (), strict=False):
            sheet.say(flag, dtype, "/optimizer/moments")
        if master == "bf16_remainder":
            sheet.implied("/precision/master")


def _checkpointing(sheet: Sheet) -> None:
    granularity = sheet.get("/checkpointing/granularity")
    if granularity in {"selective", "full"}:
        sheet.say("recompute-granularity", granularity, "/checkpointing/granularity")
    elif granularity == "none":
        sheet.implied("/checkpointing/granularity")
    if granularity == "full":
        sheet.copy("recompute-method", "/checkpointing/method")
        sheet.copy("recompute-num-layers", "/checkpointing/num_layers")
    modules = sheet.get("/checkpointing/modules")
    if granularity == "selective" and modules:
        sheet.say("recompute-modules", tuple(modules), "/checkpointing/modules")
    offload = sheet.get("/checkpointing/offload")
    if offload == "all" and sheet.get("/checkpointing/offload_layers") is not None:
        sheet.implied("/checkpointing/offload")
    elif isinstance(offload, list):
        sheet.say("fine-grained-activation-offloading", None)
        sheet.say("offload-modules", ",".join(offload), "/checkpointing/offload")
    elif offload == "none":
        sheet.implied("/checkpointing/offload")


def _kernels(sheet: Sheet) -> None:
    backend = sheet.get("/kernels/attention")
    if backend in _BACKENDS:
        sheet.say("attention-backend", backend, "/kernels/attention")
    _loss(sheet)
    sheet.switch("no-gradient-accumulation-fusion", "/kernels/grad_accumulation_fusion", False, otherwise=True)
    sheet.switch("no-create-attention-mask-in-dataloader", "/batch/padding_mask", False, otherwise=None)
    sheet.switch("enable-cuda-graph", "/kernels/cuda_graphs", True, otherwise=False)
    sheet.switch("no-rope-fusion", "/kernels/rope", "eager", otherwise=None)
    _activation(sheet)
    deferred = sheet.get("/kernels/defer_embedding_wgrad")
    if deferred is not None:
        sheet.say("defer-embedding-wgrad-compute", None)
        sheet.say("wgrad-deferral-limit", deferred, "/kernels/defer_embedding_wgrad")
    dispatcher = sheet.get("/kernels/moe_dispatcher")
    if dispatcher in {"alltoall", "allgather"}:
        sheet.say("moe-token-dispatcher-type", dispatcher, "/kernels/moe_dispatcher")
    elif dispatcher is not None:
        sheet.say("moe-token-dispatcher-type", "flex")
        sheet.say("moe-flex-dispatcher-backend", dispatcher, "/kernels/moe_dispatcher")
    always = {
        "/kernels/activation": "fused", "/kernels/norm": "fused", "/kernels/rope": "fused", "/batch/padding_mask": True,
        "/kernels/deallocate_pipeline_outputs": True, "/model/parallel_residual": False,
    }  # fmt: skip
    sheet.covered(*(pointer for pointer, value in always.items() if sheet.get(pointer) == value))


def _activation(sheet: Sheet) -> None:
    """Only SwiGLU and GELU with a bias have a fusion that can be turned off; the reader has the same rule."""
    if sheet.get("/kernels/activation") != "eager":
        return
    kind = sheet.get("/model/mlp")
    if kind == "relu2" or (kind == "gelu" and sheet.get("/model/mlp_bias") is False):
        sheet.implied("/kernels/activation")
    else:
        sheet.say(f"no-bias-{'swiglu' if kind == 'swiglu' else 'gelu'}-fusion", None, "/kernels/activation")


def _loss(sheet: Sheet) -> None:
    loss = sheet.get("/kernels/cross_entropy")
    if loss in {"megatron_fused", "te"}:
        sheet.say("cross-entropy-loss-fusion", None, "/kernels/cross_entropy")
    if loss == "te":
        sheet.say("cross-entropy-fusion-impl", "te", "/kernels/cross_entropy")
    if loss == "megatron":
        sheet.implied("/kernels/cross_entropy")
