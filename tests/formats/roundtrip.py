"""Jobs to be written and read back, and what of them must come back."""

from collections.abc import Mapping
from typing import Any

from hypothesis import reject
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
LATENT = {
    "kv_lora_rank": 128, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64, "num_key_value_heads": 16,
    "head_dim": 96,
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
        "sliding_window": draw(st.sampled_from([None, 1024])),
    }
    return {**DENSE, **shape}


@st.composite
def _experts(draw: st.DrawFn) -> dict[str, Any]:
    dense = draw(degrees(0, 1, 3))
    layers = {"moe_layer_pattern": [0] * dense + [1] * (24 - dense)} if dense else {"moe_layer_freq": 1}
    shared = {"shared_expert_intermediate_size": draw(degrees(512, 1024))} if draw(st.booleans()) else {}
    return {**EXPERTS, **layers, **shared}


@st.composite
def _stages(draw: st.DrawFn, pipeline: int) -> dict[str, Any]:
    """Chunks on a rank, or how layers are placed otherwise."""
    if pipeline == 1:
        return {"virtual_pipeline": 1}
    layout = "|".join(["t" * (24 // pipeline)] * pipeline)
    kind = draw(st.sampled_from([1, 2, 3, {"first": 5, "last": 7}, {"layout": f"E{layout}L"}]))
    return {"virtual_pipeline": kind} if isinstance(kind, int) else {"virtual_pipeline": 1, "stages": kind}


@st.composite
def _checkpointing(draw: st.DrawFn, *, latent: bool, distributable: bool) -> dict[str, Any]:
    granularity = draw(st.sampled_from(["none", "selective", "full", "offload"]))
    if granularity == "full":
        saved = {"distribute_saved": True} if distributable and draw(st.booleans()) else {}
        method = draw(st.sampled_from(["uniform", "block"]))
        return {"granularity": "full", "method": method, "num_layers": draw(degrees(1, 2)), **saved}
    if granularity == "selective":
        modules = [["core_attn"], ["layernorm"], ["core_attn", "mlp"], *([["mla_up_proj"]] if latent else [])]
        return {"granularity": "selective", "modules": draw(st.sampled_from(modules))}
    return {"granularity": "none", **({"offload": ["core_attn"]} if granularity == "offload" else {})}


@st.composite
def _precision(draw: st.DrawFn) -> dict[str, Any]:
    compute = draw(st.sampled_from(["bf16", "fp16", "fp32"]))
    if compute != "bf16":
        return {"compute": compute, "gradients": "fp32"}
    found: dict[str, Any] = {"compute": "bf16", "gradients": draw(st.sampled_from(["fp32", "bf16"]))}
    if draw(st.booleans()):
        recipe = draw(st.sampled_from(["delayed", "current", "blockwise", "mxfp8", "nvfp4"]))
        ends = {"bf16_layers": {"first": 1, "last": draw(degrees(0, 1))}} if draw(st.booleans()) else {}
        found["fp8"] = {"recipe": recipe, "parameters": draw(st.booleans()), **ends}
    return found


@st.composite
def _optimizer(draw: st.DrawFn, *, distributed: bool) -> dict[str, Any]:
    name = draw(st.sampled_from(["adam", "sgd", "muon", "lion"]))
    if name == "sgd":
        return {"name": name, "momentum": draw(st.booleans())}
    if name == "adam" and distributed:
        offload = draw(st.sampled_from(["none", "cpu", {"fraction": 0.5}]))
        moments = draw(st.sampled_from([["fp32", "fp32"], ["bf16", "bf16"], ["fp16", "fp8"]]))
        return {"name": name, "offload": offload} if draw(st.booleans()) else {"name": name, "moments": moments}
    return {"name": name}


@st.composite
def _kernels(draw: st.DrawFn, *, experts: bool) -> dict[str, Any]:
    switches = {
        "softmax_fp32": True, "grad_accumulation_fusion": False, "deterministic": True, "cuda_graphs": True,
        "rope": "eager", "activation": "eager", "defer_embedding_wgrad": 8,
    }  # fmt: skip
    chosen = draw(st.sets(st.sampled_from(sorted(switches)), max_size=3))
    found: dict[str, Any] = {each: switches[each] for each in chosen}
    found["attention"] = draw(st.sampled_from(["flash", "fused", "unfused", "auto"]))
    found["cross_entropy"] = draw(st.sampled_from(["megatron", "megatron_fused", "te"]))
    if experts:
        found["moe_dispatcher"] = draw(st.sampled_from(["alltoall", "allgather", "deepep", "hybridep"]))
        found["grouped_gemm"] = draw(st.booleans())
    return found


@st.composite
def megatron_jobs(draw: st.DrawFn) -> Job:
    """Complete jobs of Megatron-Core whose every value its flags can say."""
    tensor, pipeline, context = draw(degrees(1, 2, 4)), draw(degrees(1, 2, 4)), draw(degrees(1, 2))
    data, micro = draw(degrees(1, 2, 4)), draw(degrees(1, 2))
    experts, latent = draw(st.booleans()), draw(st.booleans())
    model = draw(models())
    if latent:
        model |= LATENT | {"q_lora_rank": draw(degrees(0, 192))}
    if draw(st.booleans()):
        model["num_nextn_predict_layers"] = draw(degrees(1, 2))
    if experts:
        model |= draw(_experts())
    stage = draw(degrees(0, 1, 2, 3) if pipeline == 1 else degrees(0, 1))
    placed = draw(_stages(pipeline))
    sequence = tensor > 1 and (experts or draw(st.booleans()))
    parallelism = {
        "tensor": tensor, "pipeline": pipeline, "context": context, "virtual_pipeline": placed["virtual_pipeline"],
        "sequence": sequence, "expert": draw(degrees(1, 2)) if experts and data > 1 else 1,
        "context_method": draw(st.sampled_from(["p2p", "a2a", "all_gather"])) if context > 1 else None,
    }  # fmt: skip
    if experts:
        parallelism["expert_tensor"] = 1 if tensor == 1 or draw(st.booleans()) else tensor
    capacity = {"capacity_factor": 1.5, "pad_to_capacity": draw(st.booleans())}
    document = {
        "model": model,
        "framework": {"name": "megatron-core", "transformer_impl": "transformer_engine"},
        "world_size": tensor * pipeline * context * data,
        "parallelism": parallelism,
        "stages": placed.get("stages"),
        "sharding": {
            "stage": stage, "overlap_grad_reduce": draw(st.booleans()),
            "overlap_param_gather": stage > 0 and draw(st.booleans()),
        },
        "batch": {
            "micro": micro, "global": micro * data * pipeline * draw(degrees(1, 2, 4)), "sequence_length": 4096,
            "padding_mask": draw(st.booleans()),
        },
        "checkpointing": draw(_checkpointing(latent=latent, distributable=tensor > 1 and not sequence)),
        "precision": draw(_precision()),
        "optimizer": draw(_optimizer(distributed=stage == 1)),
        "kernels": draw(_kernels(experts=experts)),
        "dropout": {"hidden": draw(st.sampled_from([0.0, 0.1])), "attention": draw(st.sampled_from([0.0, 0.1]))},
        "moe": draw(st.sampled_from([None, capacity])) if experts else None,
    }  # fmt: skip
    job = Job.model_validate(document)
    try:
        resolve(job)
    except InvalidJob:
        reject()
    return job


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


@st.composite
def engine_jobs(draw: st.DrawFn) -> Job:
    """Jobs of DeepSpeed's engine on transformers' models: AutoTP, Ulysses, MiCS, offload, buckets, types."""
    stage, data, micro = draw(degrees(0, 1, 2, 3)), draw(degrees(8, 16)), draw(degrees(1, 2))
    tensor = draw(degrees(1, 2)) if stage < 3 else 1
    context = draw(degrees(1, 2)) if tensor == 1 else 1
    offload = draw(st.sampled_from(["none", "cpu", *(["nvme", {"fraction": 0.5}] if stage == 3 else [])]))
    buckets = {"reduce": 1000, "all_gather": 2000}
    whole = {"prefetch": 3000, "max_live_parameters": 4000, "persistence_threshold": 0}
    compute = draw(st.sampled_from(["bf16", "fp16", "fp32"]))
    rounds = draw(degrees(1, 4))
    return Job.model_validate(
        {
            "model": {"preset": "llama-3-8b"},
            "framework": {"name": "deepspeed", "transformer_impl": "hf"},
            "world_size": tensor * context * data,
            "parallelism": {
                "tensor": tensor, "pipeline": 1, "context": context, "context_method": "a2a" if context > 1 else None,
            },
            "sharding": {
                "stage": stage, "degree": draw(st.sampled_from([None, 4])) if stage == 3 else None,
                "overlap_grad_reduce": draw(st.booleans()),
                "buckets": (buckets | (whole if stage == 3 else {})) if stage else None,
            },
            "batch": {"micro": micro, "accumulation": rounds, "global": micro * rounds * data, "sequence_length": 4096},
            "checkpointing": draw(st.sampled_from([{}, {"offload": "inputs", "distribute_saved": True}])),
            "precision": {
                "compute": compute, "parameters": compute, "gradients": draw(st.sampled_from(["fp32", None])),
                "reduce": draw(st.sampled_from(["fp32", None])),
            },
            "optimizer": {
                "name": draw(st.sampled_from(["adam", "lion", "sgd", "muon"])),
                "offload": offload if stage else "none",
                "parameter_offload": draw(st.sampled_from(["none", "cpu", "nvme"])) if stage == 3 else "none",
            },
        }
    )  # fmt: skip


@st.composite
def titan_jobs(draw: st.DrawFn) -> Job:
    """Jobs of torchtitan's models whose every value its config can say."""
    preset = draw(st.sampled_from(["llama-3.1-8b", "llama-3.1-70b", "qwen3-8b", "deepseek-v3"]))
    tensor, pipeline, context = draw(degrees(1, 2, 4)), draw(degrees(1, 2, 4)), draw(degrees(1, 2))
    data, micro, rounds = draw(degrees(4, 8)), draw(degrees(1, 2)), draw(degrees(1, 2))
    looped = ["interleaved", "looped_bfs", "interleaved_zb", "zbv"]
    schedule = draw(st.sampled_from(["1f1b", "gpipe", *looped])) if pipeline > 1 else None
    experts = preset == "deepseek-v3"
    kept = draw(st.sampled_from(["fp32", "bf16"]))
    checkpointing = draw(
        st.sampled_from([
            {"granularity": "none"}, {"granularity": "full"}, {"granularity": "selective", "op": "default"},
            {"granularity": "selective", "every": 2}, {"granularity": "none", "memory_budget": 0.25},
        ])
    )  # fmt: skip
    fp8 = draw(st.sampled_from([None, {"recipe": "current", "all_gather": True}, {"recipe": "mxfp8"}]))
    moved = draw(st.sampled_from([{}, {"offload": "cpu", "parameter_offload": "cpu"}]))
    compiled = draw(st.sampled_from([{}, {"compile": True}, {"compile": True, "cross_entropy": "compiled"}]))
    return Job.model_validate(
        {
            "model": {"preset": preset},
            "framework": {"name": "fsdp2", "transformer_impl": "titan"},
            "world_size": tensor * pipeline * context * data,
            "parallelism": {
                "tensor": tensor, "pipeline": pipeline, "context": context, "sequence": tensor > 1,
                "virtual_pipeline": 2 if schedule in looped else 1,
                "context_method": draw(st.sampled_from(["p2p", "all_gather"])) if context > 1 else None,
                "async_tensor": draw(st.booleans()),
                "expert": draw(degrees(1, 2)) if experts else 1, "expert_tensor": 1 if experts else None,
            },
            "sharding": {
                "stage": 3, "degree": draw(st.sampled_from([None, data * context // 2])),
                "reshard_after_forward": draw(st.sampled_from(["default", "always", "never"])),
            },
            "schedule": schedule,
            "batch": {
                "micro": micro, "global": micro * data * pipeline * 2 * rounds, "sequence_length": 8192,
            },
            "checkpointing": checkpointing,
            "precision": {
                "compute": "bf16", "parameters": kept, "gradients": kept, "master": "none", "fp8": fp8,
                "reduce": draw(st.sampled_from(["fp32", "bf16"])),
            },
            "optimizer": {
                "name": "adam", "implementation": draw(st.sampled_from(["fused", "foreach", "loop"])),
                "moments": [kept, kept], **moved,
            },
            "kernels": {**compiled, **({"vocab_parallel_loss": draw(st.booleans())} if tensor > 1 else {})},
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
