"""Corpus items, and the facts of an import under the names that their `expected` uses."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from service.formats.imported import Imported

CORPUS = Path(__file__).parent.parent / "data" / "corpus"

_ACTIVATIONS = {"relu2": "squared_relu"}
_POSITIONS = {"learned": "learned_absolute"}


def items(folder: str) -> list[dict[str, Any]]:
    """Every item of one folder, in order."""
    return [json.loads(path.read_text()) for path in sorted((CORPUS / folder).glob("*.json"))]


def facts(imported: Imported) -> dict[str, Any]:
    """What was read, flat, under the corpus's names."""
    job = imported.job
    assert job is not None
    return {**_model(job.model), **_layout(job), **_recipe(job)}


def expected(item: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the item says should be read, as far as a job can hold it."""
    for section in ("model", "parallel", "batch"):
        for key, value in item["expected"].get(section, {}).items():
            if isinstance(value, Mapping):
                yield from ((f"{key}.{inner}", each) for inner, each in value.items())
            else:
                yield key, value
    yield "seq_length", item["expected"].get("seq_length")
    precision = item["expected"].get("precision", {})
    yield "compute", precision.get("base", precision.get("compute"))
    yield "fp8", precision.get("compute") == "fp8"
    yield "granularity", item["expected"].get("recompute", {}).get("granularity")


def _model(model: Any) -> dict[str, Any]:
    layers = model.layers_block_type or []
    pattern = model.moe_layer_pattern
    return {
        "num_layers": model.num_hidden_layers,
        "hidden_size": model.hidden_size,
        "ffn_hidden_size": model.intermediate_size,
        "num_attention_heads": model.num_attention_heads,
        "num_kv_heads": model.num_key_value_heads,
        "head_dim": model.head_dim,
        "vocab_size": model.vocab_size,
        "tied_embeddings": model.tie_word_embeddings,
        "activation": _ACTIVATIONS.get(model.mlp, model.mlp),
        "normalization": model.normalization,
        "position_embedding": _POSITIONS.get(model.position_embedding, model.position_embedding),
        "max_position_embeddings": model.max_position_embeddings,
        "linear_bias": model.mlp_bias,
        "qk_norm": model.qk_norm == "per_head",
        "mtp_layers": model.num_nextn_predict_layers,
        "mamba_layers": layers.count("mamba"),
        "attention_layers": layers.count("attention"),
        "mlp_layers": layers.count("mlp"),
        "moe.num_experts": model.num_experts,
        "moe.top_k": model.num_experts_per_tok,
        "moe.ffn": model.moe_intermediate_size,
        "moe.moe_layers": sum(pattern) if pattern else None,
        "moe.shared_ffn": model.shared_expert_intermediate_size or model.moe_intermediate_size,
        "moe.shared_experts": model.n_shared_experts,
        "moe.dense_layers_first": pattern.index(1) if pattern else model.first_k_dense_replace,
        **{
            f"mla.{key}": getattr(model, key)
            for key in ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        },
    }


def _layout(job: Any) -> dict[str, Any]:
    degrees, stage = job.parallelism, job.sharding.stage
    grid = (degrees.tensor or 1) * (degrees.pipeline or 1) * (degrees.context or 1)
    chunks = degrees.virtual_pipeline
    return {
        "tp": degrees.tensor,
        "pp": degrees.pipeline,
        "cp": degrees.context,
        "ep": degrees.expert,
        "etp": degrees.expert_tensor,
        "vpp": None if chunks == 1 else chunks,
        "sp": degrees.sequence,
        "dp": job.world_size // grid if job.world_size and job.world_size % grid == 0 else None,
        "world_size": job.world_size,
        "distributed_optimizer": bool(stage),
        "zero_stage": stage,
        "zero_equivalent": stage,
        "micro": job.batch.micro,
        "global": job.batch.global_,
        "seq_length": job.batch.sequence_length,
    }


def _recipe(job: Any) -> dict[str, Any]:
    granularity = job.checkpointing.granularity
    return {
        "compute": job.precision.compute,
        "fp8": job.precision.fp8 is not None,
        "granularity": None if granularity == "none" else granularity,
    }
