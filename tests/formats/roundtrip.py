"""Jobs to be written and read back, and what of them must come back."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from service.formats.source import ConfigSource
from service.formats.writers.export import Cluster, ExportFormat, export_job
from service.formats.writers.sheet import Sheet
from service.job.resolve import InvalidJob, resolve
from service.job.schema import Job
from service.usecases.imports import import_config

DENSE = {
    "model_type": "custom", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 4096, "vocab_size": 32000,
    "max_position_embeddings": 4096,
}  # fmt: skip
EXPERTS = {"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 512}


def degrees(*values: int) -> st.SearchStrategy[int]:
    return st.sampled_from(values)


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    biased = draw(st.booleans())
    shape = {
        "normalization": draw(st.sampled_from(["rmsnorm", "layernorm"])),
        "mlp": draw(st.sampled_from(["swiglu", "gelu", "relu2"])),
        "position_embedding": draw(st.sampled_from(["rope", "learned", "none"])),
        "tie_word_embeddings": draw(st.booleans()),
        "num_key_value_heads": draw(degrees(4, 8, 16)),
        "qkv_bias": biased,
        "output_bias": biased,
        "mlp_bias": biased,
        "qk_norm": draw(st.sampled_from(["none", "per_head"])),
    }
    return {**DENSE, **shape}


@st.composite
def megatron_jobs(draw: st.DrawFn, *, moe: bool = True) -> Job:
    """Complete jobs of Megatron-Core whose every value its flags can say."""
    tensor, pipeline, context = draw(degrees(1, 2, 4)), draw(degrees(1, 2, 4)), draw(degrees(1, 2))
    chunks = draw(degrees(1, 2, 3)) if pipeline > 1 else 1
    data, micro = draw(degrees(1, 2, 4)), draw(degrees(1, 2))
    experts = moe and draw(st.booleans())
    granularity = draw(st.sampled_from(["none", "selective", "full"]))
    model = draw(models())
    if experts:
        model |= EXPERTS
        dense = draw(degrees(0, 1, 3))
        model |= {"moe_layer_pattern": [0] * dense + [1] * (24 - dense)} if dense else {"moe_layer_freq": 1}
    parallelism = {
        "tensor": tensor, "pipeline": pipeline, "context": context, "virtual_pipeline": chunks,
        "sequence": tensor > 1 and (experts or draw(st.booleans())),
        "expert": draw(degrees(1, 2)) if experts and data > 1 else 1,
    }  # fmt: skip
    if experts:
        parallelism["expert_tensor"] = 1 if tensor == 1 or draw(st.booleans()) else tensor
    checkpointing: dict[str, Any] = {"granularity": granularity}
    if granularity == "full":
        checkpointing |= {"method": draw(st.sampled_from(["uniform", "block"])), "num_layers": draw(degrees(1, 2))}
    elif granularity == "selective":
        checkpointing["modules"] = draw(st.sampled_from([["core_attn"], ["layernorm"], ["core_attn", "mlp"]]))
    document = {
        "model": model,
        "framework": {"name": "megatron-core", "transformer_impl": "transformer_engine"},
        "world_size": tensor * pipeline * context * data,
        "parallelism": parallelism,
        "sharding": {"stage": draw(degrees(0, 1)), "overlap_grad_reduce": draw(st.booleans())},
        "batch": {"micro": micro, "global": micro * data * pipeline * draw(degrees(1, 2, 4)), "sequence_length": 4096},
        "checkpointing": checkpointing,
        "precision": {"compute": draw(st.sampled_from(["bf16", "fp16"])), "gradients": "fp32"},
        "optimizer": {"name": draw(st.sampled_from(["adam", "sgd"]))},
        "kernels": {
            "attention": draw(st.sampled_from(["flash", "fused", "auto"])),
            "cross_entropy": draw(st.sampled_from(["megatron", "megatron_fused", "te"])),
        },
        "dropout": {"hidden": draw(st.sampled_from([0.0, 0.1])), "attention": draw(st.sampled_from([0.0, 0.1]))},
    }
    if document["optimizer"]["name"] == "sgd":  # type: ignore[index]
        document["optimizer"]["momentum"] = draw(st.booleans())  # type: ignore[index]
    return Job.model_validate(document)


@st.composite
def sharded_jobs(draw: st.DrawFn, names: tuple[str, ...]) -> Job:
    """Jobs of the data-parallel frameworks."""
    name, data, micro = draw(st.sampled_from(names)), draw(degrees(8, 16, 64)), draw(degrees(1, 2, 4))
    stage = 3 if name in {"fsdp1", "fsdp2"} else draw(degrees(0, 1, 2, 3))
    accumulation = draw(degrees(1, 2, 8))
    offload = draw(st.sampled_from(["none", "cpu"])) if stage and name == "deepspeed" else "none"
    return Job.model_validate(
        {
            "model": {"preset": draw(st.sampled_from(["llama-3-8b", "llama-3-70b", "qwen3-8b"]))},
            "framework": {"name": name},
            "world_size": data,
            "parallelism": {"tensor": 1, "pipeline": 1, "context": 1},
            "sharding": {"stage": stage},
            "batch": {
                "micro": micro, "accumulation": accumulation, "global": micro * accumulation * data,
                "sequence_length": draw(degrees(2048, 8192)),
            },
            "checkpointing": {"granularity": draw(st.sampled_from(["none", "full"]))},
            "precision": {"compute": "bf16"},
            "optimizer": {"name": "adam", "offload": offload},
        }
    )  # fmt: skip


def values(job: Job) -> Mapping[str, Any]:
    """Every value of a job by JSON Pointer, defaults included where all of them are known."""
    try:
        return Sheet(resolve(job).job).values
    except InvalidJob:
        return Sheet(job).values


def lost(job: Job, form: ExportFormat, **beside: Any) -> dict[str, tuple[Any, Any]]:
    """Values that the form says and that do not come back as they were: pointer to what was and what is."""
    written = export_job(job, form, Cluster(8))
    imported = import_config(ConfigSource(text=written.text, **beside))
    assert imported.job is not None, imported.findings
    assert imported.unknown == ()
    before, after = values(job), values(imported.job)
    return {each: (before[each], after.get(each)) for each in written.said if before[each] != after.get(each)}
