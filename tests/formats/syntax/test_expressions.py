"""Lists of layers, pipeline layouts and shell arithmetic, without evaluating code."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats.syntax.expressions import ExpressionFault, layer_pattern, layout_stages
from service.formats.syntax.shell.arithmetic import ArithmeticFault, arithmetic


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("([0]*3+[1]*58)", [0] * 3 + [1] * 58),
        ("[1]*12+[0]", [1] * 12 + [0]),
        ("([1]*3+[0]*1)*3", [1, 1, 1, 0] * 3),
        ("[0,1,1]", [0, 1, 1]),
        ("2*[0, 1]", [0, 1, 0, 1]),
        ("[]", []),
        ("2", 2),
        ("1+1", 2),
    ],
)
def test_layer_patterns(text: str, value: int | list[int]) -> None:
    assert layer_pattern(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "[0", "[0]*", "[0]+1", "[0]*[1]", "x", "__import__('os')", "[[0]]", "[0]*10001", "(" * 200, "[1]*9999*9999",
     "9999*9999*9999", "-1", "[0] [1]"],
)  # fmt: skip
def test_other_expressions_are_refused(text: str) -> None:
    with pytest.raises(ExpressionFault):
        layer_pattern(text)


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("Et*2|(tt|)*5t|tmL", ["Ett", "tt", "tt", "tt", "tt", "tt", "t", "tmL"]),
        ("E|(t|)*3,m|m||L", ["E", "t", "t", "t", "m", "m", "", "L"]),
        ("EttL", ["EttL"]),
        ("E(t|)*0L", ["EL"]),
    ],
)
def test_layouts(text: str, stages: list[str]) -> None:
    assert layout_stages(text) == stages


@pytest.mark.parametrize("text", ["Ex", "(t", "t)", "*2", "t*10001", "(t*9999|)*9999", "(" * 99 + ")" * 99])
def test_other_layouts_are_refused(text: str) -> None:
    with pytest.raises(ExpressionFault):
        layout_stages(text)


def test_refusing_takes_no_time() -> None:
    start = time.process_time()
    for text in ("[0]*10000" + "+[0]*10000" * 3000, "t*9999" * 1600, "[" * 30_000, "1+" * 15_000):
        for read in (layer_pattern, layout_stages):
            with pytest.raises(ExpressionFault):
                read(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("text", ["1/0", "1%0", "2**64", "1<<64", "a b", "1+", "(1", "09", "1 ? 2", "'1'", "1;2"])
def test_arithmetic_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(ArithmeticFault):
        arithmetic(text, lambda _name: 1)


def combined(parts: tuple[str, str, str]) -> str:
    return f"({''.join(parts)})"


OPERATORS = st.sampled_from(["+", "-", "*", "|", "&", "^"])
FORMULAS = st.recursive(
    st.integers(0, 999).map(str), lambda inner: st.tuples(inner, OPERATORS, inner).map(combined), max_leaves=12
)


@given(FORMULAS)
def test_arithmetic_agrees_with_python_modulo_64_bits(text: str) -> None:
    expected = (eval(text) + (1 << 63)) % (1 << 64) - (1 << 63)  # noqa: S307  (digits, brackets and operators only)

    assert arithmetic(text, lambda _name: 0) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("2 ** 3 ** 2", 512), ("010 + 0x10", 24), ("!0 + ~0", 0),
     ("1 < 2 && 3 >= 3 || 0", 1), ("9223372036854775807 + 1", -(2**63)), ("1 ? 2 : 3", 2), ("x * $y + ${z}", 3)],
)  # fmt: skip
def test_arithmetic_follows_the_shell(text: str, value: int) -> None:
    assert arithmetic(text, {"x": 1, "y": 1, "z": 2}.__getitem__) == value
