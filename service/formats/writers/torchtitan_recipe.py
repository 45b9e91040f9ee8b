"""Precision, optimizer, checkpointing and compilation as torchtitan's keys.

Keys: pytorch/torchtitan, torchtitan/config/job_config.py; what is implied are the defaults that the reader names.
"""

from service.formats.writers.sheet import Sheet

_TYPES = {"bf16": "bfloat16", "fp32": "float32"}
_OPTIMIZERS = {"adam": "AdamW"}
_IMPLEMENTATIONS = {"fused": "fused", "foreach": "foreach", "loop": "for-loop"}
_FLOAT8 = "quantize.linear.float8"


def write_titan_recipe(sheet: Sheet, *, newer: bool) -> None:
    """Says everything about a job but its model, its layout and its batch.

    Since 2026 selective checkpointing keeps single operations, and converters are part of the config function.
    """
    _precision(sheet)
    _optimizer(sheet)
    _checkpointing(sheet, newer=newer)
    _compilation(sheet)
    if not newer:
        _quantization(sheet)
    if sheet.get("/kernels/deterministic"):
        sheet.say("debug.deterministic", True, "/kernels/deterministic")
    always = {
        "/framework/transformer_impl": "titan", "/precision/master": "none", "/precision/autocast": False,
        "/dropout/hidden": 0.0, "/dropout/attention": 0.0, "/kernels/deterministic": False,
    }  # fmt: skip
    sheet.implied(*(pointer for pointer, value in always.items() if sheet.get(pointer) == value))


def _precision(sheet: Sheet) -> None:
    for key, pointer in (
        ("training.dtype", "/precision/parameters"),
        ("training.mixed_precision_param", "/precision/compute"),
        ("training.mixed_precision_reduce", "/precision/reduce"),
    ):
        if sheet.get(pointer) in _TYPES:
            sheet.say(key, _TYPES[sheet.get(pointer)], pointer)
    kept = sheet.get("/precision/parameters")
    if kept is not None and sheet.get("/precision/gradients") == kept:
        sheet.implied("/precision/gradients")
    if kept == "bf16" and sheet.get("/optimizer/moments") == ["bf16", "bf16"]:
        sheet.implied("/optimizer/moments")
    if kept == "fp32" and sheet.get("/optimizer/moments") == ["fp32", "fp32"]:
        sheet.covered("/optimizer/moments")


def _optimizer(sheet: Sheet) -> None:
    name, implementation = sheet.get("/optimizer/name"), sheet.get("/optimizer/implementation")
    if name in _OPTIMIZERS:
        sheet.say("optimizer.name", _OPTIMIZERS[name], "/optimizer/name")
    if implementation is not None:
        sheet.say("optimizer.implementation", _IMPLEMENTATIONS[implementation], "/optimizer/implementation")
    if sheet.get("/optimizer/in_backward"):
        sheet.copy("optimizer.early_step_in_backward", "/optimizer/in_backward")
    places = ("/optimizer/offload", "/optimizer/parameter_offload")
    moved = [sheet.get(each) for each in places]
    if moved == ["cpu", "cpu"]:
        sheet.say("training.enable_cpu_offload", True, *places)
    # A fraction is an object, which no set takes.
    elif all(each in ("none", None) for each in moved):
        sheet.covered(*places)


def _checkpointing(sheet: Sheet, *, newer: bool) -> None:
    granularity, every, op = (sheet.get(f"/checkpointing/{each}") for each in ("granularity", "every", "op"))
    budget = sheet.get("/checkpointing/memory_budget")
    if granularity == "none" and budget is not None:
        sheet.say("activation_checkpoint.mode", "memory_budget", "/checkpointing/granularity")
        sheet.copy("activation_checkpoint.memory_budget", "/checkpointing/memory_budget")
    elif granularity in {"none", "full"}:
        sheet.say("activation_checkpoint.mode", granularity, "/checkpointing/granularity")
    elif newer and granularity == "selective" and op == "default" and every is None:
        sheet.say("activation_checkpoint.mode", "selective", "/checkpointing/granularity", "/checkpointing/op")
    elif not newer and granularity == "selective" and (every is not None or op == "default"):
        sheet.say("activation_checkpoint.mode", "selective", "/checkpointing/granularity")
        option, pointer = (str(every), "/checkpointing/every") if every is not None else ("op", "/checkpointing/op")
        sheet.say("activation_checkpoint.selective_ac_option", option, pointer)


def _compilation(sheet: Sheet) -> None:
    """The model and the loss are compiled apart."""
    model, loss = sheet.get("/kernels/compile"), sheet.get("/kernels/cross_entropy") == "compiled"
    if model is None and not loss:
        return
    sheet.say("compile.enable", bool(model) or loss, *(["/kernels/compile"] if model is not None else []))
    if model or loss:
        parts = [name for name, on in (("model", model), ("loss", loss)) if on]
        sheet.say("compile.components", parts, *(["/kernels/cross_entropy"] if loss else []))


def _quantization(sheet: Sheet) -> None:
    recipe = sheet.get("/precision/fp8/recipe")
    if sheet.get("/precision/fp8/backend") == "torchao":
        sheet.implied("/precision/fp8/backend")
    if recipe == "mxfp8":
        sheet.say("model.converters", ["quantize.linear.mx"], "/precision/fp8/recipe")
    elif recipe == "current":
        sheet.say("model.converters", [_FLOAT8], "/precision/fp8/recipe")
        sheet.copy(f"{_FLOAT8}.enable_fsdp_float8_all_gather", "/precision/fp8/all_gather")
