"""A job as NeMo's YAML: the trainer's size, and Megatron-Core's settings under `model`.

Keys: NVIDIA/NeMo-Framework-Launcher, conf/training; NVIDIA-NeMo/NeMo, megatron_gpt_model.
"""

from collections.abc import Mapping

from service.formats.writers.sheet import Sheet
from service.job.schema import Job

_COUNTS = {
    "model.num_layers": "/model/num_hidden_layers",
    "model.hidden_size": "/model/hidden_size",
    "model.ffn_hidden_size": "/model/intermediate_size",
    "model.num_attention_heads": "/model/num_attention_heads",
    "model.num_query_groups": "/model/num_key_value_heads",
    "model.kv_channels": "/model/head_dim",
    "model.max_position_embeddings": "/model/max_position_embeddings",
    "model.vocab_size": "/model/vocab_size",
    "model.num_moe_experts": "/model/num_experts",
    "model.moe_router_topk": "/model/num_experts_per_tok",
    "model.tensor_model_parallel_size": "/parallelism/tensor",
    "model.pipeline_model_parallel_size": "/parallelism/pipeline",
    "model.context_parallel_size": "/parallelism/context",
    "model.expert_model_parallel_size": "/parallelism/expert",
    "model.sequence_parallel": "/parallelism/sequence",
    "model.micro_batch_size": "/batch/micro",
    "model.global_batch_size": "/batch/global",
    "model.encoder_seq_length": "/batch/sequence_length",
    "model.hidden_dropout": "/dropout/hidden",
    "model.attention_dropout": "/dropout/attention",
    "model.share_embeddings_and_output_weights": "/model/tie_word_embeddings",
}
_ACTIVATIONS = {"swiglu": "fast-swiglu", "geglu": "fast-geglu", "gelu": "gelu", "relu2": "squared-relu", "relu": "relu"}
_POSITIONS = {"rope": "rope", "learned": "learned_absolute", "alibi": "alibi", "none": "none"}
_PRECISIONS: Mapping[str, int | str] = {"bf16": "bf16", "fp16": 16, "fp32": 32}
_BIASES = ("/model/qkv_bias", "/model/output_bias", "/model/mlp_bias")


def nemo_sheet(job: Job, gpus_per_node: int) -> Sheet:
    """The job as dotted keys."""
    sheet = Sheet(job)
    world = sheet.get("/world_size")
    if world is not None:
        devices = gpus_per_node if world % gpus_per_node == 0 else world
        sheet.say("trainer.num_nodes", world // devices)
        sheet.say("trainer.devices", devices, "/world_size")
    compute = sheet.get("/precision/compute")
    if compute is not None:
        sheet.say("trainer.precision", _PRECISIONS[compute], "/precision/compute")
    sheet.say("model.mcore_gpt", True)
    for key, pointer in _COUNTS.items():
        sheet.copy(key, pointer)
    _model(sheet)
    _layout(sheet)
    _recompute(sheet)
    return sheet


def _model(sheet: Sheet) -> None:
    norm, mlp = sheet.get("/model/normalization"), sheet.get("/model/mlp")
    if norm is not None:
        sheet.say("model.normalization", "rmsnorm" if norm == "rmsnorm" else "layernorm1p", "/model/normalization")
    if mlp is not None:
        sheet.say("model.activation", _ACTIVATIONS[mlp], "/model/mlp")
    position = sheet.get("/model/position_embedding")
    if position is not None:
        sheet.say("model.position_embedding_type", _POSITIONS[position], "/model/position_embedding")
    biases = {sheet.get(each) for each in _BIASES}
    if biases in ({True}, {False}):
        sheet.say("model.bias", biases == {True}, *_BIASES)


def _layout(sheet: Sheet) -> None:
    chunks = sheet.get("/parallelism/virtual_pipeline")
    if chunks is not None:
        value = chunks if chunks > 1 else None
        sheet.say("model.virtual_pipeline_model_parallel_size", value, "/parallelism/virtual_pipeline")
    stage = sheet.get("/sharding/stage")
    if stage in {0, 1}:
        optimizer = "mcore_distributed_optim" if stage else "fused_adam"
        pointers = (
            ("/sharding/stage", "/optimizer/name") if sheet.get("/optimizer/name") == "adam" else ("/sharding/stage",)
        )
        sheet.say("model.optim.name", optimizer, *pointers)
    if sheet.get("/framework/name") == "megatron-core":
        sheet.implied("/framework/name")
    sheet.implied("/parallelism/data", "/batch/accumulation")


def _recompute(sheet: Sheet) -> None:
    granularity = sheet.get("/checkpointing/granularity")
    if granularity is None:
        return
    value = None if granularity == "none" else granularity
    sheet.say("model.activations_checkpoint_granularity", value, "/checkpointing/granularity")
    if granularity == "full":
        sheet.copy("model.activations_checkpoint_method", "/checkpointing/method")
        sheet.copy("model.activations_checkpoint_num_layers", "/checkpointing/num_layers")
