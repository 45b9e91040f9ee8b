"""The importer: degrees, tokens, optimizer and model of one file; nothing of it comes from elsewhere but the launch.

Rules and defaults: huggingface/nanotron @ 2411b022, src/nanotron/config (config.py, parallelism_config.py,
models_config.py), src/nanotron/parallel/context.py.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from math import prod

from service.calculator import limits
from service.formats import clues
from service.formats.config.command import read_command, write_world_size
from service.formats.config.published import write_architecture, write_given_preset
from service.formats.config.questions import ask_micro, ask_model, ask_sequence
from service.formats.config.settings import Settings, known_keys
from service.formats.config.yaml_text import read_settings
from service.formats.draft import Draft
from service.formats.imported import Imported
from service.formats.nanotron.model import read_model
from service.formats.source import ConfigSource
from service.job.diagnostics import Diagnostic

_MARKS = frozenset({
    "batch_accumulation_per_replica", "is_llama_config", "is_qwen2_config", "is_llamoe_config",
    "is_starcoder2_config", "is_mamba_config", "tp_mode", "pp_engine", "tp_linear_async_communication",
    "model_config", "accumulate_grad_in_fp32", "data_stages", "lighteval", "ddp_bucket_cap_mb",
    "expert_parallel_size",
})  # fmt: skip
_CONFIDENCE = (0.0, 0.4, 0.7, 0.9, 0.96)
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "double": "fp32"}
_ENGINES = {"1f1b": "1f1b", "afab": "gpipe"}
_DEGREES = {
    "tensor": "parallelism.tp",
    "pipeline": "parallelism.pp",
    "context": "parallelism.context_parallel_size",
    "expert": "parallelism.expert_parallel_size",
}


def recognise(source: ConfigSource) -> float:
    """How sure it is that the text is nanotron's: by keys that nobody else has."""
    found = clues.keys(source) & _MARKS
    return clues.graded(len(found), _CONFIDENCE)


def read(source: ConfigSource, confidence: float) -> Imported:
    """The job that the file describes."""
    draft = Draft("nanotron", confidence)
    draft.complete(source.model, source.world_size)
    write_given_preset(draft)
    settings = read_settings(source, draft, "nanotron file")
    if settings is None:
        return draft.finish()
    write_world_size(read_command(source.argv), draft)
    # Measured runs of nanotron are described with this framework: its layers and schedules are Megatron's.
    draft.set("/framework/name", "megatron-core", "derived", "nanotron's layers and schedules are Megatron's")
    draft.set("/framework/version", "nanotron", "derived", "the file is nanotron's")
    read_model(settings, draft)
    write_architecture(draft, {}, "default", "nanotron")
    _degrees(settings, draft)
    _batch(settings, draft)
    _pipeline(settings, draft)
    _recipe(settings, draft)
    ask_model(draft, "model.model_config does not say it")
    ask_sequence(draft, "tokens.sequence_length is not given")
    ask_micro(draft, "tokens.micro_batch_size is not given")
    known, names = _known()
    settings.report(known, names)
    return draft.finish()


def _degrees(settings: Settings, draft: Draft) -> None:
    """N1: the product of all degrees is the number of GPUs; older releases multiply the experts' degree into it."""
    for name, key in _DEGREES.items():
        settings.put(f"/parallelism/{name}", key)
        draft.fill(f"/parallelism/{name}", 1, "default", f"nanotron: {key} 1")
    data = settings.put("/parallelism/data", "parallelism.dp")
    tensor = draft.get("/parallelism/tensor")
    if draft.get("/model/num_experts") is not None:
        draft.fill("/parallelism/expert_tensor", tensor, "default", "nanotron: experts are split as the other layers")
    mode = (settings.text("parallelism.tp_mode", pointer="/parallelism/sequence") or "all_reduce").lower()
    where = settings.where("parallelism.tp_mode")
    draft.set("/parallelism/sequence", mode == "reduce_scatter" and tensor != 1, "derived", f"{where}: {mode}")
    settings.put_switch("/parallelism/async_tensor", "parallelism.tp_linear_async_communication")
    if data is None:
        draft.lack("data", "parallelism.dp is not given; pass world_size", "/world_size")
        return
    degrees = [draft.get(f"/parallelism/{name}") for name in ("tensor", "pipeline", "context")]
    if all(isinstance(each, int) and 0 < each <= limits.WORLD_SIZE for each in (data, *degrees)):
        _world(draft, prod([data, *degrees]), draft.get("/parallelism/expert"))


def _world(draft: Draft, product: int, expert: object) -> None:
    world = draft.get("/world_size")
    many = expert if isinstance(expert, int) and expert > 1 else 1
    if many == 1 or world == product:
        if world is None:
            draft.set("/world_size", product, "derived", "nanotron: tp x pp x dp x context_parallel_size")
        elif world != product:
            _refuse_world(draft, world, product)
        return
    if world is None:
        message = (
            f"newer releases run this on {product} GPUs, older ones on {product * many}, "
            f"with the experts' degree {many} multiplied in; pass world_size, or the version"
        )
        fixes = (f"pass world_size {product}", f"pass world_size {product * many}")
        found = Diagnostic("unresolved", "warning", message, ("/world_size",), str(many), "one meaning", fixes)
        draft.lack("version", message, "/world_size", found)
        needed = Diagnostic("world_size_needed", "info", message, ("/world_size",), "", "", fixes)
        draft.lack("world_size", message, "/world_size", needed)
    elif world != product * many:
        _refuse_world(draft, world, product)


def _refuse_world(draft: Draft, world: int, product: int) -> None:
    message = f"tp x pp x dp x context_parallel_size = {product}, but {world} GPUs run"
    fields = [
        "/world_size",
        "/parallelism/tensor",
        "/parallelism/pipeline",
        "/parallelism/context",
        "/parallelism/data",
    ]
    rule = "the product of all degrees is the number of GPUs"
    fixes = [f"world_size: {product}"]
    draft.note("world_size_mismatch", "error", message, fields=fields, found=str(world), rule=rule, fixes=fixes)


def _batch(settings: Settings, draft: Draft) -> None:
    micro = settings.put("/batch/micro", "tokens.micro_batch_size")
    accumulation = settings.put("/batch/accumulation", "tokens.batch_accumulation_per_replica")
    length = settings.put_tokens("/batch/sequence_length", "tokens.sequence_length")
    data = draft.get("/parallelism/data")
    if all(isinstance(each, int) and 0 < each < limits.GLOBAL_BATCH for each in (micro, accumulation, data)):
        rule = "micro_batch_size x batch_accumulation_per_replica x dp"
        draft.set("/batch/global", micro * accumulation * data, "derived", rule)  # type: ignore[operator]
    context = draft.get("/parallelism/context")
    if isinstance(length, int) and isinstance(context, int) and context > 1 and length % (2 * context):
        divisor = 2 * context
        message = f"sequence length {length} must be a multiple of {divisor} (ring attention over {context} ranks)"
        below = length // divisor * divisor
        fixes = [f"tokens.sequence_length: {each}" for each in (below, below + divisor) if each]
        fields = ["/batch/sequence_length", "/parallelism/context"]
        draft.note("seq_divisor", "error", message, fields=fields, found=str(length), fixes=fixes)


def _pipeline(settings: Settings, draft: Draft) -> None:
    """N2: one forward, one backward needs as many micro-batches as it has in flight; stages need not be even."""
    ranks, layers = draft.get("/parallelism/pipeline"), draft.get("/model/num_hidden_layers")
    draft.fill("/parallelism/virtual_pipeline", 1, "default", "nanotron: one chunk on each rank")
    if not isinstance(ranks, int) or ranks <= 1:
        settings.read.add("parallelism.pp_engine")
        return
    schedule = settings.put_choice("/schedule", _ENGINES, "parallelism.pp_engine")
    draft.fill("/schedule", "gpipe", "default", "nanotron: all forward, all backward")
    accumulation = draft.get("/batch/accumulation")
    if schedule == "1f1b" and isinstance(accumulation, int) and accumulation < ranks - 1:
        message = f"{accumulation} micro-batches for {ranks} stages: 1f1b needs at least {ranks - 1}"
        fields = ["/batch/accumulation", "/parallelism/pipeline"]
        fixes = [f"tokens.batch_accumulation_per_replica: {ranks - 1}", "parallelism.pp_engine: afab"]
        rule = "batch_accumulation_per_replica is at least pp - 1"
        draft.note(
            "micro_batches_too_few", "error", message, fields=fields, found=str(accumulation), rule=rule, fixes=fixes
        )
    if isinstance(layers, int) and 0 < layers <= limits.LAYERS and layers % ranks and ranks <= layers:
        sizes = [layers // ranks + (index < layers % ranks) for index in range(ranks)]
        draft.set("/stages/layers", sizes, "assumed", "nanotron balances stages by cost; layers are shared evenly here")


def _recipe(settings: Settings, draft: Draft) -> None:
    compute = settings.put_choice("/precision/compute", _TYPES, "model.dtype")
    draft.fill("/precision/compute", "bf16", "default", "nanotron: model.dtype bfloat16")
    compute = compute or draft.get("/precision/compute")
    draft.fill("/precision/parameters", compute, "derived", "nanotron: weights have the type of the model")
    whole = settings.on("optimizer.accumulate_grad_in_fp32", pointer="/precision/gradients")
    where = settings.where("optimizer.accumulate_grad_in_fp32")
    if whole:
        draft.set("/precision/gradients", "fp32", settings.origin, where)
        draft.set("/precision/master", "fp32", "derived", f"{where}: the accumulator keeps fp32 weights, too")
    elif whole is not None:
        draft.set("/precision/gradients", compute, settings.origin, where)
        draft.set("/precision/master", "fp32" if compute == "fp32" else "none", "derived", where)
        if compute != "fp32":
            draft.set("/optimizer/moments", [compute, compute], "derived", f"{where}: states have the weights' type")
    settings.put("/sharding/stage", "optimizer.zero_stage")
    draft.fill("/sharding/stage", 0, "default", "nanotron: optimizer.zero_stage 0")
    names = {"adamw": "adam", "adam": "adam", "sgd": "sgd"}
    settings.put_choice("/optimizer/name", names, "optimizer.optimizer_factory.name", "optimizer.name")
    draft.fill("/optimizer/name", "adam", "default", "nanotron: AdamW")
    again = settings.on("parallelism.recompute_layer", pointer="/checkpointing/granularity")
    where = settings.where("parallelism.recompute_layer")
    draft.set("/checkpointing/granularity", "full" if again else "none", settings.origin if again else "default", where)
    if again:
        draft.fill("/checkpointing/method", "uniform", "derived", f"{where}: every layer")
        draft.fill("/checkpointing/num_layers", 1, "derived", f"{where}: every layer")
    draft.fill("/kernels/attention", "flash", "default", "nanotron: flash attention")
    for key in ("hidden", "attention"):
        draft.fill(f"/dropout/{key}", 0.0, "default", "nanotron's models have no dropout")


@cache
def _known() -> tuple[Callable[[str], bool], list[str]]:
    return known_keys(files(__package__).joinpath("keys.txt").read_text(encoding="utf-8").splitlines())
