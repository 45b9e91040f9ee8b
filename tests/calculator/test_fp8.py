"""Inputs of 8-bit products, against the closed form of a layer."""

from dataclasses import replace

import pytest

from service.calculator.activations.layer import layer_tensors
from service.calculator.model import Model
from service.calculator.recipe import Fp8
from tests.builders import LLAMA_3_8B, layout, recipe

H, Q, K, F, A = 4096, 4096, 1024, 14336, 32
CLOSED_FORM = 6 * H + 5 * Q + 4 * K + 5 * F + 4 * A + 8
"""Bytes a token (memory_model.md, section 3.5)."""


def layer_bytes(fp8: Fp8 | None, model: Model = LLAMA_3_8B, implementation: str = "transformer_engine") -> int:
    kept = recipe(fp8=fp8, transformer_impl=implementation)
    return sum(
        int(each.tensor.bytes) * int(each.copies) for each in layer_tensors(model.kinds[0], model, layout(model), kept)
    )


def test_a_layer_with_one_scale_for_each_tensor() -> None:
    assert layer_bytes(Fp8("delayed")) == 2048 * CLOSED_FORM


def test_it_saves_an_eighth_and_not_half() -> None:
    assert layer_bytes(Fp8("current")) / layer_bytes(None) == pytest.approx(0.87, abs=0.005)


@pytest.mark.parametrize("scaling", ["mxfp8", "blockwise"])
def test_block_scales_are_a_32nd_of_the_copies(scaling: str) -> None:
    copies = 2 * H + Q + F
    assert layer_bytes(Fp8(scaling)) - layer_bytes(Fp8("delayed")) == 2048 * copies // 32


def test_four_bits_are_half_of_eight_and_a_scale_for_sixteen() -> None:
    copies = 2 * H + Q + F
    assert layer_bytes(Fp8("delayed")) - layer_bytes(Fp8("nvfp4")) == 2048 * (copies // 2 - copies // 16)


def test_only_transformer_engine_keeps_8_bit_inputs() -> None:
    assert layer_bytes(Fp8("delayed"), implementation="local") == layer_bytes(None, implementation="local")


def test_layers_at_the_ends_stay_in_16_bits() -> None:
    model = LLAMA_3_8B.with_16_bit_ends(1, 2)
    assert [model.kinds[each].sixteen_bits for each in model.pattern] == [True, *29 * [False], True, True]
    ends = replace(model, kinds=(model.kinds[model.pattern[0]],), pattern=(0,))
    assert layer_bytes(Fp8("delayed"), ends) == layer_bytes(None)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (99, 99)])
def test_no_ends_and_nothing_but_ends(first: int, last: int) -> None:
    model = LLAMA_3_8B.with_16_bit_ends(first, last)
    assert {model.kinds[each].sixteen_bits for each in model.pattern} == {first > 0}
