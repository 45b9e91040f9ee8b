"""Logits and losses: measured peaks, chunks, and head gradients that wait."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.calculator.ledger import Line, Moment, alive_at, total_bytes
from service.calculator.loss import chunk_rows, loss_lines
from service.calculator.model import Model
from service.calculator.recipe import LossRecipe
from service.calculator.units import BYTES
from service.catalog.losses import loss_names, loss_recipe
from tests.builders import LLAMA_3_8B, gpt, layout, recipe

PEAKS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "loss_peaks.json").read_text("utf-8"))

SMALL = gpt(256, 2, 8, vocabulary=8192)
TOKENS, VOCABULARY = 1024, 8192
LOGITS = 2 * TOKENS * VOCABULARY
"""Bytes of the measured bf16 logits."""

MEASURED = {
    "F.cross_entropy on bf16 logits, logits dropped": loss_recipe("torch"),
    "F.cross_entropy on bf16 logits, logits kept": loss_recipe("torch").with_logits_kept(),
    "float() then F.cross_entropy, logits dropped (torchtitan eager)": loss_recipe("torch_float"),
    "float() then F.cross_entropy, logits kept": loss_recipe("torch_float").with_logits_kept(),
    "HF ForCausalLMLoss v5, logits dropped (HF Trainer, pure bf16)": loss_recipe("hf", "5.24.0"),
    "HF ForCausalLMLoss v5, logits kept": loss_recipe("hf", "5.24.0").with_logits_kept(),
    "HF Trainer bf16 autocast: outputs converted to fp32, dropped before backward": loss_recipe("hf"),
    "HF before v4.45: logits.float(), shift .contiguous() (b=2), dropped": loss_recipe("hf", "transformers 4.44"),
    "HF before v4.45, kept": loss_recipe("hf", "transformers 4.44").with_logits_kept(),
    "Megatron vocab_parallel_cross_entropy (unfused), logits dropped": loss_recipe("megatron"),
    "Megatron vocab_parallel_cross_entropy, label_smoothing=0.1": loss_recipe("megatron").smoothed(),
}


def at(lines: list[Line], moment: Moment) -> int:
    """Bytes of logits, whole or in chunks, at a moment."""
    return int(total_bytes(line for line in alive_at(lines, moment) if line.tensor.name.startswith("logits")))


def lines_of(loss: LossRecipe, model: Model = SMALL, losses: int = 1, **changes: Any) -> list[Line]:
    spread = layout(model, **{"sequence_length": 512, "micro_batch": 2, **changes})
    return loss_lines(model, spread, recipe(loss=loss.in_compute("bf16"), vocabulary_multiple=1), losses)


@pytest.mark.parametrize("row", [each for each in PEAKS if each["name"] in MEASURED], ids=lambda row: row["name"])
def test_a_measured_loss(row: dict[str, Any]) -> None:
    loss = MEASURED[row["name"]]
    lines = lines_of(loss)
    assert at(lines, Moment.LOSS) == pytest.approx(row["fwd_peak"] * LOGITS, rel=0.003)
    assert at(lines, Moment.FIRST_BACKWARD) == pytest.approx(row["bwd_peak"] * LOGITS, rel=0.003)
    kept = sum(BYTES[each] for each in loss.in_compute("bf16").kept)
    assert kept * TOKENS * VOCABULARY == pytest.approx(row["kept_for_backward"] * LOGITS, rel=0.006)


def test_every_measured_loss_is_a_recipe_but_the_sketch_of_a_chunked_one() -> None:
    assert {each["name"] for each in PEAKS} - set(MEASURED) == {"8 checkpointed chunks"}


def test_a_chunked_loss_holds_the_peak_of_one_chunk() -> None:
    """The sketch that was measured: 0.76 of a bf16 tensor of logits with 8 chunks, and nothing kept."""
    (sketch,) = (each for each in PEAKS if each["name"] == "8 checkpointed chunks")
    lines = lines_of(loss_recipe("chunked"))
    assert at(lines, Moment.LOSS) == pytest.approx(sketch["bwd_peak"] * LOGITS, rel=0.02)
    assert at(lines, Moment.FIRST_BACKWARD) == 0


def test_a_cut_head_is_cut_at_any_date() -> None:
    """torchtitan's branch of 2024: compiled, a chunk has its logits and their gradient in 16 bits."""
    recipe = loss_recipe("chunked_head", "torchtitan-2024-09-06", "titan", compiled=True)
    assert (recipe.name, recipe.chunk_forward, recipe.kept) == ("chunked_head_compiled", ("compute", "compute"), ())


def test_one_sequence_needs_no_shifted_copy() -> None:
    old = loss_recipe("hf", "transformers 4.40")
    one = at(lines_of(old, micro_batch=1), Moment.LOSS)
    two = at(lines_of(old, micro_batch=2), Moment.LOSS)
    assert (one, two) == (8 * 512 * VOCABULARY, 12 * 1024 * VOCABULARY)


@pytest.mark.parametrize(
    ("name", "version", "implementation", "expected"),
    [
        ("hf", "transformers 2023, torch 2.0", "hf", "hf_shifted"),
        ("hf", "ms-swift 2024", "hf", "hf_shifted"),
        ("hf", "ms-swift 2025", "hf", "hf"),
        ("hf", None, "hf", "hf"),
        ("megatron", "nanotron", "local", "megatron_of_nanotron"),
        ("torch_float", "Aleph Alpha in-house 2023", "local", "torch_float_of_aleph_alpha"),
        ("chunked", "torchtitan-2025-03-20", "titan", "chunked_outputs"),
        ("chunked", "torchtitan-2026-06-02 graph_trainer", "titan", "chunked"),
        ("chunked", "torchtune main (2025/26 README)", "torch", "chunked_outputs"),
        ("chunked_head", "torchtitan-2024-09-06", "titan", "chunked_head"),
        ("te", "d98e8a64 (LTS container, Transformer Engine 2.11)", "transformer_engine", "te_in_place"),
        ("te", "Transformer Engine 2.18", "transformer_engine", "te"),
    ],
)
def test_the_form_of_a_loss_follows_the_version(
    name: str, version: str | None, implementation: str, expected: str
) -> None:
    assert loss_recipe(name, version, implementation).name == expected


def test_earlier_forms_have_no_name_of_their_own() -> None:
    assert "hf_shifted" not in loss_names()
    assert {"megatron", "te", "torch", "hf", "loss_parallel", "compiled", "chunked", "liger", "cut"} <= set(
        loss_names()
    )


def test_fp32_training_makes_no_fp32_copy_of_its_logits() -> None:
    plain, floated = loss_recipe("torch").in_compute("fp32"), loss_recipe("torch_float").in_compute("fp32")
    assert (plain.kept, plain.forward, plain.backward) == (floated.kept, floated.forward, floated.backward)
    assert loss_recipe("megatron").in_compute("fp32").forward == ("fp32",)
    assert loss_recipe("chunked").in_compute("fp32").kept == ()


def test_ligers_chunks_are_as_large_as_the_heads_input() -> None:
    """Llama 3 8B: 128256 / 4096 rounds up to 32, and 8192 / 32 tokens are 256."""
    spread = layout(LLAMA_3_8B, sequence_length=8192)
    liger = recipe(loss=loss_recipe("liger"))
    assert chunk_rows(128256, LLAMA_3_8B, spread, liger) == 256


def test_liger_makes_both_gradients_in_the_forward_and_no_logits() -> None:
    lines = lines_of(loss_recipe("liger"))
    beside = {line.tensor.name: line for line in lines if line.tensor.name.startswith("loss.")}
    assert int(beside["loss.weight_gradient"].bytes) == 2 * VOCABULARY * 256
    assert int(beside["loss.input_gradient"].bytes) == 2 * TOKENS * 256
    assert Moment.HEAD_BACKWARD not in beside["loss.weight_gradient"].alive
    assert at(lines, Moment.HEAD_BACKWARD) == 0


def test_every_pending_loss_of_gpipe_keeps_its_softmax() -> None:
    one, eight = lines_of(loss_recipe("megatron")), lines_of(loss_recipe("megatron"), losses=8)
    assert at(eight, Moment.LOSS) - at(one, Moment.LOSS) == 7 * 4 * TOKENS * VOCABULARY


@pytest.mark.parametrize(("limit", "waiting"), [(0, 7), (4, 3), (1, 0), (100, 7)])
def test_deferred_head_gradients_hold_their_operands(limit: int, waiting: int) -> None:
    """8 micro-batches: all but the running one wait, or as many as the limit says."""
    spread = layout(SMALL, sequence_length=512, micro_batch=2, micro_batches=8)
    kept = recipe(loss=loss_recipe("megatron").in_compute("bf16"), vocabulary_multiple=1, deferred_head=limit)
    lines = [each for each in loss_lines(SMALL, spread, kept, 1) if each.tensor.name.startswith("head.deferred")]
    assert total_bytes(lines) == waiting * 2 * TOKENS * (VOCABULARY + 256)


def test_arrays_answer_as_single_layouts_do() -> None:
    batches = np.array([1, 2, 3, 8])
    for name in loss_names():
        loss = loss_recipe(name)
        for moment in (Moment.LOSS, Moment.FIRST_BACKWARD, Moment.HEAD_BACKWARD):
            many = total_bytes(alive_at(_spread(loss, batches), moment))
            one = [int(total_bytes(alive_at(_spread(loss, int(each)), moment))) for each in batches]
            assert np.array_equal(np.broadcast_to(many, batches.shape), one)


def _spread(loss: LossRecipe, micro_batch: Any) -> list[Line]:
    spread = layout(LLAMA_3_8B, micro_batch=micro_batch)
    return loss_lines(LLAMA_3_8B, spread, recipe(loss=loss.in_compute("bf16")), 1)
