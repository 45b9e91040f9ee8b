"""Multi-token prediction: its parameters, what its depths save, and the logits that wait."""

from dataclasses import replace

import pytest

from service.calculator.estimate import StageEstimate, estimate
from service.calculator.layout import Checkpointing, Placement
from service.calculator.ledger import Moment
from service.calculator.model import Model, Prediction
from service.calculator.parameters import count, layer_parameters, prediction_parameters
from tests.builders import H100, LLAMA_3_8B, layout, recipe, stage_elements

HIDDEN, TOKENS, VOCABULARY = 4096, 2048, 128256
PREDICTING = replace(LLAMA_3_8B, prediction=Prediction(depths=1, kind=0))


def last_stage(model: Model, pipeline: int = 4, checkpointing: Checkpointing | None = None) -> StageEstimate:
    spread = layout(model, pipeline=pipeline, checkpointing=checkpointing or Checkpointing())
    return estimate(model, spread, recipe(gradient_accumulation_fusion=False), H100).stages[-1]


def held(model: Model, stage: int, pipeline: int = 4) -> int:
    spread = layout(model, pipeline=pipeline)
    return stage_elements(model, spread, stage)


def test_a_depth_is_a_layer_behind_two_norms_and_a_projection_before_a_final_norm() -> None:
    assert PREDICTING.prediction is not None
    layer = count(layer_parameters(LLAMA_3_8B.kinds[0], LLAMA_3_8B, 1))
    depth = count(prediction_parameters(PREDICTING.prediction, PREDICTING, 1))
    assert depth == layer + 2 * HIDDEN * HIDDEN + 3 * HIDDEN


@pytest.mark.parametrize(("shared", "copies"), [(False, 2), (True, 1)])
def test_depths_may_share_one_layer(shared: bool, copies: int) -> None:
    prediction = Prediction(2, 0, shared)
    depth = int(count(prediction_parameters(prediction, LLAMA_3_8B, 1)))
    assert held(replace(LLAMA_3_8B, prediction=prediction), 0, 1) - held(LLAMA_3_8B, 0, 1) == copies * depth


def test_the_stage_of_the_depths_holds_a_copy_of_the_embedding() -> None:
    assert PREDICTING.prediction is not None
    depth = int(count(prediction_parameters(PREDICTING.prediction, PREDICTING, 1)))
    assert held(PREDICTING, 3) - held(LLAMA_3_8B, 3) == depth + VOCABULARY * HIDDEN
    assert held(PREDICTING, 0, 1) - held(LLAMA_3_8B, 0, 1) == depth


def test_depths_may_stand_on_another_stage_than_the_loss() -> None:
    placed = layout(PREDICTING, pipeline=4)
    moved = replace(placed, placement=Placement(placed.placement.chunks, prediction=2))
    counts = [stage_elements(PREDICTING, moved, stage) for stage in range(4)]
    assert counts[3] == held(LLAMA_3_8B, 3)
    assert counts[2] > held(LLAMA_3_8B, 2)


def test_a_depths_softmax_waits_for_the_main_loss() -> None:
    waiting = [line for line in last_stage(PREDICTING).lines if line.tensor.name == "prediction.logits"]
    assert [line.bytes for line in waiting] == [4 * TOKENS * VOCABULARY]
    assert {Moment.LOSS, Moment.FIRST_BACKWARD, Moment.HEAD_BACKWARD} <= set(waiting[0].alive)
    assert not {Moment.WARMUP_FORWARD, Moment.LAYER_BACKWARD} & set(waiting[0].alive)


def test_a_depth_saves_its_two_inputs_the_joined_row_a_layer_and_the_heads_input() -> None:
    def activations(model: Model) -> int:
        lines = last_stage(model).lines
        return sum(int(line.bytes) for line in lines if len(line.alive) > 3 and "activations" in line.tensor.category)

    layer = 8 * HIDDEN + 4 * 4096 + 4 * 1024 + 6 * 14336 + 4 * 32 + 8
    beside = 2 * (2 * HIDDEN + 2 * HIDDEN + HIDDEN + HIDDEN) + 3 * 4
    assert activations(PREDICTING) - activations(LLAMA_3_8B) == TOKENS * (layer + beside)


def test_uniform_checkpointing_keeps_a_depths_inputs_and_block_checkpoints_no_depth() -> None:
    """multi_token_prediction.py checkpoints a depth whole under uniform, and warns under block."""

    def names(method: str) -> set[str]:
        checkpointing = Checkpointing("full", "uniform" if method == "uniform" else "block", 8)
        lines = last_stage(PREDICTING, checkpointing=checkpointing).lines
        return {line.tensor.name for line in lines if line.tensor.name.startswith("prediction.")}

    assert "prediction.projection.input" in names("block")
    assert "prediction.projection.input" not in names("uniform")
    assert {"prediction.inputs", "prediction.head.input"} <= names("uniform")
