"""8-bit products of torch modules: Transformer Engine's narrow operands and torchao's kept ones.

A layer of transformers' Llama keeps 16h + 4(q + k) + 8f + 4a + 8 bytes a token in bf16, and under autocast
26h + 4(q + k) + 8f + 4a + 8 with 2 bytes for each element of its linear weights (memory_model.md 3.2, measured).
Sources: TransformerEngine @ d0067d0d pytorch/module/linear.py; pytorch/ao @ 36027d82 float8/float8_linear.py;
huggingface/accelerate @ 16cb6eb8 utils/transformer_engine.py and utils/ao.py.
"""

from typing import Any

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.estimate import estimate
from service.calculator.ledger import Moment
from service.job.resolve import Resolved, resolve
from service.job.schema import Job
from tests.builders import H100

H, Q, K, F, A = 4096, 4096, 1024, 14336, 32
TOKENS = 2048
WEIGHTS = H * (Q + 2 * K) + Q * H + 3 * H * F
BF16 = 16 * H + 4 * (Q + K) + 8 * F + 4 * A + 8
AUTOCAST = 26 * H + 4 * (Q + K) + 8 * F + 4 * A + 8
"""Bytes a token; autocast's copies of weights come on top."""

PRODUCTS_READ = 3 * H + Q + 2 * H + F
"""Elements a token that the seven products of a layer read: q, k, v; o; gate, up; down."""


def trained(fp8: dict[str, Any] | None, **changes: Any) -> Resolved:
    """Llama 3 8B of transformers under DDP on one sequence of 2048 tokens, weights in bf16."""
    document: dict[str, Any] = {
        "model": {"preset": "llama-3-8b"},
        "framework": {"name": "ddp", "transformer_impl": "hf"},
        "world_size": 1,
        "batch": {"micro": 1, "sequence_length": TOKENS},
        "precision": {"parameters": "bf16", "fp8": fp8},
    }
    for section, values in changes.items():
        document[section] = {**document.get(section, {}), **values}
    return resolve(Job.model_validate(document))


def layer_bytes(job: Resolved) -> int:
    kept = job.recipe.on(H100)
    rows = layer_tensors(job.model.kinds[0], job.model, job.layout, kept)
    return sum(int(each.tensor.bytes * each.copies) for each in rows)


DELAYED = {"backend": "transformer_engine", "recipe": "delayed"}
TORCHAO = {"backend": "torchao"}


def test_the_layer_without_8_bits_is_the_measured_one() -> None:
    assert layer_bytes(trained(None)) == TOKENS * BF16


def test_transformer_engine_keeps_a_byte_of_each_products_input_and_both_forms_of_its_weight() -> None:
    """In bf16 q, k and v share their input, gate and up theirs; the attention's output stays for attention itself."""
    shared = 2 * H + 2 * H + 2 * F
    assert layer_bytes(trained(DELAYED)) == TOKENS * (BF16 - shared + PRODUCTS_READ) + 2 * WEIGHTS


def test_fsdp2_keeps_no_narrow_weights_for_it_gathers_them_again() -> None:
    sharded = {"framework": {"name": "fsdp2"}, "sharding": {"stage": 3}}
    with_weights = layer_bytes(trained(DELAYED))
    assert with_weights - layer_bytes(trained(DELAYED, **sharded)) == 2 * WEIGHTS


def test_zero_stage_3_keeps_the_narrow_weights_of_every_layer() -> None:
    """The gathered 16-bit weight goes after the layer, what the product saved of it does not."""
    zero = {"framework": {"name": "deepspeed", "transformer_impl": "hf"}, "sharding": {"stage": 3}, "world_size": 8}
    document = {key: value for key, value in zero.items() if key != "world_size"}
    job = trained(DELAYED, **document)
    (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
    narrow = [line for line in stage.lines if ".narrow_weight" in line.tensor.name and Moment.LOSS in line.alive]
    head = 2 * H * 128256
    assert sum(int(line.bytes) for line in narrow) == 32 * 2 * WEIGHTS + head


@pytest.mark.parametrize(("recipe", "scales"), [("mxfp8", 1 / 32), ("blockwise", 4 / 128)])
def test_block_scales_come_with_the_inputs(recipe: str, scales: float) -> None:
    job = trained({"backend": "transformer_engine", "recipe": recipe})
    rows = layer_tensors(job.model.kinds[0], job.model, job.layout, job.recipe)
    inputs = [each.tensor for each in rows if "narrow_input" in each.tensor.name]
    assert sum(int(each.bytes) for each in inputs) == TOKENS * PRODUCTS_READ * (1 + scales)


def test_torchao_keeps_what_bf16_keeps() -> None:
    """Its product saves operands before it casts them: 8 bits save no activations without the compiler."""
    assert layer_bytes(trained(TORCHAO)) == TOKENS * BF16


def test_torchao_spares_autocasts_copies_of_weights() -> None:
    fp32 = {"precision": {"parameters": "fp32"}}
    assert layer_bytes(trained(None, **fp32)) == TOKENS * AUTOCAST + 2 * WEIGHTS
    assert layer_bytes(trained(TORCHAO, **fp32)) == TOKENS * AUTOCAST


def test_transformer_engine_spares_autocasts_copies_of_both() -> None:
    """Norms run in fp32 under autocast and keep what they kept; no product keeps its own 16-bit input."""
    fp32 = {"precision": {"parameters": "fp32"}}
    casts = 2 * (3 * H + 2 * H) + 2 * F
    assert layer_bytes(trained(DELAYED, **fp32)) == TOKENS * (AUTOCAST - casts + PRODUCTS_READ) + 2 * WEIGHTS


def test_eager_casts_of_torchao_pass_through_fp32() -> None:
    """The largest operand scaled and clamped: here the down-projection's weight, and its input with more tokens."""

    def casts(job: Resolved) -> dict[int, tuple[Moment, ...]]:
        (stage,) = estimate(job.model, job.layout, job.recipe, H100).stages
        return {int(line.bytes): line.alive for line in stage.lines if line.tensor.name == "products.casts"}

    assert set(casts(trained(TORCHAO))) == {2 * 4 * H * F}
    assert set(casts(trained(TORCHAO, batch={"sequence_length": 8192}))) == {2 * 4 * 8192 * F}
    assert casts(trained(TORCHAO, kernels={"compile": True})) == {}
    assert casts(trained(DELAYED)) == {}


def test_frozen_weights_keep_no_narrow_input_but_their_narrow_forms() -> None:
    lora = {"adapters": {"type": "lora", "rank": 16, "modules": ["q"], "dtype": "bf16"}}
    job = trained(DELAYED, **lora)
    names = {each.tensor.name for each in layer_tensors(job.model.kinds[0], job.model, job.layout, job.recipe)}
    assert not [each for each in names if "narrow_input" in each]
    assert len([each for each in names if "narrow_weight" in each]) == 7
