"""Options that were stated and that nothing of the answer depends on: said, never silently passed over.

An option that has no value (null, false, `none`, nothing listed) asks for nothing. Each row says when an option does
something; the answer of a job is the same without an option whose row says that it does not.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from service.job.diagnostics import Diagnostic
from service.job.schema import Job

_ASKS_NOTHING: tuple[Any, ...] = (None, False, "none", [], {})
_SCORES = frozenset({"unfused", "eager"})
_TORCH = frozenset({"fsdp2", "fsdp1", "ddp", "hf-trainer"})
_FULLY_SHARDED = frozenset({"fsdp2", "fsdp1"})
_MEGATRON_LAYERS = frozenset({"transformer_engine", "local"})

Condition = Callable[[Job], bool]


def idle_findings(stated: Job, filled: Job) -> list[Diagnostic]:
    """A notice for each option of the stated job that has no effect on the job with its defaults filled in."""
    given = stated.model_dump(by_alias=True, exclude_none=True)
    return [
        Diagnostic(
            "ignored_option", "info", f"{_dotted(pointer)} has no effect here", (pointer,), str(value), need,
            (f"{_dotted(pointer)}: null",),
        )
        for pointer, (need, acts) in IDLE_UNLESS.items()
        for value in [_at(given, pointer)]
        if value not in _ASKS_NOTHING and not acts(filled)
    ]  # fmt: skip


def _at(document: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        document = document.get(part) if isinstance(document, dict) else None
    return document


def _dotted(pointer: str) -> str:
    return pointer.strip("/").replace("/", ".")


def _framework(*names: str) -> Condition:
    return lambda job: job.framework.name in names


def _has_experts(job: Job) -> bool:
    return bool(job.model.num_experts)


def _stores_scores(job: Job) -> bool:
    kernel, local = job.kernels.attention, job.framework.transformer_impl == "local"
    return kernel in _SCORES or (kernel == "auto" and local)


def _reads_sizes(job: Job) -> bool:
    return job.framework.name == "deepspeed" and job.sharding.stage == 3  # noqa: PLR2004  (the stage that shards weights)


def _granularity(*names: str) -> Condition:
    return lambda job: job.checkpointing.granularity in names


def _several_stages(job: Job) -> bool:
    return (job.parallelism.pipeline or 1) > 1


def _has_turns(job: Job) -> bool:
    """One stage may still run all forwards before the backwards; 1f1b is what it does by itself."""
    return _several_stages(job) or job.schedule in {"1f1b", "gpipe", "looped_bfs"}


def _splits_sequence(job: Job) -> bool:
    # Megatron's rule M16 warns of it.
    return (job.parallelism.tensor or 1) > 1 or job.framework.name == "megatron-core"


def _reduces_apart(job: Job) -> bool:
    """Megatron reduces in the type of its gradient buffer."""
    return job.framework.name != "megatron-core" or job.precision.reduce == job.precision.gradients


def _cuts(job: Job) -> bool:
    """A capacity that is not filled up cuts only ranks that receive more."""
    moe = job.moe
    return moe is not None and (bool(moe.pad_to_capacity) or (moe.imbalance or 1.0) > (moe.capacity_factor or 0.0))


def _never(_: Job) -> bool:
    return False


def _casts(job: Job) -> bool:
    return job.framework.name in _TORCH and job.precision.parameters == "fp32"


def _megatron_layers(job: Job) -> bool:
    return job.framework.transformer_impl in _MEGATRON_LAYERS


def _saves_inputs(job: Job) -> bool:
    return job.framework.transformer_impl != "hf" or job.checkpointing.granularity != "none"


IDLE_UNLESS: Mapping[str, tuple[str, Condition]] = MappingProxyType(
    {
        "/schedule": ("a pipeline", _has_turns),
        "/parallelism/sequence": ("a tensor degree above 1", _splits_sequence),
        "/parallelism/overlap_expert": ("an interleaved schedule", lambda job: job.schedule == "interleaved"),
        "/parallelism/delay_weight_gradient": ("it is read, and nothing is known of its memory", _never),
        "/parallelism/async_tensor": ("it is read, and nothing is known of its memory", _never),
        "/parallelism/microbatch_group_size": (
            "an interleaved schedule",
            lambda job: job.schedule in {"interleaved", "interleaved_zb"},
        ),
        "/parallelism/context_method": ("a context degree above 1", lambda job: (job.parallelism.context or 1) > 1),
        "/sharding/degree": ("a sharding stage above 0", lambda job: bool(job.sharding.stage)),
        "/sharding/reshard_after_forward": ("fsdp1, fsdp2 or DeepSpeed", _framework(*_FULLY_SHARDED, "deepspeed")),
        "/sharding/no_sync": ("fsdp1 or fsdp2; others keep whole gradients anyway", _framework(*_FULLY_SHARDED)),
        "/sharding/bucket_view": ("ddp or hf-trainer", _framework("ddp", "hf-trainer")),
        "/sharding/overlap_grad_reduce": ("Megatron-Core or DeepSpeed", _framework("megatron-core", "deepspeed")),
        "/sharding/overlap_param_gather": ("Megatron-Core or DeepSpeed", _framework("megatron-core", "deepspeed")),
        "/sharding/optimizer_instances": ("a sharding stage above 0", lambda job: bool(job.sharding.stage)),
        "/sharding/buckets/reduce": (
            "gradients that are whole before they are reduced",
            lambda job: job.framework.name not in _FULLY_SHARDED,
        ),
        "/sharding/buckets/all_gather": ("none: the gather is in place (stage_1_and_2.py)", _never),
        "/sharding/buckets/prefetch": ("DeepSpeed's stage 3", _reads_sizes),
        "/sharding/buckets/max_live_parameters": ("DeepSpeed's stage 3", _reads_sizes),
        "/sharding/buckets/persistence_threshold": ("DeepSpeed's stage 3", _reads_sizes),
        "/checkpointing/method": ("full recomputation", _granularity("full")),
        "/checkpointing/num_layers": ("full recomputation", _granularity("full")),
        "/checkpointing/modules": ("selective recomputation", _granularity("selective")),
        "/checkpointing/op": ("selective recomputation", _granularity("selective")),
        "/checkpointing/every": ("selective recomputation", _granularity("selective")),
        "/checkpointing/memory_budget": ("selective recomputation", _granularity("selective")),
        "/checkpointing/offload": ("recomputation, or layers outside transformers", _saves_inputs),
        "/precision/autocast": ("weights in fp32 under torch", _casts),
        "/precision/reduce": ("torch or DeepSpeed; Megatron reduces in the type of its gradients", _reduces_apart),
        "/optimizer/momentum": ("optimizer sgd", lambda job: job.optimizer.name == "sgd"),
        "/kernels/softmax_fp32": ("attention that stores its scores", _stores_scores),
        "/kernels/cross_entropy_chunks": (
            "cross_entropy chunked",
            lambda job: job.kernels.cross_entropy == "chunked",
        ),
        "/kernels/label_smoothing": (
            "Megatron's loss",
            lambda job: job.kernels.cross_entropy in {"megatron", "megatron_fused"},
        ),
        "/kernels/rope": ("Megatron's layers; elsewhere the rotation keeps nothing", _megatron_layers),
        "/kernels/compile": ("layers outside Megatron", lambda job: not _megatron_layers(job)),
        "/kernels/grad_accumulation_fusion": ("Megatron-Core", _framework("megatron-core")),
        "/kernels/deallocate_pipeline_outputs": (
            "several stages outside torch's pipelines",
            lambda job: _several_stages(job) and job.framework.name not in _TORCH,
        ),
        "/kernels/moe_dispatcher": ("experts", _has_experts),
        "/kernels/grouped_gemm": ("experts", _has_experts),
        "/kernels/experts": (
            "experts in layers of transformers",
            lambda job: _has_experts(job) and job.framework.transformer_impl == "hf",
        ),
        "/kernels/deterministic": ("experts", _has_experts),
        "/kernels/expandable_segments": ("none: it is read, and no run has shown its size", _never),
        "/dropout/attention": ("attention that stores its scores", _stores_scores),
        "/moe": ("experts", _has_experts),
        "/moe/capacity_factor": (
            "pad_to_capacity, or a larger imbalance",
            lambda job: not _has_experts(job) or _cuts(job),
        ),
    }
)
"""What each option needs to have an effect, and whether a job with its defaults filled in has it."""
