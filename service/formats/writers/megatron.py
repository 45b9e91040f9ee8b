"""A job as Megatron-LM's flags.

Flags and defaults: NVIDIA/Megatron-LM @ d98e8a64, megatron/training/arguments.py; the reader has the same rules.
"""

from itertools import groupby

from service.formats.writers.megatron_recipe import write_recipe
from service.formats.writers.sheet import Sheet
from service.job.layer_kinds import DELTA
from service.job.schema import Job

_COUNTS = {
    "num-layers": "/model/num_hidden_layers",
    "hidden-size": "/model/hidden_size",
    "ffn-hidden-size": "/model/intermediate_size",
    "num-attention-heads": "/model/num_attention_heads",
    "kv-channels": "/model/head_dim",
    "max-position-embeddings": "/model/max_position_embeddings",
    "vocab-size": "/model/vocab_size",
    "mtp-num-layers": "/model/num_nextn_predict_layers",
    "num-experts": "/model/num_experts",
    "moe-ffn-hidden-size": "/model/moe_intermediate_size",
    "moe-router-topk": "/model/num_experts_per_tok",
    "moe-shared-expert-intermediate-size": "/model/shared_expert_intermediate_size",
    "tensor-model-parallel-size": "/parallelism/tensor",
    "pipeline-model-parallel-size": "/parallelism/pipeline",
    "context-parallel-size": "/parallelism/context",
    "expert-model-parallel-size": "/parallelism/expert",
    "expert-tensor-parallel-size": "/parallelism/expert_tensor",
    "microbatch-group-size-per-virtual-pipeline-stage": "/parallelism/microbatch_group_size",
    "decoder-first-pipeline-num-layers": "/stages/first",
    "decoder-last-pipeline-num-layers": "/stages/last",
    "pipeline-model-parallel-layout": "/stages/layout",
    "num-distributed-optimizer-instances": "/sharding/optimizer_instances",
    "micro-batch-size": "/batch/micro",
    "global-batch-size": "/batch/global",
    "seq-length": "/batch/sequence_length",
    "hidden-dropout": "/dropout/hidden",
    "attention-dropout": "/dropout/attention",
    "transformer-impl": "/framework/transformer_impl",
    "moe-expert-capacity-factor": "/moe/capacity_factor",
    "cpu-offloading-num-layers": "/checkpointing/offload_layers",
}
_LATENT = {
    "q-lora-rank": "/model/q_lora_rank",
    "kv-lora-rank": "/model/kv_lora_rank",
    "qk-head-dim": "/model/qk_nope_head_dim",
    "qk-pos-emb-head-dim": "/model/qk_rope_head_dim",
    "v-head-dim": "/model/v_head_dim",
}
_LINEAR = {
    "linear-conv-kernel-dim": "/model/linear_conv_kernel_dim",
    "linear-key-head-dim": "/model/linear_key_head_dim",
    "linear-value-head-dim": "/model/linear_value_head_dim",
    "linear-num-key-heads": "/model/linear_num_key_heads",
    "linear-num-value-heads": "/model/linear_num_value_heads",
}
_SWITCHES = {
    "sequence-parallel": "/parallelism/sequence",
    "overlap-grad-reduce": "/sharding/overlap_grad_reduce",
    "overlap-param-gather": "/sharding/overlap_param_gather",
    "tp-comm-overlap": "/parallelism/async_tensor",
    "overlap-moe-expert-parallel-comm": "/parallelism/overlap_expert",
    "delay-wgrad-compute": "/parallelism/delay_weight_gradient",
    "account-for-embedding-in-pipeline-split": "/stages/account_for_embedding",
    "account-for-loss-in-pipeline-split": "/stages/account_for_loss",
    "moe-pad-expert-input-to-capacity": "/moe/pad_to_capacity",
    "moe-grouped-gemm": "/kernels/grouped_gemm",
    "deterministic-mode": "/kernels/deterministic",
    "attention-softmax-in-fp32": "/kernels/softmax_fp32",
    "distribute-saved-activations": "/checkpointing/distribute_saved",
}
_POSITIONS = {"rope": "rope", "learned": "learned_absolute", "alibi": "alibi", "none": "none"}
_MLPS = {"swiglu": "swiglu", "relu2": "squared-relu", "geglu": "quick-geglu"}
_METHODS = {"p2p": "p2p", "a2a": "a2a", "all_gather": "allgather", "a2a+p2p": "a2a+p2p"}
_STRATEGIES = {2: "optim_grads", 3: "optim_grads_params"}


def megatron_sheet(job: Job) -> Sheet:
    """The job as flags, without their dashes; a switch has no value."""
    sheet = Sheet(job)
    _model(sheet)
    for flag, pointer in _COUNTS.items():
        if (sheet.get(pointer) is not None and sheet.get(pointer) != 0) or pointer.startswith("/dropout"):
            sheet.copy(flag, pointer)
    for flag, pointer in _SWITCHES.items():
        sheet.switch(flag, pointer, True, otherwise=False)
    if sheet.get("/framework/name") == "megatron-core":
        sheet.implied("/framework/name")
    _layout(sheet)
    write_recipe(sheet)
    return sheet


def _model(sheet: Sheet) -> None:
    norm, kind = sheet.get("/model/normalization"), sheet.get("/model/mlp")
    if norm is not None:
        sheet.say("normalization", {"rmsnorm": "RMSNorm"}.get(norm, "LayerNorm"), "/model/normalization")
    if kind in _MLPS:
        sheet.say(_MLPS[kind], None, "/model/mlp")
    _biases(sheet)
    position = sheet.get("/model/position_embedding")
    if position is not None:
        sheet.say("position-embedding-type", _POSITIONS[position], "/model/position_embedding")
    sheet.switch("qk-layernorm", "/model/qk_norm", "per_head", otherwise="none")
    sheet.switch("untie-embeddings-and-output-weights", "/model/tie_word_embeddings", False, otherwise=True)
    if sheet.get("/model/sliding_window") is not None:
        sheet.say("window-size", f"({sheet.get('/model/sliding_window')},0)", "/model/sliding_window")
    for pointer, value in (("/model/mlp", "gelu"), ("/model/norms_per_layer", 2)):
        if sheet.get(pointer) == value:
            sheet.implied(pointer)
    sheet.covered("/model/preset", "/model/model_type", "/model/hidden_act", "/model/attention_bias")
    _heads(sheet)
    _linear_attention(sheet)
    _experts(sheet)


def _biases(sheet: Sheet) -> None:
    pointers = ("/model/qkv_bias", "/model/output_bias", "/model/mlp_bias")
    query, output, mlp = (sheet.get(each) for each in pointers)
    if output is False and mlp is False:
        sheet.say("disable-bias-linear", None, *pointers[1:])
        if query is True:
            sheet.say("add-qkv-bias", None, pointers[0])
        sheet.implied(*(pointers[:1] if query is not None else ()))
    elif query is True and output is True and mlp is True:
        sheet.implied(*pointers)


def _heads(sheet: Sheet) -> None:
    groups, heads = sheet.get("/model/num_key_value_heads"), sheet.get("/model/num_attention_heads")
    if sheet.get("/model/kv_lora_rank") is not None:
        sheet.say("multi-latent-attention", None)
        for flag, pointer in _LATENT.items():
            sheet.copy(flag, pointer)
        sheet.implied("/model/num_key_value_heads")
    elif groups is not None and groups != heads:
        sheet.say("group-query-attention", None)
        sheet.say("num-query-groups", groups, "/model/num_key_value_heads")
    elif groups is not None:
        sheet.implied("/model/num_key_value_heads")


def _linear_attention(sheet: Sheet) -> None:
    if sheet.get("/model/attn_output_gate"):
        sheet.say("attention-output-gate", None, "/model/attn_output_gate")
    kinds = sheet.get("/model/layer_types") or ()
    if DELTA not in kinds or sheet.get("/model/linear_num_value_heads") is None:
        return
    sheet.say("experimental-attention-variant", "gdn")
    every = sheet.get("/model/full_attention_interval")
    if every is not None:
        sheet.say("linear-attention-freq", every, "/model/full_attention_interval")
    else:
        sheet.say("linear-attention-freq", layer_expression([int(each == DELTA) for each in kinds]))
    sheet.covered("/model/layer_types")
    for flag, pointer in _LINEAR.items():
        sheet.copy(flag, pointer)


def _experts(sheet: Sheet) -> None:
    if sheet.get("/model/num_experts") is None:
        return
    pattern, layers = sheet.get("/model/moe_layer_pattern"), sheet.get("/model/num_hidden_layers")
    dense = sheet.get("/model/first_k_dense_replace")
    if pattern is None and dense and isinstance(layers, int):
        pattern = [int(index >= dense) for index in range(layers)]
        sheet.implied("/model/first_k_dense_replace")
    if pattern is not None:
        sheet.say("moe-layer-freq", layer_expression(pattern), "/model/moe_layer_pattern")
    elif sheet.get("/model/moe_layer_freq") == 1:
        sheet.implied("/model/moe_layer_freq")
    elif sheet.get("/model/moe_layer_freq") is not None:
        sheet.say("moe-layer-freq", sheet.get("/model/moe_layer_freq"))
        sheet.covered("/model/moe_layer_freq")
    shared, width = sheet.get("/model/n_shared_experts"), sheet.get("/model/moe_intermediate_size")
    if shared and width and sheet.get("/model/shared_expert_intermediate_size") is None:
        # Megatron has the total width, and no number of shared experts.
        sheet.say("moe-shared-expert-intermediate-size", shared * width)
        sheet.covered("/model/n_shared_experts")


def layer_expression(pattern: list[int]) -> str:
    """A list of 0 and 1 as Megatron's expression: `([0]*3+[1]*58)`."""
    runs = [(value, len(list(run))) for value, run in groupby(pattern)]
    return "(" + "+".join(f"[{value}]*{length}" for value, length in runs) + ")"


def _layout(sheet: Sheet) -> None:
    chunks = sheet.get("/parallelism/virtual_pipeline")
    if chunks is not None and chunks > 1 and sheet.get("/stages/layout") is None:
        sheet.say("num-virtual-stages-per-pipeline-rank", chunks, "/parallelism/virtual_pipeline")
        if sheet.get("/schedule") == "interleaved":
            sheet.implied("/schedule")
    elif chunks is not None:
        sheet.implied("/parallelism/virtual_pipeline")
    if chunks in {None, 1} and sheet.get("/schedule") == "1f1b":
        sheet.implied("/schedule")
    method = sheet.get("/parallelism/context_method")
    if method is not None:
        sheet.say("cp-comm-type", _METHODS[method], "/parallelism/context_method")
    _sharding(sheet)
    _derived(sheet)


def _sharding(sheet: Sheet) -> None:
    stage = sheet.get("/sharding/stage")
    if stage == 1:
        sheet.say("use-distributed-optimizer", None, "/sharding/stage")
    elif stage == 3 and sheet.get("/sharding/implementation") == "torch_fsdp2":  # noqa: PLR2004  (what it always is)
        sheet.say("use-torch-fsdp2", None, "/sharding/stage", "/sharding/implementation")
        if sheet.get("/sharding/reshard_after_forward") == "never":
            sheet.say("torch-fsdp2-no-reshard-after-forward", None, "/sharding/reshard_after_forward")
    elif stage in _STRATEGIES:
        _units(sheet, stage)
    elif stage == 0:
        sheet.implied("/sharding/stage")


def _units(sheet: Sheet, stage: int) -> None:
    """Megatron-FSDP. Its buffers' two bounds are one number."""
    sheet.say("use-megatron-fsdp", None)
    sheet.say("data-parallel-sharding-strategy", _STRATEGIES[stage], "/sharding/stage")
    sheet.implied("/sharding/implementation")
    sheet.switch("fsdp-double-buffer", "/sharding/double_buffer", on=True, otherwise=False)
    size = sheet.get("/sharding/buckets/reduce")
    if size is not None and sheet.get("/sharding/buckets/prefetch") in (None, size // 2):
        pointers = ("/sharding/buckets/reduce", "/sharding/buckets/prefetch")
        sheet.say("suggested-communication-unit-size", size, *pointers)
    gradients = sheet.get("/precision/gradients")
    if gradients in {"fp32", "bf16", "fp16"}:
        sheet.say("megatron-fsdp-main-grads-dtype", gradients, "/precision/gradients")


def _derived(sheet: Sheet) -> None:
    """Data parallelism and accumulation follow from the rest."""
    sheet.implied("/parallelism/data")
    degrees = [sheet.get(f"/parallelism/{each}") or 1 for each in ("tensor", "pipeline", "context")]
    micro, world = sheet.get("/batch/micro"), sheet.get("/world_size")
    ranks = sheet.get("/parallelism/data") or (world // (degrees[0] * degrees[1] * degrees[2]) if world else None)
    accumulation = sheet.get("/batch/accumulation")
    if sheet.get("/batch/global") is None and accumulation and micro and ranks:
        sheet.say("global-batch-size", accumulation * micro * ranks)
    sheet.implied("/batch/accumulation")
