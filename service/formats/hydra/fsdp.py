"""verl's actor on FSDP.

Defaults: volcengine/verl @ b178a3cd, verl/trainer/config/engine/fsdp.yaml, actor/dp_actor.yaml, model/hf_model.yaml.
"""

from service.formats.config.settings import Settings
from service.formats.draft import Draft

_ACTOR = "actor_rollout_ref.actor"
_ENGINE = f"{_ACTOR}.fsdp_config"
_MODEL = "actor_rollout_ref.model"
_TYPES = {"fp32": "fp32", "float32": "fp32", "bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16"}
_FULL = 3


def read_fsdp_actor(settings: Settings, draft: Draft, strategy: str) -> None:
    """Writes sharding, Ulysses' degree, precision, checkpointing and offload of the actor."""
    name = "fsdp2" if strategy == "fsdp2" else "fsdp1"
    where = settings.where(f"{_ACTOR}.strategy") if settings.find(f"{_ACTOR}.strategy") else "verl: actor.strategy fsdp"
    draft.set("/framework/name", name, settings.origin if settings.find(f"{_ACTOR}.strategy") else "default", where)
    draft.fill("/framework/transformer_impl", "hf", "derived", "the layers are those of transformers")
    draft.fill("/sharding/stage", _FULL, "default", "verl: FULL_SHARD")
    size = settings.integer(f"{_ENGINE}.fsdp_size", pointer="/sharding/degree")
    if size is not None and size > 0:
        draft.set("/sharding/degree", size, settings.origin, settings.where(f"{_ENGINE}.fsdp_size"))
    if settings.on(f"{_ENGINE}.reshard_after_forward") is False:
        where = settings.where(f"{_ENGINE}.reshard_after_forward")
        draft.set("/sharding/reshard_after_forward", "never", settings.origin, where)
    _ulysses(settings, draft)
    _precision(settings, draft)
    _memory(settings, draft)
    for key in ("tensor", "pipeline", "context", "expert"):
        draft.fill(f"/parallelism/{key}", 1, "default", "verl: absent degrees are 1")
    draft.fill("/optimizer/name", "adam", "default", "verl: AdamW")
    draft.fill("/kernels/attention", "flash", "default", "verl: flash_attention_2")


def _ulysses(settings: Settings, draft: Draft) -> None:
    """A3: Ulysses shares query heads; key/value heads are shared or repeated, and the token budget grows."""
    keys = (f"{_ACTOR}.ulysses_sequence_parallel_size", f"{_ENGINE}.ulysses_sequence_parallel_size")
    degree = settings.put("/parallelism/context", *keys)
    if degree is None or degree <= 1:
        return
    draft.fill("/parallelism/context_method", "a2a", "derived", settings.where(*keys))
    length = draft.get("/batch/sequence_length")
    if settings.on(f"{_ACTOR}.use_dynamic_bsz") and isinstance(length, int):
        rule = f"token budget of one GPU x {settings.where(*keys)}"
        draft.set("/batch/sequence_length", length * degree, "derived", rule)
    heads, groups = draft.get("/model/num_attention_heads"), draft.get("/model/num_key_value_heads")
    if not isinstance(heads, int) or not isinstance(groups, int) or groups < 1:
        return
    fits = [each for each in range(1, min(heads, 4096) + 1) if _shared(heads, groups, each)]
    if degree not in fits:
        code = "heads_tp" if heads % degree else "kv_heads_tp"
        message = f"{heads} heads and {groups} key/value heads cannot be shared by {degree} ranks"
        fields = ["/model/num_attention_heads", "/model/num_key_value_heads", "/parallelism/context"]
        rule = "heads are a multiple of the degree, and one of key/value heads and degree of the other"
        fixes = [f"{keys[0]}={each}" for each in fits[:6]]
        draft.note(code, "error", message, fields=fields, found=str(degree), rule=rule, fixes=fixes)


def _shared(heads: int, groups: int, degree: int) -> bool:
    return heads % degree == 0 and (groups % degree == 0 or degree % groups == 0)


def _precision(settings: Settings, draft: Draft) -> None:
    settings.put_choice("/precision/compute", _TYPES, f"{_ENGINE}.dtype", f"{_ENGINE}.mixed_precision.param_dtype")
    draft.fill("/precision/compute", "bf16", "default", "verl: fsdp_config.dtype bfloat16")
    settings.put_choice("/precision/parameters", _TYPES, f"{_ENGINE}.model_dtype")
    draft.fill("/precision/parameters", "fp32", "default", "verl: fsdp_config.model_dtype fp32")
    settings.put_choice("/precision/reduce", _TYPES, f"{_ENGINE}.mixed_precision.reduce_dtype")
    draft.fill("/precision/reduce", "fp32", "default", "verl: gradients are reduced in fp32")
    draft.fill("/precision/master", "none", "derived", "the shards are the only copy")


def _memory(settings: Settings, draft: Draft) -> None:
    again = settings.on(f"{_MODEL}.enable_gradient_checkpointing", pointer="/checkpointing/granularity")
    where = settings.where(f"{_MODEL}.enable_gradient_checkpointing")
    kept = "none" if again is False else "full"
    draft.set("/checkpointing/granularity", kept, "default" if again is None else settings.origin, where)
    if settings.on(f"{_MODEL}.enable_activation_offload"):
        draft.set(
            "/checkpointing/offload", "inputs", settings.origin, settings.where(f"{_MODEL}.enable_activation_offload")
        )
    if settings.on(f"{_ENGINE}.offload_policy"):
        for pointer in ("/optimizer/offload", "/optimizer/parameter_offload"):
            draft.set(pointer, "cpu", settings.origin, settings.where(f"{_ENGINE}.offload_policy"))
    between = [key for key in ("param_offload", "optimizer_offload") if settings.on(f"{_ENGINE}.{key}")]
    if between:
        message = f"{', '.join(between)}: states are on the host between phases, and on the GPU while the actor trains"
        draft.note("offloaded_between_phases", "info", message, fields=["/optimizer/parameter_offload"])
    if settings.on(f"{_MODEL}.use_liger"):
        draft.set("/kernels/cross_entropy", "liger", settings.origin, settings.where(f"{_MODEL}.use_liger"))
