"""The canonical training job: what a caller states, section by section.

Absent or null means the framework profile's default; `resolve` fills it in and reports where each value came from.
Unknown keys are refused, so that a misspelt key is never a silently ignored one.
"""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from service.calculator import limits

Count = Annotated[int, Field(strict=True, ge=1)]
Flag = Annotated[bool, Field(strict=True)]
Probability = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]
# A literal 0 or 1 would take false and true.
Bit = Annotated[int, Field(strict=True, ge=0, le=1)]
Dtype = Literal["bf16", "fp16", "fp32"]
MomentDtype = Literal["fp32", "bf16", "fp16", "fp8", "int8"]


def _at_most(limit: int) -> Any:
    return Field(strict=True, ge=1, le=limit)


Degree = Annotated[int, _at_most(limits.WORLD_SIZE)]
Width = Annotated[int, _at_most(limits.WIDTH)]
Layers = Annotated[int, _at_most(limits.LAYERS)]


class Section(BaseModel):
    """One object of the job; frozen, and strict about its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, populate_by_name=True)


class ModelSection(Section):
    """Dimensions of the architecture, spelled as in a Hugging Face `config.json`, or a preset's name."""

    preset: str | None = Field(None, max_length=100, examples=["llama-3-8b"])
    """Name of a preset from `GET /v1/models`; other keys of this object override it."""
    model_type: str | None = Field(None, max_length=100, examples=["llama"])
    """Hugging Face model type; decides what absent keys mean. `custom` implies nothing."""
    hidden_size: Width | None = Field(None, examples=[4096])
    """Width of the residual stream (elements)."""
    num_hidden_layers: Layers | None = Field(None, examples=[32])
    """Number of decoder layers."""
    num_attention_heads: Annotated[int, _at_most(limits.HEADS)] | None = Field(None, examples=[32])
    """Number of query heads."""
    num_key_value_heads: Annotated[int, _at_most(limits.HEADS)] | None = Field(None, examples=[8])
    """Number of key and value heads (groups); equals the query heads for multi-head attention."""
    head_dim: Width | None = Field(None, examples=[128])
    """Width of one head (elements); need not be hidden_size / num_attention_heads."""
    intermediate_size: Width | None = Field(None, examples=[14336])
    """Width of one branch of the dense MLP (elements)."""
    vocab_size: Annotated[int, _at_most(limits.VOCABULARY)] | None = Field(None, examples=[128256])
    """Number of tokens before any padding by the framework."""
    max_position_embeddings: Annotated[int, _at_most(limits.SEQUENCE)] | None = Field(None, examples=[8192])
    """Longest position; a limit, not the training length. Learned positions have one row for each."""
    tie_word_embeddings: Flag | None = Field(None, examples=[False])
    """Whether the output head shares the embedding's weight."""
    hidden_act: str | None = Field(None, max_length=50, examples=["silu"])
    """Hugging Face activation name; with `model_type` it decides `mlp`."""
    attention_bias: Flag | None = Field(None, examples=[False])
    """Hugging Face: biases on the query, key, value and output projections."""
    sliding_window: Annotated[int, _at_most(limits.SEQUENCE)] | None = Field(None, examples=[None])
    """Attention window (tokens); null means the whole sequence."""
    layer_types: list[str] | None = Field(None, max_length=limits.LAYERS, examples=[None])
    """Kind of each layer, in order, as in a Hugging Face config."""
    num_experts: Annotated[int, _at_most(limits.EXPERTS)] | None = Field(
        None,
        validation_alias=AliasChoices("num_experts", "num_local_experts", "n_routed_experts"),
        examples=[None],
    )
    """Number of routed experts."""
    num_experts_per_tok: Annotated[int, _at_most(limits.EXPERTS)] | None = Field(None, examples=[None])
    """Experts that each token is sent to (top-k)."""
    moe_intermediate_size: Width | None = Field(None, examples=[None])
    """Width of one branch of a routed expert (elements); absent means intermediate_size."""
    n_shared_experts: Annotated[int, Field(strict=True, ge=0, le=limits.EXPERTS)] | None = Field(None, examples=[None])
    """Number of shared experts, each as wide as a routed one."""
    shared_expert_intermediate_size: Annotated[int, Field(strict=True, ge=0, le=limits.WIDTH)] | None = Field(
        None, examples=[None]
    )
    """Total width of the shared experts (elements)."""
    first_k_dense_replace: Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)] | None = Field(
        None, examples=[None]
    )
    """Number of leading layers that are dense."""
    moe_layer_freq: Layers | None = Field(None, examples=[None])
    """Every n-th layer is a mixture of experts."""
    decoder_sparse_step: Layers | None = Field(None, examples=[None])
    """Qwen's spelling: every n-th layer is a mixture of experts."""
    mlp_only_layers: list[Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)]] | None = Field(
        None, max_length=limits.LAYERS, examples=[None]
    )
    """Indexes of layers that stay dense."""
    moe_layer_pattern: list[Bit] | None = Field(None, max_length=limits.LAYERS, examples=[None])
    """One entry per layer: 1 for a mixture of experts, 0 for dense."""
    q_lora_rank: Annotated[int, Field(strict=True, ge=0, le=limits.WIDTH)] | None = Field(None, examples=[None])
    """Multi-head latent attention: rank of the query latent; null or 0 means none."""
    kv_lora_rank: Width | None = Field(None, examples=[None])
    """Multi-head latent attention: rank of the key/value latent."""
    qk_nope_head_dim: Width | None = Field(None, examples=[None])
    """Multi-head latent attention: width of a head's part without rotary embedding."""
    qk_rope_head_dim: Width | None = Field(None, examples=[None])
    """Multi-head latent attention: width of a head's rotary part."""
    v_head_dim: Width | None = Field(None, examples=[None])
    """Multi-head latent attention: width of a value head."""
    num_nextn_predict_layers: Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)] | None = Field(
        None, examples=[None]
    )
    """Depth of multi-token prediction."""
    mtp_shared_layer: Flag | None = Field(None, examples=[None])
    """All multi-token prediction depths share one layer."""
    layers_block_type: list[str] | None = Field(None, max_length=limits.LAYERS, examples=[None])
    """Hybrid models: kind of each layer (`mamba`, `attention`, …)."""
    mamba_d_state: Width | None = Field(None, examples=[None])
    """Mamba-2: width of the state."""
    mamba_d_conv: Width | None = Field(None, examples=[None])
    """Mamba-2: width of the convolution (tokens)."""
    mamba_expand: Annotated[int, _at_most(64)] | None = Field(None, examples=[None])
    """Mamba-2: inner width in multiples of hidden_size."""
    mamba_n_groups: Width | None = Field(None, examples=[None])
    """Mamba-2: number of groups."""
    mamba_n_heads: Width | None = Field(None, examples=[None])
    """Mamba-2: number of heads."""
    mamba_d_head: Width | None = Field(None, examples=[None])
    """Mamba-2: width of one head."""
    full_attention_interval: Layers | None = Field(None, examples=[None])
    """Every n-th layer is full attention, the others linear; `layer_types` says it layer by layer."""
    linear_num_key_heads: Annotated[int, _at_most(limits.HEADS)] | None = Field(None, examples=[None])
    """Linear attention (gated delta net): number of key heads, and of query heads."""
    linear_num_value_heads: Annotated[int, _at_most(limits.HEADS)] | None = Field(None, examples=[None])
    """Linear attention: number of value heads, a multiple of the key heads."""
    linear_key_head_dim: Width | None = Field(None, examples=[None])
    """Linear attention: width of one key head."""
    linear_value_head_dim: Width | None = Field(None, examples=[None])
    """Linear attention: width of one value head."""
    linear_conv_kernel_dim: Width | None = Field(None, examples=[None])
    """Linear attention: width of the convolution (tokens)."""
    attn_output_gate: Flag | None = Field(None, examples=[None])
    """The query projection is twice as wide, and the sigmoid of its second half multiplies the attention's output."""
    normalization: Literal["rmsnorm", "layernorm"] | None = Field(None, examples=["rmsnorm"])
    """Kind of normalisation; LayerNorm has a bias and a mean."""
    norms_per_layer: Literal[1, 2, 4] | None = Field(None, examples=[2])
    """Normalisations in each layer; 4 for a sandwich, 1 where both halves of a parallel layer read one."""
    norm_bias: Flag | None = Field(None, examples=[None])
    """Whether a LayerNorm has a bias; null means that it has."""
    embedding_norm: Flag | None = Field(None, examples=[None])
    """A normalisation behind the embedding (BLOOM)."""
    word_embed_proj_dim: Width | None = Field(None, examples=[None])
    """OPT: width of the embedding where it is not hidden_size; projections lead from it and back."""
    do_layer_norm_before: Flag | None = Field(None, examples=[None])
    """OPT: false puts norms behind the residual, and leaves the last one out."""
    mlp: Literal["swiglu", "geglu", "gelu", "relu2", "relu"] | None = Field(None, examples=["swiglu"])
    """Shape of the dense MLP: gated (`swiglu`, `geglu`) or not."""
    position_embedding: Literal["rope", "learned", "alibi", "none"] | None = Field(None, examples=["rope"])
    """How positions enter; `learned` adds max_position_embeddings x hidden_size parameters."""
    qk_norm: Literal["none", "per_head", "full"] | None = Field(None, examples=["none"])
    """Normalisation of queries and keys: over one head's width or over the full width."""
    qkv_bias: Flag | None = Field(None, examples=[False])
    """Bias on the query, key and value projections."""
    output_bias: Flag | None = Field(None, examples=[False])
    """Bias on the attention's output projection."""
    mlp_bias: Flag | None = Field(None, examples=[False])
    """Bias on the MLP's projections."""
    linear_bias: Flag | None = Field(None, examples=[None])
    """Sets qkv_bias, output_bias and mlp_bias together."""
    parallel_residual: Flag | None = Field(None, examples=[False])
    """Attention and MLP read the same input (GPT-NeoX)."""


class FrameworkSection(Section):
    """The training framework, which decides what absent values mean and what is kept in memory."""

    name: Literal["megatron-core", "deepspeed", "fsdp2", "fsdp1", "ddp", "hf-trainer"] = Field(
        examples=["megatron-core"]
    )
    """Framework whose defaults and memory behaviour apply."""
    version: str | None = Field(None, max_length=100, examples=["0.14"])
    """Release, commit or container; an unknown one uses the nearest profile and says so."""
    transformer_impl: Literal["transformer_engine", "local", "torch", "hf", "titan"] | None = Field(
        None, examples=["transformer_engine"]
    )
    """Which implementation of the layer runs."""


class ParallelismSection(Section):
    """Degrees of parallelism (numbers of GPUs)."""

    tensor: Degree | None = Field(None, examples=[8])
    """Tensor-parallel degree."""
    sequence: Flag | None = Field(None, examples=[True])
    """Sequence parallelism: norms, dropouts and residuals are split over the tensor group."""
    pipeline: Degree | None = Field(None, examples=[2])
    """Pipeline-parallel degree: number of stages."""
    virtual_pipeline: Layers | None = Field(None, examples=[1])
    """Model chunks on each pipeline rank."""
    context: Degree | None = Field(None, examples=[1])
    """Context-parallel degree: the sequence is split for every tensor."""
    context_method: Literal["p2p", "all_gather", "a2a", "a2a+p2p"] | None = Field(None, examples=["p2p"])
    """How keys and values travel between context-parallel ranks."""
    expert: Degree | None = Field(None, examples=[1])
    """Expert-parallel degree."""
    expert_tensor: Degree | None = Field(None, examples=[1])
    """Tensor-parallel degree inside an expert; Megatron's default is the tensor degree."""
    data: Degree | None = Field(None, examples=[None])
    """Data-parallel degree; derived from `world_size` when null."""
    microbatch_group_size: Count | None = Field(None, examples=[None])
    """Interleaved schedule: micro-batches run in a row on one chunk; default the pipeline degree."""
    overlap_expert: Flag | None = Field(None, examples=[False])
    """Expert all-to-all overlapped with another micro-batch's computation."""
    delay_weight_gradient: Flag | None = Field(None, examples=[False])
    """Weight gradients computed after the input gradients."""
    async_tensor: Flag | None = Field(None, examples=[False])
    """Tensor-parallel communication overlapped with matrix products."""


class Buckets(Section):
    """Sizes of communication buckets (elements, not bytes)."""

    reduce: Count | None = Field(None, examples=[500000000])
    """Gradient reduction bucket (elements)."""
    all_gather: Count | None = Field(None, examples=[500000000])
    """Parameter all-gather bucket (elements)."""
    prefetch: Annotated[int, Field(strict=True, ge=0)] | None = Field(None, examples=[50000000])
    """Parameters prefetched ahead of use (elements)."""
    max_live_parameters: Annotated[int, Field(strict=True, ge=0)] | None = Field(None, examples=[1000000000])
    """Cap on gathered parameters (elements)."""
    persistence_threshold: Annotated[int, Field(strict=True, ge=0)] | None = Field(None, examples=[100000])
    """Parameters up to this size are never partitioned (elements)."""


class ShardingSection(Section):
    """How weights, gradients and optimizer states are split over data-parallel ranks."""

    stage: Annotated[int, Field(strict=True, ge=0, le=3)] | None = Field(None, examples=[1])
    """0 nothing, 1 optimizer states (Megatron's distributed optimizer), 2 and gradients, 3 and weights."""
    degree: Degree | None = Field(None, examples=[None])
    """Ranks that share one copy; default data x context, smaller means hybrid sharding."""
    reshard_after_forward: Literal["default", "always", "never"] | None = Field(None, examples=[None])
    """FSDP: whether gathered weights are freed after the forward."""
    buckets: Buckets | None = Field(None, examples=[None])
    """Communication buckets; null means the framework's sizes."""
    overlap_grad_reduce: Flag | None = Field(None, examples=[False])
    """Gradient reduction overlapped with the backward."""
    overlap_param_gather: Flag | None = Field(None, examples=[False])
    """Parameter gather overlapped with the forward."""
    no_sync: Flag | None = Field(None, examples=[False])
    """Gradients accumulate unsharded between micro-batches."""
    bucket_view: Flag | None = Field(None, examples=[None])
    """DDP: gradients are views of the communication buckets."""
    implementation: Literal["megatron_fsdp", "torch_fsdp2"] | None = Field(None, examples=[None])
    """Megatron: what shards gradients and weights from stage 2 on; null means its own."""
    double_buffer: Flag | None = Field(None, examples=[None])
    """Megatron-FSDP: two units are gathered and reduced in buffers that stay."""
    optimizer_instances: Degree | None = Field(None, examples=[1])
    """Megatron: number of replicas of the distributed optimizer."""


Schedule = Literal[
    "gpipe",
    "1f1b",
    "interleaved",
    "looped_bfs",
    "interleaved_zb",
    "zb_h1",
    "zb_h2",
    "zbv",
    "v_half",
    "v_min",
    "dualpipe",
    "dualpipev",
]


class StagesSection(Section):
    """Which layers each stage holds; give one of the four forms."""

    layers: list[Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)]] | None = Field(
        None, max_length=limits.LAYERS, examples=[[16, 16]]
    )
    """Layers per rank, or per chunk in rank-major order when virtual."""
    first: Layers | None = Field(None, examples=[None])
    """Layers on the first rank; the others share what is left."""
    last: Layers | None = Field(None, examples=[None])
    """Layers on the last rank; the others share what is left."""
    account_for_embedding: Flag | None = Field(None, examples=[None])
    """The embedding counts as a layer when layers are split."""
    account_for_loss: Flag | None = Field(None, examples=[None])
    """The head and loss count as a layer when layers are split."""
    layout: str | None = Field(None, max_length=limits.LAYOUT_TEXT, examples=[None])
    """Megatron's layout string: E embedding, t layer, m prediction layer, L loss, | between stages."""


class BatchSection(Section):
    """Batch sizes and sequence length."""

    micro: Annotated[int, _at_most(limits.MICRO_BATCH)] | None = Field(None, examples=[1])
    """Sequences in one micro-batch on one data-parallel rank; an estimate needs it, a plan searches it."""
    global_: Annotated[int, _at_most(limits.GLOBAL_BATCH)] | None = Field(None, alias="global", examples=[512])
    """Sequences in one optimizer step over all ranks."""
    accumulation: Annotated[int, _at_most(limits.GLOBAL_BATCH)] | None = Field(None, examples=[None])
    """Micro-batches in one optimizer step on one data-parallel rank."""
    sequence_length: Annotated[int, _at_most(limits.SEQUENCE)] | None = Field(None, examples=[8192])
    """Tokens in one sequence; required."""
    padding_mask: Flag | None = Field(None, examples=[False])
    """A dense attention mask is passed with packed or padded input."""


class CheckpointingSection(Section):
    """Activation checkpointing (recomputation)."""

    granularity: Literal["none", "selective", "full"] | None = Field(None, examples=["none"])
    """Nothing, chosen modules, or whole layers are recomputed in the backward."""
    method: Literal["uniform", "block"] | None = Field(None, examples=[None])
    """Full only: equal segments of all layers, or the first layers of each chunk."""
    num_layers: Layers | None = Field(None, examples=[None])
    """Full only: layers in a uniform segment, or checkpointed layers of each chunk under block."""
    modules: list[str] | None = Field(None, max_length=50, examples=[[]])
    """Selective only, Megatron's names: core_attn, layernorm, moe_act, mla_up_proj, mlp, moe, shared_experts."""
    op: Literal["default"] | list[str] | None = Field(None, examples=[None])
    """torchtitan: operations whose outputs are kept."""
    every: Layers | None = Field(None, examples=[None])
    """torchtitan: every n-th layer is checkpointed."""
    distribute_saved: Flag | None = Field(None, examples=[None])
    """Stored layer inputs are split over the tensor group."""
    offload: Literal["none", "inputs", "all"] | list[str] | None = Field(None, examples=[None])
    """Saved activations moved to host memory: none, layer inputs, all, or a list of modules."""
    offload_layers: Layers | None = Field(None, examples=[None])
    """Layers whose activations are moved to host memory."""
    memory_budget: Probability | None = Field(None, examples=[None])
    """torch.compile's activation memory budget, between full recomputation (0) and none (1)."""


class Bf16Layers(Section):
    """Layers kept out of fp8 at both ends of the model."""

    first: Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)] = Field(0, examples=[1])
    """Leading layers in bf16."""
    last: Annotated[int, Field(strict=True, ge=0, le=limits.LAYERS)] = Field(0, examples=[1])
    """Trailing layers in bf16."""


class Fp8Section(Section):
    """8-bit floating-point training."""

    recipe: Literal["delayed", "current", "blockwise", "mxfp8", "nvfp4"] | None = Field(None, examples=["delayed"])
    """How scaling factors are kept; null means the framework's default."""
    backend: Literal["transformer_engine", "torchao", "msamp"] | None = Field(None, examples=[None])
    """Library whose products run in 8 bits: Megatron's is Transformer Engine; accelerate takes torchao where it is."""
    parameters: Flag | None = Field(None, examples=[None])
    """Primary weights are kept in fp8."""
    all_gather: Flag | None = Field(None, examples=[None])
    """Parameters are gathered in fp8."""
    bf16_layers: Bf16Layers | None = Field(None, examples=[None])
    """Layers at both ends that stay in bf16."""


class PrecisionSection(Section):
    """Data types of computation and state."""

    compute: Dtype | None = Field(None, examples=["bf16"])
    """Type of activations and matrix products."""
    parameters: Literal["bf16", "fp16", "fp32", "fp8"] | None = Field(None, examples=["bf16"])
    """Type of the weights kept on the GPU."""
    master: Literal["fp32", "bf16_remainder", "none"] | None = Field(None, examples=["fp32"])
    """Extra master copy of the weights kept by the optimizer."""
    gradients: Dtype | None = Field(None, examples=["fp32"])
    """Type of the gradient accumulation buffer."""
    reduce: Dtype | None = Field(None, examples=["fp32"])
    """Type in which gradients are reduced."""
    autocast: Flag | None = Field(None, examples=[None])
    """torch autocast over fp32 parameters."""
    fp8: Fp8Section | None = Field(None, examples=[None])
    """8-bit training; null means none."""


class OffloadFraction(Section):
    """Part of the optimizer state kept in host memory."""

    fraction: Probability = Field(examples=[0.5])
    """Fraction moved to the host."""


class SwapSection(Section):
    """DeepSpeed: pinned buffers of host memory through which states and weights reach disks."""

    states: Annotated[int, _at_most(65536)] | None = Field(None, examples=[4])
    """Buffers for states, each as large as a sub-group of them."""
    weights: Annotated[int, _at_most(65536)] | None = Field(None, examples=[5])
    """Buffers for weights."""
    weights_size: Annotated[int, _at_most(10**12)] | None = Field(None, examples=[100000000])
    """Size of a buffer for weights (elements)."""
    weights_in_cpu: Annotated[int, Field(strict=True, ge=0, le=10**12)] | None = Field(None, examples=[1000000000])
    """Weights that stay in host memory though weights are on disk (elements)."""


class OptimizerSection(Section):
    """The optimizer and where its state lives."""

    name: Literal["adam", "adamw8bit", "adafactor", "sgd", "muon", "lion", "none"] | None = Field(
        None, examples=["adam"]
    )
    """Optimizer; `none` for inference-like runs without a step."""
    momentum: Flag | None = Field(None, examples=[None])
    """SGD keeps a momentum buffer."""
    moments: list[MomentDtype] | None = Field(None, min_length=2, max_length=2, examples=[["fp32", "fp32"]])
    """Types of the first and second moment."""
    implementation: Literal["fused", "foreach", "loop"] | None = Field(None, examples=[None])
    """How the step runs; decides its temporary memory."""
    in_backward: Flag | None = Field(None, examples=[None])
    """The step runs inside the backward, so gradients are not kept."""
    offload: Literal["none", "cpu", "nvme"] | OffloadFraction | None = Field(None, examples=["none"])
    """Where optimizer states live."""
    parameter_offload: Literal["none", "cpu", "nvme"] | None = Field(None, examples=[None])
    """Where sharded parameters live."""
    swap: SwapSection | None = Field(None, examples=[None])
    """Buffers of what is on disk; null means the framework's."""


Loss = Literal[
    "megatron",
    "megatron_fused",
    "te",
    "torch",
    "torch_float",
    "hf",
    "loss_parallel",
    "compiled",
    "chunked",
    "chunked_head",
    "liger",
    "cut",
]


class KernelsSection(Section):
    """Implementations that decide what is kept in memory."""

    attention: Literal["flash", "fused", "flex", "unfused", "sdpa", "eager", "auto"] | None = Field(
        None, examples=["flash"]
    )
    """Attention kernel; `auto` leaves the choice to the framework and widens the interval."""
    softmax_fp32: Flag | None = Field(None, examples=[None])
    """Unfused attention computes its softmax in fp32."""
    cross_entropy: Loss | None = Field(None, examples=["megatron"])
    """Loss recipe: bytes per logit kept, at its forward peak and at its backward peak. `chunked` cuts the loss, and the
    head too where the framework's version does; `chunked_head` cuts both."""
    cross_entropy_chunks: Annotated[int, _at_most(65536)] | None = Field(None, examples=[None])
    """Chunks of a chunked loss."""
    logits_kept: Flag | None = Field(None, examples=[None])
    """The caller keeps the logits through the backward."""
    vocab_parallel_loss: Flag | None = Field(None, examples=[None])
    """Logits stay split over the tensor group in the loss."""
    defer_embedding_wgrad: Annotated[int, Field(strict=True, ge=0)] | None = Field(None, examples=[None])
    """Megatron: micro-batches whose head weight gradient is deferred; 0 means all."""
    label_smoothing: Flag | None = Field(None, examples=[None])
    """The loss smooths its labels."""
    norm: Literal["fused", "eager"] | None = Field(None, examples=["fused"])
    """Normalisation kernel."""
    activation: Literal["fused", "eager"] | None = Field(None, examples=["fused"])
    """Activation-function kernel of the MLP."""
    rope: Literal["fused", "eager"] | None = Field(None, examples=["fused"])
    """Rotary embedding kernel."""
    compile: Flag | None = Field(None, examples=[False])
    """torch.compile is on."""
    grad_accumulation_fusion: Flag | None = Field(None, examples=[True])
    """Weight gradients are added straight into the accumulation buffer."""
    deallocate_pipeline_outputs: Flag | None = Field(None, examples=[True])
    """Stage outputs are freed once sent."""
    moe_dispatcher: Literal["alltoall", "allgather", "deepep", "hybridep"] | None = Field(None, examples=[None])
    """How tokens travel to experts."""
    grouped_gemm: Flag | None = Field(None, examples=[None])
    """Experts run as one grouped matrix product."""
    experts: Literal["grouped_mm", "eager"] | None = Field(None, examples=[None])
    """transformers: implementation of the experts."""
    linear_attention: Literal["fused", "eager"] | None = Field(None, examples=[None])
    """Linear attention and state-space layers: kernels of flash-linear-attention, mamba_ssm and causal_conv1d, or the
    operations that transformers falls back to.
    """
    deterministic: Flag | None = Field(None, examples=[None])
    """Deterministic algorithms are required."""
    cuda_graphs: Flag | None = Field(None, examples=[None])
    """CUDA graphs are captured."""
    expandable_segments: Flag | None = Field(None, examples=[None])
    """The caching allocator's expandable segments."""


class DropoutSection(Section):
    """Dropout probabilities; any above 0 keeps masks."""

    hidden: Probability | None = Field(None, examples=[0.0])
    """Probability on the residual stream."""
    attention: Probability | None = Field(None, examples=[0.0])
    """Probability on attention weights."""


class MoeSection(Section):
    """How tokens are routed."""

    capacity_factor: Annotated[float, Field(strict=True, gt=0.0, le=1000.0)] | None = Field(None, examples=[None])
    """Tokens an expert accepts, in multiples of a balanced share; null means dropless."""
    pad_to_capacity: Flag | None = Field(None, examples=[None])
    """Every expert's input is padded to its capacity."""
    imbalance: Annotated[float, Field(strict=True, ge=1.0, le=100000.0)] | None = Field(None, examples=[1.0])
    """Rows received / balanced rows on the fullest rank."""


class AdaptersSection(Section):
    """Low-rank adapters on frozen weights."""

    type: Literal["lora", "qlora"] = Field(examples=["lora"])
    """LoRA, or LoRA over quantised weights."""
    rank: Annotated[int, _at_most(limits.WIDTH)] = Field(examples=[16])
    """Rank of each adapter."""
    modules: list[
        Literal["q", "k", "v", "o", "q_a", "q_b", "kv_a", "kv_b", "gate", "up", "down", "embedding", "head"]
    ] = Field(max_length=13, examples=[["q", "v"]])
    """Linear modules that carry an adapter; gate, up and down are those of dense layers, shared and routed experts. On
    latent attention q stands for q_a and q_b, k and v for kv_a and kv_b.
    """
    quantization: Literal["nf4", "nf4_double", "int8"] | None = Field(None, examples=[None])
    """Type of the frozen weights."""
    dtype: Dtype | None = Field(None, examples=["bf16"])
    """Type of the adapters."""
    dropout: Probability | None = Field(None, examples=[0.05])
    """Probability with which an adapter drops elements of its input; any above 0 keeps the rest and a mask."""
    trained_modules: list[Literal["embedding", "head"]] | None = Field(None, max_length=2, examples=[None])
    """Modules trained in full beside the adapters."""


class Job(Section):
    """The canonical training config. Absent or null means the framework's default, which is reported back."""

    model: ModelSection
    """Architecture."""
    framework: FrameworkSection
    """Training framework."""
    world_size: Degree | None = Field(None, examples=[64])
    """Number of GPUs; an estimate derives it from the degrees when null."""
    parallelism: ParallelismSection = ParallelismSection()
    """Degrees of parallelism."""
    sharding: ShardingSection = ShardingSection()
    """Sharding over data-parallel ranks."""
    schedule: Schedule | None = Field(None, examples=["1f1b"])
    """Pipeline schedule; default 1f1b, or interleaved with more than one chunk per rank."""
    stages: StagesSection | None = Field(None, examples=[None])
    """Placement of layers on stages; null means even."""
    batch: BatchSection = BatchSection()
    """Batch sizes and sequence length."""
    checkpointing: CheckpointingSection = CheckpointingSection()
    """Activation checkpointing."""
    precision: PrecisionSection = PrecisionSection()
    """Data types."""
    optimizer: OptimizerSection = OptimizerSection()
    """Optimizer."""
    kernels: KernelsSection = KernelsSection()
    """Kernel choices."""
    dropout: DropoutSection = DropoutSection()
    """Dropout probabilities."""
    moe: MoeSection | None = Field(None, examples=[None])
    """Routing of tokens to experts."""
    adapters: AdaptersSection | None = Field(None, examples=[None])
    """Low-rank adapters."""


def field_of(fact: str) -> str | None:
    """Pointer to the job's field whose last part is `fact`; None where a fact is no field, as a file or a variable."""
    for name, field in Job.model_fields.items():
        if name == fact:
            return f"/{name}"
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            for each, inside in section.model_fields.items():
                if fact in {each, inside.alias}:
                    return f"/{name}/{fact}"
    return None
