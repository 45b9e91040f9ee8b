"""Which model and recipe each measured layer of `tests/data/saved_tensors*.json` is.

The layers were measured on a CPU. Where its kernels keep something else than a GPU's, the case says so by a function of
its own, whose bytes are added to what the calculator finds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from service.calculator.layout import Checkpointing
from service.calculator.model import (
    Attention,
    DeltaNet,
    FeedForward,
    LatentAttention,
    LayerKind,
    Mamba,
    Mixer,
    Mlp,
    Model,
    Moe,
)
from service.calculator.recipe import Adapters

Dims = Mapping[str, int]
"""b sequences of s tokens (T together), h, a heads, kv groups, head width dh, f, and V."""


NOT_CHECKPOINTED = Checkpointing()


@dataclass(frozen=True)
class Case:
    """A measured layer: how its model is shaped and written, the recipe, and what the CPU keeps differently."""

    mixer: Callable[[Dims], Mixer] | None
    feed_forward: Callable[[Dims], FeedForward] | None
    recipe: Mapping[str, Any]
    model: Mapping[str, Any] = field(default_factory=dict)
    layer: Mapping[str, Any] = field(default_factory=dict)
    checkpointing: Checkpointing = NOT_CHECKPOINTED
    artefacts: tuple[Callable[[Dims], int], ...] = ()
    only: str = ""
    beside: frozenset[str] = frozenset()

    def build(self, dims: Dims) -> Model:
        """A model of one such layer."""
        mixer = None if self.mixer is None else self.mixer(dims)
        feed_forward = None if self.feed_forward is None else self.feed_forward(dims)
        kind = LayerKind(mixer, feed_forward, **self.layer)
        values: dict[str, Any] = {"normalization": "rmsnorm", "position_embedding": "rope", **self.model}
        return Model(
            "measured", dims["h"], dims["V"], (kind,), (0,), max_positions=512, tied_embeddings=False, **values
        )


def heads(**facts: Any) -> Callable[[Dims], Mixer]:
    return lambda d: Attention(d["a"], d["kv"], d["dh"], **facts)


def mlp(kind: Any = "swiglu", **facts: Any) -> Callable[[Dims], FeedForward]:
    return lambda d: Mlp(d["f"], kind, **facts)


def experts(*counts: int, kind: Any = "swiglu", **facts: Any) -> Callable[[Dims], FeedForward]:
    return lambda _: Moe(*counts, kind, **facts)


def latent(_: Dims) -> Mixer:
    return LatentAttention(8, query_rank=96, latent_rank=64, nope_dim=32, rope_dim=16, value_dim=32)


def narrow_latent(_: Dims) -> Mixer:
    return LatentAttention(8, query_rank=96, latent_rank=64, nope_dim=16, rope_dim=16, value_dim=32)


def mamba(d: Dims) -> Mixer:
    return Mamba(d["H"], d["p"], d["n"], d["G"], conv=4)


def delta_net(d: Dims) -> Mixer:
    return DeltaNet(d["kh"], d["vh"], d["kd"], d["vd"], conv=4)


# CPU artefacts.
def statistics_in_16_bits(d: Dims) -> int:
    """LayerNorm's means and deviations are bf16 on a CPU, fp32 on a GPU: two norms, two numbers."""
    return -2 * 2 * 2 * d["T"]


def one_statistic_in_16_bits(d: Dims) -> int:
    """The same of one norm."""
    return statistics_in_16_bits(d) // 2


def masks_in_16_bits(d: Dims) -> int:
    """A dropout's mask is bf16 on a CPU, one byte on a GPU: two dropouts."""
    return 2 * d["T"] * d["h"]


def math_attention(d: Dims) -> int:
    """Without a kernel for unequal head widths torch keeps fp32 probabilities and operands, and no sums.

    The kernel would keep 16-bit operands, of the values with the part of their projection that made the keys, and its
    output beside the copy that is projected.
    """
    kind = latent(d)
    assert isinstance(kind, LatentAttention)
    width = kind.nope_dim + kind.rope_dim
    scores = 4 * kind.heads * d["s"]
    operands = 4 * kind.heads * (2 * width + kind.value_dim)
    kernel = 2 * kind.heads * (2 * width + kind.nope_dim + 2 * kind.value_dim) + 4 * kind.heads
    return d["T"] * (scores + operands - kernel)


# Habits of test configurations that published models do not have.
def unnormalised_routing(d: Dims) -> int:
    """Two chosen scores are not divided by their sum."""
    return -d["T"] * (2 * 4 + 4)


def grouped_routing(d: Dims) -> int:
    """DeepSeek's choice among one group of experts: indices and a mask."""
    return d["T"] * (2 * 8 + 8 + 8)


FUSED = {"transformer_impl": "hf", "attention": "sdpa"}
HF = {**FUSED, "norm_fused": False, "activation_fused": False}
EAGER = {**HF, "attention": "eager"}
COMPILED = {**HF, "compiled": True, "attention_mask": True}
MEGATRON = {"transformer_impl": "transformer_engine"}
GPT = {"normalization": "layernorm", "position_embedding": "learned"}
PACKED, PLAIN = heads(fused_projection=True), heads()
GELU, PYTHON_GELU = mlp("gelu"), mlp("gelu", gelu_in_python=True)
BF16_STATISTICS = (statistics_in_16_bits,)
SCORED = {**EAGER, "softmax_fp32": True}
ALIBI = {"normalization": "layernorm", "position_embedding": "alibi"}
OFFSET = {"norm_form": "offset"}
HALF = {"norms": 1}
GRANITE = experts(8, 2, 128, shared_width=704, scores_cast=True, chosen_softmax=True)
GATED = heads(qk_norm="per_head", output_gate=True, rotary_concatenated=True)
"""Qwen3-Next's full attention: a quarter of each head turns, and a gate multiplies the output."""


def gpt(recipe: Mapping[str, Any], feed_forward: Callable[[Dims], FeedForward] = GELU, *artefacts: Any) -> Case:
    return Case(PACKED, feed_forward, recipe, GPT, artefacts=(statistics_in_16_bits, *artefacts))


def llama(recipe: Mapping[str, Any], mixer: Callable[[Dims], Mixer] = PACKED, **rest: Any) -> Case:
    return Case(mixer, rest.pop("feed_forward", mlp()), recipe, **rest)


def lora(*modules: str, feed_forward: Callable[[Dims], FeedForward] | None = None) -> Case:
    return llama({**FUSED, "adapters": Adapters(8, modules, "bf16")}, PLAIN, feed_forward=feed_forward or mlp())


CASES: Mapping[str, Case] = {
    "own.gpt.eager.dropout (Korthikanti 34sbh+5as2b + LayerNorm stats)": gpt(
        {**FUSED, "attention": "eager", "hidden_dropout": 0.1, "attention_dropout": 0.1}
    ),
    "own.gpt.eager.nodropout": gpt({**FUSED, "attention": "eager"}),
    "own.gpt.eager.softmax_fp32": gpt({**FUSED, "attention": "eager", "softmax_fp32": True}),
    "own.gpt.sdpa": gpt(FUSED),
    "own.gpt.sdpa.dropout": gpt({**FUSED, "hidden_dropout": 0.1}),
    "own.gpt.sdpa.cpu_dropout": gpt({**FUSED, "hidden_dropout": 0.1}, GELU, masks_in_16_bits),
    "own.llama.fused.mha": llama(FUSED),
    "own.llama.fused.gqa_kv4": llama(FUSED),
    "own.llama.fused.gqa_kv2": llama(FUSED),
    "own.llama.fused.gqa_kv1": llama(FUSED),
    "own.llama.fused.dh64 (a*dh != h)": llama(FUSED),
    "own.llama.eager_rmsnorm": llama({**FUSED, "norm_fused": False}),
    # torch has no kernel for F.rms_norm on a CPU: the norm is the one that casts back last.
    "own.llama.F.rms_norm(cpu)": llama({**FUSED, "norm_fused": False}, model={"norm_form": "scale_first"}),
    "own.llama.unfused_silu": llama({**FUSED, "activation_fused": False}),
    "own.llama.eager_rope": llama(FUSED),
    "own.llama.all_eager": llama(HF),
    "own.llama.qk_norm": llama(FUSED, heads(fused_projection=True, qk_norm="per_head")),
    "own.llama.bias": llama(FUSED, heads(fused_projection=True, qkv_bias=True)),
    "own.llama.separate_qkv": llama(FUSED, PLAIN),
    "own.llama.fused_qkv_v_contiguous": llama(MEGATRON),
    "own.llama.fp32": llama({**FUSED, "compute": "fp32", "parameters": "fp32"}),
    "own.llama.autocast_bf16": llama(
        {**HF, "parameters": "fp32", "autocast": True}, feed_forward=mlp(fused_projection=True)
    ),
    "own.llama.frozen (no LoRA, input needs grad)": lora(),
    "own.llama.lora_qv r8": lora("q", "v"),
    "own.llama.lora_all r8": lora("q", "k", "v", "o", "up", "down", feed_forward=mlp(fused_projection=True)),
    "own.mla.fused (attention block only; a=8 r_q=96 r_kv=64 d_n=32 d_r=16 d_v=32)": Case(
        latent, mlp(), MEGATRON, only="attention."
    ),
    # The measured block has no loss that balances experts, and keeps no map of Transformer Engine's permutation.
    "own.moe.megatron_like (MoE block only; E=8 top-2 f_e=128)": Case(
        PLAIN,
        experts(8, 2, 128),
        {**MEGATRON, "grouped_gemm": True, "dispatcher": "alltoall"},
        only="mlp. router. dispatch. experts.",
        beside=frozenset({"router.balance_scores", "dispatch.map"}),
    ),
    "titan.moe.grouped_mm (MoE block without its norm; E=8 top-2 f_e=128)": Case(
        PLAIN,
        experts(8, 2, 128),
        {**HF, "transformer_impl": "titan", "grouped_gemm": True},
        only="router. experts.",
    ),
    "hf.llama.mha.sdpa.bf16": llama(HF, PLAIN),
    "hf.llama.kv2.sdpa.bf16": llama(HF, PLAIN),
    "hf.llama.kv2.sdpa.bf16.pad_mask": llama({**HF, "attention_mask": True}, PLAIN),
    "hf.llama.kv2.eager.bf16": llama({**EAGER, "softmax_fp32": True}, PLAIN),
    "hf.llama.kv2.sdpa.fp32": llama({**HF, "compute": "fp32", "parameters": "fp32"}, PLAIN),
    "hf.llama.kv2.sdpa.autocast": llama({**HF, "parameters": "fp32", "autocast": True}, PLAIN),
    "hf.llama.kv2.sdpa.s256": llama(HF, PLAIN),
    "hf.llama.kv2.sdpa.b4": llama(HF, PLAIN),
    "hf.llama.kv2.ckpt_reentrant": llama(HF, PLAIN, checkpointing=Checkpointing("full")),
    "hf.llama.kv2.ckpt_nonreentrant": llama(HF, PLAIN, checkpointing=Checkpointing("full")),
    "hf.llama.kv2.compile_mincut": llama(COMPILED, PLAIN),
    "hf.llama.mha.compile_mincut": llama(COMPILED, PLAIN),
    "hf.llama.kv2.fused_rmsnorm_equiv (see own.llama.separate_qkv)": llama({**FUSED, "activation_fused": False}, PLAIN),
    "hf.mistral.kv2.sdpa": llama(HF, PLAIN),
    "hf.qwen2.kv2.sdpa (qkv bias)": llama(HF, heads(qkv_bias=True)),
    "hf.qwen3.kv2.sdpa (qk-norm)": llama(HF, heads(qk_norm="per_head")),
    "hf.qwen3.kv2.compile_mincut": llama(COMPILED, heads(qk_norm="per_head")),
    "hf.gemma2.kv2.eager": Case(
        heads(softcap=True), mlp("geglu"), {**EAGER, "softmax_fp32": True}, {"norm_form": "offset"}, {"norms": 4}
    ),
    "hf.olmo2.kv8.sdpa": Case(heads(qk_norm="full"), mlp(), HF, {"norm_form": "scale_first"}, {"post_norm": True}),
    "hf.phi3.kv2.sdpa (fused gate_up)": llama(
        HF, heads(fused_projection=True, rotary_concatenated=True), feed_forward=mlp(fused_projection=True)
    ),
    "hf.gptneox.sdpa": Case(
        heads(fused_projection=True, rotary_concatenated=True),
        GELU,
        HF,
        {"normalization": "layernorm"},
        {"parallel_residual": True},
        artefacts=BF16_STATISTICS,
    ),
    "hf.gpt2.sdpa": gpt(HF, PYTHON_GELU),
    "hf.gpt2.eager": gpt(EAGER, PYTHON_GELU),
    "hf.gpt2.sdpa.resid_dropout": gpt({**HF, "hidden_dropout": 0.1}, PYTHON_GELU, masks_in_16_bits),
    "hf.gpt2.sdpa.gelu_exact": gpt(HF, GELU),
    "hf.mixtral.eager_experts": Case(PLAIN, experts(4, 2, 704), HF),
    "hf.mixtral.grouped_mm": Case(PLAIN, experts(4, 2, 704), {**HF, "grouped_gemm": True}),
    "hf.qwen3moe.grouped_mm": Case(
        heads(qk_norm="per_head"),
        experts(8, 2, 128, scores_cast=True),
        {**HF, "grouped_gemm": True},
        artefacts=(unnormalised_routing,),
    ),
    "hf.qwen2moe.grouped_mm": Case(
        PLAIN,
        experts(8, 2, 128, shared_width=256, shared_gate=True, scores_cast=True),
        {**HF, "grouped_gemm": True},
        artefacts=(unnormalised_routing,),
    ),
    "hf.dsv3.moe.grouped_mm": Case(
        latent,
        experts(8, 2, 128, shared_width=128, expert_bias=True),
        {**HF, "grouped_gemm": True},
        artefacts=(math_attention, grouped_routing),
    ),
    "hf.dsv3.moe.eager": Case(
        latent,
        experts(8, 2, 128, shared_width=128, expert_bias=True),
        HF,
        artefacts=(math_attention, grouped_routing),
    ),
    "hf.dsv3.dense": Case(latent, mlp(), HF, artefacts=(math_attention,)),
    "hf.qwen3next.delta.eager": Case(delta_net, mlp(), {**HF, "recurrence_fused": False}, OFFSET),
    "hf.qwen3next.delta.eager.padded": Case(delta_net, mlp(), {**HF, "recurrence_fused": False}, OFFSET),
    "hf.qwen3next.delta.kernels": Case(delta_net, mlp(), HF, OFFSET),
    "hf.qwen3next.delta.kernels.autocast": Case(
        delta_net, mlp(), {**HF, "parameters": "fp32", "autocast": True}, OFFSET
    ),
    "hf.qwen3next.delta.kernels.s100": Case(delta_net, mlp(), HF, OFFSET),
    "hf.gptoss.eager": Case(
        heads(qkv_bias=True, output_bias=True, sinks=True, rotary_concatenated=True),
        experts(8, 2, 128, bias=True, router_bias=True, scores_cast=True, chosen_softmax=True, clamped=True),
        {**EAGER, "grouped_gemm": True},
        {"norm_form": "scale_first"},
    ),
    "hf.llama4.moe": Case(PLAIN, experts(8, 1, 128, shared_width=128, every_expert=True), HF),
    "hf.dsv2.moe.sdpa": Case(
        narrow_latent,
        experts(8, 2, 128, shared_width=128, router_fp32=True),
        {**HF, "grouped_gemm": True},
        artefacts=(unnormalised_routing,),
    ),
    "hf.bloom.eager": Case(PACKED, GELU, SCORED, ALIBI, artefacts=BF16_STATISTICS),
    "hf.opt.sdpa": gpt(HF, mlp("relu")),
    "hf.opt.post_norm": gpt(HF, mlp("relu")),
    "hf.falcon.one_norm.sdpa": Case(
        heads(keys_expanded=False),
        GELU,
        {**HF, "attention_mask": True},
        {"normalization": "layernorm"},
        {"parallel_residual": True, "norms": 1},
        artefacts=(one_statistic_in_16_bits,),
    ),
    "hf.falcon.two_norms.sdpa": Case(
        heads(keys_expanded=True),
        GELU,
        {**HF, "attention_mask": True},
        {"normalization": "layernorm"},
        {"parallel_residual": True},
        artefacts=BF16_STATISTICS,
    ),
    "hf.mpt.eager": Case(PACKED, GELU, SCORED, ALIBI, artefacts=BF16_STATISTICS),
    "hf.bamba.mamba": Case(mamba, mlp(), HF),
    "hf.bamba.mamba.autocast": Case(mamba, mlp(), {**HF, "parameters": "fp32", "autocast": True}),
    "hf.bamba.attention": Case(heads(rotary_concatenated=True), mlp(), HF),
    "hf.nemotronh.mamba": Case(mamba, None, HF, OFFSET, HALF),
    "hf.nemotronh.mlp": Case(None, mlp("relu2"), HF, OFFSET, HALF),
    "hf.nemotronh.attention": Case(PLAIN, None, HF, {**OFFSET, "position_embedding": "none"}, HALF),
    "hf.nemotronh.moe": Case(
        None,
        experts(8, 2, 128, kind="relu2", shared_width=192, expert_bias=True),
        {**HF, "grouped_gemm": True},
        OFFSET,
        HALF,
        artefacts=(grouped_routing,),
    ),
    "hf.granitehybrid.mamba.dense": Case(mamba, mlp(), HF),
    "hf.granitehybrid.mamba.moe": Case(mamba, GRANITE, {**HF, "grouped_gemm": True}),
    "hf.granitehybrid.attention.moe": Case(
        PLAIN, GRANITE, {**HF, "grouped_gemm": True}, {"position_embedding": "none"}
    ),
    "hf.qwen3next.full.sdpa": Case(GATED, mlp(), HF, OFFSET),
    "hf.qwen3next.full.moe": Case(
        GATED,
        experts(8, 2, 128, shared_width=128, shared_gate=True, scores_cast=True),
        {**HF, "grouped_gemm": True},
        OFFSET,
    ),
}

REFUSED = frozenset({"hf.mixtral.batched_mm"})
"""A form of experts that copies the weights for every row; no job can ask for it."""
