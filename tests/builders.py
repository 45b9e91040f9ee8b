"""Models, layouts and recipes for tests, each argument named as in the papers."""

from dataclasses import replace
from typing import Any

from service.calculator.device import Accelerator
from service.calculator.layout import Checkpointing, Layout
from service.calculator.model import Attention, LayerKind, Mlp, Model
from service.calculator.placement import EVEN, Split, place
from service.calculator.recipe import LossRecipe, Recipe
from service.calculator.stage import stage_of
from service.calculator.states import parameter_count, stage_parameters
from service.catalog.profiles import load_profiles

MEGATRON_LOSS = LossRecipe("megatron", kept=("fp32",), forward=("fp32", "bf16"), backward=("fp32", "bf16"))

A100 = Accelerator("a100-sxm-80gb", "NVIDIA", "sm80", 80 << 30, 79 << 30, 8, 2e12, {"bf16": 312e12}, 3e11, 2.5e10)
H100 = replace(A100, name="h100-sxm-80gb", architecture="sm90")

LLAMA_3_8B = Model(
    name="llama-3-8b",
    hidden_size=4096,
    vocab_size=128256,
    kinds=(LayerKind(Attention(32, 8, 128), Mlp(14336, "swiglu")),),
    pattern=(0,) * 32,
    normalization="rmsnorm",
    position_embedding="rope",
    max_positions=8192,
    tied_embeddings=False,
)


def gpt(hidden: int, layers: int, heads: int, vocabulary: int = 51200) -> Model:
    """A GPT with LayerNorm, GELU, biases, learned positions and a tied head."""
    attention = Attention(heads, heads, hidden // heads, qkv_bias=True, output_bias=True)
    return Model(
        name="gpt",
        hidden_size=hidden,
        vocab_size=vocabulary,
        kinds=(LayerKind(attention, Mlp(4 * hidden, "gelu", bias=True)),),
        pattern=(0,) * layers,
        normalization="layernorm",
        position_embedding="learned",
        max_positions=2048,
        tied_embeddings=True,
    )


def recipe(**changes: Any) -> Recipe:
    """bf16 with fp32 gradients and states, cuDNN attention, no dropout, no attention mask."""
    plain = Recipe(
        profile="test",
        transformer_impl="transformer_engine",
        compute="bf16",
        parameters="bf16",
        master="fp32",
        gradients="fp32",
        moments=("fp32", "fp32"),
        attention="fused",
        loss=MEGATRON_LOSS,
        attention_mask=False,
    )
    engine = changes.get("framework", plain.framework)
    return replace(plain, **{"habits": replace(load_profiles()["megatron-core"], keeps=engine).habits, **changes})


def layout(model: Model, split: Split = EVEN, **changes: Any) -> Layout:
    """One GPU and one sequence of 2048 tokens, unless said otherwise; stage 1 shards over data x context."""
    pipeline, virtual = changes.get("pipeline", 1), changes.get("virtual", 1)
    data, context = changes.get("data", 1), changes.get("context", 1)
    stage = changes.get("sharding_stage", 0)
    values: dict[str, Any] = {
        "tensor": 1,
        "sequence_parallel": 0,
        "context": 1,
        "data": 1,
        "pipeline": 1,
        "virtual": 1,
        "schedule": "interleaved" if virtual > 1 else "1f1b",
        "group": pipeline,
        "placement": place(model.layers, pipeline, virtual, split),
        "micro_batch": 1,
        "micro_batches": 8,
        "sequence_length": 2048,
        "sharding_stage": stage,
        "shards": data * context if stage else 1,
        "checkpointing": Checkpointing(),
    }
    return Layout(**(values | changes))


def stage_elements(model: Model, spread: Layout, rank: int) -> int:
    """Elements of all parameters of a pipeline rank."""
    return int(parameter_count(stage_parameters(stage_of(model, spread, rank), model, spread, recipe())))
