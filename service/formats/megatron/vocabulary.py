"""Every flag that Megatron-LM or Megatron-DeepSpeed has ever declared: names, number of values, older spellings."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from service.formats.syntax.argv import Arity

_ARITIES: Mapping[str, Arity] = {"0": "none", "1": "one", "+": "many"}

# Older or neighbouring spellings, and the flag of today with the same meaning.
ALIASES: Mapping[str, str] = {
    "encoder_num_layers": "num_layers",
    "decoder_num_layers": "num_layers",
    "num_moe_experts": "num_experts",
    "encoder_seq_length": "seq_length",
    "model_parallel_size": "tensor_model_parallel_size",
    "tensor_model_parallel": "tensor_model_parallel_size",
    "pipeline_model_parallel": "pipeline_model_parallel_size",
    "context_parallel": "context_parallel_size",
    "moe_expert_parallel_size": "expert_model_parallel_size",
    "batch_size": "micro_batch_size",
    "pad_vocab_size_to": "padded_vocab_size",
    "activations_checkpoint_method": "recompute_method",
    "activations_checkpoint_num_layers": "recompute_num_layers",
    "activations_checkpoint_granularity": "recompute_granularity",
    "checkpoint_num_layers": "recompute_num_layers",
    "distribute_checkpointed_activations": "distribute_saved_activations",
    "use_custom_fsdp": "use_megatron_fsdp",
    "hybrid_override_pattern": "hybrid_layer_pattern",
    "fp8_param": "fp8_param_gather",
    "fp8": "fp8_format",
    "fp4": "fp4_format",
    "use_torch_fsdp": "use_torch_fsdp2",
    "virtual_pipeline_model_parallel_size": "num_virtual_stages_per_pipeline_rank",
    "microbatch_group_size_per_vp_stage": "microbatch_group_size_per_virtual_pipeline_stage",
}

# Flags that identify the dialect: nobody else spells them so.
DISTINCTIVE = frozenset({
    "num_layers",
    "num_attention_heads",
    "hidden_size",
    "seq_length",
    "micro_batch_size",
    "global_batch_size",
    "tensor_model_parallel_size",
    "pipeline_model_parallel_size",
    "ffn_hidden_size",
    "max_position_embeddings",
    "use_distributed_optimizer",
    "use_mcore_models",
    "num_query_groups",
    "sequence_parallel",
    "recompute_granularity",
    "swiglu",
    "disable_bias_linear",
    "untie_embeddings_and_output_weights",
})  # fmt: skip


@cache
def _arities() -> Mapping[str, Arity]:
    text = files(__package__).joinpath("flags.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {name: _ARITIES[values] for name, values in lines}


def arity(key: str) -> Arity:
    """How many values a normalised flag takes."""
    return _arities().get(key, "unknown")


def is_known(key: str) -> bool:
    """Whether a normalised flag is Megatron's."""
    return key in _arities() or key in ALIASES


def known_flags() -> list[str]:
    """Every normalised flag."""
    return list(_arities())
