"""verl's supervised fine-tuning: one model on FSDP, without the roles of reinforcement learning.

Defaults: volcengine/verl @ 005a83db, verl/trainer/config/sft_trainer.yaml.
"""

from service.formats.config.settings import Settings
from service.formats.draft import Draft
from service.formats.trainer.recipe import ALL_LINEAR, adapter_modules

MODEL = "model.partial_pretrain"
TOP_LEVEL = frozenset({"ulysses_sequence_parallel_size", "use_remove_padding"})
"""Settings without a section, which only look like a choice of a file."""
_TYPES = {"fp32": "fp32", "float32": "fp32", "bf16": "bf16", "bfloat16": "bf16"}
_ULYSSES = "ulysses_sequence_parallel_size"
_FULL = 3


def read_fine_tuning(settings: Settings, draft: Draft) -> None:
    """Writes batch, sharding, precision, checkpointing and adapters."""
    rule = "verl's sft_trainer"
    settings.put("/batch/global", "data.train_batch_size")
    draft.fill("/batch/global", 256, "default", f"{rule}: data.train_batch_size 256")
    settings.put("/batch/micro", "data.micro_batch_size_per_gpu", "data.micro_batch_size")
    draft.fill("/batch/micro", 4, "default", f"{rule}: data.micro_batch_size_per_gpu 4")
    settings.put_tokens("/batch/sequence_length", "data.max_length")
    draft.fill("/batch/sequence_length", 1024, "default", f"{rule}: data.max_length 1024")
    second = (settings.text("model.strategy", "trainer.strategy") or "").lower() == "fsdp2"
    origin = settings.origin if second else "default"
    draft.set("/framework/name", "fsdp2" if second else "fsdp1", origin, f"{rule}: model.strategy")
    draft.fill("/framework/transformer_impl", "hf", "derived", "the layers are those of transformers")
    draft.fill("/sharding/stage", _FULL, "default", f"{rule}: FULL_SHARD")
    if (settings.put("/parallelism/context", _ULYSSES) or 1) > 1:
        draft.fill("/parallelism/context_method", "a2a", "derived", _ULYSSES)
    for key in ("tensor", "pipeline", "context", "expert"):
        draft.fill(f"/parallelism/{key}", 1, "default", f"{rule}: absent degrees are 1")
    draft.fill("/precision/compute", "bf16", "default", f"{rule}: bf16 over the shards")
    settings.put_choice("/precision/parameters", _TYPES, "model.fsdp_config.model_dtype")
    draft.fill("/precision/parameters", "fp32", "default", f"{rule}: model_dtype fp32")
    draft.fill("/precision/reduce", "fp32", "default", f"{rule}: gradients are reduced in fp32")
    draft.fill("/precision/master", "none", "derived", "the shards are the only copy")
    again = settings.on("model.enable_gradient_checkpointing", pointer="/checkpointing/granularity")
    where = settings.where("model.enable_gradient_checkpointing")
    draft.set("/checkpointing/granularity", "full" if again else "none", settings.origin if again else "default", where)
    if settings.on("model.fsdp_config.cpu_offload", "model.fsdp_config.offload_params"):
        for pointer in ("/optimizer/offload", "/optimizer/parameter_offload"):
            draft.set(pointer, "cpu", settings.origin, "model.fsdp_config.cpu_offload")
    if settings.on("model.use_liger"):
        draft.set("/kernels/cross_entropy", "liger", settings.origin, settings.where("model.use_liger"))
    draft.fill("/optimizer/name", "adam", "default", f"{rule}: AdamW")
    draft.fill("/kernels/attention", "flash", "default", f"{rule}: flash_attention_2")
    _adapters(settings, draft)


def _adapters(settings: Settings, draft: Draft) -> None:
    rank = settings.integer("model.lora_rank", pointer="/adapters/rank")
    if not rank:
        return
    where = settings.where("model.lora_rank")
    draft.set("/adapters/type", "lora", settings.origin, where)
    draft.set("/adapters/rank", rank, settings.origin, where)
    targets = settings.raw("model.target_modules")
    modules = (adapter_modules(targets) if targets else []) or list(ALL_LINEAR)
    draft.set("/adapters/modules", modules, settings.origin if targets else "default", "model.target_modules")
