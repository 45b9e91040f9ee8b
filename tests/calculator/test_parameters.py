"""Parameter counts against the published ones, and their division over ranks."""

from dataclasses import replace

import pytest

from service.calculator.estimate import estimate
from service.calculator.ledger import Category
from service.calculator.model import Attention, LayerKind, Mlp, Model
from service.calculator.parameters import model_parameters, padded_vocabulary
from tests.builders import H100, LLAMA_3_8B, gpt, layout, recipe, stage_elements

LLAMA_3_70B = replace(
    LLAMA_3_8B,
    hidden_size=8192,
    kinds=(LayerKind(Attention(64, 8, 128), Mlp(28672, "swiglu")),),
    pattern=(0,) * 80,
)
QWEN3_8B = Model(
    name="qwen3-8b",
    hidden_size=4096,
    vocab_size=151936,
    kinds=(LayerKind(Attention(32, 8, 128, qk_norm="per_head"), Mlp(12288, "swiglu")),),
    pattern=(0,) * 36,
    normalization="rmsnorm",
    position_embedding="rope",
    max_positions=40960,
    tied_embeddings=False,
)
GPT_2 = replace(gpt(768, 12, 12, vocabulary=50257), max_positions=1024)


@pytest.mark.parametrize(
    ("model", "published"),
    [
        pytest.param(LLAMA_3_8B, 8_030_261_248, id="Llama-3-8B"),
        pytest.param(LLAMA_3_70B, 70_553_706_496, id="Llama-3-70B"),
        pytest.param(QWEN3_8B, 8_190_735_360, id="Qwen3-8B: QK-norm"),
        pytest.param(GPT_2, 124_439_808, id="GPT-2: tied head, learned positions, biases"),
    ],
)
def test_counts_are_the_published_ones(model: Model, published: int) -> None:
    assert model_parameters(model) == published


@pytest.mark.parametrize(("tensor", "rows"), [(1, 50304), (2, 50432), (8, 51200)])
def test_megatron_pads_the_vocabulary_to_a_multiple_of_128_times_the_tensor_degree(tensor: int, rows: int) -> None:
    assert padded_vocabulary(50257, tensor, 128) == rows


def test_a_framework_that_does_not_pad_keeps_the_vocabulary() -> None:
    assert padded_vocabulary(50257, 8, 1) == 50257


def _stage_counts(model: Model, pipeline: int, tensor: int = 1) -> list[int]:
    spread = layout(model, pipeline=pipeline, tensor=tensor)
    stages = range(pipeline)
    return [stage_elements(model, spread, stage) for stage in stages]


def test_stages_of_an_untied_model_hold_every_parameter_once() -> None:
    assert sum(_stage_counts(LLAMA_3_8B, 4)) == 8_030_261_248


def test_a_tied_head_on_another_stage_is_a_copy_of_the_embedding() -> None:
    whole, spread = sum(_stage_counts(gpt(1024, 8, 16), 1)), sum(_stage_counts(gpt(1024, 8, 16), 4))
    assert spread - whole == 51200 * 1024


def test_tensor_parallelism_divides_matrices_and_replicates_norms() -> None:
    def held(tensor: int) -> int:
        return sum(_stage_counts(LLAMA_3_8B, 1, tensor))

    norms = (2 * 32 + 1) * 4096
    vocabulary_padding = 2 * (padded_vocabulary(128256, 8, 128) - 128256) * 4096
    assert held(8) - norms == (held(1) - norms + vocabulary_padding) // 8


def test_the_ends_of_the_first_open_models() -> None:
    """BLOOM's norm behind the embedding, OPT's two rows before the first position, and 350m's narrow embedding."""
    plain = gpt(1024, 8, 16)
    normed, offset = replace(plain, embedding_norm=True), replace(plain, position_offset=2)
    narrow, last = replace(plain, embedding_width=512), replace(plain, final_norm=False)
    unbiased = replace(plain, norm_bias=False)
    differences = [
        model_parameters(each) - model_parameters(plain) for each in (normed, offset, narrow, last, unbiased)
    ]
    assert differences == [2 * 1024, 2 * 1024, 2 * 512 * 1024 - 51200 * 512, -2 * 1024, -17 * 1024]


def test_a_norm_behind_the_embedding_keeps_its_input_for_each_micro_batch() -> None:
    plain = gpt(1024, 8, 16)

    def kept(model: Model) -> int:
        stage = estimate(model, layout(model, pipeline=4, micro_batches=8), recipe(), H100).stages[0]
        lines = [line for line in stage.lines if line.tensor.name.startswith("embedding.norm.")]
        return sum(int(line.bytes) for line in lines if line.tensor.category == Category.ACTIVATIONS)

    assert kept(plain) == 0
    assert kept(replace(plain, embedding_norm=True)) == 4 * 2048 * (2 * 1024 + 8)
