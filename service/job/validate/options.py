"""Findings about options that exclude or need each other: Megatron-Core's rules M8, M11 and M17 to M21."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from service.calculator.placement import PlacementError, expand_layout
from service.calculator.schedules.schedule import CHUNKS
from service.job.diagnostics import Diagnostic
from service.job.schema import Job

SELECTIVE_MODULES = frozenset(
    {"core_attn", "layernorm", "moe_act", "mla_up_proj", "mlp", "moe", "shared_experts", "gdn_norm_out"}
)
"""What Megatron can recompute by itself. Source: megatron/core/transformer/transformer_config.py, recompute_modules."""


def option_findings(job: Job) -> list[Diagnostic]:
    """Every rule on options that the job breaks; of rules of a framework only Megatron-Core's are known."""
    rules = _RULES if job.framework.name == "megatron-core" else (_schedule, _eight_bit_weights)
    findings = [finding for rule in rules for finding in rule(job)]
    document = job.model_dump(by_alias=True) if findings else {}
    return [replace(each, found=_found(document, each.fields)) for each in findings]


def _found(document: Mapping[str, Any], fields: Iterable[str]) -> str:
    """The values that stand at the fields, those that are given."""
    values = {field: _at(document, field) for field in fields}
    return ", ".join(f"{_dotted(field)} {value}" for field, value in values.items() if value is not None)


def _at(document: Mapping[str, Any], pointer: str) -> Any:
    node: Any = document
    for part in pointer.strip("/").split("/"):
        node = None if node is None else node[part]
    return node


def _error(code: str, message: str, fields: tuple[str, ...], rule: str, *fixes: str) -> Diagnostic:
    return Diagnostic(code, "error", message, fields, rule=rule, fixes=fixes or (f"{_dotted(fields[0])}: null",))


def _one_split(job: Job) -> Iterator[Diagnostic]:
    """M8: layers are split in one way."""
    stages = job.stages
    if stages is None:
        return
    forms = {
        "layers": stages.layers is not None,
        "first/last": stages.first is not None or stages.last is not None,
        "account_for": bool(stages.account_for_embedding or stages.account_for_loss),
        "layout": stages.layout is not None,
    }
    used = [name for name, present in forms.items() if present]
    if len(used) > 1:
        rule = "layers are split by one of layers, first/last, account_for_embedding/account_for_loss, layout"
        yield _error("stage_split_conflict", f"{' and '.join(used)} are given together", ("/stages",), rule)


def _schedule(job: Job) -> Iterator[Diagnostic]:
    """M8: each schedule has its number of chunks per rank; several need one that takes turns."""
    chunks, fields = job.parallelism.virtual_pipeline, ("/schedule", "/parallelism/virtual_pipeline")
    if chunks is None or job.schedule is None:
        return
    needed = CHUNKS[job.schedule]
    if needed is not None and chunks != needed:
        runs = "one chunk" if needed == 1 else f"{needed} chunks"
        message = f"schedule {job.schedule} runs {runs} per rank, {chunks} are given"
        rule = (
            "several chunks per rank need an interleaved schedule"
            if chunks > 1
            else "the schedule holds its stages in pairs"
        )
        fixes = ("schedule: interleaved" if chunks > 1 else "schedule: 1f1b", f"{_dotted(fields[1])}: {needed}")
        yield _error("schedule_conflict", message, fields, rule, *fixes)
    if chunks == 1 and job.schedule == "interleaved":
        message = "an interleaved schedule with one chunk per rank runs as 1f1b"
        yield Diagnostic("ignored_option", "warning", message, fields, fixes=("schedule: 1f1b",))


def _listed_layers(job: Job) -> Iterator[Diagnostic]:
    """Counts listed one by one: one for each rank or chunk, together all layers."""
    stages, layers = job.stages, job.model.num_hidden_layers
    if stages is None or stages.layers is None:
        return
    fields, listed = ("/stages/layers", "/model/num_hidden_layers"), stages.layers
    if layers is not None and sum(listed) != layers:
        message = f"the stages hold {sum(listed)} layers, the model has {layers}"
        yield _error("stage_layers", message, fields, "the counts add up to the model's layers")
    ranks, chunks = job.parallelism.pipeline, job.parallelism.virtual_pipeline
    if ranks is None or chunks is None:
        return
    if len(listed) not in {ranks, ranks * chunks}:
        message = f"{len(listed)} counts are given for {ranks} ranks of {chunks} chunks"
        rule = "one count for each rank, or for each chunk of each rank"
        yield _error("stage_layers", message, (fields[0], "/parallelism/pipeline"), rule)
    elif len(listed) == ranks and any(count % chunks for count in listed):
        message = f"the layers of each rank cannot be cut into {chunks} chunks"
        yield _error("vpp_remainder", message, (fields[0], "/parallelism/virtual_pipeline"), "whole chunks only")


def _layout_string(job: Job) -> Iterator[Diagnostic]:
    """M11: a layout string has whole rows of groups, every layer, and each end once."""
    if job.stages is None or job.stages.layout is None:
        return
    fields = ("/stages/layout",)
    try:
        groups = expand_layout(job.stages.layout).split("|")
    except PlacementError as error:
        yield _error("layout_string", str(error), fields, "groups of E, t, m and L, with * and brackets to repeat")
        return
    text, ranks, chunks = "".join(groups), job.parallelism.pipeline, job.parallelism.virtual_pipeline
    if ranks is not None and len(groups) != ranks * (chunks or max(len(groups) // ranks, 1)):
        message = f"{len(groups)} groups are given for {ranks} ranks" + (f" of {chunks} chunks" if chunks else "")
        yield _error("layout_string", message, (*fields, "/parallelism/pipeline"), "one group for each chunk of a rank")
    layers = job.model.num_hidden_layers
    if layers is not None and text.count("t") != layers:
        message = f"the layout holds {text.count('t')} layers, the model has {layers}"
        yield _error("layout_string", message, (*fields, "/model/num_hidden_layers"), "every layer stands once")
    for letter, what in (("E", "embedding"), ("L", "loss")):
        if text.count(letter) != 1:
            message = f"the layout holds the {what} {text.count(letter)} times"
            yield _error("layout_string", message, fields, f"{letter} stands exactly once")


def _head_width(job: Job) -> Iterator[Diagnostic]:
    """M17: without a head width of its own, the hidden size is shared by the heads."""
    hidden, heads, width = job.model.hidden_size, job.model.num_attention_heads, job.model.head_dim
    if hidden is None or heads is None or hidden % heads == 0:
        return
    if width is None or width == hidden // heads:
        fields = ("/model/hidden_size", "/model/num_attention_heads", "/model/head_dim")
        message = f"hidden size {hidden} cannot be shared by {heads} heads"
        rule = "the hidden size is a multiple of the heads unless head_dim is given"
        below = hidden // heads * heads
        fixes = [f"model.hidden_size: {size}" for size in (below, below + heads) if size]
        yield _error("hidden_heads", message, fields, rule, *fixes)


def _checkpointing(job: Job) -> Iterator[Diagnostic]:
    """M18: full recomputation needs method and depth, selective recomputation takes neither."""
    stated = job.checkpointing
    depth = {"method": stated.method, "num_layers": stated.num_layers}
    if stated.granularity == "full":
        starts = {"method": "uniform", "num_layers": 1}
        absent = [name for name, value in depth.items() if value is None]
        if absent:
            message = f"full recomputation without {' and '.join(absent)}"
            rule = "full recomputation needs method (uniform or block) and num_layers"
            fix = ", ".join(f"checkpointing.{name}: {starts[name]}" for name in absent)
            yield _error("checkpointing_incomplete", message, _under("/checkpointing", absent), rule, fix)
    elif stated.granularity is not None:
        extra = [name for name, value in depth.items() if value is not None]
        if extra:
            message = f"{' and '.join(extra)} given with granularity {stated.granularity}"
            fixes = (", ".join(f"checkpointing.{name}: null" for name in extra), "checkpointing.granularity: full")
            rule = "method and num_layers belong to full recomputation"
            yield _error("checkpointing_conflict", message, _under("/checkpointing", extra), rule, *fixes)


def _under(section: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{section}/{name}" for name in names)


def _modules(job: Job) -> Iterator[Diagnostic]:
    """M18: selective recomputation names modules from a fixed list."""
    unknown = sorted(set(job.checkpointing.modules or ()) - SELECTIVE_MODULES)
    if unknown:
        message = f"{', '.join(unknown)} cannot be recomputed by itself"
        rule = f"one of {', '.join(sorted(SELECTIVE_MODULES))}"
        yield _error("checkpointing_modules", message, ("/checkpointing/modules",), rule)


def _distributed_saves(job: Job) -> Iterator[Diagnostic]:
    """M19: splitting saved inputs over the tensor group."""
    if not job.checkpointing.distribute_saved:
        return
    checks = (
        ("/parallelism/tensor", job.parallelism.tensor == 1, "a tensor degree above 1"),
        ("/checkpointing/granularity", job.checkpointing.granularity in {"none", "selective"}, "full recomputation"),
        ("/parallelism/sequence", bool(job.parallelism.sequence), "no sequence parallelism"),
    )
    fix = "checkpointing.distribute_saved: false"
    for field, broken, need in checks:
        if broken:
            message, fields = f"saved activations split over the tensor group need {need}", (_DISTRIBUTED, field)
            yield _error("distributed_saves", message, fields, message, fix)


_DISTRIBUTED = "/checkpointing/distribute_saved"


def _layer_offload(job: Job) -> Iterator[Diagnostic]:
    """M19: whole layers on the host exclude a pipeline and recomputation."""
    if not job.checkpointing.offload_layers:
        return
    fields = ("/checkpointing/offload_layers",)
    if (job.parallelism.pipeline or 1) > 1:
        message = "layers cannot be offloaded with more than one pipeline stage"
        yield _error("layer_offload", message, (*fields, "/parallelism/pipeline"), message, "parallelism.pipeline: 1")
    if job.checkpointing.granularity in {"selective", "full"}:
        message = "layers cannot be offloaded and recomputed"
        fix = "checkpointing.granularity: none"
        yield _error("layer_offload", message, (*fields, "/checkpointing/granularity"), message, fix)


def _fully_sharded(job: Job) -> Iterator[Diagnostic]:
    """M20: what torch FSDP2 refuses under Megatron."""
    if job.sharding.implementation == "torch_fsdp2":
        checks = (
            ("/parallelism/pipeline", (job.parallelism.pipeline or 1) > 1, "one pipeline stage"),
            ("/parallelism/expert", (job.parallelism.expert or 1) > 1, "no expert parallelism"),
            ("/model/tie_word_embeddings", job.model.tie_word_embeddings is True, "untied embeddings"),
            ("/precision/compute", job.precision.compute == "fp16", "no fp16"),
        )
        for field, broken, need in checks:
            if broken:
                message = f"weights sharded by torch FSDP2 need {need}"
                fields = ("/sharding/implementation", field)
                yield _error("fsdp_excludes", message, fields, message, "sharding.implementation: megatron_fsdp")


def _parameter_gather(job: Job) -> Iterator[Diagnostic]:
    """M20: gathering parameters early needs something that shards them."""
    if job.sharding.stage == 0 and job.sharding.overlap_param_gather:
        message = "overlapped parameter gathering needs sharded optimizer states"
        fields = ("/sharding/overlap_param_gather", "/sharding/stage")
        fixes = ("sharding.stage: 1", "sharding.overlap_param_gather: false")
        yield _error("overlap_without_sharding", message, fields, message, *fixes)


def _precision(job: Job) -> Iterator[Diagnostic]:
    """M21: one 16-bit type."""
    stated, halves = job.precision, {"bf16", "fp16"}
    mixed = {each for each in (stated.compute, stated.parameters, stated.gradients) if each in halves}
    if mixed == halves:
        names = ("compute", "parameters", "gradients")
        given = [name for name in names if getattr(stated, name) in halves]
        fixes = [", ".join(f"precision.{name}: {dtype}" for name in given) for dtype in sorted(halves)]
        message, rule = "bf16 and fp16 are given together", "one of bf16 and fp16"
        yield _error("precision_conflict", message, _under("/precision", names), rule, *fixes)


def _eight_bit_weights(job: Job) -> Iterator[Diagnostic]:
    """M21: weights in 8 bits need 8-bit compute."""
    if job.precision.parameters == "fp8" and job.precision.fp8 is None:
        message, fix = "weights in fp8 need fp8 compute", "precision.parameters: bf16"
        yield _error("fp8_parameters", message, _under("/precision", ("parameters", "fp8")), message, fix)


def _adapter_rank(job: Job) -> Iterator[Diagnostic]:
    """Both factors of an adapter are split over the tensor group (Megatron-Bridge peft/utils.py; `divide`)."""
    rank, tensor = job.adapters.rank if job.adapters else None, job.parallelism.tensor
    if rank is None or tensor is None or rank % tensor == 0:
        return
    message = f"rank {rank} cannot be shared by {tensor} tensor-parallel ranks"
    rule = "the adapters' rank is a multiple of the tensor degree"
    fields = ("/adapters/rank", "/parallelism/tensor")
    yield _error("adapter_rank", message, fields, rule, f"adapters.rank: {-(-rank // tensor) * tensor}")


def _latent_groups(job: Job) -> Iterator[Diagnostic]:
    """M21: latent attention has no key/value groups."""
    model = job.model
    heads, groups = model.num_attention_heads, model.num_key_value_heads
    if model.kv_lora_rank and heads is not None and groups is not None and groups != heads:
        message = f"multi-head latent attention with {groups} key/value heads for {heads} heads"
        fields = ("/model/kv_lora_rank", "/model/num_key_value_heads")
        rule = "grouped-query attention or latent attention"
        yield _error("latent_groups", message, fields, rule, f"model.num_key_value_heads: {heads}")


def _dotted(pointer: str) -> str:
    return pointer.strip("/").replace("/", ".")


_RULES: tuple[Callable[[Job], Iterator[Diagnostic]], ...] = (
    _one_split,
    _schedule,
    _listed_layers,
    _layout_string,
    _head_width,
    _checkpointing,
    _modules,
    _distributed_saves,
    _layer_offload,
    _fully_sharded,
    _parameter_gather,
    _precision,
    _eight_bit_weights,
    _latent_groups,
    _adapter_rank,
)
