"""A job as NeMo's YAML: the trainer's size, and Megatron-Core's settings under `model`.

Keys: NVIDIA/NeMo-Framework-Launcher @ 26e42fa9, launcher_scripts/conf/training; keys of `model` that have no spelling
of their own there are fields of Megatron-Core's TransformerConfig, which NeMo passes on.
"""

from collections.abc import Mapping

from service.formats.writers.megatron import megatron_sheet
from service.formats.writers.sheet import Sheet, Value
from service.job.schema import Job

# Megatron's flag, and NeMo's key for the same number.
_RENAMED: Mapping[str, str] = {
    "num-experts": "num_moe_experts",
    "vocab-size": "override_vocab_size",
    "seq-length": "encoder_seq_length",
    "num-virtual-stages-per-pipeline-rank": "virtual_pipeline_model_parallel_size",
    "recompute-granularity": "activations_checkpoint_granularity",
    "recompute-method": "activations_checkpoint_method",
    "recompute-num-layers": "activations_checkpoint_num_layers",
    "decoder-first-pipeline-num-layers": "num_layers_in_first_pipeline_stage",
    "decoder-last-pipeline-num-layers": "num_layers_in_last_pipeline_stage",
    "fp8-format": "fp8",
    "sgd-momentum": "optim.sgd_momentum",
}
# Megatron's flag, and NeMo's key with the value that means the same.
_FIXED: Mapping[str, tuple[str, Value]] = {
    "bf16": ("trainer.precision", "bf16"),
    "fp16": ("trainer.precision", 16),
    "swiglu": ("model.activation", "fast-swiglu"),
    "squared-relu": ("model.activation", "squared-relu"),
    "quick-geglu": ("model.activation", "fast-geglu"),
    "disable-bias-linear": ("model.bias", False),
    "add-qkv-bias": ("model.qkv_bias", True),
    "untie-embeddings-and-output-weights": ("model.share_embeddings_and_output_weights", False),
    "no-gradient-accumulation-fusion": ("model.gradient_accumulation_fusion", False),
    "no-rope-fusion": ("model.apply_rope_fusion", False),
    "tp-comm-overlap": ("model.ub_tp_comm_overlap", True),
    "use-distributed-optimizer": ("model.optim.name", "mcore_distributed_optim"),
    "overlap-grad-reduce": ("model.optim.overlap_grad_sync", True),
    "overlap-param-gather": ("model.optim.overlap_param_sync", True),
    "grad-reduce-in-bf16": ("model.optim.grad_sync_dtype", "bf16"),
    "accumulate-allreduce-grads-in-fp32": ("ddp.grad_reduce_in_fp32", True),
    "use-megatron-fsdp": ("ddp.use_megatron_fsdp", True),
    "no-create-attention-mask-in-dataloader": ("dataset.create_attention_mask", False),
    "no-bias-swiglu-fusion": ("model.bias_activation_fusion", False),
    "no-bias-gelu-fusion": ("model.bias_activation_fusion", False),
}
_OPTIMIZERS = {"adam": "fused_adam"}
# Flags that other keys stand for.
_UNSAID = frozenset({"group-query-attention", "optimizer", "normalization", "transformer-impl"})


def nemo_sheet(job: Job, gpus_per_node: int) -> Sheet:
    """The job as dotted keys."""
    flags, sheet = megatron_sheet(job), Sheet(job)
    _trainer(sheet, gpus_per_node)
    sheet.say("model.mcore_gpt", True)
    adam = sheet.get("/optimizer/name") in {None, "adam"}
    for option in flags.options:
        if option.key == "use-distributed-optimizer" and not adam:
            # NeMo's name for the sharding optimizer stands for Adam, too.
            sheet.say("ddp.use_distributed_optimizer", True)
        elif option.key == "data-parallel-sharding-strategy":
            sheet.say("ddp.data_parallel_sharding_strategy", option.value)
        elif option.key in _FIXED:
            sheet.say(*_FIXED[option.key])
        elif option.key not in _UNSAID:
            name = _RENAMED.get(option.key, option.key.replace("-", "_"))
            sheet.say(f"model.{name}", True if option.value is None else option.value)
    _model(sheet)
    sheet.implied(*flags.said())
    sheet.covered(*(sheet.values.keys() - set(flags.unsaid())))
    return sheet


def _trainer(sheet: Sheet, gpus_per_node: int) -> None:
    world = sheet.get("/world_size")
    if world is not None:
        devices = gpus_per_node if world % gpus_per_node == 0 else world
        sheet.say("trainer.num_nodes", world // devices)
        sheet.say("trainer.devices", devices, "/world_size")
    if sheet.get("/precision/compute") == "fp32":
        sheet.say("trainer.precision", 32)


def _model(sheet: Sheet) -> None:
    norm = sheet.get("/model/normalization")
    if norm is not None:
        sheet.say("model.normalization", norm)
    if sheet.get("/model/mlp") == "gelu":
        sheet.say("model.activation", "gelu")
    groups, heads = sheet.get("/model/num_key_value_heads"), sheet.get("/model/num_attention_heads")
    if groups is not None and groups == heads and sheet.get("/model/kv_lora_rank") is None:
        sheet.say("model.num_query_groups", groups)
    implementation = sheet.get("/framework/transformer_impl")
    if implementation is not None:
        sheet.say("model.transformer_engine", implementation == "transformer_engine")
    name = sheet.get("/optimizer/name")
    if name is not None and not any(option.key == "model.optim.name" for option in sheet.options):
        sheet.say("model.optim.name", _OPTIMIZERS.get(name, name))
