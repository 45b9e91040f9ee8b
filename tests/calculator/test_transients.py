"""Gradients of torch modules' layers beside what they saved, as measured on small ones."""

from dataclasses import replace
from typing import Any

import pytest

from service.calculator.ledger import Moment, total_bytes
from service.calculator.model import Attention, FeedForward, LayerKind, Mlp, Moe
from service.calculator.recipe import Adapters
from service.calculator.transients import backward_lines
from tests.builders import LLAMA_3_8B, layout, recipe

TOKENS = 2048
WIDTH = 1024
HF = {"transformer_impl": "hf", "attention": "sdpa", "activation_fused": False, "norm_fused": False}


def gradient_bytes(feed_forward: FeedForward, **kept: Any) -> int:
    """Gradients inside the second half of a layer."""
    kind = LayerKind(Attention(32, 8, 128), feed_forward)
    model = replace(LLAMA_3_8B, kinds=(kind,), pattern=(0,))
    lines = backward_lines(kind, model, layout(model), recipe(**(HF | kept)), (), (Moment.LAYER_BACKWARD,))
    names = {"backward.mlp_gradient", "backward.expert_gradients"}
    return int(total_bytes(line for line in lines if line.tensor.name in names))


@pytest.mark.parametrize(
    ("mlp", "kept", "widths"),
    [
        pytest.param(Mlp(WIDTH, "swiglu"), {}, 2, id="the two factors of a gated product"),
        pytest.param(Mlp(WIDTH, "gelu"), {}, 1, id="a GELU of one kernel"),
        pytest.param(Mlp(WIDTH, "gelu", gelu_in_python=True), {}, 2, id="the two factors of a GELU in Python"),
        pytest.param(Mlp(WIDTH, "gelu", gelu_in_python=True), {"compiled": True}, 1, id="compiled to one kernel"),
        pytest.param(Mlp(WIDTH, "swiglu"), {"adapters": Adapters(8, ("q",), "bf16")}, 3, id="nothing freed by w2"),
        pytest.param(Mlp(WIDTH, "swiglu"), {"adapters": Adapters(8, ("down",), "bf16")}, 2, id="an adapter on w2"),
    ],
)
def test_an_mlp(mlp: Mlp, kept: dict[str, Any], widths: int) -> None:
    """Measured on a CPU: 4f, 2f, 4f and frozen 6f bytes a token beyond the saved tensors."""
    assert gradient_bytes(mlp, **kept) == TOKENS * widths * 2 * WIDTH


@pytest.mark.parametrize(("kept", "per_row"), [({}, 12), ({"compiled": True}, 4), ({"traced": True}, 4)])
def test_experts_weighed_in_fp32(kept: dict[str, bool], per_row: int) -> None:
    """Measured on torchtitan's experts: 12h bytes a routed row; one graph frees each gradient at its last use."""
    found = gradient_bytes(Moe(8, 2, WIDTH, "swiglu"), transformer_impl="titan", grouped_gemm=True, **kept)
    assert found == 2 * TOKENS * per_row * 4096
